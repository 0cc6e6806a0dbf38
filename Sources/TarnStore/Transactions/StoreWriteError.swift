// The errors of writes.

/// A refusal of a write. Nothing of the write was kept.
///
/// ``description`` names the way out.
public enum StoreWriteError: StoreFailure, Hashable {
    /// The file would exceed the quota (nil: the map). Nothing of the write was kept.
    case storeFull(path: String, quota: Int?)
    /// Another process changed the store so that this process's schema no longer fits.
    /// Reads still work.
    case schemaChanged(path: String, detail: String)
    /// A record has another version than expected: it was changed since it was read.
    /// `found` 0: the record does not exist.
    case versionMismatch(entity: String, key: String, expected: UInt64, found: UInt64)
    /// Records have equal values in a unique index. Nothing of the write was kept.
    case notUnique(entity: String, index: String, keys: [String])
    /// A record was not deleted because a relationship has the delete rule `deny`.
    /// The relationship belongs to the record or to one that would be deleted with it, and leads to
    /// a record that would remain (`by`: its entity and key).
    case deleteDenied(entity: String, key: String, relationship: String, by: String)
    /// Two different long keys have the same storage key. Nothing was overwritten.
    case keyCollision(entity: String)

    public var description: String {
        switch self {
        case .storeFull(let path, let quota):
            "\(path): the store is full\(quota.map { " (quota: \($0) bytes)" } ?? ""); nothing was written. Delete records, end long reads, or raise the quota"
        case .schemaChanged(let path, let detail):
            "\(path): another process has changed the schema of the store (\(detail)), so this process can only read it. Update this program, and open the store again"
        case .versionMismatch(let entity, let key, let expected, let found):
            found == 0
                ? "\(entity) \(key): expected version \(expected), but the record does not exist; read it again"
                : "\(entity) \(key): expected version \(expected), found \(found): another write changed the record; read it again"
        case .notUnique(let entity, let index, let keys):
            "\(entity) \(keys.joined(separator: " and ")) have the same \(index), which must be unique; nothing was written. Change or delete one of them first"
        case .deleteDenied(let entity, let key, let relationship, let by):
            "cannot delete \(entity) \(key): its \(relationship) refers to \(by); delete that record first, or remove the reference"
        case .keyCollision(let entity):
            "two keys of \(entity) have the same digest; nothing was written"
        }
    }
}
