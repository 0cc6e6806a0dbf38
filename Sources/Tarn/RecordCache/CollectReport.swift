import TarnStore

/// What was found by ``RecordCache/collect(roots:through:isDryRun:)``.
public struct CollectReport: Sendable, Hashable {
    /// Records that nothing reaches, by entity.
    public var unreachable: [String: Int] = [:]
    /// How many of them were deleted; with what a delete rule takes along.
    public var deleted = 0
    /// Those that a delete rule has kept.
    public var denied = 0
    /// How many records are reached.
    public var reached = 0
}
