// Secrets that a request has without the help of the authentication: in header fields and query
// parameters of a description or a program, and in signatures. Pure.

import Foundation

/// The values of a request under names of secrets. Servers repeat them in refusals.
enum CarriedSecrets {
    /// Whether a request may carry a secret in a header field.
    static func isField(_ name: String) -> Bool { CacheRules.isCredential(name) || Redaction.isSecret(name) }

    /// Whether a request carries anything under the name of a secret.
    static func isIn(_ request: TransportRequest) -> Bool {
        request.headers.fields.contains { isField($0.name) } || !parameters(of: request.url).isEmpty
    }

    /// Returns the values of a request under names of secrets, in all parts that a server may
    /// repeat alone.
    static func of(_ request: TransportRequest) -> [String] {
        request.headers.fields.filter { isField($0.name) }.flatMap { values(of: $0.value) }
            + parameters(of: request.url)
    }

    /// The values of query parameters with secret names.
    private static func parameters(of url: String) -> [String] {
        QueryParameters.values(in: url).filter { Redaction.isSecret($0.name, value: $0.value) }.map(\.value)
    }

    /// Returns the value of a field without its scheme, the parts of it, such as the values of
    /// cookies and of a signature, and the password of the Basic scheme.
    private static func values(of field: String) -> [String] {
        var rest = field[...]
        if let space = field.firstIndex(of: " "), !field[..<space].contains(where: { "=,;:".contains($0) }) {
            rest = field[space...].drop { $0 == " " }
            if field[..<space].lowercased() == "basic", let data = Data(base64Encoded: String(rest)),
                let pair = String(validating: data, as: UTF8.self), let colon = pair.firstIndex(of: ":")
            {
                return [String(rest), String(pair[colon...].dropFirst())]
            }
        }
        let parts = rest.split { " ,;".contains($0) }.flatMap { part -> [Substring] in
            [part] + [part.firstIndex(of: "=").map { part[$0...].dropFirst() }].compactMap(\.self)
        }
        return ([rest] + parts).map { part in
            let isQuoted = part.count >= 2 && part.first == "\"" && part.last == "\""
            return String(isQuoted ? part.dropFirst().dropLast() : part)
        }
    }
}
