// The integers of a data file, at any alignment. The caller checks the bounds.

extension UnsafeRawPointer {
    @inlinable @inline(__always)
    func u16(at offset: Int) -> UInt16 { UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }

    @inlinable @inline(__always)
    func u32(at offset: Int) -> UInt32 { UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }

    @inlinable @inline(__always)
    func u64(at offset: Int) -> UInt64 { UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
}
