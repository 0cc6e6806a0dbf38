/// A to-one relationship as a field: the key of a record of another entity, whether that is in the store or not.
public struct Reference<Target: StoredRecord>: Sendable, Hashable {
    public var key: Target.Key

    @inlinable
    public init(_ key: Target.Key) { self.key = key }
}
