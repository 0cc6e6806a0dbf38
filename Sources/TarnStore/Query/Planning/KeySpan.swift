/// A range of keys of a table.
struct KeySpan: Hashable {
    /// The inclusive lower bound; empty for the beginning.
    var lower: [UInt8] = []
    /// The exclusive upper bound; nil for the end.
    var upper: [UInt8]?

    static let everything = KeySpan()
}
