// The Link header field (RFC 8288), which names the next page. Pure.

/// A parser of `Link` fields by the algorithms of RFC 8288 appendix B.
///
/// Four differences: text that is not a link is skipped up to the next comma, so that one
/// malformed link does not hide the links after it; a target may lack its brackets, and a relation
/// may be in single quotes. A list must not end because a server writes its next page that way. The
/// relation of a link whose bracket is not closed is noted as unreadable. A link with
/// `results="false"` leads to no records, and has no relations.
package enum LinkHeader {
    /// Returns the target of the first link with a relation type in all `Link` fields, or nil.
    ///
    /// Links with an anchor describe another resource and are skipped (RFC 8288 §3.2), unless the
    /// anchor is the list itself. The target is as written: resolve it against the URL of the
    /// request.
    ///
    /// - Parameter url: the URL of the page; nil if it is unknown.
    package static func target(relation: String, in headers: TransportHeaders, of url: String? = nil) -> String? {
        for value in headers.all("Link") {
            for link in parse(value) where link.has(relation: relation) && describes(url, link.anchor) {
                return link.target
            }
        }
        return nil
    }

    /// Returns whether a link with an anchor describes a page, or the list that it belongs to: the
    /// URL without its query.
    private static func describes(_ url: String?, _ anchor: String?) -> Bool {
        guard let anchor, !anchor.isEmpty else { return true }
        guard let url, !anchor.contains("#"), let page = try? HTTPURL(url), let other = try? page.resolving(anchor)
        else { return false }
        func list(_ url: HTTPURL) -> Substring { url.description.prefix { $0 != "?" } }
        return other.description == page.description || list(other) == list(page) && !anchor.contains("?")
    }

    /// Returns all links of one field value, in order.
    package static func parse(_ value: String) -> [Link] { read(value).links }

    /// Returns whether text that is no link has a relation type that no link has: a target without
    /// a closing bracket, one with a comma and without brackets, or a relation without a semicolon.
    static func hasUnreadable(relation: String, in headers: TransportHeaders) -> Bool {
        let fields = headers.all("Link").map(read)
        return !fields.contains { $0.links.contains { $0.has(relation: relation) } }
            && fields.contains { $0.others.contains { TransportHeaders.same($0, relation) } }
    }

    /// Returns all links of one field value, and the relation types beside text that is no link.
    private static func read(_ value: String) -> (links: [Link], others: [String]) {
        var parser = Parser(rest: Array(value.utf8)[...])
        var links: [Link] = [], others: [String] = []
        while !parser.rest.isEmpty {
            if let link = parser.link() {
                links.append(link)
                if link.relations.isEmpty { others += parser.relationsBeside(link) }
            } else {
                others += parser.relationsOfNoLink()
            }
            parser.skipToNextLink()
        }
        return (links, others)
    }

    private struct Parser {
        var rest: ArraySlice<UInt8>
        /// False once no `>` is left.
        ///
        /// Otherwise a field of many `<` would be searched in quadratic time.
        private var hasBracket = true

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        // RFC 8288 B.2
        mutating func link() -> Link? {
            skipWhitespace()
            guard let target = target() else { return nil }
            let (relations, anchor) = parameters()
            return Link(
                target: String(decoding: target.trimmingWhitespace(), as: UTF8.self), relations: relations,
                anchor: anchor)
        }

        /// The relation types of text that is no link, up to the next comma.
        mutating func relationsOfNoLink() -> [String] {
            while let byte = rest.first, byte != UInt8(ascii: ","), byte != UInt8(ascii: ";") {
                if byte == UInt8(ascii: "\"") { _ = quotedString() } else { rest = rest.dropFirst() }
            }
            return parameters().relations
        }

        /// The relation types in the target of a link that has none, as if its bracket were not
        /// closed, and those of the text up to the next comma, as if its semicolon were missing.
        func relationsBeside(_ link: Link) -> [String] {
            var inside = Parser(rest: Array(link.target.utf8)[...])
            let text = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
            var behind = Parser(rest: ([UInt8(ascii: ";")] + text)[...])
            return inside.relationsOfNoLink() + behind.parameters().relations
        }

        private mutating func parameters() -> (relations: [String], anchor: String?) {
            var relations: [String]?
            var anchor: String?, isEmpty = false
            while let (name, value) = parameter() {
                // RFC 8288 §3.3: occurrences of rel after the first are ignored.
                if name == "rel", relations == nil {
                    relations = unquoted(value).split { $0 == " " || $0 == "\t" }.map(String.init)
                }
                if name == "anchor", anchor == nil { anchor = value }
                // Sentry has `rel="next"; results="false"` on the last page, and on all behind it.
                if name == "results" { isEmpty = TransportHeaders.same(value, "false") }
            }
            return (isEmpty ? [] : relations ?? [], anchor)
        }

        /// Some servers write `rel='next'`. A single quote is no part of any relation type.
        private func unquoted(_ value: String) -> Substring {
            guard value.count >= 2, value.first == "'", value.last == "'" else { return value[...] }
            return value.dropFirst().dropLast()
        }

        /// The target in its brackets, or a URL reference without them.
        private mutating func target() -> ArraySlice<UInt8>? {
            guard rest.first == UInt8(ascii: "<") else { return bareTarget() }
            guard hasBracket else { return nil }
            // A comma and another opening bracket before the closing one: it belongs to the next
            // link.
            var last = UInt8(ascii: "<")
            for index in rest.indices.dropFirst() {
                let byte = rest[index]
                if byte == UInt8(ascii: ">") {
                    defer { rest = rest[(index + 1)...] }
                    return rest[rest.index(after: rest.startIndex)..<index]
                }
                if byte == UInt8(ascii: "<"), last == UInt8(ascii: ",") { return nil }
                if byte != 0x20, byte != 0x09 { last = byte }
            }
            hasBracket = false
            return nil
        }

        private mutating func bareTarget() -> ArraySlice<UInt8>? {
            guard let first = rest.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "?") || isHTTP else {
                return nil
            }
            let end = rest.firstIndex { [UInt8(ascii: ";"), UInt8(ascii: ","), 0x20, 0x09].contains($0) }
            let target = rest[..<(end ?? rest.endIndex)]
            // RFC 3986 §2: what is none of a URI's characters is no URL.
            let others = Array("<>\"\\".utf8)
            guard target.allSatisfy({ (0x21...0x7E).contains($0) && !others.contains($0) }) else { return nil }
            rest = rest[target.endIndex...]
            return target
        }

        /// Whether an absolute URL follows.
        private var isHTTP: Bool {
            ["http://", "https://"].contains { rest.prefix($0.utf8.count).elementsEqual($0.utf8) }
        }

        // RFC 8288 B.3: one iteration of its loop.
        private mutating func parameter() -> (name: String, value: String)? {
            skipWhitespace()
            guard rest.first == UInt8(ascii: ";") else { return nil }
            rest = rest.dropFirst()
            skipWhitespace()
            let name = take { ![0x20, 0x09, UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }
            skipWhitespace()
            guard rest.first == UInt8(ascii: "=") else { return (name.lowercased(), "") }
            rest = rest.dropFirst()
            skipWhitespace()
            if rest.first == UInt8(ascii: "\"") { return (name.lowercased(), quotedString()) }
            let value = take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
            return (name.lowercased(), value)
        }

        // RFC 8288 B.4
        private mutating func quotedString() -> String {
            var output: [UInt8] = []
            rest = rest.dropFirst()
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\"") { break }
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = rest.popFirst() else { break }
                    output.append(escaped)
                } else {
                    output.append(byte)
                }
            }
            return String(decoding: output, as: UTF8.self)
        }

        /// Skips up to and including the next comma outside quotes.
        mutating func skipToNextLink() {
            while let byte = rest.first {
                switch byte {
                case UInt8(ascii: ","):
                    rest = rest.dropFirst()
                    return
                case UInt8(ascii: "\""): _ = quotedString()
                default: rest = rest.dropFirst()
                }
            }
        }

        private mutating func skipWhitespace() {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        }

        private mutating func take(while condition: (UInt8) -> Bool) -> String {
            let taken = rest.prefix(while: condition)
            rest = rest[taken.endIndex...]
            return String(decoding: taken.trimmingWhitespace(), as: UTF8.self)
        }
    }
}
