// The kinds of JSON that each attribute type accepts: one table, checked before any coercion.
// `ImportValues.md` documents the result of each; a test covers every cell.

internal import TarnStore

/// The tolerance for JSON that differs from an attribute's type.
public enum CoercionMode: String, Sendable, Hashable, CaseIterable {
    /// Unambiguous values are accepted: the number `7` from the text `"7"`, `true` from `1`.
    case lenient
    /// Only the attribute's own JSON type: no text for a number, no number for a text or a boolean.
    case strict
}

extension AttributeType {
    /// Returns the kinds of JSON that this type accepts; a value may still be refused.
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
