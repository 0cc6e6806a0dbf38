// Keys: their types, composite and long keys, and records without a key.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: keys")
struct KeyTests {
    private func bed(_ type: AttributeType, _ mapping: EntityMapping = EntityMapping()) throws -> TestStore {
        try TestStore(
            Schema([
                EntityDefinition(
                    "Node", key: ["id"],
                    attributes: [AttributeDefinition("id", type), AttributeDefinition("n", .int, optional: true)],
                    relationships: [RelationshipDefinition("next", to: "Node", inverse: "previous")])
            ]), Mapping(entities: ["Node": mapping]))
    }

    @Test("1, \"1\" and 1.0 are the same int key, in records and in references")
    func intKeys() throws {
        let bed = try bed(.int)
        let report = try bed.take(
            #"[{"id":1,"n":1},{"id":"1","n":2},{"id":1.0,"n":3},{"id":2,"next":"1"},{"id":3,"next":1},{"id":4,"next":1.0},{"id":5,"next":{"id":"1"}}]"#,
            "Node")
        #expect(report.created == 5 && report.diagnosticCount == 0)
        #expect(try bed.record("Node", 1)?.fields == [.init("id", .int(1)), .init("n", .int(3))])
        #expect(try bed.related("Node", 1, "previous") == ["2", "3", "4", "5"])
    }

