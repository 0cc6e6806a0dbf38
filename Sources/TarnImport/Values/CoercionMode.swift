/// The tolerance for JSON that differs from an attribute's type.
public enum CoercionMode: String, Sendable, Hashable, CaseIterable {
    /// Unambiguous values are accepted: the number `7` from the text `"7"`, `true` from `1`.
    case lenient
    /// Only the attribute's own JSON type: no text for a number, no number for a text or a boolean.
    case strict
}
