// Importers whose catalog is not the store's: an earlier one of it, or that of another store.

import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Import: the catalog of another store")
struct OtherCatalogTests {
    private static func user(_ name: String = "name", was former: String? = nil) -> EntityDefinition {
        EntityDefinition(
            "User", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int),
                AttributeDefinition(name, .string, optional: true, renamedFrom: former),
            ])
    }

    private static let tag = EntityDefinition(
        "Tag", key: ["id"],
        attributes: [AttributeDefinition("id", .int), AttributeDefinition("color", .string, optional: true)])

    /// Two stores of the same schema, of which the first one has grown into it.
    private static func stores() throws -> (grown: TestStore, fresh: TestStore) {
        let grown = try TestStore(Schema([user()]))
        _ = try Store.open(
            at: grown.directory, schema: Schema([tag, user()]), options: Store.Options(durability: .volatile))
        return (grown, try TestStore(Schema([tag, user()])))
    }

    @Test("a unit for another store, whose entities have other ids, is refused, and can go to the right one")
    func otherStore() throws {
        let (grown, fresh) = try Self.stores()
        let importer = try Importer(Mapping(), grown.store.catalog)
        _ = try importer.add(Array(#"[{"id":1,"name":"ada"}]"#.utf8), entity: "User")
        #expect(throws: OtherCatalogError(entity: "User")) {
            try fresh.store.write { try importer.commit(into: &$0) }
        }
        #expect(try fresh.count("User") == 0 && fresh.count("Tag") == 0)
        #expect(try grown.store.write { try importer.commit(into: &$0) }.created == 1)
        #expect(try grown.value("User", 1, "name") == .string("ada"))
    }

    @Test("a pipeline refuses a unit for another store, too")
    func pipeline() async throws {
        let (grown, fresh) = try Self.stores()
        let pipeline = try ImportPipeline(Mapping(), grown.store.catalog)
        _ = try pipeline.importer.add(Array(#"[{"id":1,"name":"ada"}]"#.utf8), entity: "User")
        await pipeline.start(to: fresh.store)
        await #expect(throws: OtherCatalogError(entity: "User")) { try await pipeline.finish() }
        #expect(try fresh.count("User") == 0 && fresh.count("Tag") == 0)
    }

    @Test("a unit for a store of another order of attributes is refused")
    func otherFields() throws {
        var other = Self.user("mail")
        other.attributes.append(AttributeDefinition("name", .string, optional: true))
        let bed = try TestStore(Schema([Self.user()])), target = try TestStore(Schema([other]))
        try bed.add(#"[{"id":1,"name":"ada"}]"#, "User")
        #expect(throws: OtherCatalogError(entity: "User")) {
            try target.store.write { try bed.importer.commit(into: &$0) }
        }
        #expect(try target.count("User") == 0)
    }

    @Test("a unit for a store that lacks the attribute, or the entity, is refused: it may get another of that id")
    func lackingParts() throws {
        var more = Self.user()
        more.attributes.append(AttributeDefinition("mail", .string, optional: true))
        for (schema, entity) in [(Schema([more]), "User"), (Schema([Self.user(), Self.tag]), "Tag")] {
            let bed = try TestStore(schema), target = try TestStore(Schema([Self.user()]))
            try bed.add(#"[{"id":1,"mail":"a@b","color":"red"}]"#, entity)
            #expect(throws: OtherCatalogError(entity: entity)) {
                try target.store.write { try bed.importer.commit(into: &$0) }
            }
            #expect(try target.count("User") == 0)
        }
    }

    /// An importer of a new store, which is closed again.
    private static func importer(_ schema: Schema, at path: String) throws -> Importer {
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        return try Importer(Mapping(), store.catalog)
    }

    @Test("an importer goes on when its store loses an attribute and an entity")
    func removedParts() throws {
        let folder = try TemporaryFolder(),
            importer = try Self.importer(Schema([Self.user(), Self.tag]), at: folder("s"))
        let store = try Store.open(at: folder("s"), options: Store.Options(durability: .volatile))
        try store.remove(field: "name", of: "User")
        try store.remove(entity: "Tag")
        _ = try importer.add(Array(#"[{"id":1}]"#.utf8), entity: "User")
        #expect(try store.write { try importer.commit(into: &$0) }.created == 1)
    }

    @Test("an importer goes on when its store gets entities, and new names of fields")
    func earlierCatalog() throws {
        let folder = try TemporaryFolder(), importer = try Self.importer(Schema([Self.user()]), at: folder("s"))
        let store = try Store.open(
            at: folder("s"), schema: Schema([Self.tag, Self.user("login", was: "name")]),
            options: Store.Options(durability: .volatile))
        _ = try importer.add(Array(#"[{"id":1,"name":"ada"}]"#.utf8), entity: "User")
        #expect(try store.write { try importer.commit(into: &$0) }.created == 1)
        let fields = try store.read { try $0.record("User", RecordKey(1)) }?.fields ?? []
        #expect(fields.first { $0.name == "login" }?.value == .string("ada"))
    }
}
