// A store that JSON is imported into, without a server.

import Foundation
import TarnDescription
import TarnMacros
import TestSupport

/// A store of some entities, and imports of JSON into it.
struct ImportFixture {
    let folder: TemporaryFolder
    let store: Store
    let mapping: Mapping
    var hooks = ImportHooks()

    /// Creates a store of records that a program declares.
    init(
        _ records: (any MappedRecord.Type)..., naming: NamingConvention = NamingConvention(),
        transformers: [ValueTransformer] = []
    ) throws {
        var entities: [String: EntityMapping] = [:]
        for record in records { entities[record.entity] = record.mapping }
        try self.init(
            Description(
                file: "records", storePath: "", api: APIDescription(base: "https://api.test.example"),
                schema: Schema(records: records),
                mapping: Mapping(naming: naming, entities: entities, transformers: transformers), endpoints: []))
    }

    /// Creates a store of entities that a description declares: the text below `entities`, and that
    /// of `api`, if any.
    init(entities: String, api: String = "", transformers: [ValueTransformer] = []) throws {
        func indented(_ text: String) -> String {
            text.split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 }.joined(separator: "\n")
        }
        try self.init(
            Description.parse(
                "api:\n  base: https://api.test.example\n" + indented(api) + "\nentities:\n" + indented(entities)
                    + "\n",
                file: "tarn.yaml", transformers: transformers))
    }

    private init(_ description: Description) throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("import.tarn"), schema: description.schema)
        mapping = description.mapping
    }

    /// Imports a document as one unit.
    @discardableResult
    func add(
        _ json: String, _ entity: String, records: JSONPath = "$", parent: ParentReference? = nil,
        context: ImportContext = ImportContext()
    ) throws -> ImportReport {
        let importer = try Importer(mapping, store.catalog)
        importer.hooks = hooks
        _ = try importer.add(Array(json.utf8), records: records, entity: entity, parent: parent, context: context)
        return try store.write { try importer.commit(into: &$0) }
    }

    /// Imports a document with records of several entities as one unit.
    @discardableResult
    func add(_ json: String, envelope: [EnvelopePart]) throws -> ImportReport {
        let importer = try Importer(mapping, store.catalog)
        importer.hooks = hooks
        _ = try importer.add(Array(json.utf8), envelope: envelope)
        return try store.write { try importer.commit(into: &$0) }
    }

    func fetch<Record: TypedRecord>(_ query: TypedQuery<Record>) throws -> [Record] {
        try store.read { try $0.fetch(query) }
    }

    func get<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws -> Record? {
        try store.read { try $0.get(type, key) }
    }

    func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        try store.read { try $0.record(entity, key) }
    }

    func record(_ entity: String, _ key: Int64) throws -> Record? { try record(entity, RecordKey(key)) }

    func count(_ entity: String) throws -> Int { try store.read { try $0.count(entity) } }

    /// The keys of the targets of a relationship, stored or derived, as texts.
    func related(_ entity: String, _ key: Int64, _ relationship: String) throws -> [String] {
        var keys: [String] = []
        try store.read { reader in
            try reader.forEachRelated(entity, RecordKey(key), relationship) { target in
                keys.append(target.key?.description ?? "?")
                return true
            }
        }
        return keys
    }
}
