// Records of several entities in one response.

import TarnImport
import TarnStore
import Testing

@Suite("Import: envelopes")
struct EnvelopeTests {
    private func add(_ bed: TestStore, _ json: String, _ parts: EnvelopePart...) throws -> Importer.Added {
        try bed.importer.add(Array(json.utf8), envelope: parts)
    }

    @Test("each list is drafted as its entity, in one unit, and what refers to another list resolves")
    func several() throws {
        let bed = try Forge.store()
        let added = try add(
            bed,
            #"{"data":{"issues":[{"id":1,"title":"t","author":7}],"one":{"id":3,"name":"l"}},"users":[{"id":7,"login":"a"},{"id":8,"login":"b"}]}"#,
            EnvelopePart("data.issues", "Issue"), EnvelopePart("users", "User"), EnvelopePart("data.one", "Label"))
        #expect(added.count == 4 && added.listed.count == 4)
        #expect(
            added.listed.map { bed.store.catalog.entity(id: $0.entity)?.name } == ["Issue", "User", "User", "Label"])
        let report = try bed.commit()
        #expect(report.listed == 4 && report.created == 4)
        #expect(try bed.related("Issue", 1, "author") == ["7"])
        #expect(try bed.sequence == 1)
    }

    @Test(
        "what is not there is an error and leaves nothing of the document, unless it is optional",
        arguments: [
            "{\"users\":[{\"id\":7,\"login\":\"a\"}]}", "{\"users\":[{\"id\":7,\"login\":\"a\"}],\"issues\":null}",
        ])
    func optional(_ json: String) throws {
        let bed = try Forge.store()
        #expect(throws: ImportError.self) {
            try add(bed, json, EnvelopePart("users", "User"), EnvelopePart("issues", "Issue"))
        }
        #expect(try bed.commit().listed == 0)
        #expect(
            try add(bed, json, EnvelopePart("users", "User"), EnvelopePart("issues", "Issue", optional: true)).count
                == 1)
        #expect(try bed.commit().created == 1)
    }

    @Test(
        "an optional part that is no list is an error all the same, and an unknown entity one before anything is read")
    func wrong() throws {
        let bed = try Forge.store()
        #expect(throws: ImportError.notRecords(path: "users", found: "the number 5")) {
            try add(bed, #"{"users":5}"#, EnvelopePart("users", "User", optional: true))
        }
        #expect(throws: ImportError.unknownEntity("Nobody")) {
            try add(bed, "no JSON", EnvelopePart("users", "Nobody"))
        }
        bed.importer.limits.documentSize = 4
        #expect(throws: ImportError.tooLarge(.document, limit: 4)) {
            try add(bed, #"{"users":[]}"#, EnvelopePart("users", "User"))
        }
    }

    @Test("diagnostics name the list, positions count in each of them, and the root is the whole of it")
    func places() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "A", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("at", .int, optional: true),
                        AttributeDefinition("page", .int, optional: true),
                    ])
            ]), Mapping(entities: ["A": EntityMapping(paths: ["at": ["@position"], "page": ["@root.page"]])]))
        let json = #"{"page":3,"a":[{"id":1},{"id":"x"}],"b":{"list":[{"id":2}]}}"#
        _ = try bed.importer.add(
            Array(json.utf8), envelope: [EnvelopePart("a", "A"), EnvelopePart("b.list", "A")],
            context: ImportContext(firstPosition: 50))
        #expect(try bed.commit().diagnostics.map(\.path) == ["$.a[1]"])
        #expect(try bed.lines() == [#"A 1 {"id":1,"at":0,"page":3}"#, #"A 2 {"id":2,"at":0,"page":3}"#])
    }
}
