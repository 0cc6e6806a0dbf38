// Key paths as patterns for ignored paths, and glob patterns for the texts of conditions.

extension JSONPath {
    /// Returns whether this pattern matches a path or one of its ancestors.
    ///
    /// `*` matches any run of characters in a key. A pattern that ends in `.*` covers the whole
    /// object: keys below an unmapped key are not examined one by one.
    func covers(_ path: JSONPath) -> Bool {
        // Elements of arrays have no keys, so an index never matches.
        guard origin == .record, !steps.contains(where: { if case .index = $0 { true } else { false } }) else {
            return false
        }
        var patterns = steps.map { if case .key(let key) = $0 { key } else { "*" } }[...]
        while patterns.count > 1, patterns.last == "*" { patterns.removeLast() }
        let keys = path.keys
        return patterns.count <= keys.count
            && zip(patterns, keys).allSatisfy { JSONPath.glob(Array($0.utf8), Array($1.utf8)) }
    }

    /// Returns whether a pattern, in which `*` matches any run of bytes, matches a whole text.
    static func glob(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var p = 0, t = 0, lastStar: Int?, resume = 0
        while t < text.count {
            if p < pattern.count, pattern[p] == star {
                lastStar = p
                resume = t
                p += 1
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let star = lastStar {
                p = star + 1
                resume += 1
                t = resume
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == star { p += 1 }
        return p == pattern.count
    }
}
