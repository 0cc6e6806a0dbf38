/// The result of a backup.
public struct BackupReport: Sendable, Hashable {
    /// The size of the copy's data file, in bytes.
    public var bytes: Int
    /// The commit sequence of the copy.
    public var sequence: UInt64
    /// The incarnation of the copy, which differs from the original's.
    public var incarnation: String
}
