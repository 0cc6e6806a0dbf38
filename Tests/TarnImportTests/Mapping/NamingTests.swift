// Names in JSON and names in a schema, in both directions.

import TarnImport
import TarnStore
import Testing

@Suite("Import: naming conventions")
struct NamingTests {
    private static let words = ["id": "identifier", "url": "URL", "repo": "repository"]

    @Test(
        "a name becomes a key of every style and comes back, with its words replaced whole",
        arguments: [
            // name, snake_case, camelCase, PascalCase, kebab-case
            ("updatedAt", "updated_at", "updatedAt", "UpdatedAt", "updated-at"),
            ("identifier", "id", "id", "Id", "id"),
            ("videoIdentifier", "video_id", "videoId", "VideoId", "video-id"),
            ("paidIdentifier", "paid_id", "paidId", "PaidId", "paid-id"),
            ("idleIdentifier", "idle_id", "idleId", "IdleId", "idle-id"),
            ("identifierOfIdentifier", "id_of_id", "idOfId", "IdOfId", "id-of-id"),
            ("identifiers", "identifiers", "identifiers", "Identifiers", "identifiers"),
            ("purlName", "purl_name", "purlName", "PurlName", "purl-name"),
            (
                "attributeValueURL", "attribute_value_url", "attributeValueUrl", "AttributeValueUrl",
                "attribute-value-url"
            ),
            ("someURLValue", "some_url_value", "someUrlValue", "SomeUrlValue", "some-url-value"),
            ("url", "url", "url", "Url", "url"),
            ("curlHandle", "curl_handle", "curlHandle", "CurlHandle", "curl-handle"),
            ("repositoryURL", "repo_url", "repoUrl", "RepoUrl", "repo-url"),
            ("plus1", "plus1", "plus1", "Plus1", "plus1"),
            ("userIds2", "user_ids2", "userIds2", "UserIds2", "user-ids2"),
        ])
    func styles(_ name: String, _ snake: String, _ camel: String, _ pascal: String, _ kebab: String) {
        for (style, key) in [
            (NamingStyle.snakeCase, snake), (.camelCase, camel), (.pascalCase, pascal), (.kebabCase, kebab),
        ] {
            let naming = NamingConvention(style, words: Self.words)
            #expect(naming.jsonKey(for: name) == key, "\(style)")
            #expect(naming.schemaName(forJSONKey: key) == name, "\(style) \(key)")
            #expect(naming.jsonKeys(for: name) == (key == name ? [name] : [key, name]))
        }
        #expect(NamingConvention(.none, words: Self.words).jsonKeys(for: name) == [name])
        #expect(NamingConvention(.none, words: Self.words).schemaName(forJSONKey: snake) == snake)
    }

    @Test("underscores at the beginning stay, and the key without them is the last one that is read")
    func leadingUnderscores() {
        #expect(NamingConvention().jsonKey(for: "_id") == "_id")
        #expect(NamingConvention().jsonKeys(for: "_id") == ["_id", "id"])
        #expect(NamingConvention(.camelCase).jsonKey(for: "__typeName") == "__typeName")
        #expect(NamingConvention().jsonKeys(for: "_lastSeen") == ["_last_seen", "_lastSeen", "last_seen"])
        #expect(NamingConvention(.none).jsonKeys(for: "_id") == ["_id"])
        #expect(NamingConvention().jsonKey(for: "_") == "_")
    }

    @Test(
        "keys with abbreviations, leading lines and no letters have names that say the same, or none",
        arguments: [
            ("__name", "name"), ("HTTPStatus", "httpStatus"), ("GHAPIV3Repository", "ghapiv3Repository"),
            ("html_url", "htmlUrl"),
            ("+1", "+1"), ("1st", "1st"), ("", ""), ("_", "_"), ("日本", "日本"), ("Content-Type", "contentType"),
        ])
    func oddKeys(_ key: String, _ name: String) {
        #expect(NamingConvention().schemaName(forJSONKey: key) == name)
    }

