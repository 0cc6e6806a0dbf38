// What must not be read in an error message, a log or a report: secrets inside URLs. Pure.

public enum Redaction {
    /// Compared in lower case, without `-` and `_`.
    private static let secretNames: Set<String> = [
        "token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "privatetoken", "jobtoken", "bearertoken",
        "key", "apikey", "accesskey", "subscriptionkey", "appkey", "apptoken", "apitoken", "secret", "clientsecret",
        "appsecret", "apisecret", "password", "passwd", "pwd", "pass", "passphrase", "auth", "authorization",
        "signature", "sig", "xamzsignature", "xamzsecuritytoken", "xgoogsignature", "jwt", "session", "sessionid",
        "credential", "credentials",
    ]

    /// The URL with `***` for the values of query parameters that are secrets by their name, and for userinfo.
    ///
    /// Everything else keeps its bytes. Works on any text: what is not a URL has nothing to hide here.
    ///
    /// - Parameter others: names of query parameters that are secrets too.
    public static func url(_ text: String, hiding others: Set<String> = []) -> String {
        var reference = URLReference(text)
        if let authority = reference.authority, let at = authority.lastIndex(of: "@") {
            reference.authority = "***" + authority[at...]
        }
        reference.query = reference.query.map { parameters($0, others) }
        // An implicit grant puts its token into the fragment (RFC 6749 §4.2.2).
        reference.fragment = reference.fragment.map { parameters($0, others) }
        return reference.description
    }

    /// The same for messages: no more of it than a reader can use.
    package static func shown(_ text: String) -> String { url(text).excerpt }

    private static func parameters(_ query: String, _ others: Set<String>) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { part in
            guard let equals = part.firstIndex(of: "="), isSecret(QueryParameters.name(of: part), others) else {
                return String(part)
            }
            return part[...equals] + "***"
        }.joined(separator: "&")
    }

    /// A text with URLs in angle brackets, such as a `Link` field.
    static func links(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var output = "", rest = text[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            output += rest[...open] + url(String(rest[rest.index(after: open)..<close]))
            rest = rest[close...]
        }
        return output + rest
    }

    static func isSecret(_ name: String) -> Bool { isSecret(name, []) }

    private static func isSecret(_ name: String, _ others: Set<String>) -> Bool {
        others.contains(name) || secretNames.contains(name.lowercased().filter { $0 != "-" && $0 != "_" })
    }
}

extension String {
    /// The beginning of a text that a server has chosen, for messages: at most 500 scalars, and `…` if that is not all.
    package var excerpt: String {
        guard utf8.count > 500, let end = unicodeScalars.index(startIndex, offsetBy: 500, limitedBy: endIndex), end < endIndex else { return self }
        return String(unicodeScalars[..<end]) + "…"
    }
}
