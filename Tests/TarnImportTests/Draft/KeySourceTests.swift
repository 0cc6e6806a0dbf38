// Keys from several places, by rule and by code; children without a key of their own; records
// without any.

import TarnImport
import TarnStore
import Testing

@Suite("Import: keys from several places")
struct KeySourceTests {
    private static func string(_ name: String) -> AttributeDefinition { AttributeDefinition(name, .string) }

    @Test(
        "a composite key takes its parts from the record, from around it, beside it and from constants, coerced to their types"
    )
    func compositeKeys() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Order", key: ["tenant", "id"],
                    attributes: [Self.string("tenant"), AttributeDefinition("id", .int)],
                    relationships: [RelationshipDefinition("lines", to: "Line", many: true, ordered: true)]),
                EntityDefinition(
                    "Line", key: ["source", "tenant", "order", "sku"],
                    attributes: [
                        Self.string("source"), Self.string("tenant"), AttributeDefinition("order", .int),
                        Self.string("sku"),
                    ]),
            ]),
            Mapping(entities: [
                "Order": EntityMapping(
                    paths: ["tenant": ["@param.tenant"]], fields: ["tenant": FieldRules(absentValue: .string("none"))]),
                "Line": EntityMapping(paths: [
                    "source": [.constant(.string("shop"))], "tenant": ["@param.tenant"], "order": ["@parent.id"],
                    "sku": ["skus[0]", "{a}-{b}"],
                ]),
            ]))
        _ = try bed.importer.add(
            Array(#"[{"id":"7","lines":[{"skus":["x","y"]},{"a":1,"b":"c"}]}]"#.utf8), entity: "Order",
            context: ImportContext(parameters: ["tenant": "t"]))
        let report = try bed.commit()
        #expect(report.diagnostics == [])
        let order = RecordKey([.string("t"), .int(7)])
        #expect(try bed.related("Order", order, "lines") == ["[shop, t, 7, x]", "[shop, t, 7, 1-c]"])
        #expect(try bed.record("Line", RecordKey([.string("shop"), .string("t"), .int(7), .string("1-c")])) != nil)
        try bed.take(#"[{"id":8}]"#, "Order")
        #expect(try bed.record("Order", RecordKey([.string("none"), .int(8)]))?["tenant"] == .string("none"))
    }

    @Test("lists with equal elements have one digest if nothing but their positions tells their records apart")
    func listDigest() throws {
        func digest(_ place: ValueSource, _ day: ValueSource, _ json: String) throws -> UInt64? {
            let bed = try TestStore(
                Schema([
                    EntityDefinition(
                        "Item", key: ["place", "day"],
                        attributes: [AttributeDefinition("place", .int), Self.string("day")])
                ]),
                Mapping(entities: ["Item": EntityMapping(paths: ["place": [place], "day": [day]])]))
            return bed.importer.listDigest(of: Array(json.utf8), records: "items", entity: "Item")
        }
        let list = #"[{"n":"]"},{"n":[2]}]"#, first = #"{"day":"a","items":\#(list)}"#
        let second = #"{ "x" : {"items":[]}, "items" : \#(list) , "day":"b"}"#
        let third = #"{"day":"a","items":[{"n":"]"},{"n":[3]}]}"#
        for day in ["day", "@param.day", .constant(.string("d"))] as [ValueSource] {
            let known = try #require(try digest("@position", day, first))
            #expect(try digest("@position", day, second) == known)
            #expect(try digest("@position", day, third) != known)
            #expect(try digest("n", day, first) == nil)
        }
        for day in ["@root.day", "@header.Day"] as [ValueSource] {
            #expect(try digest("@position", day, first) == nil)
        }
    }

    @Test("a key takes its alternates in order whatever their kind, and a record is the same whichever said it")
    func keyAlternates() throws {
        let bed = try thing(
            [AttributeDefinition("v", .int, optional: true)],
            EntityMapping(paths: ["id": ["ids[0].value", "ref.id", "{a}{b}"]]))
        try bed.take(
            #"[{"ids":[{"value":12}],"ref":{"id":1},"v":1},{"ids":[null],"ref":{"id":"12"},"v":2},{"a":1,"b":2,"v":3},{"id":12,"v":4}]"#,
            "Thing")
        #expect(try bed.lines() == [#"Thing 12 {"id":12,"v":4}"#])
    }

    @Test("what is not of the key's type is no key: the record is reported, also where another record leads to it")
    func wrongParts() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                    relationships: [RelationshipDefinition("next", to: "Thing")])
            ]), Mapping(entities: ["Thing": EntityMapping(paths: ["id": ["ids[0]"]])]))
        let report = try bed.take(#"[{"ids":["x"],"id":5},{"ids":[1],"next":{"ids":[true]}}]"#, "Thing")
        #expect(report.diagnostics.map(\.path) == ["$[0]", "$[1].next"])
        #expect(report.diagnostics.allSatisfy { $0.code == .keyMissing && $0.field == "id" })
        #expect(try bed.related("Thing", 1, "next") == [])
    }

    // MARK: Children without a key of their own

    private static let orders = Schema([
        EntityDefinition(
            "Order", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [
                RelationshipDefinition("lines", to: "Line", many: true, ordered: true),
                RelationshipDefinition("billing", to: "Address"), RelationshipDefinition("shipping", to: "Address"),
            ]),
        EntityDefinition(
            "Line", key: ["order", "position"],
            attributes: [AttributeDefinition("position", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [
                RelationshipDefinition("order", to: "Order", inverse: "owned"),
                RelationshipDefinition("notes", to: "Note", many: true),
            ]),
        EntityDefinition(
            "Note", key: ["line", "at"],
            attributes: [AttributeDefinition("at", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("line", to: "Line", inverse: "owned")]),
        EntityDefinition(
            "Address", key: ["order", "role"],
            attributes: [Self.string("role"), AttributeDefinition("city", .string, optional: true)],
            relationships: [RelationshipDefinition("order", to: "Order", inverse: "addresses")]),
    ])

    private static let ownership = Mapping(entities: [
        "Line": EntityMapping(paths: ["order": ["@parent"], "position": ["@position"]]),
        "Note": EntityMapping(paths: ["line": ["@parent"], "at": ["@position"]]),
        "Address": EntityMapping(paths: ["order": ["@parent"], "role": ["@relationship"]]),
    ])

    @Test("children without a key are identified by their parent, the relationship and their position, at every level")
    func ownedChildren() throws {
        let bed = try TestStore(Self.orders, Self.ownership)
        let json =
            #"[{"id":1,"lines":[{"text":"a","notes":[{"text":"x"},{"text":"y"}]},{"text":"b"}],"billing":{"city":"Rome"},"shipping":{"city":"Oslo"}},{"id":2,"lines":[{"text":"c"}],"billing":{"city":"Rome"}}]"#
        #expect(try bed.take(json, "Order").diagnostics == [])
        #expect(
            try bed.lines().filter { !$0.hasPrefix("Order") } == [
                #"Line [1, 0] {"position":0,"text":"a","order":1,"notes":[[1,0,0],[1,0,1]]}"#,
                #"Line [1, 1] {"position":1,"text":"b","order":1}"#,
                #"Line [2, 0] {"position":0,"text":"c","order":2}"#,
                #"Note [1, 0, 0] {"at":0,"text":"x","line":[1,0]}"#,
                #"Note [1, 0, 1] {"at":1,"text":"y","line":[1,0]}"#,
                #"Address [1, billing] {"role":"billing","city":"Rome","order":1}"#,
                #"Address [1, shipping] {"role":"shipping","city":"Oslo","order":1}"#,
                #"Address [2, billing] {"role":"billing","city":"Rome","order":2}"#,
            ])
        #expect(try bed.related("Order", 1, "lines") == ["[1, 0]", "[1, 1]"])
        #expect(try bed.related("Order", 1, "shipping") == ["[1, shipping]"])
        let before = try bed.sequence
        #expect(try bed.take(json, "Order").unchanged == 10)
        #expect(try bed.sequence == before)
    }

    @Test(
        "such a child that is listed without its parent has no key, unless its parent is known by how it was asked for")
    func ownedWithoutParent() throws {
        let bed = try TestStore(Self.orders, Self.ownership)
        #expect(try bed.take(#"[{"text":"a"}]"#, "Line").diagnostics.map(\.code) == [.keyMissing])
        try bed.take(
            #"[{"text":"a"},{"text":"b"}]"#, "Line", parent: ParentReference(relationship: "order", key: RecordKey(5)))
        #expect(
            try bed.lines() == [
                #"Line [5, 0] {"position":0,"text":"a","order":5}"#,
                #"Line [5, 1] {"position":1,"text":"b","order":5}"#,
            ])
    }

    @Test("a long key of a parent is held whole by the keys of its children")
    func longOwner() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Doc", key: ["path"], attributes: [Self.string("path")],
                    relationships: [RelationshipDefinition("lines", to: "Line", many: true)]),
                EntityDefinition(
                    "Line", key: ["doc", "at"], attributes: [AttributeDefinition("at", .int)],
                    relationships: [RelationshipDefinition("doc", to: "Doc", inverse: "owned")]),
            ]), Mapping(entities: ["Line": EntityMapping(paths: ["doc": ["@parent"], "at": ["@position"]])]))
        let path = String(repeating: "p", count: 400)
        #expect(try bed.take(#"[{"path":"\#(path)","lines":[{},{}]}]"#, "Doc").diagnostics == [])
        #expect(try bed.record("Line", RecordKey([.string(path), .int(1)])) != nil)
        #expect(try bed.related("Doc", RecordKey(path), "lines").count == 2)
    }

    // MARK: Keys by code

    @Test("code completes keys before identity is determined: duplicates are one record, and references lead to it")
    func injected() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("v", .string, optional: true)],
                    relationships: [
                        RelationshipDefinition("next", to: "Thing"),
                        RelationshipDefinition("all", to: "Thing", many: true),
                    ])
            ]))
        var asked: [String] = []
        bed.importer.hooks = ImportHooks(injectKey: { entity, json, parent in
            asked.append("\(entity) \(parent?["id"]?.text ?? "-")")
            guard case .string(let code)? = json["code"] else { return [:] }
            return ["id": .number(String(code.dropFirst())), "v": .string("not of the key")]
        })
        let report = try bed.take(
            #"[{"id":1,"next":{"code":"c7","v":"a"},"all":[{"code":"c8"},{"code":"c7"}]},{"code":"c7","v":"b"},{"code":8},{"code":"cx"}]"#,
            "Thing")
        #expect(report.diagnostics.map(\.path) == ["$[2]", "$[3]"])
        #expect(try bed.count("Thing") == 3)
        #expect(try bed.related("Thing", 1, "next") == ["7"] && bed.related("Thing", 1, "all").sorted() == ["7", "8"])
        #expect(try bed.value("Thing", 7, "v") == .string("b"))
        #expect(asked.contains("Thing 1") && asked.contains("Thing -"))
    }

    // MARK: Records without a key

    @Test(
        "a record without a key is skipped, or fails the unit, as the entity or the API says",
        arguments: [
            (KeylessPolicy?.none, KeylessPolicy?.none, false), (.fail, nil, true), (.fail, .skip, false),
            (.skip, .fail, true), (nil, .fail, true),
        ])
    func keyless(_ api: KeylessPolicy?, _ entity: KeylessPolicy?, _ fails: Bool) throws {
        let bed = try TestStore(
            Schema([EntityDefinition("Thing", key: ["id"], attributes: [AttributeDefinition("id", .int)])]),
            Mapping(entities: ["Thing": EntityMapping { $0.keyless = entity }], keyless: api))
        try bed.add(#"[{"id":1}]"#, "Thing")
        guard fails else {
            #expect(try bed.take(#"[{"id":2},{"name":"x"}]"#, "Thing").skipped == 1)
            #expect(try bed.count("Thing") == 2)
            return
        }
        let expected = ImportError.recordWithoutKey(entity: "Thing", path: "$[1]", key: "id")
        #expect(throws: expected) { try bed.add(#"[{"id":2},{"name":"x"}]"#, "Thing") }
        #expect(throws: expected) { try bed.commit() }
        #expect(try bed.count("Thing") == 0)
        bed.importer.discard()
        try bed.take(#"[{"id":3}]"#, "Thing")
        #expect(try bed.count("Thing") == 1)
    }

    @Test("a nested record without a key fails the unit too, and so does one in a later part")
    func keylessElsewhere() throws {
        let bed = try TestStore(
            Forge.schema,
            Mapping(entities: [
                "User": EntityMapping { $0.keyless = .fail }, "Issue": EntityMapping { $0.keyless = .fail },
            ]))
        #expect(throws: ImportError.recordWithoutKey(entity: "User", path: "$[0].author", key: "id")) {
            try bed.take(#"[{"id":1,"title":"a","author":{"login":"x"}}]"#, "Issue")
        }
        bed.importer.discard()
        bed.importer.limits.documentSize = 16
        bed.importer.limits.partSize = 1
        var pieces = [Array(#"[{"id":1},{"id":2},{"no":3}]"#.utf8)][...]
        #expect(throws: ImportError.recordWithoutKey(entity: "Issue", path: "$[2]", key: "id")) {
            try bed.importer.addParts(entity: "Issue", next: { pieces.popFirst() }, part: { _ in })
        }
        bed.importer.discard()
        #expect(throws: ImportError.recordWithoutKey(entity: "Issue", path: "$[1]", key: "id")) {
            try bed.take(#"[{"id":1},5]"#, "Issue")
        }
    }
}
