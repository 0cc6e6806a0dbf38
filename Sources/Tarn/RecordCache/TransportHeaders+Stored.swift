import Foundation
import TarnHTTP

extension TransportHeaders {
    /// The fields of a response as they are stored for the requested URL.
    ///
    /// A response after redirects belongs to another URL (RFC 9111 §2), and the lifetime of the
    /// redirect is unknown here: it is never fresh. What restricts its use stays.
    init(stored response: TransportResponse) {
        self = response.headers
        guard response.redirectedTo != nil else { return }
        self["Expires"] = nil
        var directives = ["max-age=0"]
        for directive in response.headers.all("Cache-Control").flatMap(TransportHeaders.members) {
            let name = directive.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased()
            switch name {
            // The lifetime, and the permission to answer other users, are those of the other URL.
            case "max-age", "stale-while-revalidate", "immutable", "public": break
            // RFC 9111 §5.2.2.10: it forbids a shared cache to use the response stale.
            case "s-maxage": directives.append("proxy-revalidate")
            default: directives.append(directive)
            }
        }
        self["Cache-Control"] = directives.joined(separator: ", ")
    }

    /// Returns the members of a list. Commas in quotes do not separate (RFC 9110 §5.6.4).
    private static func members(_ value: String) -> [String] {
        var members: [[UInt8]] = [[]], isQuoted = false, isEscaped = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            members[members.count - 1].append(byte)
        }
        return members.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
