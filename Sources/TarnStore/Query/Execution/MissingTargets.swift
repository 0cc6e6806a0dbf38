internal import LMDB

/// Targets of a relationship that are not in the store.
public struct MissingTargets: Sendable {
    /// Each once, in ascending order: keys as `.reference`; of a joined relationship the values that no record has.
    public var targets: [Value]
    /// How many more there are of a joined relationship whose values are too long for its index.
    public var unnamedCount: Int
    /// Where to go on; nil if there is no more.
    public var next: ContinuationToken?
}
