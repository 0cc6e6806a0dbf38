internal import LMDB

/// What a copy has come to.
public struct BackupReport: Sendable, Hashable {
    /// The size of the copy's data file.
    public var bytes: Int
    /// The commit that the copy is of.
    public var sequence: UInt64
    /// What distinguishes the copy from the store that it was made of.
    public var incarnation: String
}
