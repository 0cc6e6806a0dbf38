import CZstd
internal import LMDB

package enum RowCompression {
    /// zstd's level: 3 costs what 1 costs here, and is smaller.
    static let level: Int32 = 3
    /// Shorter bodies are stored as they are.
    static let smallestBody = 256
    /// So are these as long as they are not rewritten: zstd takes two to four microseconds for a row, whatever its size, which
    /// is twice of what storing a small one takes, to save little more than 200 bytes. `rewrite` has the time.
    static let smallestWritten = 512
    /// A damaged frame could claim any size; no body is longer.
    static let largestBody = 1 << 30
    /// When an entity has that many rows, or that many bytes of them, its first dictionary is trained.
    static let rowsToTrain = 1000
    static let bytesToTrain = 1 << 20
    /// What is read for training.
    static let sampleBytes = 6 << 20
    /// How long the pieces are that a quick training puts together. Parts of a row that repeat are names and beginnings of addresses.
    static let segment: UInt32 = 200
    static let largestDictionary = 64 << 10
}
