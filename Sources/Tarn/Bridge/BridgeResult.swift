public import TarnImport
import TarnStore

/// The result of operations of a bridge, after their import.
public struct BridgeResult<Info: Sendable>: Sendable {
    /// The report of the import.
    public internal(set) var report = ImportReport()
    /// The values besides the records; of a name in several responses, the last one.
    public internal(set) var metadata: [String: JSONValue] = [:]
    /// The errors that the server has reported beside data.
    public internal(set) var errors: [RemoteError] = []
    /// The values that the operations carried, in the order of the responses.
    public internal(set) var infos: [Info] = []
    /// The records of the parts, in their order.
    var listed: [ListedRecord] = []
}

extension RecordClient {
    /// Returns the records of a type that a result lists, in the order of the responses.
    ///
    /// - Throws: `StoreError`.
    public func records<Value: MappedRecord, Info>(_ type: Value.Type, of result: BridgeResult<Info>) throws -> [Value]
    {
        try store.read { try $0.records(type, listed: result.listed) }
    }
}
