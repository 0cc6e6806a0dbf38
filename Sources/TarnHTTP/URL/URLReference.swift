// URI references: components and resolution against a base (RFC 3986 §4, §5, appendix B). Pure.

/// A URI reference split into its components, every byte as written.
package struct URLReference: Sendable, Hashable, CustomStringConvertible {
    /// The scheme without its colon.
    package var scheme: String?
    /// The authority without its slashes.
    package var authority: String?
    /// The path; it may be empty.
    package var path: String
    /// The query without its `?`.
    package var query: String?
    /// The fragment without its `#`.
    var fragment: String?

    /// Splits any text into components; no text is rejected (RFC 3986 appendix B).
    ///
    /// `HTTPURL` parses strictly.
    package init(_ text: String) {
        var rest = Array(text.utf8)[...]
        func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

        if let mark = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = string(rest[(mark + 1)...])
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = string(rest[(mark + 1)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), URLReference.isScheme(rest[..<colon]) {
            scheme = string(rest[..<colon])
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = string(rest[..<end])
            rest = rest[end...]
        }
        path = string(rest)
    }

    /// Returns the target of this reference relative to a base (RFC 3986 §5.2.2).
    package func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme != nil {
            target.path = URLReference.removingDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = URLReference.removingDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = URLReference.removingDotSegments(path)
        } else {
            target.path = URLReference.removingDotSegments(base.merged(with: path))
        }
        return target
    }

    /// The recomposed text of the components (RFC 3986 §5.3).
    package var description: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    // RFC 3986 §5.2.3
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[...slash] + relative
    }

    // RFC 3986 §5.2.4, on whole segments instead of a buffer.
    static func removingDotSegments(_ path: String) -> String {
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        // Most paths have none.
        guard !isAbsolute || zip(path.utf8, path.utf8.dropFirst()).contains(where: { $0 == 0x2F && $1 == 0x2E }) else {
            return path
        }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var output: [Substring] = []
        for (index, segment) in segments.enumerated() where !(isAbsolute && index == 0) {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { output.append("") }
            case "..":
                if !output.isEmpty { output.removeLast() }
                if isLast { output.append("") }
            default: output.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + output.joined(separator: "/")
    }

    // RFC 3986 §3.1
    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20) else {
            return false
        }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}
