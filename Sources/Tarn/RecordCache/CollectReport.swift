/// The result of ``RecordCache/collect(roots:through:isDryRun:)``.
public struct CollectReport: Sendable, Hashable {
    /// Unreachable records, by entity.
    public var unreachable: [String: Int] = [:]
    /// Records that were deleted, including those that delete rules have cascaded to.
    public var deleted = 0
    /// Unreachable records that a delete rule has kept.
    package var denied = 0
    /// Reachable records.
    package var reached = 0
}
