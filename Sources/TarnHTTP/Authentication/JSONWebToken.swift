// JSON Web Tokens (RFC 7519) that the client signs itself.

import Foundation

/// The settings of a token that is signed with a key of the client.
public struct JSONWebToken: Sendable, Hashable {
    /// The algorithm of the signature (RFC 7518 §3.1, RFC 8037).
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// HMAC with a secret of both sides.
        case hs256 = "HS256", hs384 = "HS384", hs512 = "HS512"
        /// RSASSA-PKCS1-v1_5.
        case rs256 = "RS256", rs384 = "RS384", rs512 = "RS512"
        /// RSASSA-PSS.
        case ps256 = "PS256", ps384 = "PS384", ps512 = "PS512"
        /// ECDSA with the curves P-256 and P-384.
        case es256 = "ES256", es384 = "ES384"
        /// Ed25519.
        case edDSA = "EdDSA"

        /// Whether the key is a text that the server knows, too.
        package var isShared: Bool { rawValue.hasPrefix("HS") }
    }

    /// The form of a shared key.
    public enum KeyForm: String, Sendable, Hashable, CaseIterable {
        case text, hex, base64
    }

    /// The algorithm of the signature.
    var algorithm: Algorithm
    /// The private key in PEM, the JSON file of a Google service account, or a shared key.
    var key: SecretSource
    /// The form of a shared key.
    var keyForm: KeyForm
    /// The passphrase of an encrypted private key.
    var passphrase: SecretSource?
    /// Members of the header besides `alg` and `typ`, such as `kid`.
    var header: [String: SecretValue]
    /// The claims besides `iat` and `exp`.
    var claims: [String: SecretValue]
    /// The time from `iat` to `exp`.
    var lifetime: Duration
    /// The place of the token in requests.
    var place: Authentication.APIKeyPlace

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - header: members of the header besides `alg` and `typ`, such as `kid`.
    ///   - claims: the claims besides `iat` and `exp`.
    ///   - place: the place of the token in requests, unless another server takes it.
    public init(
        _ algorithm: Algorithm, key: SecretSource, keyForm: KeyForm = .text, passphrase: SecretSource? = nil,
        header: [String: SecretValue] = [:], claims: [String: SecretValue] = [:], lifetime: Duration = .seconds(300),
        place: Authentication.APIKeyPlace = .header("Authorization", prefix: "Bearer ")
    ) {
        self.algorithm = algorithm
        self.key = key
        self.keyForm = keyForm
        self.passphrase = passphrase
        self.header = header
        self.claims = claims
        self.lifetime = lifetime
        self.place = place
    }

    /// The key, its passphrase, and the secrets of the header and the claims.
    var sources: [SecretSource] {
        [key] + [passphrase].compactMap(\.self) + SecretValue.object(header).sources
            + SecretValue.object(claims).sources
    }

    /// The keys of several lines.
    var keySources: Set<SecretSource> { algorithm.isShared ? [] : [key] }

    /// The header and the claims with their secrets.
    ///
    /// - Parameter secrets: the secrets of ``sources``.
    func parts(_ secrets: [Secret]) -> (header: JSONBody, claims: JSONBody) {
        var rest = secrets.dropFirst(passphrase == nil ? 1 : 2)
        let header = SecretValue.object(header).filled(&rest)
        return (header, SecretValue.object(claims).filled(&rest))
    }

    /// Returns a text that is unique to the account that the token names. It stays if the key is
    /// replaced, unless nothing else distinguishes accounts.
    ///
    /// - Parameter names: the texts that distinguish the secrets of ``sources``.
    func identity(of names: [String]) -> String {
        let (header, claims) = parts(names.map(Secret.init)), key = names.first ?? ""
        let account = JSONWebToken.account(ofKey: key)
        let isNamed = account != nil || claims[["iss"]] != nil || claims[["sub"]] != nil || header[["kid"]] != nil
        return [isNamed ? account?.email ?? "" : key, header.text, claims.text].joined(separator: "\n")
    }

    /// The file of a service account: Google's form of a key.
    struct ServiceAccount {
        var email: String
        var keyID: String?
        var key: String
    }

    /// Returns the service account that a text is the file of; nil for any other key.
    static func account(ofKey text: String) -> ServiceAccount? {
        guard text.utf8.first == UInt8(ascii: "{"), let object = JSONBody(parsing: text),
            let key = object.text(of: "private_key"), let email = object.text(of: "client_email")
        else { return nil }
        return ServiceAccount(email: email, keyID: object.text(of: "private_key_id"), key: key)
    }
}

extension Authentication.APIKeyPlace {
    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    package static let bearer = Self.header("Authorization", prefix: "Bearer ")
}
