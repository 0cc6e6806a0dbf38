// Values of a record meet earlier ones: in the same unit, and in the store.

import TarnImport
import TarnStore
import Testing

@Suite("Import: merging")
struct MergeTests {
    @Test("absent keeps, null clears, a value sets")
    func threeStates() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","body":"b","author":5}]"#, "Issue")
        #expect(try bed.take(#"[{"id":1}]"#, "Issue").unchanged == 1)
        #expect(try bed.record("Issue", 1)?.fields.map(\.name) == ["id", "title", "body", "author"])
        #expect(try bed.take(#"[{"id":1,"body":null,"author":null}]"#, "Issue").updated == 1)
        #expect(try bed.value("Issue", 1, "body") == .null)
        #expect(try bed.value("Issue", 1, "author") == .null)
        #expect(try bed.related("User", 5, "issues") == [])
        try bed.take(#"[{"id":1,"body":"again"}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "body") == .string("again"))
        #expect(try bed.value("Issue", 1, "title") == .string("t"))
    }

    @Test("null where the schema promises a value is stored and reported")
    func nullOfRequired() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"[{"id":1,"title":null}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .null)
        #expect(report.diagnostics.map(\.code) == [.valueNull])
        #expect(report.diagnostics.first?.path == "$[0].title" && report.diagnostics.first?.key == "1")
    }

    @Test("the same record twice in a list is one record with the union of what was said; the later value wins")
    func duplicates() throws {
        let bed = try Forge.store()
        let added = try bed.add(
            #"[{"id":1,"title":"first","author":1},{"id":1,"title":"second","body":"b"},{"id":1,"body":null},{"id":1}]"#,
            "Issue")
        #expect(added.count == 4 && added.listed.count == 4)
        let report = try bed.commit()
        #expect(report.entities["Issue"] == ImportReport.Counts(created: 1))
        #expect(report.listed == 4 && report.conflicts == 2)
        #expect(try bed.lines().last == #"Issue 1 {"id":1,"title":"second","body":null,"author":1}"#)
    }

    @Test("saying the same again is no conflict")
    func noConflict() throws {
        let bed = try Forge.store()
        let report = try bed.take(
            #"[{"id":1,"title":"t","labels":[1,2]},{"id":1,"labels":["1",{"id":2}],"title":"t"},{"id":1,"body":"more"}]"#,
            "Issue")
        #expect(report.conflicts == 0)
        #expect(try bed.value("Issue", 1, "body") == .string("more"))
    }

    @Test("later is as the document has it, not as the schema lists its fields")
    func documentOrder() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"t","assignees":[{"id":5,"login":"as assignee"}],"author":{"id":5,"login":"as author"}}]"#,
            "Issue")
        #expect(try bed.value("User", 5, "login") == .string("as author"))
        try bed.take(
            #"[{"id":1,"title":"t","author":{"id":5,"login":"as author"},"assignees":[{"id":5,"login":"as assignee"}]}]"#,
            "Issue")
        #expect(try bed.value("User", 5, "login") == .string("as assignee"))
    }

    @Test("one record in two documents of a unit is one record, and the later document wins")
    func acrossPages() throws {
        let bed = try Forge.store()
        try bed.add(#"[{"id":1,"title":"page 1","author":{"id":1,"login":"old"}}]"#, "Issue")
        try bed.add(#"[{"id":2,"title":"x","author":{"id":1,"login":"new"}},{"id":1,"body":"page 2"}]"#, "Issue")
        let report = try bed.commit()
        #expect(report.entities == ["Issue": ImportReport.Counts(created: 2), "User": ImportReport.Counts(created: 1)])
        #expect(report.listed == 3 && report.conflicts == 1)
        #expect(try bed.value("User", 1, "login") == .string("new"))
        #expect(try bed.value("Issue", 1, "title") == .string("page 1"))
    }

    @Test("importing the same pages again writes nothing: no version, no sequence, no change")
    func reimport() throws {
        let bed = try Forge.store()
        let pages = [
            #"[{"id":1,"title":"a","author":{"id":1,"login":"ada"},"labels":[{"id":1,"name":"x"},2],"comments":[{"id":1,"text":"c","author":1},{"id":2}]}]"#,
            #"[{"id":2,"title":"b","author":1,"assignees":[1,{"id":2,"login":"bob","friend":{"id":1}}],"comments":[3,null,1]}]"#,
        ]
        for page in pages { try bed.take(page, "Issue") }
        let (lines, sequence) = (try bed.lines(), try bed.sequence)
        // Comment 1 moved from issue 1 to issue 2 in the pages, so only the second one can be
        // repeated alone.
        let report = try bed.take(pages[1], "Issue")
        #expect(report.created == 0 && report.updated == 0 && report.unchanged == 3)
        #expect(try bed.lines() == lines)
        #expect(try bed.sequence == sequence)
    }

    @Test("an unchanged record is not written while what is nested in it is")
    func unchangedParent() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"t","author":{"id":1,"login":"old"},"comments":[{"id":1,"text":"old"}]}]"#, "Issue")
        let before = try bed.sequence
        let report = try bed.take(
            #"[{"id":1,"title":"t","author":{"id":1,"login":"new"},"comments":[{"id":1,"text":"new"}]}]"#, "Issue")
        #expect(report.entities["Issue"] == ImportReport.Counts(unchanged: 1))
        #expect(report.entities["User"] == ImportReport.Counts(updated: 1))
        #expect(report.entities["Comment"] == ImportReport.Counts(updated: 1))
        #expect(try bed.record("Issue", 1)?.version == before)
        #expect(try bed.record("User", 1)?.version == before + 1)
        #expect(try bed.sequence == before + 1)
    }

    @Test("a wrong type in one of two sayings of a unit takes nothing away from the other")
    func wrongTypeInDuplicate() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"[{"id":1,"title":"good","labels":[1]},{"id":1,"title":[],"labels":"no"}]"#, "Issue")
        #expect(try bed.value("Issue", 1, "title") == .string("good"))
        #expect(try bed.related("Issue", 1, "labels") == ["1?"])
        #expect(report.diagnostics.map(\.code) == [.valueType, .relationshipType] && report.conflicts == 0)
    }

    // MARK: Partial records

    @Test("a nested object that lacks a required attribute is partial until a complete one comes")
    func partial() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","author":{"id":1,"name":"Ada"}}]"#, "Issue")
        #expect(try bed.record("User", 1)?.isPartial == true)
        #expect(try bed.record("Issue", 1)?.isPartial == false)
        #expect(try bed.take(#"[{"id":1,"title":"t","author":{"id":1,"name":"Ada"}}]"#, "Issue").unchanged == 2)
        #expect(try bed.record("User", 1)?.isPartial == true)
        #expect(try bed.take(#"[{"id":1,"login":"ada"}]"#, "User").updated == 1)
        #expect(try bed.record("User", 1)?.isPartial == false)
        try bed.take(#"[{"id":1,"title":"t","author":{"id":1}}]"#, "Issue")
        #expect(try bed.record("User", 1)?.isPartial == false)
        #expect(try bed.value("User", 1, "name") == .string("Ada"))
    }

    @Test("a nested object with all that is required is complete at once")
    func nestedComplete() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","author":{"id":1,"login":"ada"}}]"#, "Issue")
        #expect(try bed.record("User", 1)?.isPartial == false)
    }

    @Test("two partial objects that together have everything make a complete record, in one unit or in two")
    func unionOfPartials() throws {
        let schema = Schema([
            EntityDefinition(
                "Node", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("a", .int), AttributeDefinition("b", .int),
                ],
                relationships: [
                    RelationshipDefinition("next", to: "Node"), RelationshipDefinition("other", to: "Node"),
                ])
        ])
        let one = try TestStore(schema)
        try one.take(#"[{"id":1,"next":{"id":9,"a":1},"other":{"id":9,"b":2}}]"#, "Node")
        #expect(try one.record("Node", 9)?.isPartial == false)
        let two = try TestStore(schema)
        try two.take(#"[{"id":1,"next":{"id":9,"a":1}}]"#, "Node")
        #expect(try two.record("Node", 9)?.isPartial == true)
        try two.take(#"[{"id":1,"next":{"id":9,"b":1}}]"#, "Node")
        #expect(try two.record("Node", 9)?.isPartial == false)
    }

    @Test("a listed record makes its nested twin complete, whichever comes first")
    func listedTwin() throws {
        for json in [
            #"[{"id":1,"login":"a","friend":{"id":2}},{"id":2,"login":"b"}]"#,
            #"[{"id":2,"login":"b"},{"id":1,"login":"a","friend":{"id":2}}]"#,
        ] {
            let bed = try Forge.store()
            try bed.take(json, "User")
            #expect(try bed.record("User", 2)?.isPartial == false)
            #expect(try bed.value("User", 2, "login") == .string("b"))
        }
    }

    @Test("a nested object whose required attribute cannot be taken lacks it: it is partial")
    func partialByWrongType() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"[{"id":1,"title":"t","author":{"id":1,"login":[]}}]"#, "Issue")
        #expect(report.diagnostics.map(\.code) == [.valueType])
        #expect(try bed.record("User", 1)?.isPartial == true)
    }

    @Test("the same partial content said by a list is complete: only the flag is written")
    func completedWithoutChange() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","author":{"id":1,"name":"Ada"}}]"#, "Issue")
        #expect(try bed.take(#"[{"id":1,"name":"Ada"}]"#, "User").updated == 1)
        #expect(try bed.record("User", 1)?.isPartial == false)
        #expect(try bed.take(#"[{"id":1,"name":"Ada"}]"#, "User").unchanged == 1)
    }

    @Test("bare ids make no records: their targets are missing until they come, on whatever page")
    func missingTargets() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","author":7,"labels":[3,4]}]"#, "Issue")
        #expect(try bed.count("User") == 0)
        #expect(try bed.count("Label") == 0)
        #expect(try bed.related("Issue", 1, "author") == ["7?"])
        #expect(try bed.related("User", 7, "issues") == ["1"])
        let before = try bed.record("Issue", 1)?.version
        try bed.take(#"[{"id":4,"name":"x"}]"#, "Label")
        try bed.take(#"[{"id":7,"login":"ada"}]"#, "User")
        #expect(try bed.related("Issue", 1, "author") == ["7"])
        #expect(try bed.related("Issue", 1, "labels") == ["3?", "4"])
        #expect(try bed.record("Issue", 1)?.version == before)
    }
}
