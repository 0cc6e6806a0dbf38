/// What null does.
public enum NullPolicy: String, Sendable, Hashable, CaseIterable {
    /// It clears the field.
    case clear
    /// The field keeps what it has, as if nothing were said.
    case ignore
}
