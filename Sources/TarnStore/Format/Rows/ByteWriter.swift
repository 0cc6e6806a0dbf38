// A growable byte buffer without reference counting, for rows, keys and drafts.
//
// Small functions are inlinable: the importer, in another module, calls them for every value. Every
// write is within the capacity, which `reserve` ensures. The ranges and offsets of callers are
// checked in every build.

internal import Glibc

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

    /// Inverts the bytes from an offset to the end.
    mutating func complement(from start: Int) {
        precondition(start >= 0 && start <= count)
        let bytes = UnsafeMutableRawBufferPointer(start: base + start, count: count - start)
        for index in bytes.indices { bytes[index] = ~bytes[index] }
    }

    /// Appends uninitialised bytes, which the caller must fill.
    @inlinable
    mutating func appendUninitialized(_ additional: Int) -> UnsafeMutableRawBufferPointer {
        precondition(additional >= 0)
        reserve(additional)
        defer { count += additional }
        return UnsafeMutableRawBufferPointer(start: base + count, count: additional)
    }
}
