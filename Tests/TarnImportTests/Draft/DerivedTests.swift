// Relationships whose references are stored in the other records: nested lists, bare keys,
// removals, order, one-to-one.

import TarnImport
import TarnStore
import Testing

@Suite("Import: derived relationships")
struct DerivedTests {
    private static func id(_ type: AttributeType = .int) -> AttributeDefinition { AttributeDefinition("id", type) }
    private static let text = AttributeDefinition("text", .string, optional: true)

    /// Playlists with tracks in an order that the tracks' references hold.
    private static func playlists(_ key: AttributeType = .int) throws -> TestStore {
        try TestStore(
            Schema([
                EntityDefinition(
                    "Playlist", key: ["id"], attributes: [id(), text],
                    relationships: [
                        RelationshipDefinition("tracks", to: "Track", many: true, ordered: true, inverse: "playlist")
                    ]),
                EntityDefinition(
                    "Track", key: ["id"], attributes: [id(key), text],
                    relationships: [RelationshipDefinition("playlist", to: "Playlist", inverse: "tracks")]),
            ]), Mapping(entities: ["Playlist": EntityMapping(declared: ["tracks"])]))
    }

    @Test("nested objects get their reference from where they stand")
    func nested() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"t","comments":[{"id":3,"text":"c"},{"id":2,"issue":null},{"id":4,"issue":99}]}]"#,
            "Issue")
        #expect(try bed.related("Issue", 1, "comments") == ["2", "3", "4"])
        #expect(try bed.related("Comment", 2, "issue") == ["1"])
        #expect(try bed.related("Issue", 99, "comments") == [])
        #expect(try bed.lines().contains(#"Issue 1 {"id":1,"title":"t"}"#))
    }

    @Test("members that left the list lose their reference, and stay records")
    func left() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","comments":[{"id":1},{"id":2,"text":"kept"},{"id":3}]}]"#, "Issue")
        let report = try bed.take(#"[{"id":1,"comments":[{"id":3},{"id":4}]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "comments") == ["3", "4"])
        #expect(try bed.related("Comment", 2, "issue") == [])
        #expect(try bed.value("Comment", 2, "text") == .string("kept"))
        #expect(report.entities["Comment"] == ImportReport.Counts(created: 1, updated: 2, unchanged: 1))
        let before = try bed.sequence
        try bed.take(#"[{"id":1,"comments":[{"id":3},{"id":4}]}]"#, "Issue")
        #expect(try bed.sequence == before)
    }

    @Test("an empty list and null clear, absent keeps", arguments: ["[]", "null"])
    func cleared(_ empty: String) throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","comments":[{"id":1},{"id":2}]}]"#, "Issue")
        try bed.take(#"[{"id":1,"title":"u"}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "comments") == ["1", "2"])
        try bed.take(#"[{"id":1,"comments":\#(empty)}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "comments") == [])
        #expect(try bed.count("Comment") == 2)
    }

    @Test("a null element of a list is no member, and the others are the list")
    func nullElements() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","comments":[{"id":1},{"id":2}]}]"#, "Issue")
        let report = try bed.take(#"[{"id":1,"title":"t","comments":[null,{"id":2},null,{"id":3}]}]"#, "Issue")
        #expect(try report.diagnosticCount == 0 && bed.count("Comment") == 3)
        #expect(try bed.related("Issue", 1, "comments") == ["2", "3"])
    }

    @Test("bare keys set the reference of records that are there, also of those in the same unit")
    func bareKeys() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"text":"old"}]"#, "Comment")
        try bed.add(#"[{"id":1,"title":"t","comments":[1,"2",{"id":3}]}]"#, "Issue")
        try bed.add(#"[{"id":2,"text":"same unit"}]"#, "Comment")
        let report = try bed.commit()
        #expect(report.diagnosticCount == 0)
        #expect(try bed.related("Issue", 1, "comments") == ["1", "2", "3"])
        #expect(try bed.value("Comment", 1, "text") == .string("old"))
    }

    @Test("a list with an element that is no record keeps the stored members, and its objects are records all the same")
    func unusableList() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","comments":[{"id":1}]}]"#, "Issue")
        let report = try bed.take(
            #"[{"id":1,"title":"t","comments":[{"id":2,"text":"b"},true,{"id":3,"text":"c"}]}]"#, "Issue")
        #expect(report.diagnostics.map(\.code) == [.relationshipType] && report.created == 2)
        #expect(report.diagnostics.first?.path == "$[0].comments[1]")
        #expect(try bed.value("Comment", 3, "text") == .string("c"))
        #expect(try bed.related("Issue", 1, "comments") == ["1", "2", "3"])
    }

    @Test("the objects behind a wrong element are records also in a list that a path with a wildcard collects")
    func unusableCollectedList() throws {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.paths["comments"] = ["threads.*.comment"]
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(#"[{"id":1,"title":"t","threads":[{"comment":{"id":1}}]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "comments") == ["1"])
        let report = try bed.take(
            #"[{"id":1,"threads":[{"comment":{"id":2}},{"comment":true},{"comment":{"id":3,"text":"c"}}]}]"#, "Issue")
        #expect(report.created == 2)
        #expect(report.diagnostics.contains { $0.code == .relationshipType }, "\(report.diagnostics)")
        #expect(try bed.value("Comment", 3, "text") == .string("c"))
    }

    @Test("the list of a record that a hook leaves out takes no member, and gives none back")
    func leftOutByHook() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1},{"id":2},{"id":3}]"#, "Comment")
        try bed.take(#"[{"id":7,"title":"t","comments":[1]},{"id":8,"title":"t","comments":[]}]"#, "Issue")
        bed.importer.hooks.afterDraft = { $0.entity != "Issue" || $0.key != RecordKey(7) }
        let report = try bed.take(
            #"[{"id":8,"title":"t","comments":[2,3]},{"id":7,"title":"u","comments":[2]},{"id":9,"title":"t","comments":[]}]"#,
            "Issue")
        #expect(report.skipped == 1 && report.diagnosticCount == 0, "\(report.diagnostics)")
        #expect(try bed.related("Issue", 7, "comments") == ["1"])
        #expect(try bed.related("Issue", 8, "comments") == ["2", "3"])
    }

    @Test("every record is counted once, however many of its references a unit sets")
    func countedOnce() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1},{"id":2},{"id":3},{"id":9}]"#, "Comment")
        try bed.take(#"[{"id":7,"title":"t","comments":[9]}]"#, "Issue")
        try bed.add(
            #"[{"id":1,"title":"t","comments":[1,2,4]},{"id":2,"title":"t","comments":[1,3]},{"id":7,"comments":[]}]"#,
            "Issue")
        try bed.add(#"[{"id":2},{"id":3,"text":"new"},{"id":4},{"id":9}]"#, "Comment")
        let report = try bed.commit()
        #expect(report.entities["Comment"] == ImportReport.Counts(created: 1, updated: 4))
    }

    @Test("a bare key of a record that is not there is reported with its place; the others are set")
    func unstorable() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1}]"#, "Comment")
        let report = try bed.take(#"{"data":[{"id":1,"title":"t","comments":[7,1]}]}"#, "Issue", records: "data")
        #expect(try bed.related("Issue", 1, "comments") == ["1"])
        let diagnostic = try #require(report.diagnostics.first)
        #expect(report.diagnosticCount == 1 && diagnostic.code == .referenceUnstorable)
        #expect(diagnostic.entity == "Issue" && diagnostic.key == "1" && diagnostic.field == "comments")
        #expect(diagnostic.path == "$.data[0].comments" && diagnostic.message.contains("Comment 7"))
        #expect(try bed.count("Comment") == 1)
    }

    @Test("a member that moves from one list to another is in one of them, whichever list comes first")
    func moved() throws {
        for order in [[1, 2], [2, 1]] {
            for member in ["9", #"{"id":9}"#] {
                let bed = try Forge.store()
                try bed.take(#"[{"id":1,"title":"t","comments":[{"id":9}]}]"#, "Issue")
                let lists = order.map { #"{"id":\#($0),"title":"t","comments":[\#($0 == 2 ? member : "")]}"# }
                try bed.take("[\(lists.joined(separator: ","))]", "Issue")
                #expect(try bed.related("Issue", 1, "comments") == [], "\(order) \(member)")
                #expect(try bed.related("Issue", 2, "comments") == ["9"], "\(order) \(member)")
            }
        }
    }

    @Test("of two lists for one relationship in a unit the later one counts")
    func twoLists() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"t","comments":[{"id":1},{"id":2}]},{"id":1,"comments":[{"id":2},{"id":3}]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "comments") == ["2", "3"])
        #expect(try bed.count("Comment") == 3)
    }

    @Test(
        "of a long list too those that left lose their reference, and the others keep it", arguments: [15, 16, 17, 300])
    func longLists(_ count: Int) throws {
        let bed = try Forge.store()
        func take(_ members: [Int]) throws {
            try bed.take(
                #"[{"id":1,"title":"t","comments":[\#(members.map { #"{"id":\#($0)}"# }.joined(separator: ","))]}]"#,
                "Issue")
        }
        try take(Array(1...count + 5))
        #expect(try bed.related("Issue", 1, "comments").count == count + 5)
        // The first and the last member are removed.
        try take(Array(3...count + 2))
        #expect(Set(try bed.related("Issue", 1, "comments")) == Set((3...count + 2).map { "\($0)" }))
        #expect(try bed.count("Comment") == count + 5)
    }

    @Test("lists of lists: every level gets its references, and what leaves deep down loses them")
    func levels() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"login":"a","issues":[{"id":1,"title":"t","comments":[{"id":1},{"id":2}]},{"id":2,"title":"u","comments":[{"id":3}]}]}]"#,
            "User")
        #expect(try bed.related("User", 1, "issues") == ["1", "2"])
        #expect(try bed.related("Issue", 1, "comments") == ["1", "2"])
        try bed.take(#"[{"id":1,"issues":[{"id":1,"comments":[{"id":2},{"id":3}]}]}]"#, "User")
        #expect(try bed.related("User", 1, "issues") == ["1"])
        #expect(try bed.related("Issue", 1, "comments") == ["2", "3"])
        #expect(try bed.related("Issue", 2, "comments") == [])
        #expect(try bed.related("Issue", 2, "author") == [])
    }

    @Test("a tree of one entity: children know their parent, the parent its children")
    func tree() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Node", key: ["id"], attributes: [Self.id()],
                    relationships: [
                        RelationshipDefinition("parent", to: "Node", inverse: "children"),
                        RelationshipDefinition("children", to: "Node", many: true, inverse: "parent"),
                    ])
            ]), Mapping(entities: ["Node": EntityMapping(declared: ["children"])]))
        let json =
            #"{"id":1,"parent":null,"children":[{"id":2,"children":[{"id":4,"children":[]}]},{"id":3,"children":null}]}"#
        #expect(try bed.take(json, "Node").created == 4)
        #expect(try bed.related("Node", 1, "children") == ["2", "3"])
        #expect(try bed.related("Node", 2, "children") == ["4"])
        #expect(try bed.related("Node", 4, "parent") == ["2"])
        #expect(try bed.take(json, "Node").unchanged == 4)
    }

    // MARK: Order

    @Test("an ordered derived list keeps the order of the response, and takes a new one")
    func ordered() throws {
        let bed = try Self.playlists()
        try bed.take(#"[{"id":1,"tracks":[{"id":9},{"id":2},{"id":5}]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == ["9", "2", "5"])
        try bed.take(#"[{"id":1,"tracks":[5,{"id":7},9,2]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == ["5", "7", "9", "2"])
        let sequence = try bed.sequence
        try bed.take(#"[{"id":1,"tracks":[{"id":5},7,{"id":9},2]}]"#, "Playlist")
        #expect(try bed.sequence == sequence)
        try bed.take(#"[{"id":1,"tracks":[2]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == ["2"])
    }

    @Test("a record that says what it belongs to keeps its place in the order, in the same unit and later")
    func orderIsKept() throws {
        let bed = try Self.playlists()
        let list = #"[{"id":1,"tracks":[{"id":9},{"id":2},{"id":5}]}]"#
        try bed.take(list, "Playlist")
        let sequence = try bed.sequence
        #expect(try bed.take(#"[{"id":9,"playlist":1},{"id":5,"playlist":{"id":1}}]"#, "Track").updated == 0)
        #expect(try bed.related("Playlist", 1, "tracks") == ["9", "2", "5"])
        try bed.add(list, "Playlist")
        try bed.add(#"[{"id":5,"playlist":1}]"#, "Track")
        let report = try bed.commit()
        #expect(report.conflicts == 0)
        try bed.add(#"[{"id":5,"playlist":1}]"#, "Track")
        try bed.add(list, "Playlist")
        #expect(try bed.commit().conflicts == 0)
        #expect(try bed.related("Playlist", 1, "tracks") == ["9", "2", "5"])
        #expect(try bed.sequence == sequence)
        try bed.take(#"[{"id":9,"playlist":2}]"#, "Track")
        #expect(try bed.related("Playlist", 1, "tracks") == ["2", "5"])
        #expect(try bed.related("Playlist", 2, "tracks") == ["9"])
    }

    @Test("members with keys longer than LMDB's are linked, ordered and released like others")
    func longKeys() throws {
        let bed = try Self.playlists(.string)
        let a = String(repeating: "a", count: 300)
        let b = String(repeating: "b", count: 300)
        try bed.take(#"[{"id":1,"tracks":[{"id":"\#(b)"},{"id":"\#(a)","text":"kept"}]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == [b, a])
        try bed.take(#"[{"id":1,"tracks":["\#(a)"]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == [a])
        try bed.take(#"[{"id":1,"tracks":["\#(a)","\#(b)"]}]"#, "Playlist")
        #expect(try bed.related("Playlist", 1, "tracks") == [a, b])
        #expect(try bed.record("Track", RecordKey(a))?["text"] == .string("kept"))
    }

    // MARK: One-to-one and many-to-many

    @Test("one-to-one: a nested object, a bare key and null set and clear the reference at the other side")
    func oneToOne() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Profile", key: ["id"], attributes: [Self.id(), Self.text],
                    relationships: [RelationshipDefinition("user", to: "User", inverse: "profile")]),
                EntityDefinition(
                    "User", key: ["id"], attributes: [Self.id()],
                    relationships: [RelationshipDefinition("profile", to: "Profile", inverse: "user")]),
            ]), Mapping(entities: ["User": EntityMapping(declared: ["profile"])]))
        try bed.take(#"[{"id":1,"profile":{"id":10,"text":"p"}}]"#, "User")
        #expect(try bed.related("User", 1, "profile") == ["10"])
        #expect(try bed.related("Profile", 10, "user") == ["1"])
        try bed.take(#"[{"id":1,"profile":{"id":11}}]"#, "User")
        #expect(try bed.related("User", 1, "profile") == ["11"])
        #expect(try bed.related("Profile", 10, "user") == [])
        try bed.take(#"[{"id":1,"profile":10}]"#, "User")
        #expect(try bed.related("User", 1, "profile") == ["10"])
        #expect(try bed.take(#"[{"id":1,"profile":[11]}]"#, "User").diagnostics.map(\.code) == [.relationshipType])
        #expect(try bed.related("User", 1, "profile") == ["10"])
        try bed.take(#"[{"id":1,"profile":null}]"#, "User")
        #expect(try bed.related("User", 1, "profile") == [])
        #expect(try bed.value("Profile", 10, "text") == .string("p"))
    }

    @Test(
        "many-to-many from the derived side adds to and takes from the lists at the other side, and leaves the rest of them"
    )
    func manyToMany() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Post", key: ["id"], attributes: [Self.id(), Self.text],
                    relationships: [
                        RelationshipDefinition("tags", to: "Tag", many: true, ordered: true, inverse: "posts")
                    ]),
                EntityDefinition(
                    "Tag", key: ["id"], attributes: [Self.id()],
                    relationships: [RelationshipDefinition("posts", to: "Post", many: true, inverse: "tags")]),
            ]), Mapping(entities: ["Tag": EntityMapping(declared: ["posts"])]))
        try bed.take(#"[{"id":1,"tags":[7,8]},{"id":2,"tags":[8]},{"id":3,"text":"x"}]"#, "Post")
        try bed.take(#"[{"id":7,"posts":[2,{"id":3},{"id":4,"tags":[8]}]}]"#, "Tag")
        #expect(try bed.related("Post", 1, "tags") == ["8?"])
        #expect(try bed.related("Post", 2, "tags") == ["8?", "7"])
        #expect(try bed.related("Post", 3, "tags") == ["7"])
        #expect(try bed.related("Post", 4, "tags") == ["8?", "7"])
        #expect(try bed.related("Tag", 7, "posts") == ["2", "3", "4"])
        #expect(try bed.value("Post", 3, "text") == .string("x"))
        let sequence = try bed.sequence
        try bed.take(#"[{"id":7,"posts":[{"id":2},3,4]}]"#, "Tag")
        #expect(try bed.sequence == sequence)
        let report = try bed.take(#"[{"id":7,"posts":[99]}]"#, "Tag")
        #expect(report.diagnostics.map(\.code) == [.referenceUnstorable])
        #expect(try bed.related("Tag", 7, "posts") == [])
        #expect(try bed.related("Post", 2, "tags") == ["8?"])
    }
}
