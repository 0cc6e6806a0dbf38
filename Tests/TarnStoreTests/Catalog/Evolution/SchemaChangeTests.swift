// The effect of schema changes on a store with records: inline, by a build, or refused with a
// helpful message.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Schema changes")
struct SchemaChangeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with 60 items; every field that can have a value has one.
    private func filled(_ schema: Schema) throws -> String {
        let path = folder("s"), store = try Forge.open(path, schema)
        try store.write { writer in
            let names = writer.catalog.entities.map(\.name), item = names.contains("Item") ? "Item" : "Ticket"
            guard let entity = writer.catalog.entity(item) else { return }
            for id in 0..<60 {
                var fields: [Record.Field] = []
                for field in entity.fields where field.name != "id" {
                    switch field.kind {
                    case .attribute(.int): fields.append(.init(field.name, .int(Int64(id % 7))))
                    case .attribute(.string): fields.append(.init(field.name, .string("t\(id)")))
                    case .attribute(.enumeration(let values)): fields.append(.init(field.name, .string(values[0])))
                    case .attribute(.array(.enumeration(let values))):
                        fields.append(.init(field.name, .array([.string(values[0])])))
                    case .attribute: break
                    case .reference(let reference):
                        let key = RecordKey("p\(id % 5)")
                        fields.append(.init(field.name, reference.isToMany ? .references([key]) : .reference(key)))
                    }
                }
                try writer.put(item, RecordKey(Int64(id)), fields)
            }
        }
        return path
    }

    private static func rows(_ store: Store) throws -> [[UInt8]: [UInt8]] {
        try store.read { reader in
            var rows: [[UInt8]: [UInt8]] = [:]
            for root in reader.catalog.entities where root.root == root.id {
                try reader.access.records.scan(root) { key, row in
                    rows[[UInt8(root.id)] + Array(key)] = Array(row.body.bytes)
                    return true
                }
            }
            return rows
        }
    }

    @Test("every kind of change is what the table says", arguments: SchemaChange.all)
    func table(_ row: SchemaChange) throws {
        let path = try filled(row.before)
        var before = Catalog(), rows: [[UInt8]: [UInt8]] = [:]
        do {
            let store = try Forge.open(path, nil)
            (before, rows) = (store.catalog, try Self.rows(store))
        }
        var steps = 0
        let options = IndexBuildOptions(rows: 20)
        let error = storeError {
            let store = try Store.open(at: path, schema: row.after, options: Forge.quick, building: options) { _ in
                steps += 1
            }
            // Writes continue.
            try store.put(store.catalog.entity("Ticket") == nil ? "Item" : "Ticket", 7, ["state": .null])
            try store.put(store.catalog.entity("Ticket") == nil ? "Item" : "Ticket", 7, ["state": .string("open")])
        }
        let store = try Forge.open(path, nil)
        #expect(try IndexVerification.problem(in: store) == nil)
        #expect(try Self.rows(store).filter { $0.value != rows[$0.key] }.count <= 1)
        switch row.outcome {
        case .inline:
            #expect(error == nil)
            #expect(steps == 0)
        case .build:
            #expect(error == nil)
            #expect(steps > 1)
        case .refused(let words):
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "it was not refused")")
            #expect(store.catalog.entities.map(\.fields) == before.entities.map(\.fields))
            #expect(store.catalog.entities.map(\.indexes) == before.entities.map(\.indexes))
            return
        }
        // Applied twice, it is not a change.
        let generation = store.state.generation
        #expect(try store.catalog.applying(row.after).catalog == store.catalog)
        _ = try Forge.open(path, row.after)
        #expect(try store.read { _ in store.state.generation } == generation)
    }

    @Test(
        "the preview of every kind of change names it, and refuses what opening the store refuses",
        arguments: SchemaChange.all)
    func preview(_ row: SchemaChange) throws {
        let store = try Forge.open(try filled(row.before), nil)
        let evolution = try store.evolution(to: row.after)
        if case .refused = row.outcome {
            #expect(!evolution.refusals.isEmpty)
        } else {
            #expect(evolution.refusals.isEmpty, "\(evolution.refusals)")
            let isChange = try store.catalog.applying(row.after).catalog != store.catalog
            #expect(evolution.changes.isEmpty != isChange, "\(evolution.changes)")
        }
    }

    @Test("the preview tells a renamed index from a new one, and finds the records that a unique index refuses")
    func previewOfIndexes() throws {
        func schema(_ indexes: IndexDefinition...) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"], attributes: [.init("id", .int), .init("a", .string, optional: true)],
                    indexes: indexes),
                EntityDefinition("Bug", parent: "Item", attributes: []),
            ])
        }
        let store = try Forge.open(folder("s"), schema(.init("old", on: "a")))
        for id in 1...3 { try store.put("Item", RecordKey(Int64(id)), [:]) }
        func texts(_ index: IndexDefinition) throws -> [String] {
            let evolution = try store.evolution(to: schema(index))
            return evolution.changes.map { "\($0.entity).\($0.field ?? ""): \($0.message)" }
                + evolution.refusals.map { "\($0.entity ?? "").\($0.field ?? ""): refused: \($0.message)" }
        }
        #expect(try texts(.init("new", on: "a", renamedFrom: "old")) == ["Item.new: renamed from old"])
        #expect(try texts(.init("old", on: "a", "id")) == ["Item.old: changed index: is built from 3 records"])
        #expect(try texts(.init("more", on: "id")) == ["Item.more: new index: is built from 3 records"])
        // Nulls are distinct; equal texts are not.
        let unique = IndexDefinition("old", on: "a", unique: true)
        #expect(try texts(unique) == ["Item.old: becomes unique: all 3 records are checked"])
        try store.put("Item", 1, ["a": .string("x")])
        try store.put("Bug", 9, ["a": .string("x")])
        let refusal = "records 1 and 9 have the same values, which must be unique; change or delete one of them first"
        #expect(try texts(unique) == ["Item.old: refused: \(refusal)"])
        #expect(try texts(.init("more", on: "a", unique: true)) == ["Item.more: refused: \(refusal)"])
    }

    @Test("the article's table has every row of this one, with the same outcome, and no other")
    func articleHasTheTable() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Tarn/Tarn.docc/SchemaEvolution.md").standardized
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        var found: [String: String] = [:]
        for line in lines {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.count == 3, ["inline", "build", "refused"].contains(cells[1]) { found[cells[0]] = cells[1] }
        }
        var wanted: [String: String] = [:]
        for row in SchemaChange.all {
            wanted[row.change] =
                switch row.outcome {
                case .inline: "inline"
                case .build: "build"
                case .refused: "refused"
                }
        }
        #expect(wanted.count == SchemaChange.all.count)
        #expect(found == wanted)
    }

    // MARK: Other names

    @Test(
        "a rename keeps ids and values: of entities, attributes, relationships, joined ones and indexes, also in kinds that descend"
    )
    func renames() throws {
        let old = Schema([
            EntityDefinition(
                "Item", key: ["id"], attributes: [.init("id", .int), .init("title", .string, indexed: true)],
                relationships: [
                    .init("author", to: "Person", inverse: "items"),
                    .init("same", to: "Person", joinedBy: .init("title", equals: "login")),
                ],
                indexes: [.init("byTitle", on: "title", "id")]),
            EntityDefinition("Person", key: ["login"], attributes: [.init("login", .string)]),
            EntityDefinition("Bug", parent: "Item", attributes: [.init("grade", .int, optional: true)]),
        ])
        let new = Schema([
            EntityDefinition(
                "Ticket", key: ["number"],
                attributes: [
                    .init("number", .int, renamedFrom: "id"),
                    .init("headline", .string, indexed: true, renamedFrom: "title"),
                ],
                relationships: [
                    .init("writer", to: "User", inverse: "written", renamedFrom: "author"),
                    .init("alike", to: "User", joinedBy: .init("headline", equals: "handle"), renamedFrom: "same"),
                ], indexes: [.init("byHeadline", on: "headline", "number", renamedFrom: "byTitle")], renamedFrom: "Item"
            ),
            EntityDefinition(
                "User", key: ["handle"], attributes: [.init("handle", .string, renamedFrom: "login")],
                renamedFrom: "Person"),
            EntityDefinition(
                "Defect", parent: "Ticket", attributes: [.init("weight", .int, optional: true, renamedFrom: "grade")],
                renamedFrom: "Bug"),
        ])
        let path = folder("s")
        var before = Catalog()
        do {
            let store = try Forge.open(path, old)
            try store.put("Person", "ada", [:])
            try store.put("Bug", 1, ["title": .string("ada"), "author": .reference("ada"), "grade": .int(4)])
            before = store.catalog
        }
        let store = try Forge.open(path, new)
        for (old, new) in zip(before.entities, store.catalog.entities) {
            #expect(
                old.id == new.id && old.fields.map(\.id) == new.fields.map(\.id)
                    && old.indexes.map(\.id) == new.indexes.map(\.id))
            #expect(old.indexes.count == new.indexes.count && old.joins.count == new.joins.count)
        }
        let record = try #require(try store.record("Defect", 1))
        #expect(
            record["headline"] == .string("ada") && record["weight"] == .int(4) && record["writer"] == .reference("ada")
        )
        #expect(try store.related("User", "ada", "written") == [1])
        #expect(try store.related("Defect", 1, "alike") == ["ada"])
        #expect(try store.read { try $0.first("Ticket", index: "byHeadline", equalTo: [.string("ada")])?.key } == 1)
        #expect(
            storeError { _ = try store.record("Item", 1) }
                == StoreError.unknownEntity(name: "Item", known: ["Ticket", "User", "Defect"]))
        // Once more, and by a program that does not know the old names.
        var plain = new
        for e in plain.entities.indices { plain.entities[e].renamedFrom = nil }
        #expect(try store.catalog.applying(new).catalog == store.catalog)
        #expect(try store.catalog.applying(plain).catalog == store.catalog)
        // Back again.
        let back = Schema([
            EntityDefinition("Item", key: ["number"], attributes: [.init("number", .int)], renamedFrom: "Ticket")
        ])
        #expect(try store.catalog.applying(back).catalog.entity("Item")?.id == before.entity("Item")?.id)
        #expect(try IndexVerification.problem(in: store) == nil)
    }

    @Test("an index that is renamed and gets other attributes at once is a new one in kinds that descend, too")
    func renamedAndChangedIndex() throws {
        func schema(_ index: IndexDefinition) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("a", .string, optional: true), .init("b", .string, optional: true),
                    ],
                    indexes: [index]),
                EntityDefinition("Bug", parent: "Item", attributes: []),
            ])
        }
        let path = folder("s")
        do { try Forge.open(path, schema(.init("old", on: "a"))).put("Bug", 1, ["a": .string("x")]) }
        let new = schema(.init("new", on: "a", "b", renamedFrom: "old")), store = try Forge.open(path, new)
        #expect(store.catalog.entity("Bug")?.indexes.map(\.name) == ["new"])
        #expect(store.catalog.entity("Bug")?.indexes == store.catalog.entity("Item")?.indexes)
        let query = Query("Bug", where: .compare("a", .equal, .string("x")))
        #expect(try store.read { try $0.fetch(query).map(\.key) } == [1])
        #expect(try IndexVerification.problem(in: store) == nil)
        #expect(try store.catalog.applying(new).catalog == store.catalog)
        // An earlier version has left the emptied index in the catalog of a store.
        var known = store.catalog
        let bug = try #require(known.entities.firstIndex { $0.name == "Bug" })
        known.entities[bug].indexes.append(
            .init(id: 1, name: "old", components: [], isUnique: false, conditions: []))
        var text = try StoredCatalog.text(of: known)
        #expect(text.withUTF8 { StoredCatalog(Bytes($0))?.catalog } == store.catalog)
    }

    @Test("an index of a descendant does not get a former name of its ancestor's index, also if it is renamed")
    func formerNameOfAncestor() throws {
        func schema(_ item: IndexDefinition, _ bug: IndexDefinition) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"], attributes: [.init("id", .int), .init("a", .string, optional: true)],
                    indexes: [item]),
                EntityDefinition("Bug", parent: "Item", attributes: [.init("b", .int, optional: true)], indexes: [bug]),
            ])
        }
        let path = folder("s")
        do { _ = try Forge.open(path, schema(.init("x", on: "a"), .init("z", on: "b"))) }
        let store = try Forge.open(path, schema(.init("y", on: "a", renamedFrom: "x"), .init("z", on: "b")))
        let refusal = storeError {
            _ = try Forge.open(path, schema(.init("y", on: "a"), .init("x", on: "b", renamedFrom: "z")))
        }
        #expect(refusal?.description.contains("another program has renamed it to y") == true)
        #expect(store.catalog.entity("Bug")?.indexes.map(\.name) == ["y", "z"])
    }

    @Test("a value of an enumeration and a default that get other bytes are changes, although they look the same")
    func encodings() throws {
        func schema(_ text: String) -> Schema {
            Schema([
                EntityDefinition(
                    "Item", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("state", .enumeration([text]), optional: true),
                        .init("title", .string, optional: true, default: .string(text)),
                    ])
            ])
        }
        let path = folder("s"), composed = "ferm\u{E9}", decomposed = "ferme\u{301}"
        do { _ = try Forge.open(path, schema(decomposed)) }
        #expect(try Forge.open(path, nil).evolution(to: schema(composed)).changes.map(\.field) == ["state", "title"])
        let store = try Forge.open(path, schema(composed))
        try store.put("Item", 1, ["state": .string(composed)])
        guard case .string(let title)? = try store.record("Item", 1)?["title"] else {
            Issue.record("no default")
            return
        }
        #expect(Array(title.utf8) == Array(composed.utf8))
        #expect(storeError { try store.put("Item", 2, ["state": .string(decomposed)]) } != nil)
    }

    @Test("what an ancestor has by another program's schema is not taken from it by the schema of a descendant")
    func ancestorOfAnotherSchema() throws {
        func schema(
            _ item: [AttributeDefinition] = [], _ bug: [AttributeDefinition] = [], itemIndexes: [IndexDefinition] = [],
            bugIndexes: [IndexDefinition] = []
        ) -> Schema {
            let own: [AttributeDefinition] = [.init("id", .int), .init("a", .string, optional: true)]
            return Schema([
                EntityDefinition("Item", key: ["id"], attributes: own + item, indexes: itemIndexes),
                EntityDefinition("Bug", parent: "Item", attributes: bug, indexes: bugIndexes),
            ])
        }
        let path = folder("s"), plain = AttributeDefinition("b", .string, optional: true)
        let store = try Forge.open(path, schema([plain], itemIndexes: [.init("byA", on: "a")]))
        try store.put("Item", 1, ["a": .string("x")])
        let indexed = AttributeDefinition("b", .string, optional: true, indexed: true)
        for (other, words) in [
            (schema(bugIndexes: [.init("byA", on: "a", "id")]), "has another index of this name"),
            (schema(bugIndexes: [.init("mine", on: "a", "id", renamedFrom: "byA")]), "declares byA: rename it there"),
            (schema([], [indexed]), "has the attribute, without an index"),
        ] {
            let refusal = storeError { _ = try Forge.open(path, other) }
            #expect(refusal?.description.contains(words) == true, "\(String(describing: refusal))")
        }
        _ = try Forge.open(path, schema([], [plain], bugIndexes: [.init("byA", on: "a")]))
        let query = Query("Item", where: .compare("a", .equal, .string("x")))
        #expect(try store.read { try $0.fetch(query).map(\.key) } == [1])
        #expect(try IndexVerification.problem(in: store) == nil)
        try store.put("Item", 2, ["a": .string("x")])
    }

    @Test("a name of before that is still declared is a problem of the schema")
    func formerNameInUse() {
        let problems = Schema([
            EntityDefinition(
                "A", key: ["id"],
                attributes: [.init("id", .int), .init("x", .int), .init("y", .int, renamedFrom: "x")],
                relationships: [.init("r", to: "A"), .init("s", to: "A", renamedFrom: "r")],
                indexes: [.init("i", on: "x"), .init("j", on: "y", renamedFrom: "i")]),
            EntityDefinition("B", key: ["id"], attributes: [.init("id", .int)], renamedFrom: "A"),
        ]).problems()
        #expect(problems.map { "\($0.entity ?? "").\($0.field ?? "")" } == ["A.y", "A.s", "A.j", "B."])
        #expect(problems.allSatisfy { $0.message.contains("but that name is still declared") })
    }

    // MARK: Removal

    @Test(
        "an attribute or relationship that is removed takes its values, its index and its long lists with it; its id is not used again"
    )
    func removeField() throws {
        let path = folder("s"), store = try Forge.open(path)
        let schema = Forge.schema
        try store.write { writer in
            for id in 0..<Int64(50) {
                try writer.put(
                    "Issue", RecordKey(id),
                    [
                        .init("title", .string("t")), .init("number", .int(id)),
                        .init("labels", .references((0..<800).map { RecordKey("label \($0)") })),
                    ])
            }
        }
        let number = try #require(store.catalog.entity("Issue")?.field("number"))
        let labels = try #require(store.catalog.entity("Issue")?.field("labels"))
        #expect(try store.remove(field: "number", of: "Issue", step: 7) == 50)
        // This process's own schema names it.
        guard case StoreWriteError.schemaChanged? = storeError({ try store.put("Issue", 1, [:]) }) else {
            Issue.record("not locked out")
            return
        }
        _ = store
        let other = try folderStore(path, without: ["number"], schema)
        #expect(try other.remove(field: "labels", of: "Issue", step: 7) == 50)
        #expect(try other.read { try $0.access.raw.statistics($0.access.state.edgeTable()).entries } == 0)
        #expect(try other.record("Issue", 3)?.fields.map(\.name) == ["id", "title"])
        #expect(try IndexVerification.problem(in: other) == nil)
        #expect(try other.changes().suffix(50).allSatisfy { $0.operation == 2 })
        let again = try other.catalog.applying(schema).catalog
        let ids = try #require(again.entity("Issue")).fields.map(\.id)
        #expect(!ids.contains(number.id) && !ids.contains(labels.id) && Set(ids).count == ids.count)
        #expect(again.entity("Issue")?.field("number")?.index != number.index)
    }

    /// This store without the first schema of this process.
    private func folderStore(_ path: String, without names: [String], _ schema: Schema) throws -> Store {
        let copy = path + "-copy"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: copy + "/data.mdb")
        return try Forge.open(copy, nil)
    }

    @Test("an entity is removed with its records once nothing leads to it; its id is not used again")
    func removeEntity() throws {
        let path = folder("s")
        do {
            try Forge.open(path).write {
                for id in 0..<Int64(30) { try $0.put("Issue", RecordKey(id), [.init("title", .string("t"))]) }
            }
        }
        let store = try Forge.open(path, nil)
        let refusal = storeError { _ = try store.remove(entity: "Label") }
        #expect(refusal == StoreMaintenanceError.inUse(entity: "Label", name: nil, by: "Issue.labels"))
        #expect(refusal?.description == "cannot remove Label: it is used by Issue.labels; remove that first")
        let id = try #require(store.catalog.entity("Issue")?.id)
        #expect(try store.remove(entity: "Issue", step: 7) == 30)
        #expect(store.catalog.entity("Issue") == nil)
        #expect(try store.changes().suffix(30).allSatisfy { $0.operation == 3 && $0.entity == id })
        // The log can be read further on. The catalog no longer has the name.
        let start = try store.read { try $0.oldestChangeToken }
        let changes = try store.read { try $0.changes(since: start).changes }
        #expect(
            changes.map(\.operation) == Array(repeating: .created, count: 30) + Array(repeating: .deleted, count: 30))
        #expect(changes.allSatisfy { $0.entity == "#\(id)" } && changes.last?.key == 29)
        #expect(try store.read { try $0.netChanges(since: start).changes } == [])
        let again = try Forge.open(path)
        #expect(try again.count("Issue") == 0)
        #expect(again.catalog.entity("Issue")?.id != id)
        #expect(try IndexVerification.problem(in: again) == nil)
    }

    @Test(
        "an index that is removed is no more, and is built anew by a schema that names it; what is in use is not removed"
    )
    func removeIndex() throws {
        let schema = Schema([
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [
                    .init("id", .int), .init("name", .string, indexed: true), .init("slug", .string, unique: true),
                ],
                relationships: [
                    .init("same", to: "Item", joinedBy: .init("name", equals: "slug")), .init("next", to: "Item"),
                ],
                indexes: [.init("both", on: "name", "id")]),
            EntityDefinition("Bug", parent: "Item", attributes: []),
        ])
        let path = folder("s")
        do { try Forge.open(path, schema).put("Item", 1, ["name": .string("a"), "slug": .string("b")]) }
        let store = try Forge.open(path, nil)
        #expect(
            storeError { try store.remove(index: "name", of: "Item") }
                == StoreMaintenanceError.inUse(entity: "Item", name: "name", by: "Item.same"))
        #expect(
            storeError { try store.remove(index: "next", of: "Item") }
                == StoreMaintenanceError.inUse(entity: "Item", name: "next", by: "the relationship itself"))
        #expect(
            storeError { try store.remove(index: "both", of: "Bug") }
                == StoreMaintenanceError.inUse(entity: "Bug", name: "both", by: "Item, which declares it"))
        #expect(
            storeError { try store.remove(field: "id", of: "Item") }
                == StoreMaintenanceError.inUse(entity: "Item", name: "id", by: "the key"))
        #expect(
            storeError { try store.remove(field: "name", of: "Item") }
                == StoreMaintenanceError.inUse(entity: "Item", name: "name", by: "Item.same"))
        #expect(
            storeError { _ = try store.remove(entity: "Item") }
                == StoreMaintenanceError.inUse(entity: "Item", name: nil, by: "Bug, a descendant of it"))
        let old = try #require(store.catalog.entity("Item")?.index("both")?.id)
        try store.remove(index: "both", of: "Item")
        #expect(store.catalog.entity("Bug")?.index("both") == nil)
        #expect(try store.read { try $0.access.raw.statistics($0.access.state.records(of: 1)).entries } == 1)
        #expect(
            storeError { _ = try store.read { try $0.first("Item", index: "both", equalTo: [.string("a")]) } } != nil)
        let again = try Forge.open(path, schema)
        #expect(again.catalog.entity("Item")?.index("both")?.id != old)
        #expect(try again.read { try $0.first("Item", index: "both", equalTo: [.string("a")])?.key } == 1)
    }
}
