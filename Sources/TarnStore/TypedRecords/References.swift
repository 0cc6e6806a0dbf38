/// A to-many relationship as a field: the keys in its order.
public struct References<Target: StoredRecord>: Sendable, Hashable {
    public var keys: [Target.Key]

    public init(_ keys: [Target.Key]) { self.keys = keys }
}
