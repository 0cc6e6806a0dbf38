// Values from outside of the record's own object: the objects around it, the rest of the document,
// and its context.

import TarnImport
import TarnStore
import Testing

extension SourceTests {
    @Test("header fields and parameters are texts that the caller hands in; what it does not hand in is absent")
    func context() throws {
        let context = ImportContext(
            headers: [("ETag", "\"a\""), ("X-Count", "7"), ("x-count", "8")], parameters: ["page": "2", "a.b": "c"])
        func value(_ source: ValueSource, _ type: AttributeType = .string) throws -> Value? {
            try Self.taken([source], #"{"id":1}"#, type, context: context)
        }
        #expect(try value("@header.ETag") == .string("\"a\""))
        #expect(try value("@header.x-count") == .string("7, 8"))
        #expect(try value("@header.None") == nil)
        #expect(try value("@param.page", .int) == .int(2))
        #expect(try value("@param.a.b") == .string("c"))
        #expect(try value("@param.none") == nil)
        #expect(try Self.taken(["@param.page"], #"{"id":1}"#) == nil)
    }

    @Test(
        "the root is the whole document, also for records that are nested, and the key of a record there is a reference to it"
    )
    func root() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Item", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), Self.string("cursor"),
                        AttributeDefinition("meta", .json, optional: true),
                        AttributeDefinition("tags", .array(.string), optional: true),
                    ],
                    relationships: [
                        RelationshipDefinition("repo", to: "Repo"),
                        RelationshipDefinition("parts", to: "Item", many: true),
                    ]),
                EntityDefinition(
                    "Repo", key: ["id"], attributes: [AttributeDefinition("id", .int), Self.string("name")]),
            ]),
            Mapping(entities: [
                "Item": EntityMapping(paths: [
                    "cursor": ["@root.meta.cursor"], "meta": ["@root.meta"], "repo": ["@root.repo"],
                    "tags": ["@root.all.*.t"],
                ])
            ]))
        let json =
            #"{"meta":{"cursor":"c","n":1.50},"repo":{"id":9,"name":"r"},"all":[{"t":"a"},{"t":"b"}],"items":[{"id":1,"parts":[{"id":2}]}]}"#
        let report = try bed.take(json, "Item", records: "items")
        #expect(report.diagnostics == [])
        for id in [Int64(1), 2] {
            #expect(try bed.value("Item", id, "cursor") == .string("c"))
            #expect(try bed.value("Item", id, "meta") == .json(#"{"cursor":"c","n":1.50}"#))
            #expect(try bed.value("Item", id, "tags") == .array([.string("a"), .string("b")]))
            #expect(try bed.related("Item", id, "repo") == ["9?"])
        }
        #expect(try bed.count("Repo") == 0)
    }

    @Test("the parent is the object of the record that one is nested in; a listed record has none")
    func parent() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Order", key: ["id"], attributes: [AttributeDefinition("id", .int), Self.string("currency")],
                    relationships: [RelationshipDefinition("lines", to: "Line", many: true)]),
                EntityDefinition(
                    "Line", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), Self.string("currency"), Self.string("first")],
                    relationships: [
                        RelationshipDefinition("order", to: "Order", inverse: "all"),
                        RelationshipDefinition("customer", to: "Customer"),
                        RelationshipDefinition("siblings", to: "Line", many: true),
                    ]),
                EntityDefinition(
                    "Customer", key: ["id"], attributes: [AttributeDefinition("id", .int), Self.string("name")]),
            ]),
            Mapping(entities: [
                "Line": EntityMapping(paths: [
                    "currency": ["currency", "@parent.currency"], "first": ["@parent.lines[0].name"],
                    "order": ["@parent"],
                    "customer": ["@parent.customer"], "siblings": ["@parent.lines.*"],
                ])
            ]))
        let report = try bed.take(
            #"[{"id":1,"currency":"EUR","customer":{"id":5,"name":"x"},"lines":[{"id":10,"name":"n"},{"id":11,"currency":"USD"}]},{"id":2,"lines":[{"id":12}]}]"#,
            "Order")
        #expect(report.diagnostics == [])
        #expect(
            try bed.value("Line", 10, "currency") == .string("EUR")
                && bed.value("Line", 11, "currency") == .string("USD"))
        #expect(try bed.value("Line", 12, "currency") == nil)
        #expect(try bed.value("Line", 11, "first") == .string("n"))
        #expect(try bed.related("Line", 11, "order") == ["1"] && bed.related("Line", 12, "order") == ["2"])
        #expect(try bed.related("Line", 11, "customer") == ["5?"])
        #expect(try bed.related("Line", 11, "siblings") == ["10", "11"])
        #expect(try bed.count("Customer") == 0)
        try bed.take(#"[{"id":13}]"#, "Line")
        #expect(try bed.related("Line", 13, "order") == [])
        try bed.take(#"[{"id":14}]"#, "Line", parent: ParentReference(relationship: "order", key: RecordKey(2)))
        #expect(try bed.related("Line", 14, "order") == ["2"])
    }

    @Test("an object that is nested again is drafted again if where it stands matters")
    func repeatedInOtherPlaces() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                    relationships: [RelationshipDefinition("author", to: "User")]),
                EntityDefinition(
                    "User", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("seen", .int, optional: true)]),
            ]),
            Mapping(entities: ["User": EntityMapping(paths: ["seen": ["@parent.day"]])]))
        // Equal objects are recognised from then on.
        let days = [1, 1, 1, 2].enumerated().map { #"{"id":\#($0),"day":\#($1),"author":{"id":7}}"# }.joined(
            separator: ",")
        try bed.take("[\(days)]", "Issue")
        #expect(try bed.value("User", 7, "seen") == .int(2))
    }

    @Test("the position is that in the record's own list, and goes on over pages and parts")
    func position() throws {
        let bed = try thing(
            [AttributeDefinition("at", .int, optional: true)], EntityMapping(paths: ["at": ["@position"]]))
        let first = (0..<5).map { #"{"id":\#($0)}"# }.joined(separator: ",")
        _ = try bed.importer.add(Array("[\(first)]".utf8), entity: "Thing")
        _ = try bed.importer.add(
            Array(#"[{"id":5},{"id":6}]"#.utf8), entity: "Thing", context: ImportContext(firstPosition: 5))
        _ = try bed.commit()
        #expect(try (0..<7).map { try bed.value("Thing", $0, "at") } == (0..<7).map { Value.int($0) })
        bed.importer.limits.documentSize = 16
        bed.importer.limits.partSize = 8
        _ = try bed.importer.add(Array("[\(first)]".utf8), entity: "Thing", context: ImportContext(firstPosition: 100))
        _ = try bed.commit()
        #expect(try (0..<5).map { try bed.value("Thing", $0, "at") } == (100..<105).map { Value.int($0) })
    }

    @Test("the root of a document that is read in parts is known if its body is held, and an error if not")
    func rootInParts() throws {
        let bed = try thing([Self.string("v")], EntityMapping(paths: ["v": ["@root.meta.v"]]))
        bed.importer.limits.documentSize = 40
        bed.importer.limits.partSize = 8
        let json = #"{"items":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}],"meta":{"v":"x"}}"#
        _ = try bed.importer.add(Array(json.utf8), records: "items", entity: "Thing")
        _ = try bed.commit()
        #expect(try bed.value("Thing", 5, "v") == .string("x"))
        var pieces = [Array(json.utf8)][...]
        let error = #expect(throws: ImportError.self) {
            try bed.importer.addParts(records: "items", entity: "Thing", next: { pieces.popFirst() }, part: { _ in })
        }
        #expect(error == .rootUnavailable(entity: "Thing"))
        bed.importer.discard()
        // A single record is not a list: all of it is there.
        pieces = [Array(#"{"id":9,"meta":{"v":"y"}}"#.utf8)][...]
        try bed.importer.addParts(entity: "Thing", next: { pieces.popFirst() }, part: { _ in })
        _ = try bed.commit()
        #expect(try bed.value("Thing", 9, "v") == .string("y"))
    }
}
