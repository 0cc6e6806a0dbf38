// Local changes that have not reached the server: marks that an import respects.

/// A local change of a record that has not reached the server.
///
/// The mark is written in the transaction of the change. It stays until it is cleared, when the
/// change has reached the server or is abandoned. The mapping declares how an import treats a
/// marked record.
public struct LocalChange: Sendable, Hashable {
    /// The local operation on the record as a whole.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The record was created locally; the server does not have it.
        case create
        /// Some or all of its fields were changed locally.
        case update
        /// The record was deleted locally; the server still has it.
        case delete
    }

    /// The entity that the change has named.
    public var entity: String
    /// The key of the record, which is no longer stored if it was deleted.
    public var key: RecordKey
    /// The operation that the server has to perform.
    public var operation: Operation
    /// The changed fields, in the order of their ids; empty for the whole record.
    public var fields: [String]
    /// The time of the first unsent change.
    public var since: Timestamp
    /// The server's values, from later responses, of fields that kept their local value.
    public var server: [Record.Field]
    /// Whether a later response has reported that the record no longer exists.
    public var isGoneAtServer: Bool
}
