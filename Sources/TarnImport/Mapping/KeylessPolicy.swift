/// What becomes of records without a usable key.
public enum KeylessPolicy: String, Sendable, Hashable, CaseIterable {
    /// Each is reported as `key.missing`, and skipped with everything nested in it.
    case skip
    /// The unit fails.
    case fail
}
