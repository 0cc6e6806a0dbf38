/// What it does if a field is not there at all.
public enum AbsentPolicy: String, Sendable, Hashable, CaseIterable {
    /// The field keeps what it has.
    case keep
    /// In a record that a response lists, an optional field is cleared: for APIs that leave out what is null. Nested objects,
    /// which may be excerpts, clear nothing.
    case clear
}
