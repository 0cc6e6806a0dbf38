public import TarnImport

/// One of the answers of ``RecordClient/answers(_:local:fetch:)-(_,TypedQuery<Value>,_)``.
public enum RequestAnswer<Value: Sendable>: Sendable {
    /// The records that the store has, before the server is asked.
    case local([Value])
    /// The records after the server's answer, with the reports of its imports; also those of fresh
    /// responses in the store, for which the server was not needed.
    case remote([Value], [ImportReport])
    /// The server did not answer: the records that the store keeps, also if the policy lets a stale
    /// response answer in its place.
    case failed(any Error, kept: [Value])
    /// The records after a later change of the store, by whichever program.
    case changed([Value])

    /// The records.
    public var records: [Value] {
        switch self {
        case .local(let records), .remote(let records, _), .failed(_, let records), .changed(let records): records
        }
    }
}

/// The condition on which a server is asked after the store has answered.
public enum RemoteFetch: Sendable, Hashable {
    /// It is always asked; a fresh response in the store answers without the network.
    case always
    /// It is asked if the store has no record.
    case ifNoLocalRecords
    /// It is not asked.
    case never
    /// It is asked if the stored response is older.
    case olderThan(seconds: Int)

    /// The request to send; nil if the server is not asked.
    ///
    /// - Parameter isEmpty: whether the store has no record.
    func asked<Value>(_ request: RecordRequest<Value>, isEmpty: Bool) -> RecordRequest<Value>? {
        switch self {
        case .always: request
        case .ifNoLocalRecords: isEmpty ? request : nil
        case .never: nil
        case .olderThan(let seconds): request.policy(.olderThan(seconds: seconds))
        }
    }
}
