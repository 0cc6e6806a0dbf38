// A growable byte buffer without reference counting, for rows, keys and drafts.
//
// Small functions are inlinable: the importer, in another module, calls them for every value.

public import Glibc

/// Borrowed bytes: valid until their owner changes or is destroyed.
@usableFromInline package typealias Bytes = UnsafeRawBufferPointer

/// A growable byte buffer without reference counting.
@usableFromInline package struct ByteWriter: ~Copyable {
    /// Allocated by malloc.
    /// With realloc, a large buffer grows by remapping its pages instead of copying them.
    @usableFromInline package internal(set) var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline package internal(set) var count = 0

    package init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = ByteWriter.allocated(malloc(self.capacity))
    }

    deinit { free(base) }

    /// Traps if there is no memory, as the standard library's own allocation does.
    private static func allocated(_ base: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        guard let base else { preconditionFailure("out of memory") }
        return base
    }

    /// The written bytes. Valid until the next change.
    @inlinable
    package var bytes: Bytes { Bytes(start: base, count: count) }

    @inlinable
    package func bytes(_ range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return Bytes(start: base + range.lowerBound, count: range.count)
    }

    @inlinable
    package mutating func removeAll() { count = 0 }

    @inlinable
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        self.count = count
    }

    @inlinable
    mutating func reserve(_ additional: Int) {
        if count + additional > capacity { grow(additional) }
    }

    @usableFromInline
    mutating func grow(_ additional: Int) {
        let larger = max(capacity * 2, count + additional)
        base = ByteWriter.allocated(realloc(base, larger))
        capacity = larger
    }

    @inlinable
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inlinable
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

    /// Appends a little-endian integer: rows are little-endian.
    @inlinable
    package mutating func appendLittleEndian<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    /// Appends a big-endian integer: keys are big-endian.
    @inlinable
    package mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    /// Overwrites a little-endian integer at an offset.
    @inlinable
    package mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }

    /// Appends uninitialised bytes, which the caller must fill.
    @inlinable
    mutating func appendUninitialized(_ additional: Int) -> UnsafeMutableRawBufferPointer {
        reserve(additional)
        defer { count += additional }
        return UnsafeMutableRawBufferPointer(start: base + count, count: additional)
    }
}

extension Bytes {
    /// Reads a little-endian integer.
    /// The bounds are checked, even if the caller has checked them before.
    @inlinable @inline(__always)
    package func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
        T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    @inlinable @inline(__always)
    package func slice(_ range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }

    /// Compares bytes in the order of keys in liblmdb (`mdb_cmp_memn`).
    @inlinable
    package static func compare(_ a: Bytes, _ b: Bytes) -> Int {
        let common = Swift.min(a.count, b.count)
        if common > 0, let x = a.baseAddress, let y = b.baseAddress {
            let order = memcmp(x, y, common)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    /// The first eight bytes as a number that sorts as they do.
    /// Missing bytes count as 0, so equal numbers do not imply equal bytes.
    @inlinable
    package var prefix64: UInt64 {
        if count >= 8 { return UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for index in 0..<8 { prefix = prefix << 8 | UInt64(index < count ? self[index] : 0) }
        return prefix
    }

    @inlinable
    package static func equal(_ a: Bytes, _ b: Bytes) -> Bool {
        guard a.count == b.count else { return false }
        guard a.count > 0, let x = a.baseAddress, let y = b.baseAddress else { return true }
        return memcmp(x, y, a.count) == 0
    }

    @inlinable
    func hasPrefix(_ prefix: Bytes) -> Bool {
        count >= prefix.count && Bytes.equal(slice(0..<prefix.count), prefix)
    }
}
