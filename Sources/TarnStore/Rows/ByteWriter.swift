// A growable byte buffer without reference counting: what rows, keys and drafts are written into.

import Glibc

/// Bytes that are lent: valid as long as their owner neither changes nor goes.
package typealias Bytes = UnsafeRawBufferPointer

package struct ByteWriter: ~Copyable {
    @usableFromInline package private(set) var base: UnsafeMutableRawPointer
    @usableFromInline package private(set) var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// What was written. Valid until the next change.
    package var bytes: Bytes { Bytes(start: base, count: count) }

    package func bytes(_ range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return Bytes(start: base + range.lowerBound, count: range.count)
    }

    package mutating func removeAll() { count = 0 }

    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        self.count = count
    }

    package mutating func reserve(_ additional: Int) {
        if count + additional > capacity { grow(additional) }
    }

    private mutating func grow(_ additional: Int) {
        let larger = max(capacity * 2, count + additional)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        new.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = new
        capacity = larger
    }

    package mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    package mutating func append(_ bytes: Bytes) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(Bytes($0)) }
    }

    package mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Little-endian, as everything in a row is.
    package mutating func appendLittleEndian<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    /// Big-endian, as everything in a key is.
    package mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    /// Overwrites a little-endian integer that was written before.
    package mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }

    /// Hands over the room for that many bytes, which the caller fills.
    package mutating func appendUninitialized(_ additional: Int) -> UnsafeMutableRawBufferPointer {
        reserve(additional)
        defer { count += additional }
        return UnsafeMutableRawBufferPointer(start: base + count, count: additional)
    }
}

extension Bytes {
    /// A little-endian integer. The caller has checked the bounds; they are checked again.
    @inline(__always)
    package func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
        T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    @inline(__always)
    package func slice(_ range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }

    /// Byte order: as liblmdb compares keys (`mdb_cmp_memn`).
    package static func compare(_ a: Bytes, _ b: Bytes) -> Int {
        let common = Swift.min(a.count, b.count)
        if common > 0, let x = a.baseAddress, let y = b.baseAddress {
            let order = memcmp(x, y, common)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    package static func equal(_ a: Bytes, _ b: Bytes) -> Bool {
        guard a.count == b.count else { return false }
        guard a.count > 0, let x = a.baseAddress, let y = b.baseAddress else { return true }
        return memcmp(x, y, a.count) == 0
    }

    package func hasPrefix(_ prefix: Bytes) -> Bool {
        count >= prefix.count && Bytes.equal(slice(0..<prefix.count), prefix)
    }
}
