/// The digest that distinguishes request bodies in recordings: 64-bit FNV-1a. Not for secrets.
package enum BodyDigest {
    /// Returns the digest of a body as 16 hexadecimal digits.
    package static func text(_ body: [UInt8]) -> String {
        let hash = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
