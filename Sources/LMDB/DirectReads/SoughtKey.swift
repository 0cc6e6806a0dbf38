import CLMDB

/// A key to look up. Its first bytes are compared as one number; most keys differ there.
struct SoughtKey {
    let bytes: UnsafeRawBufferPointer
    let beginning: UInt64

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        var beginning: UInt64 = 0
        if bytes.count >= 8 {
            beginning = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        } else {
            for byte in bytes { beginning = beginning << 8 | UInt64(byte) }
            beginning <<= UInt64(8 * (8 - bytes.count))
        }
        self.beginning = beginning
    }

    /// Returns whether a key with the same beginning is this one.
    @inline(__always)
    func isSame(as key: UnsafeRawBufferPointer) -> Bool {
        key.count == bytes.count && (key.count <= 8 || tarn_memcmp(key.baseAddress, bytes.baseAddress, key.count) == 0)
    }
}
