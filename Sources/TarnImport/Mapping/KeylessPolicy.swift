/// The treatment of records without a usable key.
public enum KeylessPolicy: String, Sendable, Hashable, CaseIterable {
    /// The record is reported as `key.missing` and skipped with everything nested in it.
    case skip
    /// The unit fails.
    case fail
}
