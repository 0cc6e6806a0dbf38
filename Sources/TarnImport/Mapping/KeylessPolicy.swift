/// The treatment of records without a usable key.
public enum KeylessPolicy: String, Sendable, Hashable, CaseIterable {
    /// The record is reported as `key.missing` and skipped with everything nested in it.
    case skip
    /// A nested object whose key is absent or null names no record: it counts as null. Listed ones
    /// are skipped.
    case ignore
    /// The unit fails.
    case fail
}
