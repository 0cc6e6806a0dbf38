/// The effect of a null.
public enum NullPolicy: String, Sendable, Hashable, CaseIterable {
    /// The field is cleared.
    case clear
    /// The field keeps its stored value, as if it were absent.
    case ignore
}
