internal import LMDB

/// The result of a compaction.
public struct CompactionReport: Sendable, Hashable {
    /// The size of the file before, in bytes.
    public var bytesBefore: Int
    /// The size of the file after, in bytes.
    public var bytesAfter: Int
}
