// The compact serialization of a signed token (RFC 7515 §7.1). Signatures are OpenSSL's.

import CCrypto
import Foundation

extension JSONWebToken {
    /// The clock of the server may be behind this one by so much.
    static let clockTolerance = 30.0

    /// Returns a token that is valid now, and the end of its validity.
    ///
    /// - Parameters:
    ///   - secrets: the secrets of ``sources``.
    ///   - defaults: claims that the token has unless the settings declare them.
    /// - Throws: `SecretError` if the key does not fit the algorithm. It does not repeat the key.
    func signed(
        _ secrets: [Secret], now: Date, defaults: [JSONBody.Member] = []
    ) throws(SecretError) -> (token: Secret, endsAt: Date) {
        var (header, claims) = parts(secrets)
        let text = secrets.first?.exposed ?? "", account = JSONWebToken.account(ofKey: text)
        func add(_ name: String, _ value: JSONBody, to object: inout JSONBody) {
            if object[[name]] == nil { object[[name]] = value }
        }
        add("typ", .string("JWT"), to: &header)
        header[["alg"]] = .string(algorithm.rawValue)
        if let account {
            if let keyID = account.keyID { add("kid", .string(keyID), to: &header) }
            add("iss", .string(account.email), to: &claims)
        }
        for claim in defaults { add(claim.key, claim.value, to: &claims) }
        let issuedAt = (now.timeIntervalSince1970 - JSONWebToken.clockTolerance).rounded(.down)
        let expiresAt = issuedAt + lifetime.inSeconds.rounded(.up)
        func date(_ seconds: Double) -> JSONBody { .number(String(Int64(min(max(seconds, 0), 1e12)))) }
        add("iat", date(issuedAt), to: &claims)
        add("exp", date(expiresAt), to: &claims)
        let content = [header, claims].map { JSONWebToken.base64URL(Array($0.text.utf8)) }.joined(separator: ".")
        let passphrase = self.passphrase == nil || secrets.count < 2 ? nil : secrets[1].exposed
        let signature = try sign(Array(content.utf8), account?.key ?? text, passphrase)
        return (Secret(content + "." + JSONWebToken.base64URL(signature)), Date(timeIntervalSince1970: expiresAt))
    }

    /// Returns the text of bytes (RFC 4648 §5), without padding.
    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    // MARK: Signatures

    func sign(_ bytes: [UInt8], _ key: String, _ passphrase: String?) throws(SecretError) -> [UInt8] {
        let digest = "SHA" + algorithm.rawValue.suffix(3)
        guard !algorithm.isShared else { return try code(of: bytes, key, digest) }
        let kind: Int32, bits: Int32
        switch algorithm {
        case .es256: (kind, bits) = (3, 256)
        case .es384: (kind, bits) = (3, 384)
        case .edDSA: (kind, bits) = (4, 0)
        case .ps256, .ps384, .ps512: (kind, bits) = (2, 0)
        default: (kind, bits) = (1, 0)
        }
        var signature = [UInt8](repeating: 0, count: 2048), key = key
        let length = key.withUTF8 { key in
            tarn_sign(
                key.baseAddress, key.count, passphrase, kind, algorithm == .edDSA ? nil : digest, bits, bytes,
                bytes.count, &signature, signature.count)
        }
        guard length > 0 else { throw SecretError(self.key, problem(ofSigning: length)) }
        return Array(signature.prefix(length))
    }

    private func problem(ofSigning result: Int) -> String {
        switch result {
        case -1:
            passphrase == nil
                ? "has no private key in PEM (-----BEGIN PRIVATE KEY-----), or an encrypted one, which needs a "
                    + "passphrase"
                : "has no private key in PEM that this passphrase opens"
        case -2: "has a key of another kind than \(algorithm.rawValue) needs: write its algorithm"
        default: "has a key that cannot sign with \(algorithm.rawValue)"
        }
    }

    /// Returns the code of HMAC.
    private func code(of bytes: [UInt8], _ key: String, _ digest: String) throws(SecretError) -> [UInt8] {
        guard let secret = keyForm.bytes(of: key), !secret.isEmpty else {
            throw SecretError(self.key, "has a key that is not \(keyForm.rawValue), its key_form")
        }
        var code = [UInt8](repeating: 0, count: 64)
        let length = tarn_hmac(digest, secret, secret.count, bytes, bytes.count, &code)
        guard length > 0 else { throw SecretError(self.key, "has a key that cannot sign with \(algorithm.rawValue)") }
        return Array(code.prefix(length))
    }
}

extension JSONWebToken.KeyForm {
    /// Returns the bytes of a key; nil if it does not have the form.
    func bytes(of key: String) -> [UInt8]? {
        switch self {
        case .text: return Array(key.utf8)
        case .base64:
            let plain = key.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
            let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
            return Data(base64Encoded: plain + padding).map(Array.init)
        case .hex:
            let digits = Array(key.utf8)
            guard digits.count.isMultiple(of: 2) else { return nil }
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard digits[index] != UInt8(ascii: "+"),
                    let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(byte)
            }
            return bytes
        }
    }
}
