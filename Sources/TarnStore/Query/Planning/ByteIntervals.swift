// Sets of values as intervals of encodings: the condition on one component of a key or an index.

/// A set of tuple elements, as ascending intervals of bytes that do not touch. Null is an element.
///
/// The bytes after an element in a key never begin with FF. So all keys that begin with an element
/// are before the element ++ FF, and all greater ones are behind it. (A longer text with an escaped
/// NUL continues with FF.)
struct ByteIntervals: Equatable {
    private(set) var spans: [KeySpan]

    static let all = ByteIntervals(spans: [.everything])
    static let none = ByteIntervals(spans: [])
    static let null = point([TupleCode.null])
    /// Every element but null.
    static let present = from([TupleCode.null, 0xFF])

    static func point(_ element: [UInt8]) -> ByteIntervals {
        ByteIntervals(spans: [KeySpan(lower: element, upper: element + [0xFF])])
    }

    static func from(_ bytes: [UInt8]) -> ByteIntervals { ByteIntervals(spans: [KeySpan(lower: bytes, upper: nil)]) }

    static func below(_ bytes: [UInt8]) -> ByteIntervals { ByteIntervals(spans: [KeySpan(lower: [], upper: bytes)]) }

    /// Returns the set of these elements, which have to ascend and be distinct.
    static func points(_ elements: [[UInt8]]) -> ByteIntervals {
        ByteIntervals(spans: elements.map { KeySpan(lower: $0, upper: $0 + [0xFF]) })
    }

    /// Returns the set of texts that begin with these bytes.
    static func prefix(_ text: [UInt8]) -> ByteIntervals {
        var writer = ByteWriter(capacity: text.count + 2)
        text.withUnsafeBytes { writer.appendTuple(string: $0) }
        writer.truncate(to: writer.count - 1)
        let start = Array(writer.bytes)
        return ByteIntervals(spans: [KeySpan(lower: start, upper: start + [0xFF])])
    }

    /// Whether every interval is one element; only then another component can follow.
    var isPoints: Bool {
        spans.allSatisfy { span in
            guard let upper = span.upper else { return false }
            return upper.count == span.lower.count + 1 && upper.last == 0xFF && upper.starts(with: span.lower)
                && isElement(span.lower)
        }
    }

    private func isElement(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var reader = TupleReader(bytes)
            return reader.skip() && reader.isAtEnd
        }
    }

    var isAll: Bool { self == .all }
    var isEmpty: Bool { spans.isEmpty }

    func intersection(_ other: ByteIntervals) -> ByteIntervals {
        var result: [KeySpan] = [], i = 0, j = 0
        while i < spans.count, j < other.spans.count {
            let a = spans[i], b = other.spans[j]
            let lower = a.lower.lexicographicallyPrecedes(b.lower) ? b.lower : a.lower
            let endsFirst = KeySpan.endsBefore(a.upper, b.upper)
            let upper = endsFirst ? a.upper : b.upper
            if upper.map({ lower.lexicographicallyPrecedes($0) }) ?? true {
                result.append(KeySpan(lower: lower, upper: upper))
            }
            if endsFirst { i += 1 } else { j += 1 }
        }
        return ByteIntervals(spans: result)
    }

    func union(_ other: ByteIntervals) -> ByteIntervals { ByteIntervals(spans: KeySpan.merged(spans + other.spans)) }

    var complement: ByteIntervals {
        var result: [KeySpan] = [], lower: [UInt8]? = []
        for span in spans {
            if let lower, lower.lexicographicallyPrecedes(span.lower) {
                result.append(KeySpan(lower: lower, upper: span.lower))
            }
            lower = span.upper
        }
        if let lower { result.append(KeySpan(lower: lower, upper: nil)) }
        return ByteIntervals(spans: result)
    }

    func isSubset(of other: ByteIntervals) -> Bool { intersection(other.complement).isEmpty }
}

extension KeySpan {
    /// Returns whether an upper bound is before another one, or equal.
    static func endsBefore(_ a: [UInt8]?, _ b: [UInt8]?) -> Bool {
        guard let a else { return b == nil }
        guard let b else { return true }
        return !b.lexicographicallyPrecedes(a)
    }

    /// Returns the union of spans, as ascending spans that do not touch.
    static func merged(_ spans: [KeySpan]) -> [KeySpan] {
        var result: [KeySpan] = []
        for span in spans.sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
            if let last = result.last, last.upper.map({ !$0.lexicographicallyPrecedes(span.lower) }) ?? true {
                if endsBefore(last.upper, span.upper) { result[result.count - 1].upper = span.upper }
            } else {
                result.append(span)
            }
        }
        return result
    }
}
