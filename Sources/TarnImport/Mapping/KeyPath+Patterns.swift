// Key paths as patterns: what an entity ignores, and the texts that a rule is about.

extension KeyPath {
    /// Whether this pattern (`*` stands for any run of characters in a key) matches a path or something above it. A pattern
    /// that ends in `.*` covers the whole object: below a key that nothing maps, its keys are not looked at one by one.
    func covers(_ path: KeyPath) -> Bool {
        // What is between two elements of a list is not named by keys.
        guard origin == .record, !steps.contains(where: { if case .index = $0 { true } else { false } }) else { return false }
        var patterns = steps.map { if case .key(let key) = $0 { key } else { "*" } }[...]
        while patterns.count > 1, patterns.last == "*" { patterns.removeLast() }
        let keys = path.keys
        return patterns.count <= keys.count && zip(patterns, keys).allSatisfy { KeyPath.glob(Array($0.utf8), Array($1.utf8)) }
    }

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
