// Records with local changes, and imports with other values.

import TarnImport
import TarnStore
import Testing

@Suite("Import: local changes")
struct LocalChangeTests {
    private func bed(_ policy: LocalPolicy? = nil) throws -> TestStore {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.tombstone = TombstoneRule(path: "gone")
        mapping.entities["Issue"]?.local = policy
        mapping.entities["Comment"] = EntityMapping { $0.local = policy }
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(
            #"[{"id":1,"title":"old","body":"b","author":7,"comments":[{"id":3}]},{"id":2,"title":"other"}]"#, "Issue")
        return bed
    }

    private func change(_ bed: TestStore, _ key: Int64, entity: String = "Issue") throws -> LocalChange? {
        try bed.store.read { try $0.localChange(entity, RecordKey(key)) }
    }

    private func edit(_ bed: TestStore, _ values: [Record.Field], key: Int64 = 1) throws {
        try bed.store.write { try $0.putLocally("Issue", RecordKey(key), values) }
    }

    private static let answer = #"[{"id":1,"title":"new","body":"c"}]"#

    @Test(
        "a changed field keeps its value and the server's is remembered; the other fields take what the response says")
    func fields() throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine"))])
        let report = try bed.take(Self.answer, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("mine") && bed.value("Issue", 1, "body") == .string("c"))
        #expect(report.entities["Issue"] == ImportReport.Counts(updated: 1))
        #expect(report.diagnostics.map(\.code) == [.localKept])
        #expect(report.diagnostics.first.map { $0.entity == "Issue" && $0.key == "1" && $0.field == "title" } == true)
        let change = try #require(try change(bed, 1))
        #expect(
            change.operation == .update && change.fields == ["title"]
                && change.server == [Record.Field("title", .string("new"))])
        // The mark stays until it is cleared, and the same response again changes nothing.
        let again = try bed.take(Self.answer, "Issue")
        #expect(again.unchanged == 1 && again.diagnostics.map(\.code) == [.localKept])
    }

    @Test("what the server says is remembered, not reported, once it says the same as the local value")
    func agreement() throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine"))])
        try bed.take(Self.answer, "Issue")
        let report = try bed.take(#"[{"id":1,"title":"mine","body":"c"}]"#, "Issue")
        #expect(report.diagnosticCount == 0)
        #expect(try change(bed, 1)?.server == [Record.Field("title", .string("mine"))])
    }

    @Test("a record that is kept stays as it is with all of its fields, nested in others too")
    func keep() throws {
        let bed = try bed(.keep)
        try edit(bed, [Record.Field("title", .string("mine"))])
        let before = try bed.record("Issue", 1)
        let report = try bed.take(Self.answer, "Issue")
        #expect(try bed.record("Issue", 1) == before)
        #expect(report.entities["Issue"] == ImportReport.Counts(unchanged: 1))
        #expect(
            try change(bed, 1)?.server == [Record.Field("title", .string("new")), Record.Field("body", .string("c"))])
        try bed.take(#"[{"id":7,"login":"l","issues":[{"id":1,"title":"nested"}]}]"#, "User")
        #expect(try bed.record("Issue", 1)?["title"] == .string("mine"))
        #expect(try bed.take(#"[{"id":2,"title":"free"}]"#, "Issue").updated == 1)
    }

    @Test("where the server counts, its values are taken and the mark is cleared")
    func server() throws {
        let bed = try bed(.server)
        try edit(bed, [Record.Field("title", .string("mine"))])
        let report = try bed.take(Self.answer, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("new") && change(bed, 1) == nil)
        #expect(report.diagnosticCount == 0 && report.updated == 1)
    }

    @Test("the policy may be said for all entities, and for one", arguments: LocalPolicy.allCases)
    func policyOfTheAPI(policy: LocalPolicy) throws {
        var mapping = Forge.mapping
        mapping.local = policy
        mapping.entities["User"]?.local = .server
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(#"[{"id":1,"title":"a","body":"a","author":{"id":7,"login":"a"}}]"#, "Issue")
        try edit(bed, [Record.Field("title", .string("mine"))])
        try bed.store.write { try $0.putLocally("User", RecordKey(7), [Record.Field("login", .string("mine"))]) }
        try bed.take(#"[{"id":1,"title":"b","body":"b","author":{"id":7,"login":"b"}}]"#, "Issue")
        let values = [
            try bed.value("Issue", 1, "title"), try bed.value("Issue", 1, "body"), try bed.value("User", 7, "login"),
        ]
        let expected: [LocalPolicy: [String]] = [
            .fields: ["mine", "b", "b"], .keep: ["mine", "a", "b"], .server: ["b", "b", "b"],
        ]
        #expect(values == expected[policy]?.map { .string($0) })
    }

    @Test("a record that was made here keeps all of its fields when the server has one with its key")
    func madeHere() throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine"))], key: 9)
        #expect(try change(bed, 9)?.operation == .create)
        try bed.take(#"[{"id":9,"title":"theirs","body":"b"}]"#, "Issue")
        #expect(try bed.lines().contains(#"Issue 9 {"id":9,"title":"mine"}"#))
    }

    @Test(
        "a record that was deleted here does not come back, and is in no list, until the mark is cleared; where the server counts it does"
    )
    func deletedHere() throws {
        for policy in LocalPolicy.allCases {
            let bed = try bed(policy)
            try bed.store.write { _ = try $0.deleteLocally("Issue", RecordKey(1)) }
            let report = try bed.take(Self.answer, "Issue")
            #expect((try bed.record("Issue", 1) == nil) == (policy != .server))
            guard policy != .server else { continue }
            #expect(report.diagnostics.map(\.code) == [.localKept] && report.dropped.count == 1 && report.created == 0)
            #expect(try change(bed, 1)?.operation == .delete)
            try bed.store.write { _ = try $0.clearLocalChange("Issue", RecordKey(1)) }
            #expect(try bed.take(Self.answer, "Issue").created == 1)
        }
    }

    @Test(
        "a tombstone of a changed record is remembered, and the record stays; where the server counts it goes, with its mark"
    )
    func tombstone() throws {
        for policy in LocalPolicy.allCases {
            let bed = try bed(policy)
            try edit(bed, [Record.Field("title", .string("mine"))])
            let report = try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
            if policy == .server {
                #expect(try bed.record("Issue", 1) == nil && change(bed, 1) == nil)
                #expect(report.deleted == 1 && report.diagnosticCount == 0)
            } else {
                #expect(try bed.value("Issue", 1, "title") == .string("mine") && change(bed, 1)?.isGoneAtServer == true)
                #expect(report.deleted == 0 && report.diagnostics.map(\.code) == [.localKept])
                // It is listed again, so it was not deleted.
                try bed.take(Self.answer, "Issue")
                #expect(try change(bed, 1)?.isGoneAtServer == false)
            }
        }
    }

    @Test(
        "a record that the server has deleted goes with a mark that is cleared for the server",
        arguments: [true, false])
    func clearedForServer(takesServer: Bool) throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine"))])
        try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        #expect(try change(bed, 1)?.isGoneAtServer == true)
        _ = try bed.store.write { try $0.clearLocalChange("Issue", RecordKey(1), takingServer: takesServer) }
        #expect(try (bed.record("Issue", 1) == nil) == takesServer)
        #expect(try change(bed, 1) == nil)
    }

    @Test("both sides deleted it: nothing is left to say")
    func deletedOnBothSides() throws {
        let bed = try bed()
        try bed.store.write { _ = try $0.deleteLocally("Issue", RecordKey(1)) }
        let report = try bed.take(#"[{"id":1,"gone":true}]"#, "Issue")
        #expect(try change(bed, 1) == nil && report.diagnosticCount == 0)
    }

    @Test("deleting a record takes its mark along")
    func deletedOtherwise() throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine"))])
        try bed.store.write { _ = try $0.delete("Issue", RecordKey(1)) }
        #expect(try change(bed, 1) == nil)
        try bed.take(Self.answer, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("new"))
    }

    @Test("a reference that was changed here is neither set nor cleared by another record's list")
    func references() throws {
        let bed = try bed()
        #expect(try bed.related("Issue", 1, "comments") == ["3"])
        try bed.store.write {
            try $0.putLocally("Comment", RecordKey(3), [Record.Field("issue", .reference(RecordKey(2)))])
        }
        for list in [
            #"[{"id":1,"title":"t","comments":[3]}]"#, #"[{"id":1,"title":"t","comments":[{"id":3,"text":"x"}]}]"#,
        ] {
            let report = try bed.take(list, "Issue")
            #expect(try bed.related("Issue", 2, "comments") == ["3"] && bed.related("Issue", 1, "comments") == [])
            #expect(
                report.diagnostics.map { "\($0.code.rawValue) \($0.entity) \($0.field ?? "")" } == [
                    "local.kept Comment issue"
                ])
        }
        #expect(try bed.value("Comment", 3, "text") == .string("x"))
        try bed.take(#"[{"id":2,"title":"t","comments":[]}]"#, "Issue")
        #expect(try bed.related("Issue", 2, "comments") == ["3"])
        // The list of the issue that it was moved to here says nothing: the server had it in another.
        #expect(try change(bed, 3, entity: "Comment")?.server == [Record.Field("issue", .reference(RecordKey(1)))])
    }

    @Test(
        "a list that was changed here neither gets nor loses a member by another record's list, until the server has it"
    )
    func lists() throws {
        let bed = try tagged()
        func tags() throws -> [[String]] { try ([1, 2, 3] as [Int64]).map { try bed.related("Post", $0, "tags") } }
        try bed.take(#"[{"id":7},{"id":8}]"#, "Tag")
        try bed.take(#"[{"id":1,"tags":[7]},{"id":2,"tags":[7]}]"#, "Post")
        try bed.store.write { writer in
            try writer.putLocally("Post", RecordKey(1), [Record.Field("tags", .references([RecordKey(8)]))])
            try writer.putLocally("Post", RecordKey(3), [Record.Field("tags", .references([RecordKey(7)]))])
        }
        let lists = #"[{"id":7,"posts":[1]},{"id":8,"posts":[]}]"#
        let report = try bed.take(lists, "Tag")
        #expect(try tags() == [["8"], [], ["7"]])
        #expect(
            report.diagnostics.map { "\($0.code.rawValue) \($0.entity) \($0.key ?? "") \($0.field ?? "")" } == [
                "local.kept Post 1 tags", "local.kept Post 3 tags", "local.kept Post 1 tags",
            ])
        // Both lists are told again: the response is requested without a condition.
        #expect(Set(report.leftOut.map(\.storageKey)) == [RecordKey(7).storageKey, RecordKey(8).storageKey])
        // A list that agrees with the local value has nothing to say.
        #expect(try bed.take(#"[{"id":8,"posts":[1]}]"#, "Tag").diagnosticCount == 0)
        try bed.store.write { writer in
            for key in [1, 3] as [Int64] { _ = try writer.clearLocalChange("Post", RecordKey(key)) }
        }
        #expect(try bed.take(lists, "Tag").diagnosticCount == 0)
        #expect(try tags() == [["7"], [], []])
    }

    /// Posts with tags, in a list that each side has.
    private func tagged(_ policy: LocalPolicy? = nil) throws -> TestStore {
        try TestStore(
            Schema([
                EntityDefinition(
                    "Post", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("text", .string, optional: true),
                    ],
                    relationships: [
                        RelationshipDefinition("tags", to: "Tag", many: true, ordered: true, inverse: "posts")
                    ]),
                EntityDefinition(
                    "Tag", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                    relationships: [RelationshipDefinition("posts", to: "Post", many: true, inverse: "tags")]),
            ]),
            Mapping(entities: [
                "Post": EntityMapping { $0.local = policy }, "Tag": EntityMapping(declared: ["posts"]),
            ]))
    }

    @Test(
        "a list follows the policy of its record: another record's list changes it if another field was changed",
        arguments: LocalPolicy.allCases)
    func listsByPolicy(_ policy: LocalPolicy) throws {
        let bed = try tagged(policy)
        try bed.take(#"[{"id":7},{"id":8}]"#, "Tag")
        try bed.take(#"[{"id":1,"tags":[7]},{"id":2,"tags":[7]}]"#, "Post")
        try bed.store.write { writer in
            try writer.putLocally("Post", RecordKey(1), [Record.Field("text", .string("mine"))])
            try writer.putLocally("Post", RecordKey(2), [Record.Field("tags", .references([]))])
            // The server cannot have it.
            try writer.putLocally("Post", RecordKey(3), [Record.Field("text", .string("mine"))])
        }
        try bed.take(#"[{"id":7,"posts":[2]},{"id":8,"posts":[1,3]}]"#, "Tag")
        let tags = try ([1, 2, 3] as [Int64]).map { try bed.related("Post", $0, "tags") }
        switch policy {
        case .fields: #expect(tags == [["8"], [], []])
        case .keep: #expect(tags == [["7"], [], []])
        case .server: #expect(tags == [["8"], ["7"], ["8"]])
        }
    }

    @Test("a list of another record that may be older than a change that the server has changes no list")
    func overtakenLists() throws {
        let bed = try tagged()
        try bed.take(#"[{"id":7},{"id":8}]"#, "Tag")
        try bed.take(#"[{"id":1,"tags":[7]}]"#, "Post")
        let revision = try bed.store.read { try $0.outbox.revision }
        _ = try bed.store.write {
            try $0.enqueueUpdate("Post", RecordKey(1), [Record.Field("tags", .references([RecordKey(8)]))])
        }
        _ = try bed.store.write { try $0.completeOperation(1) }
        #expect(try change(bed, 1, entity: "Post") == nil)
        let lists = #"[{"id":7,"posts":[1]},{"id":8,"posts":[]}]"#
        bed.importer.unit.outboxRevision = revision
        try bed.take(lists, "Tag")
        #expect(try bed.related("Post", 1, "tags") == ["8"])
        bed.importer.unit.outboxRevision = try bed.store.read { try $0.outbox.revision }
        try bed.take(lists, "Tag")
        #expect(try bed.related("Post", 1, "tags") == ["7"])
    }

    @Test("the values that the server has said may be taken when a mark is cleared, for all fields or for some")
    func takingServerValues() throws {
        let bed = try bed()
        try edit(bed, [Record.Field("title", .string("mine")), Record.Field("body", .string("mine"))])
        try bed.take(Self.answer, "Issue")
        try bed.store.write {
            _ = try $0.clearLocalChange("Issue", RecordKey(1), fields: ["title"], takingServer: true)
        }
        #expect(
            try bed.value("Issue", 1, "title") == .string("new") && bed.value("Issue", 1, "body") == .string("mine"))
        let change = try #require(try change(bed, 1))
        #expect(change.fields == ["body"] && change.server == [Record.Field("body", .string("c"))])
        try bed.store.write { _ = try $0.clearLocalChange("Issue", RecordKey(1), takingServer: true) }
        #expect(try bed.value("Issue", 1, "body") == .string("c") && self.change(bed, 1) == nil)
    }
}
