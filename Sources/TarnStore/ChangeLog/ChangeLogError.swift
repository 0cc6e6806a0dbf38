// The errors of the change log.

/// An error of the change log: of a token, of an entry, of a replayed change, or of the retention.
///
/// ``description`` names the way out.
public enum ChangeLogError: StoreFailure, Hashable {
    /// The change log was trimmed past a token. `oldest`: the oldest token that is still valid.
    case changesTrimmed(oldest: ChangeToken)
    /// A token belongs to another store, or to this one before it was restored.
    case otherIncarnation(expected: String, found: String)
    /// A token is ahead of the store.
    /// A backup was restored, or a loss of power undid the last commits.
    case changesAhead(sequence: UInt64, newest: UInt64)
    /// An entry of the change log cannot be read.
    case damagedChange(sequence: UInt64, ordinal: UInt32)
    /// A change cannot be applied because the log it comes from did not record values.
    case changeWithoutValues(entity: String, key: String)
    /// A change cannot be applied because the record that it changed does not exist.
    case changeOfMissingRecord(entity: String, key: String)
    /// The share or the age of a change retention is out of range.
    case retentionOutOfRange(detail: String)

    public var description: String {
        switch self {
        case .changesTrimmed(let oldest):
            "the change log begins at \(oldest), and earlier changes were removed; read all records again, and continue from the token of that snapshot"
        case .otherIncarnation(let expected, let found):
            "the token belongs to the store \(expected), not to this one, \(found); read all records again, and continue from the token of that snapshot"
        case .changesAhead(let sequence, let newest):
            "the token is of commit \(sequence), but the newest commit of the store is \(newest): its last commits were lost, or it was restored; read all records again, and continue from the token of that snapshot"
        case .damagedChange(let sequence, let ordinal):
            "change \(ordinal) of commit \(sequence) is damaged; read all records again, and continue from a token after it"
        case .changeWithoutValues(let entity, let key):
            "the change of \(entity) \(key) has no values to apply; configure the source store to keep them (setChangeValues), and start with a copy of it"
        case .changeOfMissingRecord(let entity, let key):
            "the changed record \(entity) \(key) does not exist, so earlier changes are missing; start with a copy of the source store, and apply the changes since then"
        case .retentionOutOfRange(let detail): "\(detail)"
        }
    }
}
