import TarnStore

/// The bounds of a selection of keys; a missing one is open.
package struct KeySpan: Sendable {
    /// The beginning of a key.
    package enum Prefix: Sendable {
        /// The beginning of the text of the first component.
        case text(String)
        /// The first components.
        case components([KeyComponent])
    }

    /// The least key.
    package var lower: RecordKey?
    /// The greatest key.
    package var upper: RecordKey?
    /// The beginning of every key.
    package var prefix: Prefix?

    /// Creates bounds; all are open by default.
    package init(from lower: RecordKey? = nil, to upper: RecordKey? = nil, prefix: Prefix? = nil) {
        (self.lower, self.upper, self.prefix) = (lower, upper, prefix)
    }

    /// The interval of the storage keys within the bounds.
    ///
    /// The interval may contain further keys, about which ``contains(_:)`` decides: the storage key
    /// of a long key is its beginning and a digest, and a text that continues with a NUL has the
    /// encoding of the shorter one as its beginning.
    var interval: KeyInterval {
        var interval = KeyInterval()
        func narrow(_ other: KeyInterval) {
            if let bound = other.lower, interval.lower.map({ $0.lexicographicallyPrecedes(bound) }) ?? true {
                interval.lower = bound
            }
            if let bound = other.upper, interval.upper.map({ bound.lexicographicallyPrecedes($0) }) ?? true {
                interval.upper = bound
            }
        }
        if let lower { narrow(KeyInterval(from: KeySpan.beginning(lower))) }
        if let upper { narrow(KeyInterval(below: KeyInterval(prefix: KeySpan.beginning(upper)).upper)) }
        switch prefix {
        case .text(let text):
            // Without the byte that ends a text.
            let key = RecordKey(text).storageKey
            narrow(KeyInterval(prefix: key.count > longest ? Array(key.prefix(longest)) : key.dropLast()))
        case .components(let components):
            if !components.isEmpty { narrow(KeyInterval(prefix: KeySpan.beginning(RecordKey(components)))) }
        case nil: break
        }
        return interval
    }

    private var longest: Int { StorageKey.longest }

    private static func beginning(_ key: RecordKey) -> [UInt8] { Array(key.storageKey.prefix(StorageKey.longest)) }

    /// Returns whether a key is within the bounds, compared as a whole.
    func contains(_ key: RecordKey) -> Bool {
        if let lower, KeySpan.compare(key.components, lower.components) < 0 { return false }
        if let upper, KeySpan.compare(key.components, upper.components) > 0 { return false }
        switch prefix {
        case .text(let text):
            guard case .string(let first)? = key.components.first else { return false }
            return first.utf8.starts(with: text.utf8)
        case .components(let components): return key.components.starts(with: components)
        case nil: return true
        }
    }

    private static func compare(_ a: [KeyComponent], _ b: [KeyComponent]) -> Int {
        for (x, y) in zip(a, b) where x != y { return precedes(x, y) ? -1 : 1 }
        return a.count - b.count
    }

    private static func precedes(_ a: KeyComponent, _ b: KeyComponent) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): x < y
        case (.string(let x), .string(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
        case (.uuid(let x), .uuid(let y)): x.uuidString < y.uuidString
        default: false
        }
    }
}
