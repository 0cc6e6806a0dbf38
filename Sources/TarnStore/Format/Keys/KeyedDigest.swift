// Keyed digests of long bytes, to recognise a body that comes again: GMAC (NIST SP 800-38D §3).

import CCrypto

/// A digest of 128 bits with a secret key, at the speed of memory.
///
/// The tags stay in the store, and nobody else sees them. Without the key, bytes with an equal
/// digest cannot be made: for bytes that were chosen without it, the chance is their length in
/// blocks of 16 bytes divided by 2^128. All messages have the same nonce, so a tag must not be
/// given away. For one thread at a time.
package final class KeyedDigest {
    package static let length = 16

    private let context: OpaquePointer
    private static let nonce = [UInt8](repeating: 0, count: 12)

    /// Creates a digest.
    ///
    /// - Parameter secret: the text from which the key is derived.
    /// - Returns: nil without memory, or if libcrypto does not have AES-GCM.
    package init?(secret: String) {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        var secret = secret
        let key = secret.withUTF8 { SHA256.digest(Bytes($0)) }
        self.context = context
        // AES-256: the whole digest is the key.
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, KeyedDigest.nonce) == 1 else { return nil }
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Returns the digest of two texts; nil if libcrypto fails.
    ///
    /// - Parameter about: the shorter one; its length is part of the digest.
    package func digest(of body: Bytes, about: Bytes) -> [UInt8]? {
        words(of: body, about: about).map { words in withUnsafeBytes(of: words) { Array($0) } }
    }

    /// Returns the first 64 bits of the digest.
    package func shortDigest(of body: Bytes, about: Bytes) -> UInt64? { words(of: body, about: about)?.0 }

    private func words(of body: Bytes, about: Bytes) -> (UInt64, UInt64)? {
        guard EVP_EncryptInit_ex(context, nil, nil, nil, KeyedDigest.nonce) == 1 else { return nil }
        // The length first: two texts that are divided elsewhere differ.
        guard withUnsafeBytes(of: UInt64(about.count).littleEndian, { add($0) }), add(about), add(body) else {
            return nil
        }
        var length: Int32 = 0, none: UInt64 = 0, tag: (UInt64, UInt64) = (0, 0)
        let isFinished = withUnsafeMutableBytes(of: &none) {
            EVP_EncryptFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &length) == 1
        }
        let isRead = withUnsafeMutableBytes(of: &tag) {
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(KeyedDigest.length), $0.baseAddress) == 1
        }
        return isFinished && isRead ? tag : nil
    }

    /// Adds authenticated data (NIST SP 800-38D §5.2.1.1: less than 2^61 bytes), in pieces that fit
    /// an `int`.
    private func add(_ bytes: Bytes) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = min(bytes.count - start, 1 << 30)
            var written: Int32 = 0
            let piece = bytes.slice(start..<start + count).baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard EVP_EncryptUpdate(context, nil, &written, piece, Int32(count)) == 1 else { return false }
            start += count
        }
        return true
    }
}
