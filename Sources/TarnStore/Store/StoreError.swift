// The errors of reads. A case has its facts as associated values; its text names the way out.

public import LMDB

/// An error of a read: a wrong name, key or type in the call, or damage in the store.
///
/// Writes, which read as well, throw it besides ``StoreWriteError``. ``description`` names the way
/// out.
public enum StoreError: StoreFailure, Hashable {
    /// The store has no such entity.
    case unknownEntity(name: String, known: [String])
    /// The entity has no such attribute or relationship.
    case unknownField(entity: String, name: String, known: [String])
    /// A key does not have the form that the entity declares.
    case wrongKey(entity: String, expected: String, found: String)
    /// A value does not have the type that the catalog declares for the field.
    case wrongType(entity: String, field: String, expected: String, found: String)
    /// A struct cannot read the value of a field: it is null, of another type, or none of the
    /// values that the property's type has. `wayOut` names the type to declare.
    case unreadableValue(
        entity: String, key: String, field: String, expected: String, found: String, wayOut: String)
    /// A condition has lists and negations inside of one another, more than `levels` deep.
    case conditionTooDeep(entity: String, levels: Int)
    /// A path continues after a to-many relationship. Only a to-one relationship permits that.
    case leadsToSeveral(entity: String, relationship: String)
    /// The result of a query must be sorted in memory, and exceeds the limit of `bytes`.
    case sortTooLarge(entity: String, bytes: Int)
    /// Counting by a value needs more memory than allowed: there are too many different values.
    case groupsTooLarge(entity: String, bytes: Int)
    /// A continuation token belongs to another query.
    case wrongToken(entity: String)
    /// A struct requires a field that the row does not have.
    case missingValue(entity: String, key: String, field: String, isPartial: Bool)
    /// An index is still being built, by this or another process. `done` of `total` rows are in it.
    case indexIncomplete(entity: String, index: String, done: Int, total: Int)
    /// A row is damaged. It is not overwritten either.
    case damagedRow(entity: String, key: String)
    /// A row's dictionary is missing or damaged. This affects all rows compressed with it.
    case damagedDictionary(entity: String, key: String, dictionary: UInt16)
    /// An entry of one of the store's own tables is damaged, such as a response or a checkpoint.
    case damagedEntry(table: String, key: String)
    /// The catalog in the store cannot be read.
    case damagedCatalog(path: String, detail: String)
    /// An error of LMDB itself.
    case lmdb(LMDBError)

    /// The nearest known name, else all of them.
    private static func suggestion(_ name: String, _ known: [String], _ all: String) -> String {
        if let nearest = Spelling.nearest(to: name, among: known) { return ": did you mean \(nearest)?" }
        return all + (known.isEmpty ? "none" : known.joined(separator: ", "))
    }

    public var description: String {
        switch self {
        case .unknownEntity(let name, let known):
            "unknown entity \(name)" + StoreError.suggestion(name, known, "; the store has ")
        case .unknownField(let entity, let name, let known):
            "\(entity) has no \(name)" + StoreError.suggestion(name, known, "; it has ")
        case .wrongKey(let entity, let expected, let found):
            "key of \(entity): expected \(expected), found \(found)"
        case .wrongType(let entity, let field, let expected, let found):
            "\(entity).\(field): expected \(expected), found \(found)"
        case .unreadableValue(let entity, let key, let field, let expected, let found, let wayOut):
            "\(entity) \(key): cannot read \(field) as \(expected), found \(found): \(wayOut). Until then, leave the record out with a condition, or read it without a struct (`fetch(Query(\"\(entity)\"))`)"
        case .conditionTooDeep(let entity, let levels):
            "the condition on \(entity) is nested more than \(levels) levels deep; simplify it, with `isIn` for example"
        case .leadsToSeveral(let entity, let relationship):
            "\(entity).\(relationship) is to-many, so a path cannot continue after it; test it with `contains` and a key, or query the other entity"
        case .sortTooLarge(let entity, let bytes):
            "sorting the records of \(entity) needs more than \(bytes) bytes of memory; set a limit, or declare an index in this order"
        case .groupsTooLarge(let entity, let bytes):
            "the records of \(entity) have too many different values: counting them needs more than \(bytes) bytes of memory; count fewer records with a condition"
        case .wrongToken(let entity):
            "the continuation token belongs to another query than this one of \(entity); start again without a token"
        case .missingValue(let entity, let key, let field, let isPartial):
            "\(entity) \(key) has no \(field)\(isPartial ? ": the record is partial; leave such records out with `.partials(.excluded)`, or" : ";") read it as an optional"
        case .indexIncomplete(let entity, let index, let done, let total):
            "the index \(index) of \(entity) is not complete (\(done) of \(total) rows); wait, or open the store with a schema to continue the build"
        case .damagedRow(let entity, let key):
            "the row of \(entity) \(key) is damaged, and was not changed; remove it with `tarn store repair --remove-damaged-rows` and sync again, restore the store from a backup, or copy its other records into a new one with `tarn inspect salvage`"
        case .damagedDictionary(let entity, let key, let dictionary):
            "the row of \(entity) \(key) needs the dictionary \(dictionary), which is missing or damaged; other rows need it as well. Restore the store from a backup, copy the records that are left into a new one with `tarn inspect salvage`, or mirror again"
        case .damagedEntry(let table, let key):
            "the entry \(key) of the table \(table) is damaged: its checksum is wrong. "
                + (table == TableName.meta
                    ? "Restore the store from a backup, or copy its records into a new one with `tarn inspect salvage`"
                    : "Remove it with `tarn store repair`, or restore the store from a backup")
        case .damagedCatalog(let path, let detail):
            "\(path): cannot read the catalog of the store (\(detail)); restore the store from a backup, mirror again, or try `tarn inspect salvage`"
        case .lmdb(let error): error.description
        }
    }
}

extension StoreError {
    /// Whether an error is of LMDB, such as one of its files or of memory: no data is the reason.
    package static func isOfLMDB(_ error: any Error) -> Bool {
        if case StoreError.lmdb = error { return true }
        return error is LMDBError
    }

    /// The error of a system call on a file of a store.
    package static func file(_ path: String, _ code: Int32, operation: String) -> StoreError {
        .lmdb(LMDBError(code: code, operation: operation, path: path))
    }
}
