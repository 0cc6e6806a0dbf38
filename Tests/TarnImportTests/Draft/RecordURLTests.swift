// Keys and relationships by URL, resolved without a request.

import Foundation
import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: keys and references by URL")
struct RecordURLTests {
    private static func attribute(_ name: String, _ type: AttributeType = .string, optional: Bool = false)
        -> AttributeDefinition
    { AttributeDefinition(name, type, optional: optional) }

    private static func mapping(_ templates: String..., from sources: [JSONPath] = RecordURL.defaultSources) throws
        -> EntityMapping
    {
        let url = RecordURL(try templates.map { try URLTemplate($0) }, sources: sources)
        return EntityMapping { $0.url = url }
    }

    private static let bases = ["https://api.example.org/v2", "http://127.0.0.1:8080"]

    /// Pokémon with a type, moves and an owner, all of them by URL.
    private static func monsters(_ change: (inout Mapping) -> Void = { _ in }) throws -> TestStore {
        let named = [attribute("id", .int), attribute("name", optional: true)]
        let schema = Schema([
            EntityDefinition(
                "Monster", key: ["id"], attributes: named,
                relationships: [
                    RelationshipDefinition("kind", to: "Kind", inverse: "monsters"),
                    RelationshipDefinition("moves", to: "Move", many: true, ordered: true),
                    RelationshipDefinition("owner", to: "User"),
                ]),
            EntityDefinition(
                "Kind", key: ["id"], attributes: named,
                relationships: [RelationshipDefinition("monsters", to: "Monster", many: true, inverse: "kind")]),
            EntityDefinition("Move", key: ["id"], attributes: named),
            EntityDefinition(
                "User", key: ["login"], attributes: [attribute("login"), attribute("name", optional: true)]),
        ])
        var mapping = Mapping(entities: [
            "Monster": try Self.mapping("/monster/{id}/"), "Kind": try Self.mapping("/kind/{id}/"),
            "Move": try Self.mapping("/move/{id}"), "User": try Self.mapping("/users/{login}"),
        ])
        mapping.entities["Kind"]?.declared = ["monsters"]
        mapping.bases = Self.bases
        change(&mapping)
        return try TestStore(schema, mapping)
    }

