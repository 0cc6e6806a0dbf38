// Records that are lists, texts, numbers or booleans.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: records that are no objects")
struct PlainRecordTests {
    private func bed(
        _ paths: [String: [ValueSource]], id: AttributeType = .string, v: AttributeType = .int, rest: String? = nil
    ) throws -> TestStore {
        var mapping = EntityMapping(paths: paths)
        mapping.rest = rest
        return try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", id), AttributeDefinition("v", v, optional: true),
                        AttributeDefinition("all", .json, optional: true),
                    ],
                    relationships: [RelationshipDefinition("next", to: "Thing")])
            ]), Mapping(entities: ["Thing": mapping]))
    }

    @Test("a record that is a list: its elements by their positions, as values, keys, texts and references")
    func lists() throws {
        let bed = try bed(["id": ["[0]"], "v": ["[-1]"], "next": ["[1]"]], rest: "all")
        let report = try bed.take(#"{"rows":[["a","b",1],["b",null,2],["c",3]]}"#, "Thing", records: "rows")
        #expect(report.diagnostics == [] && report.created == 3)
        func value(_ key: String, _ field: String) throws -> Value? { try bed.record("Thing", RecordKey(key))?[field] }
        #expect(try ["a", "b", "c"].map { try value($0, "v") } == [.int(1), .int(2), .int(3)])
        #expect(try value("a", "next") == .reference(RecordKey("b")) && value("b", "next") == .null)
        // A number is the text of a key.
        #expect(try value("c", "next") == .reference(RecordKey("3")))
        #expect(try value("b", "all") == .json(#"["b",null,2]"#))
        // The same rows again change nothing; another one does.
        #expect(try bed.take(#"{"rows":[["a","b",1]]}"#, "Thing", records: "rows").unchanged == 1)
        #expect(try bed.take(#"{"rows":[["a","b",5]]}"#, "Thing", records: "rows").updated == 1)
        let composed = try self.bed(["id": ["{[0]}/{[1]}"], "v": ["[2][0]"]])
        _ = try composed.take(#"[["a",1,[7]],["a",2,[8]]]"#, "Thing")
        #expect(try composed.record("Thing", RecordKey("a/2"))?["v"] == .int(8))
    }

    @Test("a list of texts or numbers, and a map of values, are records by $")
    func values() throws {
        let texts = try bed(["id": ["$"]])
        let report = try texts.take(#"["a","b",null,"a"]"#, "Thing")
        #expect(report.created == 2 && report.diagnostics.map(\.message) == ["expected a record, found null"])
        let numbers = try bed(["id": ["$"]], id: .int)
        #expect(try numbers.take(#"{"ids":[3,1]}"#, "Thing", records: "ids").created == 2)
        let rates = try bed(["id": ["@memberName"], "v": ["$"]], v: .decimal)
        _ = try rates.take(#"{"rates":{"EUR":1,"USD":1.10,"XXX":null}}"#, "Thing", records: "rates.*")
        #expect(try rates.lines() == [#"Thing EUR {"id":"EUR","v":1}"#, #"Thing USD {"id":"USD","v":1.1}"#])
        let flags = try bed(["id": ["@memberName"], "v": ["$"]], v: .bool)
        _ = try flags.take(#"{"a":true,"b":false}"#, "Thing", records: "*")
        #expect(try flags.record("Thing", RecordKey("b"))?["v"] == .bool(false))
    }

    @Test("$ of an object is all of its JSON, and objects and lists may be mixed")
    func mixed() throws {
        let bed = try bed(["id": ["[0]", "name"], "all": ["$"]])
        _ = try bed.take(#"[["a",1],{"name":"b","v":2}]"#, "Thing")
        #expect(
            try bed.lines() == [
                #"Thing a {"id":"a","all":["a",1]}"#, #"Thing b {"id":"b","v":2,"all":{"name":"b","v":2}}"#,
            ])
    }

    @Test("for an entity without such a path they are skipped and reported, and a map of values is an error")
    func others() throws {
        let bed = try bed([:])
        let report = try bed.take(#"[["a"],"b",{"id":"c"}]"#, "Thing")
        #expect(report.created == 1 && report.diagnostics.map(\.path) == ["$[0]", "$[1]"])
        #expect(throws: ImportError.self) {
            _ = try bed.importer.add(Array(#"{"a":1}"#.utf8), records: "*", entity: "Thing")
        }
        // A value that no `*` covers is no map.
        let value = try self.bed(["id": ["$"]])
        #expect(throws: ImportError.self) {
            _ = try value.importer.add(Array(#"{"a":1}"#.utf8), records: "a", entity: "Thing")
        }
    }

    @Test("a row may be the value of a map, beside a list of rows; without a path by position it is a list of records")
    func rowsInMaps() throws {
        let bed = try bed(["id": ["@memberName"], "v": ["[0]"]])
        let report = try bed.take(#"{"a":[4,7],"b":[[5,8]],"c":[],"d":[3,null]}"#, "Thing", records: "*")
        #expect(report.diagnostics == [])
        #expect(
            try bed.lines() == [
                #"Thing a {"id":"a","v":4}"#, #"Thing b {"id":"b","v":5}"#, #"Thing d {"id":"d","v":3}"#,
            ])
        let values = try self.bed(["id": ["{@memberName}/{$}"], "v": ["[0]", "$"]])
        #expect(try values.take(#"{"a":[4,7]}"#, "Thing", records: "*").created == 2)
        let none = try self.bed(["id": ["@memberName"]])
        #expect(try none.take(#"{"a":[4,7]}"#, "Thing", records: "*").diagnostics.map(\.path) == ["$.a[0]", "$.a[1]"])
        #expect(throws: ImportError.self) {
            _ = try bed.importer.add(Array(#"{"a":1}"#.utf8), records: "*", entity: "Thing")
        }
    }

    @Test("a map of values may have records of the kinds of an entity")
    func kinds() throws {
        var thing = EntityMapping(paths: ["id": ["@memberName"]])
        thing.choice = EntityChoice([.code(EntityChooser("rates") { _ in "Rate" })])
        let schema = Schema([
            EntityDefinition("Thing", key: ["id"], attributes: [AttributeDefinition("id", .string)]),
            EntityDefinition("Rate", parent: "Thing", attributes: [AttributeDefinition("v", .decimal, optional: true)]),
        ])
        let bed = try TestStore(
            schema, Mapping(entities: ["Thing": thing, "Rate": EntityMapping(paths: ["v": ["$"]])]))
        _ = try bed.take(#"{"EUR":1,"USD":1.1}"#, "Thing", records: "*")
        #expect(try bed.count("Rate") == 2)
        let rows = try TestStore(
            schema, Mapping(entities: ["Thing": thing, "Rate": EntityMapping(paths: ["v": ["[0]"]])]))
        _ = try rows.take(#"{"EUR":[1,7],"USD":[1.1,8]}"#, "Thing", records: "*")
        #expect(try rows.count("Rate") == 2 && rows.lines().contains(#"Rate EUR {"id":"EUR","v":1}"#))
    }

    @Test("a large document in parts, kinds, and a hook that makes an object of a list")
    func ways() throws {
        let bed = try bed(["id": ["[0]"], "v": ["[1]"]])
        bed.importer.limits.documentSize = 4096
        bed.importer.limits.partSize = 512
        let rows = "[" + (0..<2000).map { #"["k\#($0)",\#($0)]"# }.joined(separator: ",") + "]"
        #expect(try bed.take(rows, "Thing").created == 2000)
        #expect(try bed.record("Thing", RecordKey("k1999"))?["v"] == .int(1999))
        let hooked = try self.bed([:])
        hooked.importer.hooks.beforeDraft = { _, json in
            guard case .array(let elements) = json else { return true }
            json = .object([JSONValue.Member("id", elements[0]), JSONValue.Member("v", elements[1])])
            return true
        }
        #expect(try hooked.take(#"[["a",1]]"#, "Thing").created == 1)
    }
}
