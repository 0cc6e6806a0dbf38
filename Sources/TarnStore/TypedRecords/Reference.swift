/// A to-one relationship as a field: the key of its target, which need not be in the store.
public struct Reference<Target: StoredRecord>: Sendable, Hashable {
    /// The key of the target.
    public var key: Target.Key

    /// Creates a reference to the record with a key.
    @inlinable
    public init(_ key: Target.Key) { self.key = key }
}
