// SHA-256 from OpenSSL's libcrypto.

import CCrypto

/// SHA-256 digests.
package enum SHA256 {
    /// Returns the digest of a text as hexadecimal digits.
    package static func hexadecimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { digest(Bytes($0)) }.hexadecimal
    }

    /// Returns the first 16 hexadecimal digits of the digest of a text.
    package static func shortHexadecimal(_ text: String) -> String { String(hexadecimal(text).prefix(16)) }

    /// Returns the first eight bytes of the digest, as a number.
    package static func prefix(of bytes: Bytes) -> UInt64 {
        digest(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    static func digest(_ bytes: Bytes) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            digest(bytes, into: UnsafeMutableRawBufferPointer(buffer))
            count = length
        }
    }

    /// Writes the digest to memory of at least ``length`` bytes.
    static func digest(_ bytes: Bytes, into memory: UnsafeMutableRawBufferPointer) {
        precondition(memory.count >= length)
        tarn_sha256(bytes.baseAddress, bytes.count, memory.baseAddress)
    }

    /// The length of a digest in bytes.
    static let length = 32
}
