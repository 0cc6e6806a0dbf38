// Borrowed bytes: rows, keys and the values in them, read where they are stored.
//
// They are a raw buffer and not a span: a value is located and compared in a few nanoseconds, views
// of rows are stored in arrays and passed to C, and a span can be neither. The compiler does not
// know how long they are valid: until their owner changes, or the transaction ends.
//
// In release builds the standard library checks no access to a raw buffer. Therefore:
//
// - `load`, `loadBigEndian` and `slice` check the bounds in every build. A decoder of bytes that
//   may be damaged compares with `count` before, and reports the damage: the check is the last
//   guard.
// - `uncheckedLoad` and `uncheckedSlice` are for loops over bytes whose bounds were checked once,
//   or that the transaction itself has written. The place of each call states which.
// - Single bytes are read by subscript, after a comparison with `count`.

public import Glibc

/// Borrowed bytes: valid until their owner changes or is destroyed.
@usableFromInline package typealias Bytes = UnsafeRawBufferPointer

extension Bytes {
    package static var empty: Bytes { Bytes(start: nil, count: 0) }

    /// Reads a little-endian integer, as in rows. The bounds are checked in every build.
    @inlinable @inline(__always)
    package func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
        precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "beyond the bytes")
        return uncheckedLoad(offset, type)
    }

    /// Reads a big-endian integer, as in keys. The bounds are checked in every build.
    @inlinable @inline(__always)
    package func loadBigEndian<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
        precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size, "beyond the bytes")
        return T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// Returns a part of the bytes. The bounds are checked in every build.
    @inlinable @inline(__always)
    package func slice(_ range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "beyond the bytes")
        return uncheckedSlice(range)
    }

    /// Reads a little-endian integer whose bounds the caller has checked.
    @inlinable @inline(__always)
    package func uncheckedLoad<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
        T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// Returns a part of the bytes whose bounds the caller has checked.
    @inlinable @inline(__always)
    package func uncheckedSlice(_ range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }

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
