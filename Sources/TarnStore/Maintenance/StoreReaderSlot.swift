/// A slot in a store's table of readers, and its process.
package struct StoreReaderSlot: Sendable, Hashable {
    /// The process id, in the PID namespace of the process that has written it.
    package var processID: Int
    /// The name of the process; nil if the system does not report it.
    package var processName: String?
    /// The time since the start of the process, in seconds; nil if the system does not report it.
    package var processAge: Int?
    /// Whether the process no longer exists, so that its snapshot is not needed.
    package var isStale: Bool
    /// The LMDB transaction of the snapshot; nil if the process is not reading.
    package var transaction: Int?
    /// The number of transactions that were committed since the snapshot.
    ///
    /// Pages that they have freed are not reused as long as the snapshot is held.
    package var lag: Int?
}
