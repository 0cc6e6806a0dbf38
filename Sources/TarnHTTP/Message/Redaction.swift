// Removal of secrets in URLs from error messages, logs and reports. Pure.

/// Redaction of secrets in URLs.
package enum Redaction {
    /// Names of secret parameters, in lower case and without `-` and `_`.
    private static let secretNames: Set<String> = [
        "token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "privatetoken", "jobtoken", "bearertoken",
        "key", "apikey", "accesskey", "subscriptionkey", "appkey", "apptoken", "apitoken", "secret", "clientsecret",
        "appsecret", "apisecret", "password", "passwd", "pwd", "pass", "passphrase", "auth", "authorization",
        "signature", "sig", "xamzsignature", "xgoogsignature", "oauthsignature", "xamzcredential", "xgoogcredential",
        "jwt", "session", "sessionid",
        "credential", "credentials", "appid", "userkey", "pat", "bearer", "awsaccesskeyid",
        "privatekey", "logintoken", "sid", "accesscode", "passcode",
    ]
    /// Ends of such names that no ordinary parameter has: `x-api-key`, `hapikey`, `user_password`.
    private static let secretEnds = [
        "apikey", "accesskey", "secretkey", "subscriptionkey", "accesstoken", "authtoken", "securitytoken", "password",
        "privatekey", "passphrase", "passcode", "accesscode", "logintoken",
    ]
    /// Names that are ordinary with a short value, and secret with a long one: `code` of Azure.
    private static let doubtfulNames: Set<String> = ["code"]
    private static let longValue = 12

    /// Returns the URL with `***` in place of userinfo and of the values of secret parameters.
    ///
    /// Parameters of the query and of the fragment are secret by their names. All other bytes are
    /// kept. A text that is not a URL is treated in the same way.
    ///
    /// - Parameter others: names of additional secret parameters.
    package static func url(_ text: String, hiding others: Set<String> = []) -> String {
        // Nearly all URLs have nothing to hide.
        guard
            text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
        else { return text }
        var reference = URLReference(text)
        // A `/`, `?` or `#` in a password ends the authority too early: no port is left there.
        if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), let authority = reference.authority,
            !authority.contains("@"),
            let port = authority.split(separator: ":", omittingEmptySubsequences: false).dropFirst().last,
            !authority.contains("]"), !port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        {
            return (reference.scheme.map { $0 + "://" } ?? "//") + "***" + url(String(text[at...]), hiding: others)
        }
        if let authority = reference.authority, let at = authority.lastIndex(of: "@") {
            reference.authority = "***" + authority[at...]
        }
        reference.query = reference.query.map { parameters($0, others) }
        // An implicit grant puts its token into the fragment (RFC 6749 §4.2.2).
        reference.fragment = reference.fragment.map { parameters($0, others) }
        return reference.description
    }

    /// Returns a redacted URL for messages, cut to its beginning.
    package static func shown(_ text: String) -> String { url(text).excerpt }

    private static func parameters(_ query: String, _ others: Set<String>) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { part in
            guard let equals = part.firstIndex(of: "=") else { return String(part) }
            let name = QueryParameters.name(of: part)
            let isSecret = others.contains(name) || isSecret(name, value: part[equals...].dropFirst())
            return isSecret ? part[...equals] + "***" : String(part)
        }.joined(separator: "&")
    }

    /// Returns a text, such as a `Link` field, with the URLs in angle brackets redacted.
    static func links(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var output = "", rest = text[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            output += rest[...open] + url(String(rest[rest.index(after: open)..<close]))
            rest = rest[close...]
        }
        return output + rest
    }

    /// Returns whether a parameter is secret by its name.
    package static func isSecret(_ name: String) -> Bool {
        let name = plain(name)
        return secretNames.contains(name) || secretEnds.contains { name.hasSuffix($0) }
    }

    /// Returns whether a parameter is secret by its name, or by its name and a long value.
    package static func isSecret(_ name: String, value: some StringProtocol) -> Bool {
        isSecret(name) || value.utf8.count >= longValue && doubtfulNames.contains(plain(name))
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
}

extension String {
    /// The beginning of a server's text for messages: at most 500 scalars, with `…` if it was cut.
    package var excerpt: String {
        guard utf8.count > 500, let end = unicodeScalars.index(startIndex, offsetBy: 500, limitedBy: endIndex),
            end < endIndex
        else { return self }
        return String(unicodeScalars[..<end]) + "…"
    }
}