    @Test("random names survive every style there and back")
    func roundTrip() {
        let seed = UInt64.random(in: 0 ... .max)
        print("NamingTests.roundTrip: seed \(seed)")
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let pieces = ["id", "video", "url", "paid", "name", "at", "x", "repo", "http", "ids", "a1"]
        for _ in 0..<2_000 {
            let words = (0...next(4)).map { _ in pieces[next(pieces.count)] }
            let key = words.joined(separator: "_")
            for style in [NamingStyle.snakeCase, .kebabCase] {
                let naming = NamingConvention(style, words: Self.words)
                let key = style == .snakeCase ? key : words.joined(separator: "-")
                #expect(naming.jsonKey(for: naming.schemaName(forJSONKey: key)) == key, "seed \(seed)")
            }
        }
    }

    @Test("the style of the API counts, unless an entity or an attribute has its own; words are replaced all the same")
    func nearest() throws {
        let names = ["userIdentifier", "createdAt", "kind"]
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [AttributeDefinition("id", .int)]
                        + names.map { AttributeDefinition($0, .string, optional: true) }),
                EntityDefinition(
                    "Other", key: ["id"],
                    attributes: [AttributeDefinition("id", .int)]
                        + names.map { AttributeDefinition($0, .string, optional: true) }),
            ]),
            Mapping(
                naming: NamingConvention(.kebabCase, words: ["user": "user", "uid": "identifier"]),
                entities: [
                    "Other": EntityMapping(
                        fields: ["createdAt": FieldRules { $0.naming = NamingStyle.none }],
                        rules: FieldRules { $0.naming = .pascalCase })
                ]))
        try bed.take(#"[{"id":1,"user-uid":"a","created-at":"b","kind":"c"}]"#, "Thing")
        #expect(try names.map { try bed.value("Thing", 1, $0) } == ["a", "b", "c"].map { .string($0) })
        let report = try bed.take(
            #"[{"Id":1,"id":1,"UserUid":"a","createdAt":"b","Kind":"c","created-at":"z"}]"#, "Other")
        #expect(try names.map { try bed.value("Other", 1, $0) } == ["a", "b", "c"].map { .string($0) })
        #expect(report.unmapped.map(\.path) == ["created-at"])
    }

    @Test("key paths are written as they are read: origins, indexes, wildcards and escapes")
    func keyPaths() {
        typealias Path = JSONPath
        for text in [
            "a[0]", "a[-1].b", "a.*.b", "*", "a[0][1].*", "@parent", "@parent.a", "@parent[0]", "@root", "@root.a.*",
            "@header.ETag",
            "@param.milestone.number", "@position", "@relationship", "@memberName", #"\*"#, #"a.\*"#, #"a\[0]"#,
            #"\@parent"#,
            #"a\{b\}"#, "[0].a", "a*",
        ] {
            #expect(Path(text)?.description == text, "\(text)")
        }
        for (text, path) in [
            ("@type", Path(keys: ["@type"])), (#"\@parent"#, Path(keys: ["@parent"])), (#"\*"#, Path(keys: ["*"])),
            ("a.*", Path(.record, steps: [.key("a"), .each])),
            ("@parent.a[1]", Path(.parent, steps: [.key("a"), .index(1)])),
            ("@header.a.b", Path(.header, steps: [.key("a.b")])), (#"a\[0]"#, Path(keys: ["a[0]"])),
        ] {
            #expect(Path(text) == path, "\(text)")
            #expect(Path(path.description) == path)
        }
        for text in [
            "a[", "a[]", "a[x]", "a[0", "a[0]b", "a.[0]", "a[+1]", "a[99999999999999999999]", "@header", "@header.",
            "@param", "@position.a",
            "@relationship[0]", "@memberName.a", "@parent.", "@root..a", "a.", "*.", "a[0].", #"\"#,
        ] {
            #expect(Path(text) == nil, "\(text)")
        }
    }

    @Test("sources are written as they are read, and a brace makes a text of them")
    func sources() {
        for text in ["a.b", "{a}", "x {a.b[0]} {@param.p}", "{{{a}}}", #"a\{b\}"#] {
            #expect(ValueSource(text)?.description == text, "\(text)")
        }
        for text in ["{", "{a", "a}b{", "{}", "{a.}", "}{a}", "{{a}}", ""] {
            #expect(ValueSource(text) == nil, "\(text)")
        }
    }
}
