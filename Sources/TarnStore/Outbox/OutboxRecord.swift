/// The entity and the key of a record of the outbox.
public struct OutboxRecord: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity.
    public var entity: String
    /// The primary key.
    public var key: RecordKey

    /// Creates a reference to a record.
    public init(_ entity: String, _ key: RecordKey) {
        self.entity = entity
        self.key = key
    }

    /// The entity and the key, as in `Issue 17`.
    public var description: String { "\(entity) \(key)" }
}
