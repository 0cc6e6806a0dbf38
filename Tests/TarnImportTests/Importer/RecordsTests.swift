// The location of the records in a document, and the errors if they are missing.

import TarnImport
import TarnStore
import Testing

@Suite("Import: where the records are")
struct RecordsTests {
    private static let label = AttributeDefinition("name", .string, optional: true)

    @Test("a list at the root is imported in the order of the document")
    func rootArray() throws {
        let bed = try thing([Self.label])
        let added = try bed.add(#"[{"id":3},{"id":1},{"id":2}]"#, "Thing")
        #expect(added.count == 3)
        #expect(added.listed.map(\.storageKey) == [3, 1, 2].map { RecordKey($0).storageKey })
        #expect(try bed.commit().entities == ["Thing": ImportReport.Counts(created: 3)])
        #expect(try bed.lines() == [#"Thing 1 {"id":1}"#, #"Thing 2 {"id":2}"#, #"Thing 3 {"id":3}"#])
    }

    @Test("an object at the root is one record")
    func rootObject() throws {
        let bed = try thing([Self.label])
        #expect(try bed.add(#"{"id":7,"name":"x"}"#, "Thing").count == 1)
        #expect(try bed.commit().created == 1)
        #expect(try bed.value("Thing", 7, "name") == .string("x"))
    }

    @Test(
        "a key path leads to a list or an object",
        arguments: [
            (#"{"response":{"items":[{"id":1},{"id":2}],"total":2}}"#, "response.items", 2),
            (#"{"data":{"id":1}}"#, "data", 1), (#"{"a.b":{"c":[{"id":1}]}}"#, #"a\.b.c"#, 1),
            (#"{"items":[{"id":9},{"id":8}],"items":[{"id":1}]}"#, "items", 1),
        ])
    func keyPath(_ json: String, _ path: String, _ count: Int) throws {
        let bed = try thing([Self.label])
        let records = try #require(JSONPath(path))
        #expect(try bed.add(json, "Thing", records: records).count == count)
        #expect(try bed.commit().created == count)
        #expect(try bed.record("Thing", 1) != nil)
    }

    @Test("an empty list is a success that changes nothing")
    func emptyList() throws {
        let bed = try thing([Self.label])
        let before = try bed.sequence
        let added = try bed.add("[]", "Thing")
        #expect(added.count == 0 && added.listed.isEmpty)
        #expect(try bed.commit() == ImportReport())
        #expect(try bed.sequence == before)
    }

    @Test("a key path that is not there is an error that names what is there")
    func missingPath() throws {
        let bed = try thing([Self.label])
        let expected = ImportError.recordsNotFound(
            path: "response.items", missing: "items", present: ["total", "records"])
        #expect(throws: expected) {
            try bed.add(#"{"response":{"total":0,"records":[]}}"#, "Thing", records: "response.items")
        }
        #expect("\(expected)".contains("the key `items` is missing") && "\(expected)".contains("`records`"))
        #expect(throws: ImportError.recordsNotFound(path: "items", missing: "items", present: [])) {
            try bed.add(#"[{"items":[]}]"#, "Thing", records: "items")
        }
        #expect(throws: ImportError.recordsNotFound(path: "a.b", missing: "b", present: [])) {
            try bed.add(#"{"a":null}"#, "Thing", records: "a.b")
        }
    }

    @Test("an error about a key path names at most eight keys")
    func missingPathIsShort() throws {
        let bed = try thing([Self.label])
        let keys = (0..<5000).map { #""k\#($0)":0"# }.joined(separator: ",")
        #expect(throws: ImportError.recordsNotFound(path: "x", missing: "x", present: (0..<8).map { "k\($0)" })) {
            try bed.add("{\(keys)}", "Thing", records: "x")
        }
    }

    @Test(
        "null or a scalar where the records should be is an error that says what is there",
        arguments: [
            ("null", "$", "null"), ("12", "$", "the number 12"), ("true", "$", "true"),
            (#""<html>""#, "$", #"the text "<html>""#), (#"{"items":null}"#, "items", "null"),
            (#"{"items":"none"}"#, "items", #"the text "none""#), (#"{"items":0.5}"#, "items", "the number 0.5"),
        ])
    func notRecords(_ json: String, _ path: String, _ found: String) throws {
        let bed = try thing([Self.label])
        let records = try #require(JSONPath(path))
        #expect(throws: ImportError.notRecords(path: path, found: found)) {
            try bed.add(json, "Thing", records: records)
        }
        #expect(try bed.count("Thing") == 0)
    }

    @Test("elements of a list that are no objects are skipped and reported with their place; the rest is imported")
    func strangeElements() throws {
        let bed = try thing([Self.label])
        let added = try bed.add(#"{"a":[{"id":1},null,7,"x",[{"id":5}],{"id":2}]}"#, "Thing", records: "a")
        #expect(added.count == 6 && added.listed.count == 2)
        let report = try bed.commit()
        #expect(report.diagnostics.map(\.path) == ["$.a[1]", "$.a[2]", "$.a[3]", "$.a[4]"])
        #expect(Set(report.diagnostics.map(\.code)) == [.keyMissing])
        #expect(report.listed == 6 && report.created == 2)
    }

    @Test("an entity that the store does not have is an error")
    func unknownEntity() throws {
        let bed = try thing([Self.label])
        #expect(throws: ImportError.unknownEntity("Thingy")) { try bed.add("[]", "Thingy") }
    }

    @Test("a mapping that names what the catalog does not have is an error")
    func unknownMapping() throws {
        let store = try thing([Self.label]).store
        #expect(throws: ImportError.unknownEntity("Other")) {
            try Importer(Mapping(entities: ["Other": EntityMapping()]), store.catalog)
        }
        #expect(throws: ImportError.unknownField(entity: "Thing", field: "nmae")) {
            try Importer(Mapping(entities: ["Thing": EntityMapping(paths: ["nmae": ["n"]])]), store.catalog)
        }
        #expect(throws: ImportError.unknownField(entity: "Thing", field: "when")) {
            try Importer(Mapping(entities: ["Thing": EntityMapping(epochs: ["when": .seconds])]), store.catalog)
        }
        #expect(throws: ImportError.unknownField(entity: "Thing", field: "things")) {
            try Importer(Mapping(entities: ["Thing": EntityMapping(declared: ["things"])]), store.catalog)
        }
    }
}
