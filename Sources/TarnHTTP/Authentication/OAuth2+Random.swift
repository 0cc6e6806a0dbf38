// Random values and digests of a sign-in (RFC 6749 §10.10, RFC 7636 §4).

import CCrypto

extension OAuth2 {
    /// Returns random bytes of the system's generator.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Returns a random text that a URL can contain, of 256 bits.
    static func randomText() -> Secret { Secret(JSONWebToken.base64URL(random(32))) }

    /// Returns the challenge of a code verifier, by the method S256 (RFC 7636 §4.2).
    static func challenge(of verifier: Secret) -> String {
        JSONWebToken.base64URL(digest(Array(verifier.exposed.utf8)))
    }

    /// Returns the SHA-256 digest of bytes.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        digest.withUnsafeMutableBytes { digest in
            bytes.withUnsafeBytes { tarn_sha256($0.baseAddress, $0.count, digest.baseAddress) }
        }
        return digest
    }
}
