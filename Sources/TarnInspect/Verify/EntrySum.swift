// Two sets of entries are compared without being held: by how many they are, and by the sum of what is hashed of each.

import TarnStore

/// What stands for a set of entries, in whatever order they come. Two different sets have the same with a probability of 2⁻⁶⁴: the
/// hash has a secret that is new with every process.
struct EntrySum: Equatable {
    private(set) var count = 0
    private var sum: UInt64 = 0

    mutating func add(_ key: Bytes, _ value: Bytes = .empty) {
        var hasher = Hasher()
        hasher.combine(key.count)
        hasher.combine(bytes: key)
        hasher.combine(bytes: value)
        count += 1
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
