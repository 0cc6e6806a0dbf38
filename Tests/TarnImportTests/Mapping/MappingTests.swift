// The JSON key of a value: the naming convention, alternates, nested paths; and ignored keys.

import TarnImport
import TarnStore
import Testing

@Suite("Import: mapping")
struct MappingTests {
    private func string(_ name: String) -> AttributeDefinition { AttributeDefinition(name, .string, optional: true) }

    @Test("camelCase names take snake_case keys, acronyms are one word, and the name as written is tried after that")
    func naming() throws {
        let names = ["updatedAt", "htmlURL", "HTTPStatus", "plain", "plus1", "_links", "snake_case", "userIDs2"]
        let bed = try thing(names.map(string))
        try bed.take(
            #"[{"id":1,"updated_at":"a","html_url":"b","http_status":"c","plain":"d","plus1":"e","links":"f","snake_case":"g","user_ids2":"h"}]"#,
            "Thing")
        let record = try bed.record("Thing", 1)
        let named = try #require(record?["snake_case"])
        #expect(named == .string("g"))
        #expect(names.prefix(6).map { record?[$0] } == ["a", "b", "c", "d", "e", "f"].map { Value.string($0) })
        try bed.take(#"[{"id":2,"updatedAt":"a","htmlURL":"b","HTTPStatus":"c","_links":"f","userIDs2":"h"}]"#, "Thing")
        let camel = try bed.record("Thing", 2)
        #expect(
            ["updatedAt", "htmlURL", "HTTPStatus", "_links", "userIDs2"].map { camel?[$0] }
                == ["a", "b", "c", "f", "h"].map { Value.string($0) })
    }

    @Test("the converted name wins over the name as written, in either order")
    func namingOrder() throws {
        let bed = try thing([string("updatedAt")])
        try bed.take(
            #"[{"id":1,"updatedAt":"camel","updated_at":"snake"},{"id":2,"updated_at":"snake","updatedAt":"camel"}]"#,
            "Thing"
        )
        #expect(try bed.value("Thing", 1, "updatedAt") == .string("snake"))
        #expect(try bed.value("Thing", 2, "updatedAt") == .string("snake"))
    }

