public import TarnStore

/// A condition on the JSON of a record.
public struct RecordCondition: Sendable, Hashable {
    /// The path of the tested value, relative to the record; without wildcards.
    package var path: JSONPath
    /// The test of that value.
    package var test: Test

    /// A test of one value.
    public enum Test: Sendable, Hashable {
        /// The value is present and not null.
        case isPresent
        /// The value is absent or null.
        case isAbsent
        /// The value is one of these texts. `*` matches any run of characters.
        ///
        /// A number or a boolean is tested by its text.
        case matches([String])
        /// The value compares so to a literal: as numbers if both are numbers, else by bytes.
        ///
        /// An absent value compares to nothing.
        case compares(IndexCondition.Comparison, String)
        /// The predicate holds. It is not called for an absent value or null.
        case satisfies(JSONPredicate)
    }

    /// Creates a condition.
    public init(_ path: JSONPath, _ test: Test) {
        self.path = path
        self.test = test
    }
}

extension RecordCondition.Test {
    /// Returns whether the test holds.
    ///
    /// - Parameter place: the location of a value that is not null; nil if there is none.
    func holds(_ tape: Tape, _ place: Int?) -> Bool {
        if case .isAbsent = self { return place == nil }
        guard let place else { return false }
        switch self {
        case .isAbsent: return false
        case .isPresent: return true
        case .satisfies(let predicate): return predicate.holds(JSONValue(tape, place))
        case .matches(let patterns):
            guard let text = RecordCondition.Test.text(tape, place) else { return false }
            return patterns.contains { JSONPath.glob(Array($0.utf8), text) }
        case .compares(let comparison, let other):
            guard let text = RecordCondition.Test.text(tape, place) else { return false }
            let order = RecordCondition.Test.compare(text, Array(other.utf8), isText: tape.kind(place) == .string)
            switch comparison {
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .less: return order < 0
            case .lessOrEqual: return order <= 0
            case .greater: return order > 0
            case .greaterOrEqual: return order >= 0
            }
        }
    }

    /// Returns the text of a string, a number or a boolean; nil for another value.
    private static func text(_ tape: Tape, _ place: Int) -> [UInt8]? {
        switch tape.kind(place) {
        case .string: return Array(tape.string(place))
        case .object, .array, .null, nil: return nil
        default:
            var text = ByteWriter(capacity: 32)
            tape.appendText(place, to: &text)
            return Array(text.bytes)
        }
    }

    private static func compare(_ a: [UInt8], _ b: [UInt8], isText: Bool) -> Int {
        if !isText, let x = ExactDecimal(String(decoding: a, as: UTF8.self)),
            let y = ExactDecimal(String(decoding: b, as: UTF8.self))
        {
            return x == y ? 0 : x < y ? -1 : 1
        }
        return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }
}
