// Pairs of numbers in one growable buffer.

/// A list of pairs of 32-bit numbers, without reference counting: an array in an object is checked
/// for other owners with every change.
@usableFromInline
struct PairList: ~Copyable {
    @usableFromInline var writer = ByteWriter(capacity: 256)

    init() {}

    @inlinable var count: Int { writer.count / 8 }

    @inlinable var isEmpty: Bool { writer.count == 0 }

    @inlinable
    subscript(_ index: Int) -> (first: UInt32, second: UInt32) {
        precondition(index >= 0 && index < count)
        let pair = UInt64(littleEndian: writer.base.load(fromByteOffset: 8 * index, as: UInt64.self))
        return (UInt32(truncatingIfNeeded: pair), UInt32(truncatingIfNeeded: pair >> 32))
    }

    @inlinable
    mutating func removeAll() { writer.removeAll() }

    @inlinable
    mutating func append(_ first: UInt32, _ second: UInt32) {
        writer.appendLittleEndian(UInt64(first) | UInt64(second) << 32)
    }

    @inlinable
    mutating func replace(_ index: Int, _ first: UInt32, _ second: UInt32) {
        writer.store(UInt64(first) | UInt64(second) << 32, at: 8 * index)
    }

    /// Makes the list one of `count` pairs of zeros.
    mutating func clear(_ count: Int) {
        writer.removeAll()
        let bytes = writer.appendUninitialized(8 * count)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }
}