    @Test("words are replaced whole, wherever they stand in a name")
    func words() throws {
        let naming = NamingConvention(words: ["id": "identifier", "repo": "repository"])
        #expect(naming.jsonKeys(for: "identifier") == ["id", "identifier"])
        #expect(naming.jsonKeys(for: "userIdentifier") == ["user_id", "userIdentifier"])
        #expect(naming.jsonKeys(for: "repositoryIdentifierCount") == ["repo_id_count", "repositoryIdentifierCount"])
        #expect(naming.jsonKeys(for: "identifiers") == ["identifiers"])
        #expect(naming.jsonKeys(for: "identity") == ["identity"])
        let bed = try TestStore(
            Schema([
                EntityDefinition("Repo", key: ["identifier"], attributes: [AttributeDefinition("identifier", .int)])
            ]),
            Mapping(naming: naming))
        try bed.take(#"[{"id":4},{"identifier":5}]"#, "Repo")
        #expect(try bed.lines() == [#"Repo 4 {"identifier":4}"#, #"Repo 5 {"identifier":5}"#])
    }

    @Test("two words for one word of the schema: always the same one is taken")
    func wordsAreDeterministic() {
        let words = Dictionary(uniqueKeysWithValues: (0..<8).map { ("w\($0)", "word") })
        for _ in 0..<20 {
            let shuffled = Dictionary(uniqueKeysWithValues: words.shuffled())
            #expect(NamingConvention(words: shuffled).jsonKeys(for: "word") == ["w0", "word"])
        }
    }

    @Test("declared alternates are tried in order, then the own name: the first that is present and not null counts")
    func alternates() throws {
        let bed = try thing([string("v")], EntityMapping(paths: ["v": ["first", "deep.second"]]))
        let cases: [(String, Value?)] = [
            (#""v":"own","deep":{"second":"2"},"first":"1""#, .string("1")),
            (#""first":null,"v":"own","deep":{"second":"2"}"#, .string("2")),
            (#""first":null,"deep":{"second":null},"v":"own""#, .string("own")),
            (#""first":null,"deep":{"second":null},"v":null"#, .null),
            (#""first":null"#, .null), (#""deep":null"#, nil), (#""deep":"scalar""#, nil),
            (#""deep":[{"second":"x"}]"#, nil),
            (#""deep":{}"#, nil), (#""deep":null,"v":"own""#, .string("own")),
            (#""deep":{"second":"2"},"first":null"#, .string("2")),
        ]
        for (index, (fields, expected)) in cases.enumerated() {
            try bed.take(#"[{"id":\#(index),\#(fields)}]"#, "Thing")
            #expect(try bed.value("Thing", Int64(index), "v") == expected, "{\(fields)}")
        }
    }

    @Test("the first alternate that is present counts even if its type is wrong: the value is reported, not guessed")
    func alternateOfWrongType() throws {
        let bed = try thing([AttributeDefinition("v", .int, optional: true)], EntityMapping(paths: ["v": ["first"]]))
        let report = try bed.take(#"[{"id":1,"first":"x","v":5}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "v") == nil)
        #expect(report.diagnostics.map(\.path) == ["$[0].first"])
    }

    @Test("a path whose middle is null or a scalar is absent: the old value stays")
    func absentIntermediate() throws {
        let bed = try thing([string("url")], EntityMapping(paths: ["url": ["image.sizes.url"]]))
        try bed.take(#"[{"id":1,"image":{"sizes":{"url":"u"}}}]"#, "Thing")
        for image in ["null", "5", "[]", #""x""#, "{}", #"{"sizes":null}"#, #"{"sizes":true}"#] {
            #expect(try bed.take(#"[{"id":1,"image":\#(image)}]"#, "Thing").unchanged == 1)
            #expect(try bed.value("Thing", 1, "url") == .string("u"))
        }
        #expect(try bed.take(#"[{"id":1,"image":{"sizes":{"url":null}}}]"#, "Thing").updated == 1)
        #expect(try bed.value("Thing", 1, "url") == .null)
    }

    @Test("escaped dots and backslashes are part of a key")
    func escapes() throws {
        let bed = try thing(
            [string("a"), string("b"), string("c")],
            EntityMapping(paths: ["a": [#"x\.y"#], "b": ["x.y"], "c": [#"\\.z\.\\"#]]))
        try bed.take(#"[{"id":1,"x.y":"dotted","x":{"y":"nested"},"\\":{"z.\\":"slashed"}}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "a") == .string("dotted"))
        #expect(try bed.value("Thing", 1, "b") == .string("nested"))
        #expect(try bed.value("Thing", 1, "c") == .string("slashed"))
    }

    @Test("key paths are read and written with their escapes, and malformed ones are none")
    func keyPaths() {
        for text in ["a", "a.b", #"a\.b.c"#, #"a\\b"#, "$", "reactions.+1", "日本.é"] {
            #expect(JSONPath(text)?.description == text)
        }
        for text in ["", ".", "a.", ".a", "a..b", #"a\"#, #"a\b"#] { #expect(JSONPath(text) == nil, "\(text)") }
        let root = "$"
        #expect(JSONPath(root)?.keys == [])
    }

    @Test("one JSON key may feed several attributes")
    func sharedKey() throws {
        let bed = try thing(
            [AttributeDefinition("number", .int), string("text")],
            EntityMapping(paths: ["number": ["v"], "text": ["v"]]))
        try bed.take(#"[{"id":1,"v":5}]"#, "Thing")
        #expect(try bed.record("Thing", 1)?.fields.map(\.value) == [.int(1), .int(5), .string("5")])
    }

    // MARK: Ignored keys

    private func unmapped(_ report: ImportReport) -> [String] {
        report.unmapped.map { "\($0.entity).\($0.path) \($0.count)" }
    }

    @Test("paths that are neither mapped nor ignored are named once, with how often they came")
    func unmappedPaths() throws {
        let bed = try thing([string("v")], EntityMapping(paths: ["v": ["deep.v"]], ignored: ["node_id", "*_url"]))
        let report = try bed.take(
            #"[{"id":1,"node_id":"x","a_url":"","b_url":"","url":"","zz":1,"deep":{"v":"1","w":2}},{"id":2,"zz":null,"deep":{"w":{}}},{"id":3}]"#,
            "Thing")
        #expect(unmapped(report) == ["Thing.deep.w 2", "Thing.url 1", "Thing.zz 2"])
        #expect(unmapped(try bed.take(#"[{"id":1,"zz":1}]"#, "Thing")) == ["Thing.zz 1"])
        #expect(unmapped(try bed.take(#"[{"id":1}]"#, "Thing")).isEmpty)
    }

    @Test("an ignored path covers what is below it, also with a star, mapped neighbours stay mapped")
    func nestedIgnore() throws {
        let bed = try thing(
            [AttributeDefinition("thumbs", .int, optional: true)],
            EntityMapping(paths: ["thumbs": ["reactions.+1"]], ignored: ["reactions.*", "a.b"]))
        let report = try bed.take(#"[{"id":1,"reactions":{"+1":3,"-1":0,"url":{"x":1}},"a":{"b":1}}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "thumbs") == .int(3))
        // `a` is not entered, and has perhaps more than `b`.
        #expect(unmapped(report) == ["Thing.a 1"])
    }

    @Test("a path that decides about a deletion or a kind is not unmapped; its neighbours are")
    func testedPaths() throws {
        let schema = Schema([
            EntityDefinition("Event", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
            EntityDefinition("Push", parent: "Event", attributes: []),
        ])
        let rule = EntityChoice.Rule.entity("Push", when: [RecordCondition("payload.kind", .matches(["push"]))])
        let mapping = EntityMapping {
            $0.tombstone = TombstoneRule(path: "state.gone")
            $0.choice = EntityChoice([rule])
        }
        let bed = try TestStore(schema, Mapping(entities: ["Event": mapping]))
        let json = #"[{"id":1,"payload":{"kind":"push","size":1},"state":{"gone":false}},{"id":2,"payload":null}]"#
        #expect(unmapped(try bed.take(json, "Event")) == ["Push.payload.size 1"])
        #expect(try bed.record("Push", 1) != nil)
    }

    @Test("a star below a key that nothing maps ignores the whole of it")
    func starCoversTheObject() throws {
        let bed = try thing([], EntityMapping(ignored: ["reactions.*", "x.*.*"]))
        #expect(
            unmapped(try bed.take(#"[{"id":1,"reactions":{"+1":3},"x":{"y":{"z":1}},"other":1}]"#, "Thing")) == [
                "Thing.other 1"
            ])
    }

    @Test("what belongs to a nested record is its own entity's matter, also where a path leads past it")
    func pathPastRecord() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int), string("login")]),
                EntityDefinition(
                    "Post", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), string("authorLogin"),
                        AttributeDefinition("raw", .json, optional: true), string("inner"),
                    ],
                    relationships: [RelationshipDefinition("author", to: "User")]),
            ]),
            Mapping(entities: ["Post": EntityMapping(paths: ["authorLogin": ["author.login"], "inner": ["raw.inner"]])])
        )
        let report = try bed.take(
            #"[{"id":1,"author":{"id":7,"login":"ada","bio":""},"raw":{"inner":"i","rest":1}}]"#, "Post")
        #expect(unmapped(report) == ["User.bio 1"])
        #expect(try bed.value("Post", 1, "authorLogin") == .string("ada"))
        #expect(try bed.value("Post", 1, "inner") == .string("i"))
        #expect(try bed.value("User", 7, "login") == .string("ada"))
    }

    @Test("a dictionary with thousands of keys stays a short report")
    func dictionaryLikeJSON() throws {
        let bed = try thing([string("v")], EntityMapping(paths: ["v": ["by.v"]]))
        for page in 0..<3 {
            let keys = (0..<5000).map { #""k\#(page)-\#($0)":0"# }.joined(separator: ",")
            let report = try bed.take(#"[{"id":1,\#(keys),"by":{\#(keys)}}]"#, "Thing")
            #expect(report.unmapped.count <= 400)
            #expect(try bed.count("Thing") == 1)
        }
    }

    @Test("a glob's star stands for any run of characters in one key, and nothing else is special")
    func globs() throws {
        let bed = try thing([], EntityMapping(ignored: ["a*c", "q?", "*_*_z"]))
        let report = try bed.take(
            #"[{"id":1,"ac":0,"abc":0,"a.c":0,"abcd":0,"qq":0,"q?":0,"__z":0,"1_2_3_z":0,"_z":0}]"#, "Thing")
        #expect(unmapped(report) == ["Thing._z 1", "Thing.abcd 1", "Thing.qq 1"])
    }
}
