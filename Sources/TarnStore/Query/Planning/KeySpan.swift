internal import LMDB

/// Keys of a table from one on, up to another.
struct KeySpan: Hashable {
    /// Included; empty for the beginning.
    var lower: [UInt8] = []
    /// Excluded; nil for the end.
    var upper: [UInt8]?

    static let everything = KeySpan()
}