    @Test("a relationship takes URLs, absolute and relative, and objects that have only a URL")
    func references() throws {
        let bed = try Self.monsters()
        let report = try bed.take(
            #"""
            [{"url":"https://api.example.org/v2/monster/25/","name":"p",
              "kind":{"name":"electric","url":"/v2/kind/13/"},
              "moves":["https://api.example.org/v2/move/5/","/v2/move/6","move/7/",{"url":"http://127.0.0.1:8080/move/8?x=1#y","name":"m8"},9],
              "owner":"https://API.example.org:443/v2/users/ada%20l"}]
            """#, "Monster")
        #expect(report.diagnostics == [])
        #expect(try bed.related("Monster", 25, "moves") == ["5?", "6?", "7?", "8", "9?"])
        #expect(try bed.related("Monster", 25, "kind") == ["13"])
        #expect(try bed.related("Monster", 25, "owner") == ["ada l?"])
        #expect(try bed.related("Kind", 13, "monsters") == ["25"])
        #expect(
            try bed.lines() == [
                #"Monster 25 {"id":25,"name":"p","kind":13,"moves":[5,6,7,8,9],"owner":"ada l"}"#,
                #"Kind 13 {"id":13,"name":"electric"}"#, #"Move 8 {"id":8,"name":"m8"}"#,
            ])
        // The target arrives under its own key: the reference resolves.
        try bed.take(#"[{"login":"ada l","name":"Ada"},{"id":5,"name":"x","url":"/v2/move/5/"}]"#, "User")
        #expect(try bed.related("Monster", 25, "owner") == ["ada l"])
    }

    @Test("a derived list takes URLs: the references are stored in the members")
    func derivedLists() throws {
        let bed = try Self.monsters()
        try bed.take(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, "Monster")
        let report = try bed.take(
            #"{"url":"/v2/kind/3/","monsters":["/v2/monster/1/",{"name":"b","url":"/v2/monster/2/"}]}"#, "Kind")
        #expect(report.diagnostics == [])
        #expect(try bed.related("Kind", 3, "monsters") == ["1", "2"])
    }

    @Test(
        "the URL of another server, of another resource or with another type is a diagnostic, not a key",
        arguments: [
            "https://evil.example/v2/users/x", "//evil.example/users/x", "https://api.example.org/v1/users/x",
            "https://api.example.org/v2/monster/1/", "http://api.example.org/v2/users/x", "/v2/users/", "/v2/users/x/y",
            "https://api.example.org.evil.example/v2/users/x", "https://api.example.org@evil.example/v2/users/x",
            "https://api.example.org/v2x/users/x", "/v2/users/..", "https://api.example.org/v2/users/%FF",
        ])
    func foreign(url: String) throws {
        let bed = try Self.monsters()
        var json = ""
        json.appendJSONString(url)
        let report = try bed.take(#"[{"id":1,"name":"a","owner":\#(json)}]"#, "Monster")
        #expect(report.diagnostics.map(\.code) == [.relationshipType])
        #expect(report.diagnostics.first?.message.contains("/users/{login}") == true)
        #expect(try bed.lines() == [#"Monster 1 {"id":1,"name":"a"}"#])
        let excerpt = try bed.take(#"[{"name":"a","url":\#(json)}]"#, "User")
        #expect(excerpt.diagnostics.map(\.code) == [.keyMissing])
        #expect(excerpt.diagnostics.first?.message.contains("/users/{login}") == true)
    }

    @Test("a text that is no URL stays a key, also with slashes and colons")
    func bareKeys() throws {
        let bed = try Self.monsters()
        for key in ["ada", "a/b", "urn:x:1", "mailto:a@b.example", "12"] {
            let report = try bed.take(#"[{"id":1,"name":"a","owner":"\#(key)"}]"#, "Monster")
            #expect(report.diagnostics == [])
            #expect(try bed.related("Monster", 1, "owner") == ["\(key)?"])
        }
    }

    @Test("the declared path may be the key's own: an id that is a URL")
    func ownPath() throws {
        let bed = try Self.monsters { mapping in
            mapping.entities["Move"] = try? Self.mapping("/move/{id}", from: ["id", "links.self"])
        }
        let report = try bed.take(
            #"[{"id":"/v2/move/4/","name":"a"},{"links":{"self":"move/5"},"name":"b"},{"id":6,"links":{"self":"/v2/move/7"}}]"#,
            "Move")
        #expect(report.diagnostics.map(\.code) == [])
        #expect(try bed.lines().map { $0.prefix(6) } == ["Move 4", "Move 5", "Move 7"])
    }

    @Test(
        "several variables are a composite key; a kind in the URL chooses the entity, and also names a part of the key")
    func kinds() throws {
        let schema = Schema([
            EntityDefinition(
                "Resource", key: ["kind", "id"],
                attributes: [
                    Self.attribute("kind"), Self.attribute("id", .int), Self.attribute("name", optional: true),
                ],
                relationships: [
                    RelationshipDefinition("next", to: "Resource"),
                    RelationshipDefinition("all", to: "Resource", many: true),
                ]),
            EntityDefinition("Berry", parent: "Resource", attributes: [Self.attribute("size", .int, optional: true)]),
            EntityDefinition("Item", parent: "Resource", attributes: []),
        ])
        var resource = try Self.mapping("/api/{kind}/{id}/")
        func isKind(_ kind: String) -> [RecordCondition] { [RecordCondition("kind", .matches([kind]))] }
        resource.choice = EntityChoice([.entity("Berry", when: isKind("berry")), .entity("Item", when: isKind("item"))])
        var mapping = Mapping(entities: ["Resource": resource])
        mapping.bases = ["https://a.example"]
        let bed = try TestStore(schema, mapping)
        let report = try bed.take(
            #"""
            [{"url":"https://a.example/api/berry/1/","size":3,"next":"/api/item/1/",
              "all":["/api/berry/1/",{"url":"/api/item/2","name":"i2"},{"url":"/api/other/2"}]},
             {"kind":"item","url":"/api/berry/9/"}]
            """#, "Resource")
        #expect(report.diagnostics == [])
        let berry = RecordKey([.string("berry"), .int(1)])
        #expect(try bed.related("Resource", berry, "next") == ["[item, 1]?"])
        #expect(try bed.related("Resource", berry, "all") == ["[berry, 1]", "[item, 2]", "[other, 2]"])
        let records = try bed.lines().map { $0.prefix(while: { $0 != "{" }) }
        #expect(
            Set(records) == [
                "Berry [berry, 1] ", "Item [item, 2] ", "Resource [other, 2] ", "Item [item, 9] ",
            ])
    }

    @Test(
        "a template is matched part by part",
        arguments: [
            ("/a/{id}.json", "/a/x.y.json", ["id": "x.y"]), ("/a/{id}.json", "/a/.json", nil),
            ("/a/{kind}-{id}", "/a/b-c-d", ["kind": "b", "id": "c-d"]), ("/{+path}", "/a/b%2Fc/", ["path": "a/b/c"]),
            ("/x/{+path}/end", "/x/a/b/end", ["path": "a/b"]), ("/x/{+path}/end", "/x/end", nil),
            ("/i.php?id={id}", "/i.php?a=1&id=a+b%2B&c", ["id": "a b+"]), ("/i.php?id={id}", "/i.php?ids=1", nil),
            ("/a%20b/{id}", "/a b/1", ["id": "1"]), ("/a/{id}", "/a//1", nil), ("/a/{id}", "/A/1", nil),
            ("https://w.example/u/{id}", "https://W.example/u/7?x", ["id": "7"]),
            ("https://w.example/u/{id}", "/u/7", nil), ("/a/{id}", "/a/%", ["id": "%"]),
            ("/a/{id}", "https:///a/1", nil), ("/a/{id}", "https:/a/1", nil),
        ] as [(String, String, [String: String]?)])
    func templates(template: String, url: String, values: [String: String]?) throws {
        let names = try URLTemplate(template).variables
        let schema = Schema([
            EntityDefinition("Thing", key: names, attributes: names.map { AttributeDefinition($0, .string) })
        ])
        var mapping = Mapping(entities: ["Thing": try Self.mapping(template)])
        mapping.bases = ["https://a.example"]
        let bed = try TestStore(schema, mapping)
        var json = ""
        json.appendJSONString(url)
        let report = try bed.take(#"[{"url":\#(json)}]"#, "Thing")
        #expect(report.diagnostics.isEmpty == (values != nil))
        var found: [String: String]?
        try bed.store.read { reader in
            try reader.forEach("Thing") { record in
                found = Dictionary(uniqueKeysWithValues: names.map { ($0, record[$0]?.plainText ?? "") })
                return true
            }
        }
        #expect(found == values)
    }

    @Test("a slash before a combining mark ends a segment of a value, too")
    func combiningMarks() throws {
        let template = try URLTemplate("/files/{+path}")
        func url(_ path: String) throws -> String { try template.expanded(base: "https://a.example") { _ in path } }
        #expect(try url("a/\u{301}b") == "https://a.example/files/a/%CC%81b")
        #expect(throws: URLTemplate.Problem.self) { try url("../\u{301}b") }
    }

    @Test(
        "a malformed template is refused with the reason",
        arguments: [
            "", "a/{id}", "/a", "/{id", "/id}", "/{a}{b}",
            "/{id}/{id}", "/{+a}/{+b}", "/x{+a}", "/{1}", "/{a.b}", "/a//{id}", "/../{id}", "/a/{id}#x", "/a b/{id}",
            "https://{host}/{id}", "https://u@h/{id}", "/a?{id}", "/a?id=",
        ])
    func malformed(text: String) {
        #expect(throws: URLTemplate.Problem.self) { try URLTemplate(text) }
    }

    @Test("the mapping's problems name the variable and the part of the key")
    func problems() throws {
        let schema = Schema([
            EntityDefinition(
                "User", key: ["org", "login"],
                attributes: [Self.attribute("org"), Self.attribute("login"), Self.attribute("raw", .json)]),
            EntityDefinition(
                "Post", key: ["user", "id"], attributes: [Self.attribute("id", .int)],
                relationships: [RelationshipDefinition("user", to: "User")]),
        ])
        let mapping = Mapping(entities: [
            "User": try Self.mapping("/{orgs}/{login}/{raw}"), "Post": try Self.mapping("/{user}/{id}"),
        ])
        let messages = mapping.problems(for: schema).map { "\($0.entity ?? "").\($0.field ?? ""): \($0.message)" }
        #expect(
            messages == [
                "Post.@url: {user} is a User, whose key is not one attribute: a URL cannot name it",
                "User.@url: {orgs}: unknown attribute \"orgs\": did you mean \"org\"?",
                "User.@url: {raw} is of type json, which is no part of a URL",
                "User.@url: /{orgs}/{login}/{raw} lacks {org}, which is part of the key: add it",
            ])
    }

    @Test("a key may contain the key of another record, which the URL names, too")
    func ownedKeys() throws {
        let schema = Schema([
            EntityDefinition(
                "Issue", key: ["number"], attributes: [Self.attribute("number", .int)],
                relationships: [RelationshipDefinition("last", to: "Comment")]),
            EntityDefinition(
                "Comment", key: ["issue", "position"],
                attributes: [Self.attribute("position", .int), Self.attribute("text", optional: true)],
                relationships: [RelationshipDefinition("issue", to: "Issue")]),
        ])
        var mapping = Mapping(entities: ["Comment": try Self.mapping("/issues/{issue}/comments/{position}")])
        mapping.bases = ["https://a.example"]
        let bed = try TestStore(schema, mapping)
        let report = try bed.take(
            #"[{"number":1,"last":"/issues/1/comments/2"},{"number":3,"last":{"url":"/issues/3/comments/4","text":"t"}}]"#,
            "Issue")
        #expect(report.diagnostics == [])
        #expect(try bed.related("Issue", 1, "last") == ["[1, 2]?"])
        #expect(try bed.related("Issue", 3, "last") == ["[3, 4]"])
        let comment = RecordKey([.int(3), .int(4)])
        #expect(try bed.related("Comment", comment, "issue") == ["3"])
    }

    @Test("listed excerpts are partial records: objects, bare keys and URLs")
    func excerpts() throws {
        var mapping = Mapping(entities: ["Move": try Self.mapping("/move/{id}")])
        mapping.bases = Self.bases
        let attributes = [
            Self.attribute("id", .int), Self.attribute("name", optional: true), Self.attribute("power", .int),
        ]
        let bed = try TestStore(Schema([EntityDefinition("Move", key: ["id"], attributes: attributes)]), mapping)
        var context = ImportContext()
        context.listsExcerpts = true
        let body = #"[{"name":"a","url":"/v2/move/1/"},"/v2/move/2",3,"4",{"name":"?"},"/v2/kind/5/",null]"#
        let added = try bed.importer.add(Array(body.utf8), entity: "Move", context: context)
        #expect(added.count == 7 && added.listed.count == 4 && added.skipped == 3)
        let report = try bed.commit()
        #expect(report.diagnostics.map(\.code) == [.keyMissing, .keyMissing, .keyMissing])
        #expect(
            try bed.lines() == [
                #"Move 1 partial {"id":1,"name":"a"}"#, #"Move 2 partial {"id":2}"#, #"Move 3 partial {"id":3}"#,
                #"Move 4 partial {"id":4}"#,
            ])
        // The details complete them, and another list of excerpts leaves them complete.
        #expect(try bed.take(#"[{"id":2,"name":"b","power":1}]"#, "Move").diagnostics == [])
        _ = try bed.importer.add(Array(#"["/v2/move/2"]"#.utf8), entity: "Move", context: context)
        _ = try bed.commit()
        #expect(try bed.record("Move", 2)?.isPartial == false)
        #expect(try bed.value("Move", 2, "name") == .string("b"))
    }

    @Test("random texts as URLs neither trap nor become keys by accident")
    func randomTexts() throws {
        let bed = try Self.monsters()
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "http", "https", ":", "/", "//", "api.example.org", "v2", "users", "a", "%", "%2", "%2F", "%FF", "?", "#",
            "..", ".", "@", ":443", "[", "é", " ", "+", "=", "&", "127.0.0.1:8080", "move", "7",
        ]
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            var json = ""
            json.appendJSONString(text)
            let report = try bed.take(#"[{"id":1,"name":"a","owner":\#(json),"moves":[\#(json)]}]"#, "Monster")
            #expect(report.diagnostics.allSatisfy { $0.code == .relationshipType }, "\(text)")
        }
    }

    @Test("a single relationship names its targets by URLs of another form than the target's own")
    func referenceURLs() throws {
        let bed = try Self.monsters { mapping in
            mapping.entities["Monster"]?.referenceURLs = [
                "owner": "/trainers/{login}/card", "moves": RecordURL("/moves/by-number/{id}", "/old/{id}"),
            ]
        }
        let report = try bed.take(
            #"""
            [{"url":"/monster/1/","name":"a","owner":"https://api.example.org/v2/trainers/ada/card",
              "moves":["/moves/by-number/5","http://127.0.0.1:8080/old/6",7,{"url":"/move/8","name":"m"}]},
             {"url":"/monster/2/","name":"b","owner":"brock","moves":["/move/9"]},
             {"url":"/monster/3/","name":"c","owner":"/users/misty"}]
            """#, "Monster")
        #expect(try bed.related("Monster", 1, "owner") == ["ada?"])
        #expect(try bed.related("Monster", 1, "moves") == ["5?", "6?", "7?", "8"])
        // A bare key is one. The target's own URLs are of another form here.
        #expect(try bed.related("Monster", 2, "owner") == ["brock?"])
        #expect(try bed.related("Monster", 2, "moves") == [])
        #expect(try bed.related("Monster", 3, "owner") == [])
        #expect(report.diagnostics.map(\.code) == [.relationshipType, .relationshipType])
        let messages = report.diagnostics.map(\.description)
        #expect(messages.contains { $0.contains("/moves/by-number/{id} or /old/{id}") }, "\(messages)")
    }

    @Test("a declaration in Swift that is no template, or that lacks the key, is reported by its entity and field")
    func wrongDeclarations() {
        let schema = Schema([
            EntityDefinition(
                "Monster", key: ["id"], attributes: [Self.attribute("id", .int)],
                relationships: [RelationshipDefinition("owner", to: "User")]),
            EntityDefinition("User", key: ["login"], attributes: [Self.attribute("login")]),
        ])
        func problems(_ change: (inout EntityMapping) -> Void) -> String {
            let mapping = Mapping(entities: ["Monster": EntityMapping(change)])
            return "\(mapping.problems(for: schema))"
        }
        #expect(problems { $0.url = "users/{id}" }.contains("users/{id}: a template begins with /"))
        #expect(problems { $0.referenceURLs["owner"] = "/u/{id" }.contains("/u/{id: { without }"))
        #expect(problems { $0.referenceURLs["owner"] = "/u/{name}" }.contains("lacks {login}"))
        #expect(problems { $0.referenceURLs["ower"] = "/u/{login}" }.contains("did you mean \"owner\"?"))
    }
}
