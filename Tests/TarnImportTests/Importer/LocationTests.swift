// The places that errors and diagnostics name: the path in the document, and the document.

import TarnImport
import TarnStore
import Testing

@Suite("Import: places of errors and diagnostics")
struct LocationTests {
    private func failure(_ text: String, records: JSONPath = JSONPath(keys: []), part: Int? = nil) throws -> ImportError
    {
        let bed = try Forge.store()
        if let part {
            bed.importer.limits.documentSize = 64
            bed.importer.limits.partSize = part
        }
        return try #require(throws: ImportError.self) { try bed.add(text, "Issue", records: records) }
    }

    @Test(
        "invalid JSON is located by the path of the innermost value",
        arguments: [
            (#"{"a":01}"#, "$.a"), (#"[1,2,x]"#, "$[2]"),
            (#"[{"id":1},{"id":2,"user":{"login":tru}}]"#, "$[1].user.login"),
            (#"{"items":[{"labels":["a","b" "c"]}]}"#, "$.items[0].labels[1]"),
            (#"{"a":{"b":[]},"c":[[],[1,"#, "$.c[1][1]"),
            (#"{"a":1,"b"}"#, "$.b"), (#"{"a":1,"#, "$"), (#"{"a":1,}"#, "$"), (#"[1,2] x"#, "$"),
            ("<!DOCTYPE html>", "$"),
            (#"{"a\"]{":[1,{"b}":"\q"}]}"#, #"$.a\"]{[1].b}"#), ("", "$"), (#"[{"t":"abc"#, "$[0].t"),
            ("\u{FEFF}[1,{\"k\":-}]", "$[1].k"),
        ])
    func invalid(_ text: String, _ path: String) throws {
        let error = try failure(text)
        // A key that is no plain name is quoted as in other paths.
        #expect(plain(error.path) == plain(path), "\(error)")
        #expect(path == "$" || error.description.contains(", in $"), "\(error)")
    }

    private func plain(_ path: String?) -> String? { path?.filter { !"\"\\'".contains($0) } }

    @Test(
        "so is invalid JSON in a response that is read in parts, by its path in the whole response", arguments: [1, 40])
    func parts(_ size: Int) throws {
        let good = (0..<20).map { #"{"id":\#($0),"title":"some title"}"# }.joined(separator: ",")
        for (text, path) in [
            (
                "{\"data\":{\"list\":[\(good),{\"id\":20,\"labels\":[{\"name\":nul}]}]}}",
                "$.data.list[20].labels[0].name"
            ),
            ("{\"data\":{\"list\":[\(good)]},\"more\":[1,2,,]}", "$.more[2]"),
        ] {
            #expect(try failure(text, records: "data.list", part: size).path == path)
        }
    }

    @Test("a path of very many steps is cut")
    func deep() throws {
        let error = try failure(String(repeating: "[", count: 200) + "x")
        let path = try #require(error.path)
        #expect(path.hasSuffix("[0]…") && path.count < 200)
    }

    @Test("other errors name the path that they are about")
    func others() throws {
        #expect(try failure(#"{"data":{"list":5}}"#, records: "data.list").path == "$.data.list")
        #expect(try failure(#"{"data":{}}"#, records: "data.list").path == "$.data.list")
        var mapping = Forge.mapping
        mapping.entities["Comment", default: EntityMapping()].keyless = .fail
        let bed = try TestStore(Forge.schema, mapping)
        let error = #expect(throws: ImportError.self) {
            try bed.add(#"[{"id":1,"title":"t"},{"id":2,"title":"t","comments":[{"id":1},{"text":"x"}]}]"#, "Issue")
        }
        #expect(error?.path == "$[1].comments[1]")
    }

    @Test("diagnostics name their document, nested records too, also those of the merge")
    func merge() throws {
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("login", .string, unique: true),
                    AttributeDefinition("age", .int, optional: true),
                ]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("author", to: "User")]),
        ])
        let bed = try TestStore(schema)
        try bed.take(#"[{"id":1,"login":"ada"}]"#, "User")
        func add(_ json: String, _ entity: String, _ source: String?, _ records: JSONPath = JSONPath(keys: [])) throws {
            _ = try bed.importer.add(
                Array(json.utf8), records: records, entity: entity, context: ImportContext(source: source))
        }
        try add(#"{"data":[{"id":5,"login":"bob"},{"id":2,"login":"ada"}]}"#, "User", "page 1", "data")
        try add(
            #"[{"id":10,"author":{"id":6,"login":"eve"}},{"id":11,"author":{"id":3,"login":"ada"}}]"#, "Issue", "page 2"
        )
        try add(#"{"id":4,"login":"ada"}"#, "User", nil)
        try add(#"[{"id":12,"author":{"id":7,"login":"joe","age":"old"}}]"#, "Issue", "page 4")
        let report = try bed.commit()
        var places: [String: String] = [:]
        for diagnostic in report.diagnostics {
            places[diagnostic.key ?? ""] = "\(diagnostic.code.rawValue) \(diagnostic.path) \(diagnostic.source ?? "-")"
        }
        #expect(
            places == [
                "2": "record.notUnique $.data[1] page 1", "3": "record.notUnique $[1]… page 2",
                "4": "record.notUnique $ -", "7": "value.type $[0].author.age page 4",
            ])
        // The places of one unit are not those of the next.
        let next = try bed.take(#"[{"id":20,"login":"x"},{"id":21,"login":"ada"}]"#, "User")
        #expect(next.diagnostics.map(\.path) == ["$[1]"] && next.diagnostics[0].source == nil)
    }

    @Test("a record that is kept although it is deleted at the server is named by its place")
    func denied() throws {
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("issues", to: "Issue", many: true, inverse: "author", onDelete: .deny)
                ]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("author", to: "User", inverse: "issues")]),
        ])
        let bed = try TestStore(
            schema, Mapping(entities: ["User": EntityMapping { $0.tombstone = TombstoneRule(path: "gone") }]))
        try bed.take(#"[{"id":1,"author":{"id":8}},{"id":2,"author":{"id":9}}]"#, "Issue")
        let report = try bed.take(#"[{"id":7,"gone":true},{"id":9,"gone":true}]"#, "User")
        #expect(report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == ["record.deleteDenied $[1]"])
    }

    @Test("a value that a hook sets in vain is named by its record")
    func hooks() throws {
        let bed = try Forge.store()
        bed.importer.hooks = ImportHooks(afterDraft: { draft in
            if draft.entity == "User" { draft.set("login", .object([])) }
            return true
        })
        let report = try bed.take(
            #"[{"id":1,"title":"t"},{"id":2,"title":"t","author":{"id":3,"login":"ada"}}]"#, "Issue")
        #expect(report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == ["value.type $[1]…"])
    }
}
