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
