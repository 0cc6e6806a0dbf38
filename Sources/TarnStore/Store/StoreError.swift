// The errors of a store. A case has its facts as associated values; its text names the way out.

public import LMDB

/// An error of a store. ``description`` names the way out.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No store exists at this path.
    case noSuchStore(path: String)
    /// The path exists, but is not a store.
    case notAStore(path: String, detail: String)
    /// The store has a format newer than this version supports.
    case newerFormat(path: String, found: Int, known: Int)
    /// The store uses a feature that this version does not know, in a format that it knows.
    case unknownFeature(path: String, feature: String)
    /// The store is locked by other processes.
    /// `by`: their names and process ids, as far as the system reports them.
    case storeInUse(path: String, by: [String])
    /// Commits happened during a read without locks, so the result may mix several of them.
    /// `detail`: the reason why there were no locks.
    case changedMeanwhile(path: String, detail: String)
    /// The path for a new store exists already.
    case destinationExists(path: String)
    /// A process of another PID namespace, such as another container, has the store open.
    case pidNamespaceConflict(path: String)
    /// The file would exceed the quota (nil: the map). Nothing of the write was kept.
    case storeFull(path: String, quota: Int?)
    /// The quota is too small, or larger than the map has room for.
    case quotaOutOfRange(quota: Int, smallest: Int, largest: Int)
    /// The system does not grant this process the address space that the store's quota needs.
    case addressSpace(path: String, needed: Int, granted: Int)
    /// Another process changed the store so that this process's schema no longer fits.
    /// Reads still work.
    case schemaChanged(path: String, detail: String)
    /// The schema is invalid, or incompatible with the catalog of the store.
    case schema(SchemaError)
    /// The store has no such entity.
    case unknownEntity(name: String, known: [String])
    /// The entity has no such attribute or relationship.
    case unknownField(entity: String, name: String, known: [String])
    /// A key does not have the form that the entity declares.
    case wrongKey(entity: String, expected: String, found: String)
    /// A value does not have the type that the catalog, or the reader, declares for the field.
    case wrongType(entity: String, field: String, expected: String, found: String)
    /// A path continues after a to-many relationship. Only a to-one relationship permits that.
    case leadsToSeveral(entity: String, relationship: String)
    /// The result of a query must be sorted in memory, and exceeds the limit of `bytes`.
    case sortTooLarge(entity: String, bytes: Int)
    /// A continuation token belongs to another query.
    case wrongToken(entity: String)
    /// A struct requires a field that the row does not have.
    case missingValue(entity: String, key: String, field: String, isPartial: Bool)
    /// A record has another version than expected: it was changed since it was read.
    /// `found` 0: the record does not exist.
    case versionMismatch(entity: String, key: String, expected: UInt64, found: UInt64)
    /// Records have equal values in a unique index. Nothing of the write was kept.
    case notUnique(entity: String, index: String, keys: [String])
    /// An index is still being built, by this or another process. `done` of `total` rows are in it.
    case indexIncomplete(entity: String, index: String, done: Int, total: Int)
    /// An entity, field or index was not removed because something else needs it.
    case inUse(entity: String, name: String?, by: String)
    /// A record was not deleted because a relationship has the delete rule `deny`.
    /// The relationship belongs to the record or to one that would be deleted with it, and leads to
    /// a record that would remain (`by`: its entity and key).
    case deleteDenied(entity: String, key: String, relationship: String, by: String)
    /// Two different long keys have the same storage key. Nothing was overwritten.
    case keyCollision(entity: String)
    /// A row is damaged. It is not overwritten either.
    case damagedRow(entity: String, key: String)
    /// A row's dictionary is missing or damaged. This affects all rows compressed with it.
    case damagedDictionary(entity: String, key: String, dictionary: UInt16)
    /// An entry of one of the store's own tables is damaged, such as a response or a checkpoint.
    case damagedEntry(table: String, key: String)
    /// The catalog in the store cannot be read.
    case damagedCatalog(path: String, detail: String)
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
    /// An error of LMDB itself.
    case lmdb(LMDBError)

    public var description: String {
        switch self {
        case .noSuchStore(let path): "\(path): no such store; `tarn sync` creates one"
        case .notAStore(let path, let detail): "\(path): not a Tarn store: \(detail)"
        case .newerFormat(let path, let found, let known):
            "\(path): the store has format \(found), and this version of Tarn supports formats up to \(known); use a newer version"
        case .unknownFeature(let path, let feature):
            "\(path): the store uses the feature `\(feature)`, which this version of Tarn does not support; use a newer version"
        case .storeInUse(let path, let users):
            "\(path): the store is in use\(users.isEmpty ? "" : " by \(users.joined(separator: ", "))"), and compaction needs exclusive access; try again when it is closed"
        case .changedMeanwhile(let path, let detail):
            "\(path): another process wrote to the store while it was read without locks, so the result may mix several commits; repeat the read, or give this user permission to lock the store. Reason for reading without locks: \(detail)"
        case .destinationExists(let path): "\(path): already exists; name a new directory"
        case .pidNamespaceConflict(let path):
            "\(path): a process of another PID namespace has the store open; share the namespace (containers: `pid`), or close the store there"
        case .storeFull(let path, let quota):
            "\(path): the store is full\(quota.map { " (quota: \($0) bytes)" } ?? ""); nothing was written. Delete records, end long reads, or raise the quota"
        case .quotaOutOfRange(let quota, let smallest, let largest):
            "invalid quota of \(quota) bytes: it must be from \(smallest) to \(largest)"
        case .addressSpace(let path, let needed, let granted):
            "\(path): the store needs \(needed) bytes of address space, but the limit is \(granted); raise the limit (ulimit -v), or open it read-only"
        case .schemaChanged(let path, let detail):
            "\(path): another process has changed the schema of the store (\(detail)), so this process can only read it. Update this program, and open the store again"
        case .schema(let error): "the schema does not fit the store: \(error)"
        case .unknownEntity(let name, let known):
            "unknown entity \(name); the store has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
        case .unknownField(let entity, let name, let known):
            "\(entity) has no \(name); it has \(known.joined(separator: ", "))"
        case .wrongKey(let entity, let expected, let found):
            "key of \(entity): expected \(expected), found \(found)"
        case .wrongType(let entity, let field, let expected, let found):
            "\(entity).\(field): expected \(expected), found \(found)"
        case .leadsToSeveral(let entity, let relationship):
            "\(entity).\(relationship) is to-many, so a path cannot continue after it; test it with `contains` and a key, or query the other entity"
        case .sortTooLarge(let entity, let bytes):
            "sorting the records of \(entity) needs more than \(bytes) bytes of memory; set a limit, or declare an index in this order"
        case .wrongToken(let entity):
            "the continuation token belongs to another query than this one of \(entity); start again without a token"
        case .missingValue(let entity, let key, let field, let isPartial):
            "\(entity) \(key) has no \(field)\(isPartial ? ": the record is partial" : ""); read it as an optional"
        case .versionMismatch(let entity, let key, let expected, let found):
            found == 0
                ? "\(entity) \(key): expected version \(expected), but the record does not exist; read it again"
                : "\(entity) \(key): expected version \(expected), found \(found): another write changed the record; read it again"
        case .notUnique(let entity, let index, let keys):
            "\(entity) \(keys.joined(separator: " and ")) have the same \(index), which must be unique; nothing was written. Change or delete one of them first"
        case .indexIncomplete(let entity, let index, let done, let total):
            "the index \(index) of \(entity) is not complete (\(done) of \(total) rows); wait, or open the store with a schema to continue the build"
        case .inUse(let entity, let name, let by):
            "cannot remove \(([entity, name] as [String?]).compactMap(\.self).joined(separator: ".")): it is used by \(by); remove that first"
        case .deleteDenied(let entity, let key, let relationship, let by):
            "cannot delete \(entity) \(key): its \(relationship) refers to \(by); delete that record first, or remove the reference"
        case .keyCollision(let entity):
            "two keys of \(entity) have the same digest; nothing was written"
        case .damagedRow(let entity, let key):
            "the row of \(entity) \(key) is damaged, and was not changed; restore the store from a backup, or mirror again"
        case .damagedDictionary(let entity, let key, let dictionary):
            "the row of \(entity) \(key) needs the dictionary \(dictionary), which is missing or damaged; other rows need it as well. Restore the store from a backup, or mirror again"
        case .damagedEntry(let table, let key):
            "the entry \(key) of the table \(table) is damaged: its checksum is wrong. "
                + (table == TableName.meta
                    ? "Restore the store from a backup, or copy its records into a new one with `tarn inspect salvage`"
                    : "Remove it with `tarn store repair`, or restore the store from a backup")
        case .damagedCatalog(let path, let detail):
            "\(path): cannot read the catalog of the store (\(detail)); restore the store from a backup, mirror again, or try `tarn inspect salvage`"
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
        case .lmdb(let error): error.description
        }
    }
}
