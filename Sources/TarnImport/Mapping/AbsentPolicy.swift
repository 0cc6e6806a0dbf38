/// The effect of a field that is absent from the JSON.
public enum AbsentPolicy: String, Sendable, Hashable, CaseIterable {
    /// The field keeps its stored value.
    case keep
    /// In a record that a response lists, an optional field is cleared.
    ///
    /// For APIs that leave out null fields. Nested objects, which may be partial, clear nothing.
    case clear
}
