internal import LMDB

/// A slot in a store's table of readers, and its process.
public struct StoreReaderSlot: Sendable, Hashable {
    /// The process id, in the PID namespace of the process that has written it.
    public var processID: Int
    /// The name of the process; nil if the system does not report it.
    public var processName: String?
    /// Whether the process no longer exists, so that its snapshot is not needed.
    public var isStale: Bool
    /// The LMDB transaction of the snapshot; nil if the process is not reading.
    public var transaction: Int?
    /// The number of transactions that were committed since the snapshot.
    ///
    /// Pages that they have freed are not reused as long as the snapshot is held.
    public var lag: Int?
}
