internal import LMDB

/// What compacting has come to.
public struct CompactionReport: Sendable, Hashable {
    /// The file's size before.
    public var bytesBefore: Int
    /// The file's size now.
    public var bytesAfter: Int
}
