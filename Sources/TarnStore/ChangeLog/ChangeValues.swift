internal import LMDB

/// Of which records the change log keeps the new values of fields, so that a copy of the store can follow by them.
public enum ChangeValues: Sendable, Hashable {
    case none
    case all
    /// Of these entities, and those that descend from them.
    case entities(Set<String>)
}
