import TarnStore

/// An interval of keys in the byte order of a table; a missing bound is open.
struct KeyInterval {
    /// The least key of the interval.
    var lower: [UInt8]?
    /// The bound behind the interval: every key of it is less.
    var upper: [UInt8]?

    /// Creates an interval; of all keys by default.
    init(from lower: [UInt8]? = nil, below upper: [UInt8]? = nil) {
        (self.lower, self.upper) = (lower, upper)
    }

    func contains(_ key: Bytes) -> Bool {
        let isAbove = lower.map { $0.withUnsafeBytes { Bytes.compare(key, $0) >= 0 } } ?? true
        return isAbove && upper.map { $0.withUnsafeBytes { Bytes.compare(key, $0) < 0 } } ?? true
    }

    /// Creates the interval of the keys that begin with a prefix.
    init(prefix: [UInt8]) {
        lower = prefix
        var end = prefix
        while end.last == 0xFF { end.removeLast() }
        if let last = end.popLast() { end.append(last + 1) }
        upper = end.isEmpty ? nil : end
    }
}
