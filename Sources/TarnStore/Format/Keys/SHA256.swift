// SHA-256 from OpenSSL's libcrypto.

import CCrypto

/// SHA-256 digests.
package enum SHA256 {
    /// Returns the digest of a text as hexadecimal digits.
    package static func hexadecimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { digest(Bytes($0)) }.hexadecimal
    }

    static func digest(_ bytes: Bytes) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            _ = CCrypto.SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, buffer.baseAddress)
            count = 32
        }
    }
}
