/// The three states of a field in a row.
public enum FieldState: Sendable, Hashable {
    case absent, null, value
}
