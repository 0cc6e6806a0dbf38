// Which kinds of JSON an attribute's type takes at all: the first question of every coercion, answered by one table.
// `ImportValues.md` shows what becomes of each; a test proves every cell of it.

internal import TarnStore

/// How far JSON may be from an attribute's type and still be taken.
public enum CoercionMode: String, Sendable, Hashable, CaseIterable {
    /// What can be meant in one way only is taken: the number `7` from the text `"7"`, `true` from `1`.
    case lenient
    /// Only the JSON type that is the attribute's own: no text for a number, no number for a text or a boolean.
    case strict
}

/// Kinds of JSON values, without null, which is a matter of merging.
struct JSONKinds: OptionSet {
    var rawValue: UInt8

    static let bool = JSONKinds(rawValue: 1)
    /// A number written without fraction and exponent that fits 64 bits.
    static let integer = JSONKinds(rawValue: 2)
    /// Any other number.
    static let real = JSONKinds(rawValue: 4)
    static let string = JSONKinds(rawValue: 8)
    static let array = JSONKinds(rawValue: 16)
    static let object = JSONKinds(rawValue: 32)

    static let number: JSONKinds = [.integer, .real]
    static let all: JSONKinds = [.bool, .integer, .real, .string, .array, .object]

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    @inline(__always)
    init(_ kind: Tape.Kind?) {
        switch kind {
        case .true, .false: self = .bool
        case .int, .uint: self = .integer
        case .double: self = .real
        case .string: self = .string
        case .array: self = .array
        case .object: self = .object
        case .null, nil: self = []
        }
    }
}

extension AttributeType {
    /// The kinds of JSON that this type takes. A value of such a kind may still be refused for what it says.
    ///
    /// - Parameter dates: the formats of a date.
    func accepted(_ mode: CoercionMode, dates: [DateFormat]) -> JSONKinds {
        switch (self, mode) {
        case (.bool, .lenient): return [.bool, .integer, .string]
        case (.bool, .strict): return .bool
        case (.int, .lenient), (.uint, .lenient): return [.number, .string]
        case (.int, .strict), (.uint, .strict): return .integer
        case (.double, .lenient), (.decimal, .lenient): return [.number, .string]
        case (.double, .strict), (.decimal, .strict): return .number
        case (.string, .lenient): return [.string, .number]
        case (.string, .strict), (.bytes, _), (.uuid, _), (.url, _), (.enumeration, _): return .string
        case (.date, .lenient): return dates.contains(where: \.isEpoch) ? [.number, .string] : .string
        case (.date, .strict):
            var kinds: JSONKinds = []
            if dates.contains(where: \.isEpoch) { kinds.formUnion(.number) }
            if dates.contains(where: { !$0.isEpoch }) { kinds.formUnion(.string) }
            return kinds
        case (.json, _): return .all
        case (.array, _): return .array
        }
    }
}

/// How the values of one attribute are coerced, compiled.
final class ValueRule: Sendable {
    let type: AttributeType
    let isStrict: Bool
    let accepted: JSONKinds
    /// For dates, in the order in which they are tried; never empty for them.
    let dates: [DateFormat]
    /// Whether RFC 3339 is the first of them: what nearly every API sends.
    let beginsWithRFC3339: Bool
    /// For lists.
    let element: ValueRule?
    /// Of an `enum`.
    let fallback: String?
    let transformers: [ValueTransformer]
    let hasTransformers: Bool

    /// - Parameter dates: those that are declared.
    init(
        _ type: AttributeType, _ mode: CoercionMode = .lenient, dates declared: [DateFormat] = [], fallback: String? = nil,
        transformers: [ValueTransformer] = []
    ) {
        if case .enumeration = type { self.fallback = fallback } else { self.fallback = nil }
        self.transformers = transformers
        hasTransformers = !transformers.isEmpty
        self.type = type
        isStrict = mode == .strict
        var dates = declared
        if dates.isEmpty || (mode == .lenient && !dates.contains(.rfc3339)) { dates.append(.rfc3339) }
        self.dates = dates
        beginsWithRFC3339 = dates.first == .rfc3339
        accepted = type.accepted(mode, dates: dates)
        if case .array(let element) = type {
            self.element = ValueRule(element, mode, dates: declared)
        } else {
            element = nil
        }
    }
}
