// The match of URLs in JSON with the templates of an entity. It reads bytes of the tape and reuses
// its memory: a response may name a record by URL in every field.

internal import TarnStore

/// The compiled URL templates of an entity.
final class URLMatcher {
    enum Outcome {
        /// The text is not a URL: it may be a bare key.
        case notURL
        /// The text is a URL of another server or of another resource.
        case foreign
        case matched
    }

    /// A base URL: the scheme and the authority in lower case without the default port, and the
    /// path without a slash at its end.
    private struct Base {
        var scheme: [UInt8]
        var authority: [UInt8]
        var path: [UInt8]
    }

    private enum Part {
        case literal([UInt8])
        case variable(Int)
    }

    private enum Segment {
        case parts([Part])
        case rest(Int)
    }

    private struct Template {
        /// The origin of an absolute template.
        var origin: Base?
        var segments: [Segment]
        var query: [(name: [UInt8], parts: [Part])]
    }

    /// The declaration.
    let url: RecordURL
    /// The names of the variables.
    let names: [String]
    /// The variables and types of the key's parts; empty if the templates lack a part.
    private var keyParts: [(variable: Int, type: AttributeType)] = []
    private let bases: [Base]
    private let compiled: [Template]
    /// The decoded segments of the current URL, and the values of its variables in them.
    private var texts = ByteWriter(capacity: 128)
    private var ranges: [Range<Int>]
    private var made = MadeTape()

    init(_ url: RecordURL, bases: [String]) {
        self.url = url
        let names = url.variables
        self.names = names
        ranges = Array(repeating: 0..<0, count: names.count)
        self.bases = bases.compactMap { URLMatcher.base($0) }
        func parts(_ parts: [URLTemplate.Part]) -> [Part] {
            parts.map { part in
                switch part {
                case .literal(let bytes): .literal(bytes)
                case .variable(let name): .variable(names.firstIndex(of: name) ?? 0)
                }
            }
        }
        compiled = url.templates.map { template in
            Template(
                origin: template.origin.flatMap { URLMatcher.base($0) },
                segments: template.segments.map { segment in
                    switch segment {
                    case .parts(let list): .parts(parts(list))
                    case .rest(let name): .rest(names.firstIndex(of: name) ?? 0)
                    }
                },
                query: template.query.map { ($0.name, parts($0.parts)) })
        }
    }

    /// Creates a matcher for another importer.
    init(copying other: URLMatcher) {
        url = other.url
        names = other.names
        keyParts = other.keyParts
        bases = other.bases
        compiled = other.compiled
        ranges = Array(repeating: 0..<0, count: other.names.count)
    }

    /// Sets the parts of the entity's key, in its order.
    func setKey(_ parts: [(name: String, type: AttributeType)]) {
        let known = parts.compactMap { part in names.firstIndex(of: part.name).map { ($0, part.type) } }
        keyParts = known.count == parts.count ? known : []
    }

    /// The templates, for messages.
    var templates: String { url.templates.map(\.description).joined(separator: " or ") }

    // MARK: Results

    /// The value of a variable in the URL that matched last, percent-decoded; empty if its template
    /// lacks the variable. Valid until the next match.
    func value(_ variable: Int) -> Bytes { texts.bytes(ranges[variable]) }

    /// Appends the encoded key that a URL names.
    ///
    /// - Returns: `foreign` also if a part of the key is missing or has another type.
    func appendKey(_ tape: Tape, _ index: Int, to writer: inout ByteWriter) -> Outcome {
        let outcome = match(tape.string(index))
        guard outcome == .matched else { return outcome }
        let start = writer.count
        made.removeAll()
        for part in keyParts {
            let place = made.append(value(part.variable))
            guard !ranges[part.variable].isEmpty,
                made.tape(beside: tape).appendKeyComponent(place, as: part.type, to: &writer)
            else {
                writer.truncate(to: start)
                return .foreign
            }
        }
        return keyParts.isEmpty ? .foreign : .matched
    }

    // MARK: Matching

