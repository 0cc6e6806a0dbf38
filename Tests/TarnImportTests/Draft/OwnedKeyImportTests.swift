// Records whose keys contain another's, from JSON: the owner is the outer record, the parent of the
// request, or a value.

import TarnImport
import TarnStore
import Testing

@Suite("Import: keys owned by a relationship")
struct OwnedKeyImportTests {
    private static let schema = Schema([
        EntityDefinition(
            "Repo", key: ["name"], attributes: [AttributeDefinition("name", .string)],
            relationships: [RelationshipDefinition("issues", to: "Issue", many: true, inverse: "repo")]),
        EntityDefinition(
            "Issue", key: ["repo", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("title", .string, optional: true)],
            relationships: [
                RelationshipDefinition("repo", to: "Repo", inverse: "issues"),
                RelationshipDefinition("comments", to: "Comment", many: true, ordered: true, inverse: "issue"),
                RelationshipDefinition("detail", to: "Detail", inverse: "issue"),
                RelationshipDefinition("pinned", to: "Comment"),
            ]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "comments")]),
        EntityDefinition(
            "Detail", key: ["issue"], attributes: [AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "detail")]),
        EntityDefinition(
            "Badge", key: ["repo"], attributes: [AttributeDefinition("color", .string, optional: true)],
            relationships: [RelationshipDefinition("repo", to: "Repo", inverse: "badges")]),
        EntityDefinition(
            "Wearer", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("badge", to: "Badge"), RelationshipDefinition("issue", to: "Issue")]),
    ])

    private static func bed(_ mapping: [String: EntityMapping] = [:]) throws -> TestStore {
        var entities = mapping
        entities["Repo", default: EntityMapping()].declared.insert("issues")
        entities["Issue", default: EntityMapping()].declared.formUnion(["comments", "detail"])
        return try TestStore(schema, Mapping(entities: entities))
    }

    @Test("nested children take the owner from where they stand, at every level")
    func nested() throws {
        let bed = try Self.bed()
        try bed.take(
            #"{"name":"r","issues":[{"number":1,"comments":[{"number":1,"text":"a"},{"number":2}]},{"number":2,"comments":[{"number":1,"text":"b"}]}]}"#,
            "Repo")
        #expect(
            try bed.lines() == [
                #"Repo r {"name":"r"}"#, #"Issue [r, 1] {"number":1,"repo":"r"}"#,
                #"Issue [r, 2] {"number":2,"repo":"r"}"#,
                #"Comment [r, 1, 1] {"number":1,"text":"a","issue":["r",1]}"#,
                #"Comment [r, 1, 2] {"number":2,"issue":["r",1]}"#,
                #"Comment [r, 2, 1] {"number":1,"text":"b","issue":["r",2]}"#,
            ])
        let before = try bed.sequence
        let again = try bed.take(
            #"{"name":"r","issues":[{"number":1,"comments":[{"number":1,"text":"a"},{"number":2}]}]}"#, "Repo")
        #expect(try bed.sequence == before)
        #expect(again.unchanged == 4)
    }

    @Test("a child may say its owner itself: as an object, nested or flat, or as a bare key")
    func ownJSON() throws {
        let bed = try Self.bed(["Issue": EntityMapping(paths: ["repo": ["repo", "repo_name"]])])
        try bed.take(
            #"[{"number":1,"repo":{"name":"r"}},{"number":2,"repo_name":"s"},{"number":3,"repo":"t"},{"number":"4","repo":7}]"#,
            "Issue")
        try bed.take(#"[{"number":9,"text":"c","issue":{"number":1,"repo":{"name":"r"},"title":"T"}}]"#, "Comment")
        #expect(
            try bed.lines() == [
                #"Repo r {"name":"r"}"#, #"Issue [7, 4] {"number":4,"repo":"7"}"#,
                #"Issue [r, 1] {"number":1,"title":"T","repo":"r"}"#,
                #"Issue [s, 2] {"number":2,"repo":"s"}"#, #"Issue [t, 3] {"number":3,"repo":"t"}"#,
                #"Comment [r, 1, 9] {"number":9,"text":"c","issue":["r",1]}"#,
            ])
    }

    @Test("where a child stands counts, whatever it says of its owner")
    func nestingCounts() throws {
        let bed = try Self.bed()
        try bed.take(#"{"name":"r","issues":[{"number":1,"repo":"other"},{"number":2,"repo":null}]}"#, "Repo")
        #expect(try bed.related("Repo", RecordKey("r"), "issues") == ["[r, 1]", "[r, 2]"])
        #expect(try bed.count("Issue") == 2)
    }

    @Test("the owner may be the record that the list was asked for by")
    func parent() throws {
        let bed = try Self.bed()
        let issue = RecordKey([.string("r"), .int(1)])
        try bed.take(
            #"[{"number":5},{"number":6}]"#, "Comment", parent: ParentReference(relationship: "issue", key: issue))
        #expect(try bed.related("Issue", issue, "comments").sorted() == ["[r, 1, 5]", "[r, 1, 6]"])
    }

    @Test("a child without an owner, or without the rest of its key, is a diagnostic that names what is missing")
    func withoutOwner() throws {
        let bed = try Self.bed()
        let report = try bed.take(
            #"[{"number":1},{"number":2,"repo":{"title":"no key"}},{"number":3,"repo":null},{"repo":"r"},{"number":4,"repo":"r"}]"#,
            "Issue")
        #expect(report.diagnostics.filter { $0.code == .keyMissing }.map(\.path) == ["$[0]", "$[1]", "$[2]", "$[3]"])
        #expect(report.diagnostics.first?.field == "repo")
        #expect(report.diagnostics.first?.message == "no usable key (repo, number); the record is skipped")
        #expect(report.diagnostics.last?.field == "number")
        #expect(report.skipped == 4)
        #expect(try bed.count("Issue") == 1)
        let nested = try bed.take(#"{"name":"r","issues":[{"title":"t"}]}"#, "Repo")
        #expect(nested.diagnostics.first?.field == "number")
    }

    @Test("a key that is nothing but the owner's comes from the owner alone, nested or bare")
    func onlyTheOwner() throws {
        let bed = try Self.bed()
        try bed.take(#"{"name":"r","issues":[{"number":1,"detail":{"text":"d"}}]}"#, "Repo")
        #expect(try bed.lines().contains(#"Detail [r, 1] {"text":"d","issue":["r",1]}"#))
        try bed.take(#"{"id":1,"badge":"r"}"#, "Wearer")
        #expect(try bed.related("Wearer", 1, "badge") == ["r?"])
        let report = try bed.take(#"{"id":2,"issue":"r"}"#, "Wearer")
        #expect(report.diagnostics.map(\.code) == [.relationshipType])
    }

    @Test("members that left a list of their owner stay: their key says whose they are")
    func left() throws {
        let bed = try Self.bed()
        try bed.take(#"{"name":"r","issues":[{"number":1},{"number":2}]}"#, "Repo")
        try bed.take(#"{"name":"r","issues":[{"number":2},{"number":3}]}"#, "Repo")
        #expect(try bed.related("Repo", RecordKey("r"), "issues") == ["[r, 1]", "[r, 2]", "[r, 3]"])
    }

    @Test("bare members of an owner's list are completed by its key")
    func bareMembers() throws {
        let bed = try Self.bed()
        try bed.take(#"{"name":"r","issues":[{"number":1},{"number":2}]}"#, "Repo")
        let report = try bed.take(#"{"name":"r","issues":[1,2,7]}"#, "Repo")
        #expect(report.diagnostics.map(\.code) == [.referenceUnstorable])
        #expect(report.diagnostics.first?.message.contains("Issue [r, 7]") == true)
        #expect(report.unchanged == 1 && report.updated == 0)
    }

    @Test("an ordered list of owned records keeps its order")
    func ordered() throws {
        let bed = try Self.bed()
        let issue = RecordKey([.string("r"), .int(1)])
        try bed.take(#"{"number":1,"repo":"r","comments":[{"number":3},{"number":1},{"number":2}]}"#, "Issue")
        #expect(try bed.related("Issue", issue, "comments") == ["[r, 1, 3]", "[r, 1, 1]", "[r, 1, 2]"])
        try bed.take(#"{"number":1,"repo":"r","comments":[{"number":1},{"number":3},{"number":2}]}"#, "Issue")
        #expect(try bed.related("Issue", issue, "comments") == ["[r, 1, 1]", "[r, 1, 3]", "[r, 1, 2]"])
    }

    @Test("long keys are whole through every level, whether the owner came before, together or never")
    func longKeys() throws {
        let bed = try Self.bed()
        let name = String(repeating: "repository/", count: 30)
        func key(_ numbers: Int64...) -> RecordKey { RecordKey([.string(name)] + numbers.map { .int($0) }) }
        let json =
            #"{"name":"\#(name)","issues":[{"number":1,"comments":[{"number":1,"text":"a"}],"detail":{"text":"d"}}]}"#
        try bed.take(json, "Repo")
        try bed.take(#"[{"number":2,"text":"b","issue":{"number":9,"repo":"\#(name)"}}]"#, "Comment")
        try bed.take(#"[{"number":3}]"#, "Comment", parent: ParentReference(relationship: "issue", key: key(8)))
        for comment in [key(1, 1), key(9, 2), key(8, 3)] { #expect(try bed.record("Comment", comment)?.key == comment) }
        #expect(try bed.record("Detail", key(1))?["text"] == .string("d"))
        #expect(try bed.record("Issue", key(1))?["repo"] == .reference(RecordKey(name)))
        #expect(try bed.related("Issue", key(8), "comments") == [key(8, 3).description])
        let before = try bed.sequence
        try bed.take(json, "Repo")
        #expect(try bed.sequence == before)
    }
}
