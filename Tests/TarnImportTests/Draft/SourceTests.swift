// Values beyond the keys of a record: elements of lists, objects around the record, and the
// document's context.

import TarnImport
import TarnStore
import Testing

@Suite("Import: sources of values")
struct SourceTests {
    static func string(_ name: String) -> AttributeDefinition { AttributeDefinition(name, .string, optional: true) }

    /// The value of the attribute `v` from one object.
    static func taken(
        _ sources: [ValueSource], _ json: String, _ type: AttributeType = .string,
        context: ImportContext = ImportContext()
    ) throws -> Value? {
        let bed = try thing([AttributeDefinition("v", type, optional: true)], EntityMapping(paths: ["v": sources]))
        _ = try bed.importer.add(Array(json.utf8), entity: "Thing", context: context)
        _ = try bed.commit()
        return try bed.value("Thing", 1, "v")
    }

    // MARK: Elements of lists

    @Test("lists below a wildcard of the root are joined for a list, and kept as they are for JSON")
    func listsFromRoot() throws {
        let attributes = [
            AttributeDefinition("all", .array(.int), optional: true), AttributeDefinition("raw", .json, optional: true),
        ]
        let bed = try thing(
            attributes, EntityMapping(paths: ["all": ["@root.groups.*.items"], "raw": ["@root.groups.*.items"]]))
        try bed.take(#"{"groups":[{"items":[1,2]},{"items":[3]}],"data":[{"id":1}]}"#, "Thing", records: "data")
        #expect(try bed.value("Thing", 1, "all") == .array([.int(1), .int(2), .int(3)]))
        #expect(try bed.value("Thing", 1, "raw") == .json("[[1,2],[3]]"))
    }

    @Test(
        "an index leads to an element of a list, from the end if it is negative; beyond the list there is nothing",
        arguments: [
            ("photos[0].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, Value.string("a")),
            ("photos[1].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, .string("b")),
            ("photos[-1].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, .string("b")),
            ("photos[-2].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, .string("a")),
            ("photos[2].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, nil),
            ("photos[-3].url", #"{"id":1,"photos":[{"url":"a"},{"url":"b"}]}"#, nil),
            ("photos[0].url", #"{"id":1,"photos":[]}"#, nil),
            ("photos[0].url", #"{"id":1,"photos":{"0":{"url":"a"}}}"#, nil),
            ("photos[0].url", #"{"id":1,"photos":null}"#, nil), ("photos[0].url", #"{"id":1,"photos":[null]}"#, nil),
            ("photos[0].url", #"{"id":1,"photos":[{"url":null}]}"#, .null),
            ("photos[0]", #"{"id":1,"photos":[null]}"#, .null),
            ("a.b[1][0].c", #"{"id":1,"a":{"b":[0,[{"c":"x"}]]}}"#, .string("x")),
            ("v[0]", #"{"id":1,"v":["x"]}"#, .string("x")),
            (#"a\[0]"#, #"{"id":1,"a[0]":"x","a":["y"]}"#, .string("x")),
        ] as [(ValueSource, String, Value?)])
    func indexes(_ path: ValueSource, _ json: String, _ expected: Value?) throws {
        #expect(try Self.taken([path], json) == expected)
    }

    @Test(
        "of a wildcard a single attribute gets the first value that is not null",
        arguments: [
            ("tags.*.name", #"{"id":1,"tags":[{"name":null},{"name":"a"},{"name":"b"}]}"#, Value.string("a")),
            ("tags.*.name", #"{"id":1,"tags":[{"name":null},{"name":null}]}"#, .null),
            ("tags.*.name", #"{"id":1,"tags":[{},{}]}"#, nil), ("tags.*.name", #"{"id":1,"tags":[]}"#, nil),
            ("tags.*.name", #"{"id":1,"tags":{"name":"a"}}"#, nil),
            ("tags.*", #"{"id":1,"tags":["a","b"]}"#, .string("a")),
            ("tags.*[1]", #"{"id":1,"tags":[["a"],["b","c"]]}"#, .string("c")),
            (#"tags.\*"#, #"{"id":1,"tags":{"*":"a"}}"#, .string("a")), (#"a*b"#, #"{"id":1,"a*b":"a"}"#, .string("a")),
        ] as [(ValueSource, String, Value?)])
    func firstOfMany(_ path: ValueSource, _ json: String, _ expected: Value?) throws {
        #expect(try Self.taken([path], json) == expected)
    }

    @Test("of a wildcard a list gets all values, and what is a list itself is taken apart; JSON gets them as they are")
    func listOfMany() throws {
        let json = #"{"id":1,"groups":[{"items":[1,2],"n":1.50},{"items":[]},{"items":[3],"n":2},{}]}"#
        #expect(try Self.taken(["groups.*.items"], json, .array(.int)) == .array([.int(1), .int(2), .int(3)]))
        let decimals = try ["1.50", "2"].map { Value.decimal(try #require(ExactDecimal($0))) }
        #expect(try Self.taken(["groups.*.n"], json, .array(.decimal)) == .array(decimals))
        #expect(try Self.taken(["groups.*.items"], json, .json) == .json("[[1,2],[],[3]]"))
        #expect(try Self.taken(["groups.*.n"], json, .json) == .json("[1.50,2]"))
        #expect(try Self.taken(["groups.*.items.*"], json, .array(.int)) == .array([.int(1), .int(2), .int(3)]))
        #expect(try Self.taken(["groups.*.items"], #"{"id":1,"groups":[]}"#, .array(.int)) == .array([]))
        #expect(try Self.taken(["groups.*.items"], #"{"id":1,"groups":5}"#, .array(.int)) == nil)
        #expect(try Self.taken(["groups.*.items"], #"{"id":1,"groups":[{"items":null}]}"#, .array(.int)) == .null)
    }

    @Test(
        "a relationship takes the records that a wildcard leads to, in their order, each once, and they become records")
    func recordsOfMany() throws {
        let schema = Schema([
            EntityDefinition(
                "Venue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("photos", to: "Photo", many: true, ordered: true),
                    RelationshipDefinition("cover", to: "Photo"),
                    RelationshipDefinition("tips", to: "Tip", many: true, inverse: "venue"),
                ]),
            EntityDefinition("Photo", key: ["id"], attributes: [AttributeDefinition("id", .int), Self.string("url")]),
            EntityDefinition(
                "Tip", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("venue", to: "Venue", inverse: "tips")]),
        ])
        let bed = try TestStore(
            schema,
            Mapping(entities: [
                "Venue": EntityMapping(paths: [
                    "photos": ["photos.groups.*.items"], "cover": ["photos.groups[0].items[0]"],
                    "tips": ["tips.groups.*.items"],
                ])
            ]))
        let report = try bed.take(
            #"{"id":1,"photos":{"groups":[{"items":[{"id":3,"url":"c"},{"id":1}]},{"items":[{"id":2},3,null]}]},"tips":{"groups":[{"items":[{"id":7}]},{"items":[{"id":8}]}]}}"#,
            "Venue")
        #expect(report.diagnostics == [])
        #expect(report.unmapped == [])
        #expect(try bed.related("Venue", 1, "photos") == ["3", "1", "2"])
        #expect(try bed.related("Venue", 1, "cover") == ["3"])
        #expect(try bed.related("Venue", 1, "tips") == ["7", "8"])
        #expect(try bed.value("Photo", 3, "url") == .string("c"))
        let wrong = try bed.take(#"{"id":1,"photos":{"groups":[{"items":[{"id":3}]},{"items":[true]}]}}"#, "Venue")
        #expect(wrong.diagnostics.map(\.code) == [.relationshipType])
        #expect(wrong.diagnostics.first?.path == "$.photos.groups[1].items[0]")
        #expect(try bed.related("Venue", 1, "photos") == ["3", "1", "2"])
    }

    // MARK: One policy

    @Test(
        "sources of every kind are alternates in their order: the first that is there and not null, null only if all that are there are null"
    )
    func onePolicy() throws {
        let sources: [ValueSource] = ["list[0]", "@param.p", "{a}-{b}", "many.*.x", "plain"]
        let cases: [(String, [String: String], Value?)] = [
            (#""list":["1"],"a":"a","b":"b","many":[{"x":"4"}],"plain":"5","v":"6""#, ["p": "2"], .string("1")),
            (#""list":[null],"a":"a","b":"b","many":[{"x":"4"}],"plain":"5","v":"6""#, ["p": "2"], .string("2")),
            (#""list":[],"a":"a","b":"b","many":[{"x":"4"}],"plain":"5","v":"6""#, [:], .string("a-b")),
            (#""a":"a","b":null,"many":[{"x":"4"}],"plain":"5","v":"6""#, [:], .string("4")),
            (#""a":"a","many":[{"x":null}],"plain":"5","v":"6""#, [:], .string("5")),
            (#""a":null,"many":[],"plain":null,"v":"6""#, [:], .string("6")),
            (#""list":[null],"a":null,"b":"b","many":[{"x":null}],"plain":null,"v":null"#, [:], .null),
            (#""list":[null]"#, [:], .null), (#""a":null,"b":"b""#, [:], .null), (#""a":"a""#, [:], nil),
            (#""many":[]"#, [:], nil),
            (#""w":1"#, [:], nil),
        ]
        for (fields, parameters, expected) in cases {
            let value = try Self.taken(
                sources, #"[{"id":1,\#(fields)}]"#, context: ImportContext(parameters: parameters))
            #expect(value == expected, "{\(fields)}")
        }
    }

    @Test("a source that the tree of keys finds goes before or behind others by its place in the list, not by its kind")
    func order() throws {
        let json = #"{"id":1,"a":"plain","l":["element"]}"#
        #expect(try Self.taken(["a", "l[0]"], json) == .string("plain"))
        #expect(try Self.taken(["l[0]", "a"], json) == .string("element"))
        #expect(try Self.taken(["a", .constant(.string("c"))], json) == .string("plain"))
        #expect(try Self.taken([.constant(.string("c")), "a"], json) == .string("c"))
        #expect(try Self.taken(["none", .constant(.string("c"))], json) == .string("c"))
    }

    // MARK: Constants, defaults, composed values

    @Test(
        "a constant is in every record, of every type, and null clears",
        arguments: [
            (AttributeType.string, JSONValue.string("github"), Value.string("github")), (.int, .number("7"), .int(7)),
            (.bool, .bool(true), .bool(true)), (.array(.int), .array([.number("1")]), .array([.int(1)])),
            (.json, .object([.init("a", .null)]), .json(#"{"a":null}"#)), (.date, .string("2026-01-01T00:00:00Z"), nil),
            (.string, .null, .null),
        ] as [(AttributeType, JSONValue, Value?)])
    func constants(_ type: AttributeType, _ json: JSONValue, _ expected: Value?) throws {
        let value = try Self.taken([.constant(json)], #"{"id":1,"w":5}"#, type)
        if let expected { #expect(value == expected) } else { #expect(value?.plainText == "2026-01-01T00:00:00Z") }
    }

    @Test("a constant of a relationship is a key, or a list of keys")
    func constantReferences() throws {
        let bed = try TestStore(
            Forge.schema,
            Mapping(entities: [
                "Issue": EntityMapping(paths: [
                    "author": [.constant(.number("7"))], "labels": [.constant(.array([.number("2"), .string("1")]))],
                ])
            ]))
        try bed.take(#"[{"id":1,"title":"a"}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "author") == ["7?"])
        #expect(try bed.related("Issue", 1, "labels") == ["2?", "1?"])
    }

    @Test("a value for what is absent is not taken for null, nor by records that are excerpts")
    func absentValues() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("n", .int, optional: true),
                        AttributeDefinition("m", .int),
                    ],
                    relationships: [RelationshipDefinition("next", to: "Thing")])
            ]),
            Mapping(entities: [
                "Thing": EntityMapping(fields: [
                    "n": FieldRules(absentValue: .number("0")), "m": FieldRules(absentValue: .number("5")),
                ])
            ]))
        try bed.take(#"[{"id":1},{"id":2,"n":null},{"id":3,"n":4,"m":1,"next":{"id":4}}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "n") == .int(0) && bed.value("Thing", 1, "m") == .int(5))
        #expect(try bed.value("Thing", 2, "n") == .null)
        #expect(try bed.value("Thing", 3, "n") == .int(4))
        #expect(try bed.record("Thing", 4)?.isPartial == true && bed.value("Thing", 4, "n") == nil)
        // It is the kind of the record then, not only at first.
        try bed.take(#"[{"id":3,"m":1}]"#, "Thing")
        #expect(try bed.value("Thing", 3, "n") == .int(0))
        let report = try thing(
            [AttributeDefinition("n", .int, optional: true)],
            EntityMapping(fields: ["n": FieldRules(absentValue: .string("x"))])
        ).take(#"[{"id":1}]"#, "Thing")
        #expect(report.diagnostics.map(\.code) == [.valueType])
        #expect(report.diagnostics.first?.path == "$[0]")
    }

    @Test(
        "a composed text has the texts of its values in it; null makes it null, absence and lists make it absent",
        arguments: [
            ("{owner.login}/{name}", #""owner":{"login":"ada"},"name":"anvil""#, Value.string("ada/anvil")),
            ("{n}:{b}:{d}", #""n":7,"b":true,"d":1.50"#, .string("7:true:1.50")),
            ("{{{n}}}", #""n":7"#, .string("{7}")),
            ("a}}{n}", #""n":7"#, .string("a}7")), ("{name}", #""name":"""#, .string("")),
            ("{owner.login}/{name}", #""owner":{"login":null},"name":"anvil""#, .null),
            ("{owner.login}/{name}", #""owner":null,"name":"anvil""#, nil),
            ("{owner.login}/{name}", #""owner":{"login":"ada"}"#, nil),
            ("{name}", #""name":{}"#, nil), ("{name}", #""name":[1]"#, nil),
            ("{names[-1]}", #""names":["a","b"]"#, .string("b")),
            (#"{a\.b}"#, #""a.b":"x""#, .string("x")), (#"{a\}b}"#, #""a}b":"x""#, .string("x")),
            ("{@param.owner}/{@header.etag}/{@position}", #""w":1"#, .string("acme/e/40")),
        ] as [(ValueSource, String, Value?)])
    func composed(_ template: ValueSource, _ fields: String, _ expected: Value?) throws {
        let context = ImportContext(headers: [("ETag", "e")], parameters: ["owner": "acme"], firstPosition: 40)
        #expect(try Self.taken([template], #"[{"id":1,\#(fields)}]"#, context: context) == expected)
    }

    // MARK: Where the records are

    @Test(
        "records may be at an index, or at all places that a wildcard leads to, in one body or in parts",
        arguments: [
            ("groups[1].items", "2,3", [Int64(2), 3]), ("groups[-1].items", "2,3", [2, 3]),
            ("groups.*.items", "all", [1, 2, 3]),
            ("groups.*.first", "one each", [1]),
        ] as [(JSONPath, String, [Int64])])
    func records(_ path: JSONPath, _ name: String, _ expected: [Int64]) throws {
        let json = #"{"groups":[{"items":[{"id":1}],"first":{"id":1}},{"items":[{"id":2},{"id":3}],"first":null}]}"#
        for inParts in [false, true] {
            let bed = try thing([])
            if inParts {
                var pieces = [Array(json.utf8)][...]
                try bed.importer.addParts(records: path, entity: "Thing", next: { pieces.popFirst() }, part: { _ in })
                _ = try bed.commit()
            } else {
                try bed.take(json, "Thing", records: path)
            }
            #expect(try expected.allSatisfy { try bed.record("Thing", $0) != nil })
            #expect(try bed.count("Thing") == expected.count)
        }
    }

    @Test("records at a place that is not there, or that are none, are an error that names the path")
    func recordsNotThere() throws {
        let bed = try thing([])
        #expect(
            throws: ImportError.recordsNotFound(
                path: "groups[5].items", missing: "groups[5].items", present: ["groups"])
        ) {
            try bed.take(#"{"groups":[]}"#, "Thing", records: "groups[5].items")
        }
        #expect(throws: ImportError.notRecords(path: "groups.*", found: "the number 1")) {
            try bed.take(#"{"groups":[1]}"#, "Thing", records: "groups.*")
        }
        #expect(try bed.take(#"{"groups":[]}"#, "Thing", records: "groups.*").listed == 0)
    }

    @Test(
        "a path with a wildcard that leads to nothing in any element is an error that names the missing key",
        arguments: [
            (#"[{"entries":[{"id":1}]},{"x":1}]"#, "groups.*.items", "items", ["entries"]),
            (#"[7]"#, "groups.*.items", "items", []), (#"[null,{}]"#, "groups.*.items", "items", []),
            (#"[{"a":{"b":1}}]"#, "groups.*.a.items", "items", ["b"]),
            (#"[{"list":[{"d":1}]},{}]"#, "groups.*.list.*.node", "node", ["d"]),
            (#"[{"list":{"node":1}}]"#, "groups.*.list.*.node", "node", []),
            (#"[{"list":7}]"#, "groups.*.list.*.node", "groups.*.list.*.node", []),
        ] as [(String, JSONPath, String, [String])])
    func missingInAll(_ groups: String, _ path: JSONPath, _ key: String, _ present: [String]) throws {
        let bed = try thing([])
        #expect(throws: ImportError.recordsNotFound(path: path.description, missing: key, present: present)) {
            try bed.take(#"{"groups":\#(groups)}"#, "Thing", records: path)
        }
        #expect(throws: ImportError.recordsNotFound(path: path.description, missing: key, present: present)) {
            try bed.importer.add(Array(#"{"groups":\#(groups)}"#.utf8), envelope: [EnvelopePart(path, "Thing")])
        }
        let added = try bed.importer.add(
            Array(#"{"groups":\#(groups)}"#.utf8), envelope: [EnvelopePart(path, "Thing", optional: true)])
        #expect(added.count == 0)
    }

    @Test(
        "empty lists and nulls behind a wildcard are no records, and an element may lack the list that another one has",
        arguments: [
            (#"[]"#, "groups.*.items", 0), (#"[null]"#, "groups.*.items", 0),
            (#"[{"items":[]},{}]"#, "groups.*.items", 0),
            (#"[{"items":null}]"#, "groups.*.items", 0), (#"[{},{"items":[{"id":1}]}]"#, "groups.*.items", 1),
            (#"[{"list":[]},{}]"#, "groups.*.list.*.node", 0), (#"[{"list":null}]"#, "groups.*.list.*.node", 0),
            (#"[{"list":[{"node":null},{}]}]"#, "groups.*.list.*.node", 0),
        ] as [(String, JSONPath, Int)])
    func missingInSome(_ groups: String, _ path: JSONPath, _ count: Int) throws {
        let bed = try thing([])
        #expect(try bed.take(#"{"groups":\#(groups)}"#, "Thing", records: path).listed == count)
    }

    // MARK: What is left over

    @Test("keys that a path, a text or a wildcard leads through are mapped; what is beside them is not")
    func unmapped() throws {
        let bed = try thing(
            [Self.string("a"), Self.string("b"), Self.string("c")],
            EntityMapping(paths: ["a": ["photos[0].url"], "b": ["{owner.login}"], "c": ["x.y.*.z"]]))
        let report = try bed.take(
            #"[{"id":1,"photos":[{"url":"a","w":1}],"owner":{"login":"o","id":1},"x":{"y":[{"z":"1"}],"k":1},"other":1}]"#,
            "Thing")
        #expect(report.unmapped.map(\.path) == ["other", "owner.id", "x.k"])
    }

    @Test("a value of a wrong type is reported with its path, or with that of its record if it is not in the document")
    func diagnostics() throws {
        let bed = try thing(
            [AttributeDefinition("a", .int, optional: true), AttributeDefinition("b", .int, optional: true)],
            EntityMapping(paths: ["a": ["list[1].n"], "b": ["@param.page"]]))
        _ = try bed.importer.add(
            Array(#"[{"id":0},{"id":1,"list":[0,{"n":"x"}]}]"#.utf8), entity: "Thing",
            context: ImportContext(parameters: ["page": "two"]))
        let report = try bed.commit()
        #expect(report.diagnostics.map(\.path) == ["$[0]", "$[1].list[1].n", "$[1]"])
        #expect(report.diagnostics.map(\.sample) == ["\"two\"", "\"x\"", "\"two\""])
        let nested = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("n", .int, optional: true)],
                    relationships: [RelationshipDefinition("parts", to: "Thing", many: true)])
            ]), Mapping(entities: ["Thing": EntityMapping(paths: ["n": ["{id}x"]])]))
        #expect(
            try nested.take(#"[{"id":1,"parts":[{"id":2}]}]"#, "Thing").diagnostics.map(\.path) == [
                "$[0]", "$[0].parts[0]",
            ])
    }
}