    /// Matches a URL or a reference with the templates, and keeps the values of the first one.
    ///
    /// A path is tried below the host, then below each base URL. A relative reference is resolved
    /// against the base URLs (RFC 3986 §5.2). The fragment is ignored, and parameters of the query
    /// that no template names.
    func match(_ text: Bytes) -> Outcome {
        guard let parts = URLParts(text) else { return .notURL }
        let path = text.slice(parts.path), query = text.slice(parts.query)
        guard let authority = parts.authority else {
            let isRooted = path.first == UInt8(ascii: "/")
            for base in bases {
                guard isRooted, let below = URLMatcher.path(path, below: base) else { continue }
                if matches(below, query, { $0.origin == nil }) { return .matched }
            }
            let relative = isRooted ? path.slice(1..<path.count) : URLMatcher.withoutDot(path)
            if matches(relative, query, { $0.origin == nil }) { return .matched }
            return isRooted ? .foreign : .notURL
        }
        let scheme = text.slice(parts.scheme), server = text.slice(authority)
        for base in bases where URLMatcher.isServer(scheme, server, base) {
            guard let below = URLMatcher.path(path, below: base) else { continue }
            if matches(below, query, { $0.origin == nil }) { return .matched }
        }
        let whole = path.isEmpty ? path : path.slice(1..<path.count)
        let isOwn = { (template: Template) in template.origin.map { URLMatcher.isServer(scheme, server, $0) } ?? false }
        return matches(whole, query, isOwn) ? .matched : .foreign
    }

    private func matches(_ path: Bytes, _ query: Bytes, _ isTried: (Template) -> Bool) -> Bool {
        compiled.contains { isTried($0) && matches($0, path, query) }
    }

    /// Matches a path without its leading slash.
    private func matches(_ template: Template, _ path: Bytes, _ query: Bytes) -> Bool {
        texts.removeAll()
        for index in ranges.indices { ranges[index] = 0..<0 }
        let slash = UInt8(ascii: "/")
        let end = path.last == slash ? path.count - 1 : path.count
        var position = 0
        for (number, segment) in template.segments.enumerated() {
            guard position < end else { return false }
            var stop = position
            switch segment {
            case .parts(let parts):
                while stop < end, path[stop] != slash { stop += 1 }
                guard matches(parts, path.slice(position..<stop), isQuery: false) else { return false }
            case .rest(let variable):
                stop = end
                for _ in number + 1..<template.segments.count {
                    repeat { stop -= 1 } while stop > position && path[stop] != slash
                }
                guard stop > position, let range = decode(path.slice(position..<stop), isQuery: false) else {
                    return false
                }
                ranges[variable] = range
            }
            position = stop + 1
        }
        guard position >= end else { return false }
        return template.query.allSatisfy { parameter in
            guard let value = URLMatcher.value(parameter.name, query) else { return false }
            return matches(parameter.parts, value, isQuery: true)
        }
    }

    /// Matches the parts of one segment, or of one value in the query.
    private func matches(_ parts: [Part], _ text: Bytes, isQuery: Bool) -> Bool {
        // `.` and `..` are not names (RFC 3986 §5.2.4).
        if !isQuery, text.count <= 2, text.allSatisfy({ $0 == UInt8(ascii: ".") }) { return false }
        guard let range = decode(text, isQuery: isQuery) else { return false }
        var position = range.lowerBound
        for (number, part) in parts.enumerated() {
            switch part {
            case .literal(let literal):
                guard isThere(literal, at: position, before: range.upperBound) else { return false }
                position += literal.count
            case .variable(let variable):
                var stop = range.upperBound
                if number + 1 < parts.count, case .literal(let literal) = parts[number + 1] {
                    // The last literal ends the text; another one is the first after a byte.
                    stop = number + 2 == parts.count ? range.upperBound - literal.count : position + 1
                    while number + 2 < parts.count, stop < range.upperBound,
                        !isThere(literal, at: stop, before: range.upperBound)
                    {
                        stop += 1
                    }
                }
                guard stop > position else { return false }
                ranges[variable] = position..<stop
                position = stop
            }
        }
        return position == range.upperBound
    }

