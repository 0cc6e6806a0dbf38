// The fixture of these tests: a real store in a temporary directory, and an importer for it.

import Foundation
import Glibc
import TarnImport
import TarnStore
import TestSupport
import Testing

/// Whether a sanitizer is on. Everything then takes several times the time and memory.
let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

/// A store in a temporary directory, which is removed with it, and one importer.
final class TestStore {
    let directory: String
    let store: Store
    let importer: Importer
    let mapping: Mapping

    init(_ schema: Schema, _ mapping: Mapping = Mapping()) throws {
        directory = FileManager.default.temporaryDirectory.path + "/tarn-import-" + UUID().uuidString
        store = try Store.open(at: directory, schema: schema, options: Store.Options(durability: .volatile))
        importer = try Importer(mapping, store.catalog)
        self.mapping = mapping
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @discardableResult
    func add(
        _ json: String, _ entity: String, records: JSONPath = JSONPath(keys: []), parent: ParentReference? = nil
    ) throws -> Importer.Added {
        try importer.add(Array(json.utf8), records: records, entity: entity, parent: parent)
    }

    func commit() throws -> ImportReport {
        try store.write { try importer.commit(into: &$0) }
    }

    /// Imports one document as a separate unit.
    @discardableResult
    func take(
        _ json: String, _ entity: String, records: JSONPath = JSONPath(keys: []), parent: ParentReference? = nil
    ) throws -> ImportReport {
        try add(json, entity, records: records, parent: parent)
        return try commit()
    }

    func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        try store.read { try $0.record(entity, key) }
    }

    func record(_ entity: String, _ key: Int64) throws -> Record? { try record(entity, RecordKey(key)) }

    func value(_ entity: String, _ key: Int64, _ field: String) throws -> Value? { try record(entity, key)?[field] }

    /// A stored record as the body of a request.
    func body(_ entity: String, _ key: Int64, _ options: BodyOptions = BodyOptions()) throws -> JSONValue {
        let record = try #require(try record(entity, key))
        return try BodyWriter(mapping, store.catalog).body(of: record, options) { try self.record($0, $1) }
    }

    func count(_ entity: String) throws -> Int { try store.read { try $0.count(entity) } }

    var sequence: UInt64 {
        get throws { try store.read { try $0.sequence } }
    }

    /// The keys of a relationship in its order; those of missing records with a `?`.
    func related(_ entity: String, _ key: RecordKey, _ relationship: String) throws -> [String] {
        var keys: [String] = []
        try store.read { reader in
            try reader.forEachRelated(entity, key, relationship) { target in
                keys.append((target.key?.description ?? "…") + (target.record == nil ? "?" : ""))
                return true
            }
        }
        return keys
    }

    func related(_ entity: String, _ key: Int64, _ relationship: String) throws -> [String] {
        try related(entity, RecordKey(key), relationship)
    }

    /// Every record of the store as one line: entity, key, whether it is partial, its fields.
    func lines() throws -> [String] {
        var lines: [String] = []
        try store.read { reader in
            for entity in reader.catalog.entities {
                try reader.forEach(entity.name) { record in
                    var text = "\(record.entity) \(record.key)\(record.isPartial ? " partial" : "") "
                    record.appendFieldsJSON(to: &text)
                    lines.append(text)
                    return true
                }
            }
        }
        return lines
    }
}

/// One entity `Thing` with an int key and the attributes that a test is about.
func thing(_ attributes: [AttributeDefinition], _ mapping: EntityMapping = EntityMapping()) throws -> TestStore {
    try TestStore(
        Schema([EntityDefinition("Thing", key: ["id"], attributes: [AttributeDefinition("id", .int)] + attributes)]),
        Mapping(entities: ["Thing": mapping]))
}

/// Users, issues with authors, assignees, ordered labels and derived comments: the schema of most
/// tests.
enum Forge {
    static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("login", .string),
                AttributeDefinition("name", .string, optional: true),
            ],
            relationships: [
                RelationshipDefinition("friend", to: "User"),
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "author"),
            ]),
        EntityDefinition(
            "Label", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                AttributeDefinition("body", .string, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("assignees", to: "User", many: true, inverse: "assigned"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "labelled"),
                RelationshipDefinition("comments", to: "Comment", many: true, inverse: "issue"),
            ]),
        EntityDefinition(
            "Comment", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [
                RelationshipDefinition("issue", to: "Issue", inverse: "comments"),
                RelationshipDefinition("author", to: "User"),
            ]),
    ])

    static let mapping = Mapping(entities: [
        "User": EntityMapping(declared: ["issues"]), "Issue": EntityMapping(declared: ["comments"]),
    ])

    static func store() throws -> TestStore { try TestStore(schema, mapping) }
}
