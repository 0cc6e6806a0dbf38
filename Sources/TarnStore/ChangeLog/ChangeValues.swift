/// The records whose new field values the change log keeps, so that a copy of the store can follow.
public enum ChangeValues: Sendable, Hashable {
    /// No records.
    case none
    /// All records.
    case all
    /// The records of these entities and their descendants.
    case entities(Set<String>)
}
