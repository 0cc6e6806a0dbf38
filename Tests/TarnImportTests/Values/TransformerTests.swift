// Enumerations with a fallback, transformers in both directions, unmapped values, and hooks.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: transformers, the rest, and hooks")
struct TransformerTests {
    @Test("an unknown text of an enumeration becomes its fallback and is reported; anything else keeps the old value")
    func fallback() throws {
        let type = AttributeType.enumeration(["open", "closed", "other"])
        let bed = try thing(
            [AttributeDefinition("v", type, optional: true), AttributeDefinition("w", type, optional: true)],
            EntityMapping(fields: ["v": FieldRules { $0.fallback = "other" }]))
        try bed.take(#"[{"id":1,"v":"open","w":"open"}]"#, "Thing")
        let report = try bed.take(#"[{"id":1,"v":"merged","w":"merged"}]"#, "Thing")
        #expect(report.diagnostics.map(\.code) == [.valueUnknown, .valueType])
        #expect(report.diagnostics[0].path == "$[0].v" && report.diagnostics[0].sample == #""merged""#)
        #expect(try bed.value("Thing", 1, "v") == .string("other") && bed.value("Thing", 1, "w") == .string("open"))
        let hint = #""merged", which is none of its values: add it to them, or declare a fallback"#
        #expect(report.diagnostics[1].message.contains(hint), "\(report.diagnostics[1])")
        #expect(try bed.take(#"[{"id":1,"v":7}]"#, "Thing").diagnostics.map(\.code) == [.valueType])
        #expect(try bed.value("Thing", 1, "v") == .string("other"))
        #expect(try bed.take(#"[{"id":1,"v":"closed"}]"#, "Thing").diagnosticCount == 0)
        #expect(try bed.value("Thing", 1, "v") == .string("closed"))
    }

    @Test("a list with a text that its enumeration lacks names the text, and the old list is kept")
    func unknownElement() throws {
        let bed = try thing([AttributeDefinition("v", .array(.enumeration(["a", "b"])), optional: true)])
        try bed.take(#"[{"id":1,"v":["a"]}]"#, "Thing")
        for (json, hint) in [
            (#"["a","c",7]"#, #"a list with the text "c""#), (#"["a",7]"#, "a list;"), ("7", "number 7;"),
        ] {
            let report = try bed.take(#"[{"id":1,"v":\#(json)}]"#, "Thing")
            #expect(report.diagnostics.first?.message.contains(hint) == true, "\(report.diagnostics)")
            #expect(try bed.value("Thing", 1, "v") == .array([.string("a")]))
        }
    }

    @Test(
        "the built-in transformers change JSON before its type is asked, and change it back",
        arguments: [
            ("trim", AttributeType.string, #"" a b\n""#, #""a b""#, #""a b""#),
            ("lowercased", .string, #""ÀB""#, #""àb""#, #""àb""#),
            ("uppercased", .string, #""aß""#, #""ASS""#, #""ASS""#),
            ("number", .decimal, #""1,234,567.50""#, "1234567.5", #""1234567.5""#),
            ("number", .int, #""-12 345""#, "-12345", #""-12345""#), ("number", .int, "7", "7", #""7""#),
            ("number", .int, #""007""#, "7", #""7""#), ("number", .int, #""12,34""#, nil, nil),
            ("number", .int, #""1,234 567""#, nil, nil),
            ("number", .int, #""1.234.567""#, nil, nil), ("number", .int, #""""#, nil, nil),
            ("number", .double, #""1e5""#, nil, nil),
            ("number", .double, "1e300", "1e+300", "\"1\(String(repeating: "0", count: 300))\""),
            ("number", .decimal, "-12e-3", "-0.012", #""-0.012""#), ("number", .decimal, "0e9", "0", #""0""#),
            ("number", .double, #""5.""#, nil, nil), ("number", .int, "true", nil, nil),
            ("base64url", .string, #""w6nDqA""#, #""éè""#, #""w6nDqA""#), ("base64url", .string, #""_-8""#, nil, nil),
            ("json", .json, #""{\"a\": [1.10]}""#, #"{"a":[1.10]}"#, #""{\"a\":[1.10]}""#),
            ("json", .int, #""12""#, "12", #""12""#),
            ("json", .json, #""{""#, nil, nil), ("json", .array(.int), #""[1,2]""#, "[1,2]", #""[1,2]""#),
            (
                "url(https://a.example/x/)", .url, #""../y?q=1""#, #""https://a.example/y?q=1""#,
                #""https://a.example/y?q=1""#
            ),
            (
                "url(https://a.example/x/)", .url, #""https://b.example""#, #""https://b.example""#,
                #""https://b.example""#
            ),
            (
                "url(https://a.example/x?q=1#f)", .url, #""""#, #""https://a.example/x?q=1""#,
                #""https://a.example/x?q=1""#
            ),
            ("trim", .string, "12", nil, nil), ("trim", .string, "null", "null", "null"),
            ("json", .string, #""null""#, "null", "null"),
            ("null()", .url, #""""#, "null", "null"), ("null()", .string, #"" ""#, #"" ""#, #"" ""#),
            ("null(false)", .string, "false", "null", "null"), ("null(false)", .bool, "true", "true", "true"),
            ("null(0)", .int, "0", "null", "null"), ("null(0)", .int, "7", "7", "7"),
            ("null(0000-00-00)", .string, #""0000-00-00""#, "null", "null"),
        ] as [(String, AttributeType, String, String?, String?)])
    func builtIn(_ name: String, _ type: AttributeType, _ json: String, _ stored: String?, _ sent: String?) throws {
        let mapping = EntityMapping(fields: ["v": FieldRules(transformers: [name])])
        let bed = try thing([AttributeDefinition("v", type, optional: true)], mapping)
        let report = try bed.take(#"[{"id":1,"v":\#(json)}]"#, "Thing")
        var text: String?
        if let value = try bed.value("Thing", 1, "v") {
            var json = ""
            value.appendJSON(to: &json)
            text = json
        }
        #expect(text == stored, "\(name) of \(json)")
        #expect(report.diagnostics.map(\.code) == (stored == nil ? [.valueType] : []))
        guard text != nil, let sent else { return }
        #expect(try bed.body("Thing", 1)["v"]?.text == sent)
    }

    // The time grows with the length, not with its square: that would be many minutes.
    @Test("a number with two hundred thousand leading zeros is read at once", .timeLimit(.minutes(1)))
    func leadingZeros() throws {
        let bed = try thing(
            [AttributeDefinition("v", .int, optional: true)],
            EntityMapping(fields: ["v": FieldRules(transformers: ["number"])]))
        let zeros = String(repeating: "0", count: 200_000)
        for (text, value) in [(zeros + "12", 12), ("-" + zeros + "7", -7), (zeros, 0)] as [(String, Int64)] {
            try bed.take(#"[{"id":1,"v":"\#(text)"}]"#, "Thing")
            #expect(try bed.value("Thing", 1, "v") == .int(value))
        }
    }

    @Test(
        "transformers are applied in their order, and backwards for what is sent; those of code go before the built-in ones"
    )
    func chains() throws {
        let log = ValueTransformer(
            "percent",
            decode: { value in
                guard case .string(let text) = value, text.hasSuffix("%") else { return nil }
                return .string(String(text.dropLast()))
            },
            encode: { value in if case .string(let text) = value { .string(text + "%") } else { nil } })
        let upper = ValueTransformer("trim", decode: { _ in .string("mine") })
        let entities = [
            "Thing": EntityMapping(fields: [
                "v": FieldRules(transformers: ["percent", "number"]), "w": FieldRules(transformers: ["trim"]),
            ])
        ]
        let mapping = Mapping(entities: entities, transformers: [log, upper])
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("v", .int, optional: true),
                    AttributeDefinition("w", .string, optional: true),
                ])
        ])
        let bed = try TestStore(schema, mapping)
        try bed.take(#"[{"id":1,"v":"1,200%","w":" x "}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "v") == .int(1200) && bed.value("Thing", 1, "w") == .string("mine"))
        #expect(try bed.take(#"[{"id":1,"v":"1,200"}]"#, "Thing").diagnostics.map(\.code) == [.valueType])
        #expect(try bed.body("Thing", 1)["v"] == .string("1200%"))
        #expect(throws: ImportError.unknownTransformer(entity: "Thing", field: "v", name: "percent")) {
            try TestStore(schema, Mapping(entities: entities))
        }
        #expect(Mapping(entities: entities).problems(for: schema).map(\.field) == ["v"])
    }

    @Test("a key goes through no transformer: a mapping that says so is refused, and the key is what came")
    func keys() throws {
        let schema = Schema([EntityDefinition("Thing", key: ["id"], attributes: [AttributeDefinition("id", .string)])])
        let mapping = Mapping(entities: ["Thing": EntityMapping(fields: ["id": FieldRules(transformers: ["trim"])])])
        #expect(mapping.problems(for: schema).map(\.field) == ["id"])
        let bed = try TestStore(schema, mapping)
        try bed.take(#"[{"id":" a "}]"#, "Thing")
        #expect(try bed.record("Thing", RecordKey(" a "))?["id"] == .string(" a "))
    }

    @Test("what is neither mapped nor ignored is kept as one object, exactly, and is not reported as unmapped")
    func rest() throws {
        var mapping = EntityMapping(paths: ["plus": ["reactions.+1"]], ignored: ["*_url", "reactions.url"])
        mapping.rest = "extra"
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("name", .string),
                        AttributeDefinition("plus", .int, optional: true),
                        AttributeDefinition("extra", .json, optional: true),
                    ], relationships: [RelationshipDefinition("next", to: "Thing")])
            ]),
            Mapping(entities: ["Thing": mapping]))
        let json =
            #"{"id":1,"name":"n","reactions":{"+1":5,"url":"u","-1":2},"x":[1.10,{"a":null}],"html_url":"h","next":{"id":2,"z":1},"é\"":"\n","extra":"own"}"#
        let report = try bed.take("[\(json)]", "Thing")
        #expect(report.unmapped.isEmpty)
        #expect(
            try bed.value("Thing", 1, "extra")
                == .json(#"{"reactions":{"-1":2},"x":[1.10,{"a":null}],"é\"":"\n","extra":"own"}"#))
        // An excerpt does not show which other fields exist; a nested record with all required
        // fields does.
        #expect(try bed.value("Thing", 2, "extra") == nil)
        try bed.take(#"[{"id":3,"name":"m","next":{"id":1,"y":1},"reactions":{"+1":1}}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "extra") != .json(#"{"y":1}"#))
        #expect(try bed.value("Thing", 3, "extra") == .json("{}"))
        try bed.take(#"[{"id":3,"name":"m","next":{"id":1,"name":"n","y":1}}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "extra") == .json(#"{"y":1}"#))
        #expect(try bed.take(#"[{"id":3,"name":"m","next":{"id":1,"name":"n","y":1}}]"#, "Thing").unchanged == 2)
    }

    @Test("more keys than are counted as unmapped are kept too")
    func manyKeys() throws {
        let bed = try thing([AttributeDefinition("extra", .json, optional: true)], EntityMapping { $0.rest = "extra" })
        let members = (0..<500).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        try bed.take(#"[{"id":1,\#(members)}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "extra") == .json("{\(members)}"))
    }

    @Test("ignored keys are not kept, however many there are, and hide no unmapped key")
    func manyIgnoredKeys() throws {
        let ignored = (0..<500).map { #""custom_\#($0)":0"# }.joined(separator: ",")
        let members = (0..<300).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let keeping = try thing(
            [AttributeDefinition("extra", .json, optional: true)],
            EntityMapping {
                $0.rest = "extra"
                $0.ignored = ["custom_*"]
            })
        try keeping.take(#"[{"id":1,\#(members),\#(ignored)}]"#, "Thing")
        #expect(try keeping.value("Thing", 1, "extra") == .json("{\(members)}"))
        let reporting = try thing([], EntityMapping { $0.ignored = ["custom_*"] })
        let report = try reporting.take(#"[{"id":1,\#(ignored),"new":1}]"#, "Thing")
        #expect(report.unmapped.map(\.path) == ["new"])
    }

    @Test(
        "JSON may be changed before it is drafted, its keys too, and elements left out; paths are those of the response"
    )
    func beforeDraft() throws {
        let bed = try thing([AttributeDefinition("v", .int, optional: true)])
        bed.importer.hooks.beforeDraft = { entity, json in
            #expect(entity == "Thing")
            if json["hidden"] == .bool(true) { return false }
            json["id"] = json["number"]
            json["number"] = nil
            return true
        }
        let added = try bed.add(
            #"{"items":[{"number":7,"v":1},{"number":8,"hidden":true},{"number":9,"v":"x"}]}"#, "Thing",
            records: "items")
        #expect(added.count == 3 && added.listed.count == 2)
        let report = try bed.commit()
        #expect(report.created == 2 && report.diagnostics.map(\.path) == ["$.items[2].v"])
        #expect(try bed.value("Thing", 7, "v") == .int(1) && bed.record("Thing", 8) == nil)
        #expect(report.unmapped.isEmpty)
    }

    @Test(
        "what a hook makes that is no JSON, or is too deep, skips the element or keeps the draft's value, and is reported where it stands"
    )
    func invalidEdits() throws {
        let bed = try thing([
            AttributeDefinition("v", .int, optional: true), AttributeDefinition("w", .json, optional: true),
        ])
        bed.importer.hooks.beforeDraft = { _, json in
            if json["v"] == .number("2") { json["v"] = .number("2x") }
            if json["v"] == .number("3") { for _ in 0..<2000 { json["w"] = .array([json["w"] ?? .null]) } }
            return true
        }
        bed.importer.hooks.afterDraft = { draft in
            if draft["v"] == .int(4) { draft.set("v", .number("4.")) }
            return true
        }
        let report = try bed.take(#"[{"id":1,"v":1},{"id":2,"v":2},{"id":3,"v":3},{"id":4,"v":4}]"#, "Thing")
        #expect(report.created == 2 && report.skipped == 2)
        #expect(
            report.diagnostics.prefix(2).map { "\($0.code.rawValue) \($0.path)" } == [
                "hook.invalid $[1]", "hook.invalid $[2]",
            ])
        #expect(
            report.diagnostics.count == 3 && report.diagnostics.last?.code == .valueType
                && report.diagnostics.last?.field == "v")
        #expect(try bed.value("Thing", 4, "v") == .int(4) && bed.record("Thing", 2) == nil)
    }

    @Test("the location of an element that a hook made invalid is not looked for in the JSON of the element before it")
    func invalidAfterEdit() throws {
        let bed = try Forge.store()
        bed.importer.hooks.beforeDraft = { _, json in
            let users = [7, 8].map { JSONValue.object([.init("id", .number("\($0)")), .init("login", .string("l"))]) }
            json =
                json["id"] == .string("1")
                ? .object([.init("id", .number("1")), .init("title", .string("t")), .init("assignees", .array(users))])
                : .object([.init("id", .number("2x"))])
            return true
        }
        let report = try bed.take(#"[{"id":"1","a":true},{"id":2}]"#, "Issue")
        #expect(report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == ["hook.invalid $[1]"])
        #expect(try bed.related("Issue", 1, "assignees") == ["7", "8"])
    }

    @Test("drafts may be changed, by the rules of their types, or left out; the report is seen before the commit")
    func afterDraft() throws {
        let bed = try thing([
            AttributeDefinition("v", .int, optional: true), AttributeDefinition("w", .string, optional: true),
        ])
        try bed.take(#"[{"id":3,"v":3}]"#, "Thing")
        bed.importer.hooks.afterDraft = { draft in
            if draft.key == RecordKey(2) || draft.key == RecordKey(3) { return false }
            if draft["v"] == .int(1) { draft.set("w", .string("one")) }
            if draft["v"] == .int(4) { draft.set("v", .string("nine")) }
            return true
        }
        var seen: ImportReport?
        bed.importer.hooks.afterMerge = { report, writer in
            seen = report
            try writer.put("Thing", RecordKey(100), [Record.Field("v", .int(Int64(report.created)))])
        }
        let report = try bed.take(#"[{"id":1,"v":1},{"id":2,"v":2},{"id":3,"v":33},{"id":4,"v":4}]"#, "Thing")
        #expect(report == seen)
        #expect(report.entities["Thing"] == ImportReport.Counts(created: 2, skipped: 2))
        #expect(report.dropped.map(\.storageKey) == [RecordKey(2).storageKey])
        #expect(report.diagnostics.map(\.code) == [.valueType] && report.diagnostics.first?.sample == #""nine""#)
        #expect(try bed.value("Thing", 1, "w") == .string("one") && bed.value("Thing", 3, "v") == .int(3))
        #expect(try bed.value("Thing", 4, "v") == .int(4) && bed.value("Thing", 100, "v") == .int(2))

        struct Refused: Error {}
        bed.importer.hooks = ImportHooks(afterMerge: { _, _ in throw Refused() })
        #expect(throws: Refused.self) { try bed.take(#"[{"id":50}]"#, "Thing") }
        #expect(try bed.record("Thing", 50) == nil)
    }
}
