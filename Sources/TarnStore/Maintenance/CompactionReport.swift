/// The result of a compaction.
package struct CompactionReport: Sendable, Hashable {
    /// The size of the file before, in bytes.
    package var bytesBefore: Int
    /// The size of the file after, in bytes.
    package var bytesAfter: Int
    /// The number of rows with a wrong checksum, which were copied as they are.
    package var damagedRows = 0
}
