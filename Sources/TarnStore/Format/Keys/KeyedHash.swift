// A keyed hash for in-memory tables whose keys a server chooses: SipHash-1-3 (Aumasson, Bernstein:
// "SipHash: a fast short-input PRF").
//
// Each process has a random secret. Colliding keys cannot be found without it, so no response can
// make a table degenerate into a list. Swift's `Hasher` is the same function, but its buffer makes
// it slow for short keys.

/// SipHash-1-3 with a 128-bit secret.
@usableFromInline package struct KeyedHash: Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    /// Creates a hash with the secret of this process.
    package init() { self = KeyedHash.ofProcess }

    /// Creates a hash with the given secret, for the published test vectors.
    init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    private static let ofProcess: KeyedHash = {
        var random = SystemRandomNumberGenerator()
        return KeyedHash(random.next(), random.next())
    }()

    /// Hashes a key of one of several kinds. The caller chooses `kind`, never a server.
    @inlinable @inline(__always)
    package func hash(_ bytes: Bytes, kind: UInt64) -> UInt64 { hash(bytes) ^ kind &* 0x9E37_79B9_7F4A_7C15 }

    @inlinable @inline(__always)
    package func hash(_ bytes: Bytes) -> UInt64 {
        var a = first ^ 0x736F_6D65_7073_6575, b = second ^ 0x646F_7261_6E64_6F6D
        var c = first ^ 0x6C79_6765_6E65_7261, d = second ^ 0x7465_6462_7974_6573
        var offset = 0
        while offset &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            d ^= word
            KeyedHash.round(&a, &b, &c, &d)
            a ^= word
            offset &+= 8
        }
        let last = KeyedHash.tail(bytes, from: offset) | UInt64(truncatingIfNeeded: bytes.count) << 56
        d ^= last
        KeyedHash.round(&a, &b, &c, &d)
        a ^= last
        c ^= 0xFF
        KeyedHash.round(&a, &b, &c, &d)
        KeyedHash.round(&a, &b, &c, &d)
        KeyedHash.round(&a, &b, &c, &d)
        return a ^ b ^ c ^ d
    }

    /// Returns the bytes after the last whole word, at most seven, as a little-endian number.
    @inlinable @inline(__always)
    static func tail(_ bytes: Bytes, from offset: Int) -> UInt64 {
        let rest = bytes.count &- offset
        if offset > 0 {
            // Loads the last eight bytes, and shifts out those that are hashed already.
            if rest == 0 { return 0 }
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
            return word >> UInt64(truncatingIfNeeded: 64 &- rest &* 8)
        }
        if rest >= 4 {
            let low = UInt64(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            let high = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest &- 4, as: UInt32.self)))
            return low | high << UInt64(truncatingIfNeeded: (rest &- 4) &* 8)
        }
        if rest == 0 { return 0 }
        return UInt64(bytes[0]) | UInt64(bytes[rest >> 1]) << UInt64(truncatingIfNeeded: (rest >> 1) &* 8)
            | UInt64(bytes[rest &- 1]) << UInt64(truncatingIfNeeded: (rest &- 1) &* 8)
    }

    @inlinable @inline(__always)
    static func round(_ a: inout UInt64, _ b: inout UInt64, _ c: inout UInt64, _ d: inout UInt64) {
        a = a &+ b
        b = (b &<< 13 | b &>> 51) ^ a
        a = a &<< 32 | a &>> 32
        c = c &+ d
        d = (d &<< 16 | d &>> 48) ^ c
        a = a &+ d
        d = (d &<< 21 | d &>> 43) ^ a
        c = c &+ b
        b = (b &<< 17 | b &>> 47) ^ c
        c = c &<< 32 | c &>> 32
    }
}
