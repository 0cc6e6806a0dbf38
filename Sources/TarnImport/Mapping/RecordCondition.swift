public import TarnStore

/// A condition about the JSON of a record.
public struct RecordCondition: Sendable, Hashable {
    /// From the record; without wildcards.
    public var path: KeyPath
    /// What has to be so with the value that is there.
    public var test: Test

    /// A test of one value.
    public enum Test: Sendable, Hashable {
        /// There is a value, and it is not null.
        case isPresent
        /// There is none, or it is null.
        case isAbsent
        /// It is one of these: a text, or the text of a number or boolean. A `*` stands for any run of characters.
        case matches([String])
        /// It compares so with this: as numbers if both are, else as texts by their bytes. What is not there does not compare.
        case compares(IndexCondition.Comparison, String)
        /// Code says so; not asked about what is not there.
        case satisfies(JSONPredicate)
    }

    public init(_ path: KeyPath, _ test: Test) {
        self.path = path
        self.test = test
    }
}

extension RecordCondition.Test {
    /// - Parameter place: of a value that is not null; nil if there is none.
    func holds(_ tape: Tape, _ place: Int?) -> Bool {
        if case .isAbsent = self { return place == nil }
        guard let place else { return false }
        switch self {
        case .isAbsent: return false
        case .isPresent: return true
        case .satisfies(let predicate): return predicate.holds(JSONValue(tape, place))
        case .matches(let patterns):
            guard let text = RecordCondition.Test.text(tape, place) else { return false }
            return patterns.contains { KeyPath.glob(Array($0.utf8), text) }
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

    /// Of a text, a number or a boolean.
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
        if !isText, let x = ExactDecimal(String(decoding: a, as: UTF8.self)), let y = ExactDecimal(String(decoding: b, as: UTF8.self)) {
            return x == y ? 0 : x < y ? -1 : 1
        }
        return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }
}
