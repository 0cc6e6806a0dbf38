// Records as bodies of requests: places, forms, options, refusals.

import Foundation
import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Bodies of requests", .timeLimit(.minutes(2)))
struct BodyWriterTests {
    private static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("login", .string, optional: true)]),
        EntityDefinition(
            "Repository", key: ["owner", "name"],
            attributes: [AttributeDefinition("owner", .string), AttributeDefinition("name", .string)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string, optional: true),
                AttributeDefinition("thumbsUp", .int, optional: true),
                AttributeDefinition("tenant", .string, optional: true),
                AttributeDefinition("slug", .string, optional: true),
                AttributeDefinition("authorLogin", .string, optional: true),
                AttributeDefinition("dueOn", .date, optional: true),
                AttributeDefinition("extra", .json, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User"), RelationshipDefinition("repository", to: "Repository"),
                RelationshipDefinition("assignees", to: "User", many: true, ordered: true),
                RelationshipDefinition("comments", to: "Comment", many: true, inverse: "issue"),
            ]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [
                RelationshipDefinition("issue", to: "Issue", inverse: "comments"),
                RelationshipDefinition("reply", to: "Comment"),
            ]),
    ])

    private static let mapping = Mapping(entities: [
        "Issue": EntityMapping {
            $0.paths = [
                "thumbsUp": ["reactions.+1"], "tenant": ["@param.tenant"], "slug": ["issue-{slug}"],
                "author": ["user"], "authorLogin": ["user.login"],
            ]
            $0.fields = ["dueOn": FieldRules(dates: [.day])]
            $0.rest = "extra"
            $0.declared = ["comments"]
        }
    ])

    private let bed: TestStore

    init() throws {
        bed = try TestStore(Self.schema, Self.mapping)
        try bed.take(
            #"[{"id":1,"title":"a","reactions":{"+1":3},"slug":"x","user":{"id":5,"login":"ada"},"repository":{"owner":"o","name":"n"},"assignees":[7,5],"due_on":"2026-11-21","more":[1]}]"#,
            "Issue")
    }

    private func text(_ change: (inout BodyOptions) -> Void = { _ in }) throws -> String {
        var options = BodyOptions()
        change(&options)
        return try bed.body("Issue", 1, options).text
    }

    @Test(
        "every field has the name, the path and the form of the response, and a key that is no path of keys stays out")
    func whole() throws {
        #expect(
            try text()
                == #"{"id":1,"title":"a","reactions":{"+1":3},"slug":"x","due_on":"2026-11-21","user":5,"repository":{"owner":"o","name":"n"},"assignees":[7,5],"more":[1]}"#
        )
    }

    @Test("unmapped values beside a field in a nested object are sent with it, and not those of a reference")
    func nestedRest() throws {
        let json =
            #"[{"id":2,"title":"b","reactions":{"+1":3,"-1":{"by":[7]},"more":null},"user":{"id":5,"site":"s"},"more":1}]"#
        try bed.take(json, "Issue")
        let extra = #"{"reactions":{"-1":{"by":[7]},"more":null},"more":1}"#
        #expect(try bed.value("Issue", 2, "extra") == .json(extra))
        let body = try bed.body("Issue", 2)
        #expect(
            body.text
                == #"{"id":2,"title":"b","reactions":{"+1":3,"-1":{"by":[7]},"more":null},"user":5,"more":1}"#)
        try bed.take("[\(body.text)]", "Issue")
        #expect(try bed.value("Issue", 2, "extra") == .json(extra))
        // The value of a field has precedence, and an object of a reference is the field's alone.
        try bed.store.write { writer in
            try writer.put(
                "Issue", RecordKey(2),
                [Record.Field("extra", .json(#"{"reactions":{"+1":9,"x":1},"user":{"site":"s"},"title":{"y":1}}"#))])
        }
        var options = BodyOptions()
        options.references = .object
        #expect(
            try bed.body("Issue", 2, options).text
                == #"{"id":2,"title":"b","reactions":{"+1":3,"x":1},"user":{"id":5}}"#)
    }

    @Test("the fields of a request, without some, at other places")
    func options() throws {
        #expect(try text { $0.fields = ["title", "dueOn"] } == #"{"title":"a","due_on":"2026-11-21"}"#)
        // A field that is named and absent is cleared at the server.
        var cleared = try #require(try bed.record("Issue", 1))
        cleared.fields.removeAll { $0.name == "title" }
        var options = BodyOptions()
        options.fields = ["title"]
        let writer = BodyWriter(Self.mapping, bed.store.catalog)
        #expect(try writer.body(of: cleared, options).text == #"{"title":null}"#)
        #expect(
            try text {
                $0.fields = ["title", "author"]
                $0.places = ["author": "author_id", "title": "issue.title"]
            } == #"{"issue":{"title":"a"},"author_id":5}"#)
        #expect(
            try text { $0.omitted = ["id", "extra", "repository", "assignees", "author", "slug", "dueOn"] }.contains(
                "user") == false)
    }

    @Test("references as bare keys, as objects, and with the record inside")
    func references() throws {
        let fields: Set<String> = ["author", "assignees", "repository"]
        #expect(
            try text {
                $0.fields = fields
                $0.references = .object
            } == #"{"user":{"id":5},"repository":{"owner":"o","name":"n"},"assignees":[{"id":7},{"id":5}]}"#)
        #expect(
            try text {
                $0.fields = fields
                $0.referenceForms = ["author": .nested, "assignees": .nested]
            }
                == #"{"user":{"id":5,"login":"ada"},"repository":{"owner":"o","name":"n"},"assignees":[{"id":7},{"id":5,"login":"ada"}]}"#
        )
    }

    @Test("a key with the owner's key is written as an object with the owner")
    func ownedKeys() throws {
        try bed.take(#"[{"id":1,"comments":[{"number":1},{"number":2,"reply":{"number":1,"issue":1}}]}]"#, "Issue")
        let key = RecordKey([.int(1), .int(2)])
        let record = try #require(try bed.record("Comment", key))
        let body = try BodyWriter(Self.mapping, bed.store.catalog).body(of: record).text
        #expect(
            body == #"{"issue":1,"number":2,"reply":{"issue":1,"number":1}}"#
                || body == #"{"number":2,"issue":1,"reply":{"number":1,"issue":1}}"#)
    }

    @Test("bare keys take the names of the convention: author_id, assignee_ids, user_id beside user")
    func conventions() throws {
        var mapping = Mapping(naming: NamingConvention(referenceSuffixes: ["_id"]))
        let record = try #require(try bed.record("Issue", 1))
        var options = BodyOptions()
        options.fields = ["author", "assignees"]
        func text() throws -> String { try BodyWriter(mapping, bed.store.catalog).body(of: record, options).text }
        #expect(try text() == #"{"author_id":5,"assignee_ids":[7,5]}"#)
        mapping.entities = ["Issue": EntityMapping(paths: ["author": ["user"]])]
        #expect(try text() == #"{"user_id":5,"assignee_ids":[7,5]}"#)
        options.references = .object
        #expect(try text() == #"{"user":{"id":5},"assignees":[{"id":7},{"id":5}]}"#)
    }

    @Test("what cannot be sent is an error that names the field, the reason and the way out")
    func refusals() throws {
        func error(_ change: (inout BodyOptions) -> Void) -> String? {
            do {
                _ = try text(change)
                return nil
            } catch { return "\(error)" }
        }
        #expect(error { $0.fields = ["titel"] }?.contains("Issue has no attribute or relationship titel") == true)
        #expect(error { $0.fields = ["tenant"] }?.contains("comes from @param.tenant") == true)
        #expect(error { $0.fields = ["authorLogin"] }?.contains("value of another record, author") == true)
        #expect(error { $0.places = ["title": "a[1]"] }?.contains("a[1] is no place for title") == true)
        #expect(
            error {
                $0.fields = ["title", "author"]
                $0.places = ["title": "user.name"]
            }?.contains("Issue.author cannot be written to user") == true)
        var record = try #require(try bed.record("Issue", 1))
        let writer = BodyWriter(Self.mapping, bed.store.catalog)
        func refused(_ field: String, _ value: Value) -> String? {
            record.fields = [.init(field, value)]
            do {
                _ = try writer.body(of: record)
                return nil
            } catch { return "\(error)" }
        }
        #expect(refused("dueOn", .date(Timestamp(microseconds: 1)))?.contains("no declared format expresses") == true)
        #expect(refused("extra", .json("{"))?.contains("not valid JSON") == true)
        #expect(refused("author", .reference(RecordKey([.digest([0xFF])])))?.contains("key is too long") == true)
        #expect(refused("thumbsUp", .double(.infinity))?.contains("JSON has no number") == true)
        record.entity = "Nothing"
        #expect(throws: BodyError.unknownEntity("Nothing")) { try writer.body(of: record) }
    }

    @Test("a reference by URL has the values that the server has of the other record, and no local ones")
    func urlOfServer() throws {
        let schema = Schema([
            EntityDefinition(
                "Label", key: ["id"],
                attributes: [AttributeDefinition("id", .int), AttributeDefinition("slug", .string)]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("label", to: "Label")]),
        ])
        var mapping = Mapping(entities: ["Label": EntityMapping { $0.url = "/labels/{id}/{slug}" }])
        mapping.bases = ["https://api.example.org"]
        let bed = try TestStore(schema, mapping), writer = BodyWriter(mapping, bed.store.catalog)
        var options = BodyOptions()
        options.references = .url
        let record = Record(entity: "Issue", key: RecordKey(1), fields: [.init("label", .reference(RecordKey(5)))])
        func label(_ slug: String) -> Record {
            Record(entity: "Label", key: RecordKey(5), fields: [.init("slug", .string(slug))])
        }
        let body = try writer.body(of: record, options) { _, _ in
            label("local")
        } server: { _, _ in
            label("known")
        }
        #expect(body.text.contains("https://api.example.org/labels/5/known"), "\(body.text)")
    }

    @Test("a reference by URL to a missing record with a long key is an error, and no URL of its digest")
    func urlOfLongKey() throws {
        let schema = Schema([
            EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("label", to: "Label")]),
        ])
        var mapping = Mapping(entities: ["Label": EntityMapping { $0.url = "/labels/{name}" }])
        mapping.bases = ["https://api.example.org"]
        let bed = try TestStore(schema, mapping), writer = BodyWriter(mapping, bed.store.catalog)
        var options = BodyOptions()
        options.references = .url
        func text(_ key: RecordKey) throws -> String {
            let record = Record(entity: "Issue", key: RecordKey(1), fields: [.init("label", .reference(key))])
            return try writer.body(of: record, options).text
        }
        #expect(try text(RecordKey("bug")).contains("https://api.example.org/labels/bug"))
        let digest = Array(RecordKey(String(repeating: "x", count: 300)).storageKey)
        #expect(throws: BodyError.self) { try text(RecordKey([.digest(digest)])) }
        #expect(Value.reference(RecordKey("bug")).urlText == "bug")
        #expect(Value.reference(RecordKey([.digest(digest)])).urlText == nil)
    }

    @Test("a text with one value is taken apart, and one without the literal parts is refused")
    func templates() throws {
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("code", .string, optional: true),
                    AttributeDefinition("whole", .string, optional: true),
                ])
        ])
        let mapping = Mapping(entities: [
            "Thing": EntityMapping(paths: ["code": ["A-{code}/x"], "whole": ["{a}-{b}", "text"]])
        ])
        let bed = try TestStore(schema, mapping)
        try bed.take(#"[{"id":1,"code":7,"a":1,"b":2}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "code") == .string("A-7/x"))
        #expect(try bed.body("Thing", 1).text == #"{"id":1,"code":"7","text":"1-2"}"#)
        let other = Record(entity: "Thing", key: RecordKey(1), fields: [.init("code", .string("B-7/x"))])
        #expect(throws: BodyError.self) { try BodyWriter(mapping, bed.store.catalog).body(of: other) }
    }
}