    @Test("a number with a fraction is an int key only if it is whole as written, and is exactly that key")
    func writtenKeys() throws {
        let bed = try bed(.int)
        let report = try bed.take(
            #"[{"id":9007199254740992},{"id":9007199254740993.0},{"id":2.00000000000000000001},{"id":1e-400}]"#, "Node")
        #expect(report.created == 2 && report.diagnostics.map(\.code) == [.keyMissing, .keyMissing])
        #expect(try bed.record("Node", 9_007_199_254_740_993) != nil)
    }

    @Test("a whole number beyond 64 bits is a string key by its digits")
    func longNumberAsString() throws {
        let bed = try bed(.string)
        let report = try bed.take(#"[{"id":18446744073709551616,"next":"18446744073709551616"}]"#, "Node")
        #expect(report.created == 1 && report.diagnosticCount == 0)
        #expect(try bed.related("Node", RecordKey("18446744073709551616"), "next") == ["18446744073709551616"])
    }

    @Test("1 and \"1\" are the same string key")
    func stringKeys() throws {
        let bed = try bed(.string)
        #expect(try bed.take(#"[{"id":1,"n":1},{"id":"1","n":2},{"id":"a","next":1}]"#, "Node").created == 2)
        #expect(try bed.record("Node", RecordKey("1"))?["id"] == .string("1"))
        #expect(try bed.related("Node", RecordKey("a"), "next") == ["1"])
    }

    @Test(
        "integers at the ends of 64 bits are keys of their own, exactly",
        arguments: [Int64.min, .min + 1, -1, 0, 9_007_199_254_740_993, .max - 1, .max])
    func extremeKeys(_ key: Int64) throws {
        let bed = try bed(.int)
        #expect(try bed.take(#"[{"id":\#(key),"next":\#(key)}]"#, "Node").created == 1)
        #expect(try bed.value("Node", key, "id") == .int(key))
        #expect(try bed.related("Node", key, "next") == ["\(key)"])
        #expect(try bed.count("Node") == 1)
    }

    @Test(
        "a key that is missing, null or of a wrong type is reported with its place, and the rest is imported",
        arguments: [#"{"n":2}"#, #"{"id":null,"n":2}"#]
            + ["true", "1.5", #""x""#, "{}", "[1]", "9223372036854775808", "1e300"].map { #"{"id":\#($0)}"# })
    func badKeys(_ record: String) throws {
        let bed = try bed(.int)
        let report = try bed.take(#"{"data":[{"id":1},\#(record),{"id":3}]}"#, "Node", records: "data")
        #expect(report.created == 2 && report.diagnosticCount == 1)
        let diagnostic = try #require(report.diagnostics.first)
        #expect(diagnostic.code == .keyMissing && diagnostic.path == "$.data[1]" && diagnostic.entity == "Node")
        #expect(diagnostic.field == "id" && diagnostic.key == nil)
    }

    @Test("a string key does not take what has no exact text", arguments: ["1.5", "true", "{}", "[]"])
    func badStringKeys(_ key: String) throws {
        #expect(try bed(.string).take(#"[{"id":\#(key)}]"#, "Node").diagnostics.map(\.code) == [.keyMissing])
    }

    @Test("strings are keys by their bytes: case, accents in two spellings, NUL and the empty string are all different")
    func stringBytes() throws {
        let bed = try bed(.string)
        let keys = [
            "", "a", "A", "caf\u{E9}", "cafe\u{301}", #"a\u0000"#, #"a\u0000b"#, #"\u0000"#, #"a\u0000\u0000"#,
            "a\u{FFFF}",
            "日本",
        ]
        let json = keys.map { #"{"id":"\#($0)","n":1}"# }.joined(separator: ",")
        #expect(try bed.take("[\(json)]", "Node").created == keys.count)
        #expect(try bed.record("Node", RecordKey("a\u{0}b")) != nil)
        #expect(try bed.take("[\(json)]", "Node").unchanged == keys.count)
    }

    @Test("what refers to a key does not refer to a key that begins with it, also across a NUL")
    func prefixKeys() throws {
        let bed = try bed(.string)
        try bed.take(
            #"[{"id":"a"},{"id":"a\u0000"},{"id":"a\u0000b"},{"id":"ab"},{"id":"1","next":"a"},{"id":"2","next":"a\u0000b"},{"id":"3","next":"a\u0000"},{"id":"4","next":"ab"}]"#,
            "Node")
        #expect(try bed.related("Node", RecordKey("a"), "previous") == ["1"])
        #expect(try bed.related("Node", RecordKey("a\u{0}"), "previous") == ["3"])
        #expect(try bed.related("Node", RecordKey("a\u{0}b"), "previous") == ["2"])
        #expect(try bed.related("Node", RecordKey("ab"), "previous") == ["4"])
    }

    @Test("UUIDs in either case are the same key")
    func uuidKeys() throws {
        let bed = try bed(.uuid)
        let id = "0b0e8f5c-6b0f-4a57-9c1e-0d8a3f1f2a3b"
        let report = try bed.take(
            #"[{"id":"\#(id)"},{"id":"\#(id.uppercased())","next":"\#(id)"},{"id":"no uuid"}]"#, "Node")
        #expect(report.created == 1 && report.diagnostics.map(\.code) == [.keyMissing])
        let key = try RecordKey(#require(UUID(uuidString: id)))
        #expect(try bed.related("Node", key, "next") == [id])
    }

    @Test(
        "string keys longer than LMDB's are kept whole, are found, and are referred to",
        arguments: [204, 205, 206, 600, 100_000])
    func longKeys(_ length: Int) throws {
        let bed = try bed(.string)
        let long = String(repeating: "k", count: length)
        let other = String(repeating: "k", count: length - 1) + "x"
        let json =
            #"[{"id":"\#(long)","n":1},{"id":"\#(other)","n":2},{"id":"a","next":"\#(long)"},{"id":"b","next":{"id":"\#(other)"}}]"#
        #expect(try bed.take(json, "Node").created == 4)
        #expect(try bed.record("Node", RecordKey(long))?["n"] == .int(1))
        #expect(try bed.record("Node", RecordKey(other))?["n"] == .int(2))
        #expect(try bed.related("Node", RecordKey("a"), "next") == [long])
        #expect(try bed.related("Node", RecordKey(other), "previous") == ["b"])
        #expect(try bed.take(json, "Node").unchanged == 4)
        #expect(try bed.take(#"[{"id":"\#(long)","n":3}]"#, "Node").updated == 1)
    }

    @Test("a composite key identifies by all of its parts, which may stand at key paths")
    func compositeKeys() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "File", key: ["owner", "number"],
                    attributes: [
                        AttributeDefinition("owner", .string), AttributeDefinition("number", .int),
                        AttributeDefinition("n", .int, optional: true),
                    ], relationships: [RelationshipDefinition("next", to: "File", inverse: "previous")])
            ]), Mapping(entities: ["File": EntityMapping(paths: ["owner": ["repo.owner"]])]))
        let report = try bed.take(
            #"""
            [{"repo":{"owner":"a"},"number":1},{"repo":{"owner":"a"},"number":"2","next":{"number":1,"repo":{"owner":"a"},"n":7}},
             {"repo":{"owner":"b"},"number":1},{"owner":"b","number":1,"n":8},{"repo":{},"number":1},{"number":1},
             {"repo":{"owner":"c"},"number":1,"next":5}]
            """#, "File")
        #expect(report.created == 4)
        #expect(report.diagnostics.map(\.code) == [.keyMissing, .keyMissing, .relationshipType])
        let key = RecordKey([.string("a"), .int(1)])
        #expect(try bed.record("File", key)?["n"] == .int(7))
        #expect(try bed.record("File", RecordKey([.string("b"), .int(1)]))?["n"] == .int(8))
        #expect(try bed.related("File", key, "previous") == ["[a, 2]"])
    }

    @Test("a key at a nested path identifies nested records as well, and what is unmapped beside it is counted once")
    func nestedKey() throws {
        let bed = try bed(.int, EntityMapping(paths: ["id": ["meta.id", "meta.old.id"]]))
        let report = try bed.take(
            #"[{"meta":{"id":1,"junk":0},"next":{"meta":{"junk":0,"old":{"id":2,"more":1}},"n":5}},{"id":3,"next":{"meta":{"id":2}}}]"#,
            "Node")
        #expect(report.created == 3 && report.diagnosticCount == 0)
        #expect(try bed.related("Node", 1, "next") == ["2"])
        #expect(try bed.related("Node", 3, "next") == ["2"])
        #expect(report.unmapped.map { "\($0.path) \($0.count)" } == ["meta.junk 2", "meta.old.more 1"])
    }

    @Test("a key takes its declared alternates in order, skipping nulls, whatever the order in the document")
    func keyAlternates() throws {
        let bed = try bed(.int, EntityMapping(paths: ["id": ["uid", "number"]]))
        try bed.take(
            #"[{"id":1,"number":2,"uid":3},{"number":4,"id":5,"uid":null},{"uid":null,"id":6},{"id":7,"next":{"id":9,"number":8}}]"#,
            "Node")
        #expect(
            try bed.lines().map { $0.prefix { $0 != "{" } } == ["Node 3 ", "Node 4 ", "Node 6 ", "Node 7 ", "Node 8 "])
        #expect(try bed.related("Node", 7, "next") == ["8"])
    }

    @Test("an object that says its key twice is one record, and what refers to it finds it")
    func keySaidTwice() throws {
        let bed = try bed(.int)
        try bed.take(#"[{"id":1,"next":{"id":2,"n":5,"id":3}}]"#, "Node")
        let next = try bed.related("Node", 1, "next")
        #expect(next.count == 1)
        #expect(try bed.count("Node") == 2)
        #expect(next.allSatisfy { !$0.hasSuffix("?") })
    }

    @Test("a record without a key is skipped with everything in it, and reported once")
    func withoutKey() throws {
        let bed = try bed(.int)
        let report = try bed.take(#"[{"n":1,"next":{"id":2,"next":{"id":3}}},{"id":4,"next":{"n":5}}]"#, "Node")
        #expect(report.diagnostics.map(\.path) == ["$[0]", "$[1].next"])
        #expect(try bed.lines() == [#"Node 4 {"id":4}"#])
    }
}