    private func isThere(_ literal: [UInt8], at position: Int, before end: Int) -> Bool {
        guard position >= 0, position + literal.count <= end else { return false }
        let there = texts.bytes(position..<position + literal.count)
        return literal.withUnsafeBytes { Bytes.equal($0, there) }
    }

    // MARK: Decoding

    /// Appends the percent-decoded text, and returns its range; nil if it is not UTF-8.
    private func decode(_ text: Bytes, isQuery: Bool) -> Range<Int>? {
        let start = texts.count
        guard text.contains(where: { $0 == UInt8(ascii: "%") || (isQuery && $0 == UInt8(ascii: "+")) }) else {
            texts.append(text)
            return start..<texts.count
        }
        let bytes = URLMatcher.decoded(Array(text), isQuery: isQuery)
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        bytes.withUnsafeBytes { texts.append($0) }
        return start..<texts.count
    }

    /// Percent-decodes a text. `%` without two hexadecimal digits stays as it is.
    static func decoded(_ text: [UInt8], isQuery: Bool) -> [UInt8] {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x41 + 10
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        var bytes: [UInt8] = [], index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = digit(text[index + 1]),
                let low = digit(text[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(isQuery && text[index] == UInt8(ascii: "+") ? 0x20 : text[index])
                index += 1
            }
        }
        return bytes
    }

    /// The value of the first parameter with a name; nil if the query has none.
    private static func value(_ name: [UInt8], _ query: Bytes) -> Bytes? {
        var position = 0
        while position < query.count {
            var end = position
            while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
            let pair = query.slice(position..<end)
            if pair.count > name.count, pair[name.count] == UInt8(ascii: "="),
                name.withUnsafeBytes({ Bytes.equal($0, pair.slice(0..<name.count)) })
            {
                return pair.slice(name.count + 1..<pair.count)
            }
            position = end + 1
        }
        return nil
    }

    // MARK: Bases

    private static func base(_ text: String) -> Base? {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return bytes.withUnsafeBytes { text -> Base? in
            guard let parts = URLParts(text), let authority = parts.authority else { return nil }
            let scheme = text.slice(parts.scheme).map(lower)
            return Base(
                scheme: scheme, authority: withoutPort(text.slice(authority), scheme).map(lower),
                path: Array(text.slice(parts.path)))
        }
    }

    /// The path below a base URL, without its leading slash; nil if it is not below.
    private static func path(_ path: Bytes, below base: Base) -> Bytes? {
        let count = base.path.count
        guard path.count > count, path[count] == UInt8(ascii: "/"),
            base.path.withUnsafeBytes({ Bytes.equal($0, path.slice(0..<count)) })
        else { return nil }
        return path.slice(count + 1..<path.count)
    }

    /// Whether a URL leads to the server of a base URL.
    ///
    /// A reference without a scheme has the scheme of the base URL.
    private static func isServer(_ scheme: Bytes, _ authority: Bytes, _ base: Base) -> Bool {
        func equal(_ a: Bytes, _ b: [UInt8]) -> Bool {
            guard a.count == b.count else { return false }
            for index in b.indices where lower(a[index]) != b[index] { return false }
            return true
        }
        return (scheme.isEmpty || equal(scheme, base.scheme))
            && equal(withoutPort(authority, base.scheme), base.authority)
    }

    private static func withoutPort(_ authority: Bytes, _ scheme: [UInt8]) -> Bytes {
        let port: StaticString = scheme.count == 5 ? ":443" : ":80"
        let suffix = Bytes(start: port.utf8Start, count: port.utf8CodeUnitCount)
        guard authority.count > suffix.count,
            Bytes.equal(authority.slice(authority.count - suffix.count..<authority.count), suffix)
        else { return authority }
        return authority.slice(0..<authority.count - suffix.count)
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// A relative path without `./` at its beginning.
    private static func withoutDot(_ path: Bytes) -> Bytes {
        let isDotted = path.count > 2 && path[0] == UInt8(ascii: ".") && path[1] == UInt8(ascii: "/")
        return isDotted ? path.slice(2..<path.count) : path
    }
}
