/// A set of small numbers, a bit each: of thousands of endpoints, each may wait for most others.
struct BitSet: Sendable, Hashable {
    private var words: [UInt64]

    /// Creates an empty set for numbers below `bound`.
    init(bound: Int) { words = Array(repeating: 0, count: (bound + 63) / 64) }

    func contains(_ number: Int) -> Bool { words[number >> 6] & (1 << (number & 63)) != 0 }

    mutating func insert(_ number: Int) { words[number >> 6] |= 1 << (number & 63) }

    mutating func remove(_ number: Int) { words[number >> 6] &= ~(1 << (number & 63)) }

    mutating func formUnion(_ other: BitSet) { for index in words.indices { words[index] |= other.words[index] } }

    func isDisjoint(with other: BitSet) -> Bool {
        for index in words.indices where words[index] & other.words[index] != 0 { return false }
        return true
    }

    /// The numbers, in ascending order.
    var numbers: [Int] {
        var result: [Int] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                result.append(index << 6 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
        return result
    }
}
