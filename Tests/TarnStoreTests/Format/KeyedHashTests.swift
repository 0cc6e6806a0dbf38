// The hash for values that servers choose, against the published algorithm.

import Testing

@testable import TarnStore

@Suite("Keyed hash")
struct KeyedHashTests {
    @Test("the hash of every length is SipHash-1-3")
    func reference() {
        // The reference itself, by the vector of the paper's appendix A, which is of SipHash-2-4.
        let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        #expect(Self.sipHash(Array(0..<15), key, 2, 4) == 0xA129_CA61_49BE_45E5)
        let hasher = KeyedHash(key.0, key.1)
        for count in 0..<80 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            #expect(bytes.withUnsafeBytes { hasher.hash($0) } == Self.sipHash(bytes, key, 1, 3), "\(count) bytes")
        }
    }

    @Test("the secret decides, and so does the kind")
    func secrets() {
        let bytes: [UInt8] = [1, 2, 3]
        func hash(_ hasher: KeyedHash, _ kind: UInt64 = 0) -> UInt64 {
            bytes.withUnsafeBytes { hasher.hash($0, kind: kind) }
        }
        #expect(hash(KeyedHash(1, 2)) != hash(KeyedHash(1, 3)))
        #expect(hash(KeyedHash()) == hash(KeyedHash()))
        #expect(hash(KeyedHash()) != hash(KeyedHash(), 1))
    }

    /// As published, one byte at a time.
    private static func sipHash(_ bytes: [UInt8], _ key: (UInt64, UInt64), _ rounds: Int, _ last: Int) -> UInt64 {
        var v: [UInt64] = [
            key.0 ^ 0x736F_6D65_7073_6575, key.1 ^ 0x646F_7261_6E64_6F6D, key.0 ^ 0x6C79_6765_6E65_7261,
            key.1 ^ 0x7465_6462_7974_6573,
        ]
        func rotated(_ x: UInt64, _ by: UInt64) -> UInt64 { x << by | x >> (64 - by) }
        func round() {
            v[0] &+= v[1]
            v[1] = rotated(v[1], 13)
            v[1] ^= v[0]
            v[0] = rotated(v[0], 32)
            v[2] &+= v[3]
            v[3] = rotated(v[3], 16)
            v[3] ^= v[2]
            v[0] &+= v[3]
            v[3] = rotated(v[3], 21)
            v[3] ^= v[0]
            v[2] &+= v[1]
            v[1] = rotated(v[1], 17)
            v[1] ^= v[2]
            v[2] = rotated(v[2], 32)
        }
        var padded = bytes + Array(repeating: 0, count: 8 - bytes.count % 8)
        padded[padded.count - 1] = UInt8(truncatingIfNeeded: bytes.count)
        for start in stride(from: 0, to: padded.count, by: 8) {
            let word = padded[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            v[3] ^= word
            for _ in 0..<rounds { round() }
            v[0] ^= word
        }
        v[2] ^= 0xFF
        for _ in 0..<last { round() }
        return v[0] ^ v[1] ^ v[2] ^ v[3]
    }
}
