/// A to-many relationship as a field: the keys of its targets, in order.
public struct References<Target: StoredRecord>: Sendable, Hashable {
    /// The keys of the targets.
    public var keys: [Target.Key]

    /// Creates a list of references to the records with these keys.
    public init(_ keys: [Target.Key]) { self.keys = keys }
}
