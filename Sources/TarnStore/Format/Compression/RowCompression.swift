import CZstd

/// The parameters of row compression and of dictionary training.
enum RowCompression {
    /// zstd's level. Measured on rows: level 3 is as fast as level 1, and its output is smaller.
    static let level: Int32 = 3
    /// zstd's level in a rewrite, which is rare and is asked for.
    /// Measured on 10,000 issues: rows of 2.9 MB instead of 3.1, 70 µs a row instead of 5.
    static let rewriteLevel: Int32 = 15
    /// The size below which a body is stored uncompressed.
    static let smallestBody = 256
    /// The size below which a written body is stored uncompressed. `rewrite` uses `smallestBody`.
    /// zstd takes 2–4 µs for a row of any size. For a small row that doubles the cost of storing
    /// it, and saves little more than 200 bytes.
    static let smallestWritten = 512
    /// The size limit of a body. A damaged frame can claim any size.
    static let largestBody = 1 << 30
    /// The number of rows, and of bytes of rows, at which an entity's first dictionary is trained.
    /// Either suffices.
    static let rowsToTrain = 1000
    static let bytesToTrain = 1 << 20
    /// The number of rows, and of bytes of them, that suffice together if the rows are written
    /// beside others that suffice by themselves, such as authors beside what they have written:
    /// there are few of them, and a mirror would store all of them uncompressed.
    static let rowsToTrainBesideOthers = 250
    static let bytesToTrainBesideOthers = 1 << 18
    /// The largest size of a training sample, in bytes.
    static let sampleBytes = 6 << 20
    /// The segment length of a quick training, in bytes.
    /// The parts of rows that repeat are short: names and beginnings of URLs.
    static let segment: UInt32 = 200
    static let largestDictionary = 64 << 10
}
