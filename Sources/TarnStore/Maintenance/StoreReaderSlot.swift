internal import LMDB

/// A process that reads a store, or has a place in its table of readers.
public struct StoreReaderSlot: Sendable, Hashable {
    /// The process, in the namespace of whoever wrote it down.
    public var processID: Int
    /// Nil if the system does not say.
    public var processName: String?
    /// Whether there is no such process any more: nothing that it holds is needed.
    public var isStale: Bool
    /// The transaction of LMDB that its snapshot is of. Nil if it reads nothing at the moment.
    public var transaction: Int?
    /// How many transactions were committed since. As long as the snapshot is held, no page that they have freed is used again.
    public var lag: Int?
}
