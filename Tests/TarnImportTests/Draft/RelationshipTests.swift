// Nested objects and bare keys become references: to-one, to-many, cycles, missing targets and
// invalid references.

import TarnImport
import TarnStore
import Testing

@Suite("Import: relationships")
struct RelationshipTests {
    @Test("a nested object becomes a record and a reference; a bare key only a reference")
    func toOne() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"a","author":{"id":5,"login":"ada"}},{"id":2,"title":"b","author":5},{"id":3,"title":"c","author":"6"}]"#,
            "Issue")
        #expect(try bed.related("User", 5, "issues") == ["1", "2"])
        #expect(try bed.related("Issue", 3, "author") == ["6?"])
        #expect(try bed.count("User") == 1)
    }

    @Test("a to-one is replaced, and the old target loses its inverse")
    func toOneReplaced() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"a","author":5}]"#, "Issue")
        try bed.take(#"[{"id":1,"author":{"id":6,"login":"bob"}}]"#, "Issue")
        #expect(try bed.related("User", 5, "issues") == [])
        #expect(try bed.related("User", 6, "issues") == ["1"])
    }

    @Test("an ordered to-many keeps the order of the response, mixed from objects and bare keys, nulls left out")
    func orderedToMany() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"a","labels":[9,{"id":3,"name":"x"},null,"7",{"id":1}]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels") == ["9?", "3", "7?", "1"])
        #expect(try bed.related("Label", 7, "labelled") == ["1"])
        try bed.take(#"[{"id":1,"labels":[1,3]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels") == ["1", "3"])
        #expect(try bed.related("Label", 9, "labelled") == [])
        #expect(try bed.take(#"[{"id":1,"labels":[3,1]}]"#, "Issue").updated == 1)
        #expect(try bed.related("Issue", 1, "labels") == ["3", "1"])
    }

    @Test("an empty list clears a to-many, null clears it, absent keeps it")
    func toManyCleared() throws {
        for clearing in ["[]", "null", "[null]"] {
            let bed = try Forge.store()
            try bed.take(#"[{"id":1,"title":"a","labels":[1,2],"assignees":[4]}]"#, "Issue")
            try bed.take(#"[{"id":1}]"#, "Issue")
            #expect(try bed.related("Issue", 1, "labels") == ["1?", "2?"])
            try bed.take(#"[{"id":1,"labels":\#(clearing)}]"#, "Issue")
            #expect(try bed.related("Issue", 1, "labels") == [])
            #expect(try bed.related("Label", 1, "labelled") == [])
            #expect(try bed.related("Issue", 1, "assignees") == ["4?"])
        }
    }

    @Test("a record twice in a to-many list is in it once, where it came first")
    func duplicatesInList() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"a","labels":[2,1,{"id":2},"1",3],"assignees":[1,1]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels") == ["2", "1?", "3?"])
        #expect(try bed.related("Issue", 1, "assignees") == ["1?"])
        let many = (0..<2000).map { String($0 % 1000) }.joined(separator: ",")
        try bed.take(#"[{"id":1,"labels":[\#(many)]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels").count == 1000)
    }

    @Test("an object without a key inside a list is left out and reported; the others are linked")
    func keylessElement() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"[{"id":1,"title":"a","labels":[{"id":1},{"name":"no id"},{"id":2}]}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "labels") == ["1", "2"])
        #expect(
            report.diagnostics.map { "\($0.code.rawValue) \($0.path) \($0.entity)" } == [
                "key.missing $[0].labels[1] Label"
            ])
    }

    @Test(
        "what is neither a record nor a key keeps the old references and is reported with its place",
        arguments: [
            ("author", "true", "$[0].author"), ("author", "[5]", "$[0].author"), ("author", #""ada""#, "$[0].author"),
            ("labels", "5", "$[0].labels"), ("labels", #"{"id":5}"#, "$[0].labels"),
            ("labels", #"[5,"x"]"#, "$[0].labels[1]"),
            ("labels", "[[5]]", "$[0].labels[0]"), ("labels", "[5,true]", "$[0].labels[1]"),
            ("comments", "5", "$[0].comments"),
            ("comments", #"{"id":9}"#, "$[0].comments"), ("comments", #"["x"]"#, "$[0].comments[0]"),
        ])
    func notReferences(_ field: String, _ json: String, _ path: String) throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"a","author":1,"labels":[1,2],"comments":[{"id":1}]}]"#, "Issue")
        let (lines, sequence) = (try bed.lines(), try bed.sequence)
        let report = try bed.take(#"[{"id":1,"title":"a","\#(field)":\#(json)}]"#, "Issue")
        #expect(report.diagnostics.map(\.code) == [.relationshipType])
        #expect(report.diagnostics.first?.path == path)
        #expect(report.diagnostics.first?.field == field && report.diagnostics.first?.key == "1")
        #expect(try bed.lines() == lines)
        #expect(try bed.sequence == sequence)
    }

    @Test("a nested object without a key keeps the old reference, and is reported once")
    func keylessObject() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"a","author":1}]"#, "Issue")
        let report = try bed.take(#"[{"id":1,"title":"a","author":{"login":"x"}}]"#, "Issue")
        #expect(try bed.related("Issue", 1, "author") == ["1?"])
        #expect(report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == ["key.missing $[0].author"])
    }

    @Test("with keyless: ignore, a nested object without a key counts as null, and a key of another type does not")
    func ignoredKeyless() throws {
        var mapping = Forge.mapping
        mapping.keyless = .ignore
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(#"[{"id":1,"title":"a","author":1,"labels":[7]}]"#, "Issue")
        var report = try bed.take(
            #"[{"id":1,"title":"a","author":{"login":"x"},"labels":[{"id":1},{"name":"no id"},{"id":null},{"id":2}]}]"#,
            "Issue")
        #expect(report.diagnosticCount == 0 && report.skipped == 0)
        #expect(try bed.related("Issue", 1, "author") == [])
        #expect(try bed.related("Issue", 1, "labels") == ["1", "2"])
        report = try bed.take(#"[{"id":1,"title":"a","author":{"id":{}}},{"title":"b"}]"#, "Issue")
        #expect(report.skipped == 2)
        #expect(
            report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == [
                "key.missing $[0].author", "key.missing $[1]",
            ])
    }

    @Test("such an object is none of a derived list, clears from outside of a record, and not where nulls are ignored")
    func ignoredKeylessElsewhere() throws {
        var mapping = Forge.mapping
        mapping.keyless = .ignore
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(#"[{"id":1,"login":"x","issues":[{"id":5,"title":"a"},{"id":6,"title":"b"}]}]"#, "User")
        let report = try bed.take(#"[{"id":1,"login":"x","issues":[{"id":5,"title":"a"},{"title":"no id"}]}]"#, "User")
        #expect(try report.diagnosticCount == 0 && bed.related("User", 1, "issues") == ["5"])

        mapping.entities["Issue"]?.paths = ["author": ["@root.by"]]
        for (rules, authors) in [(FieldRules(), [String]()), (FieldRules(nulls: .ignore), ["1"])] {
            mapping.rules = rules
            let outside = try TestStore(Forge.schema, mapping)
            try outside.take(#"{"by":{"id":1,"login":"x"},"data":[{"id":5,"title":"a"}]}"#, "Issue", records: "data")
            try outside.take(#"{"by":{"login":"x"},"data":[{"id":5,"title":"a"}]}"#, "Issue", records: "data")
            #expect(try outside.related("Issue", 5, "author").map { $0.replacing("?", with: "") } == authors)

            mapping.entities["Issue"]?.paths = [:]
            let inside = try TestStore(Forge.schema, mapping)
            try inside.take(#"[{"id":5,"title":"a","author":{"id":1,"login":"x"}}]"#, "Issue")
            try inside.take(#"[{"id":5,"title":"a","author":{"login":"x"}}]"#, "Issue")
            #expect(try inside.related("Issue", 5, "author") == authors)
            mapping.entities["Issue"]?.paths = ["author": ["@root.by"]]
        }
    }

    @Test("a record that contains itself, or its ancestors, is one record")
    func cycles() throws {
        let bed = try Forge.store()
        let report = try bed.take(
            #"[{"id":1,"login":"a","friend":{"id":1}},{"id":2,"login":"b","friend":{"id":3,"login":"c","friend":{"id":2,"name":"B"}}}]"#,
            "User")
        #expect(report.created == 3 && report.conflicts == 0)
        #expect(try bed.related("User", 1, "friend") == ["1"])
        #expect(try bed.related("User", 3, "friend") == ["2"])
        #expect(try bed.lines()[1] == #"User 2 {"id":2,"login":"b","name":"B","friend":3}"#)
        #expect(try bed.record("User", 2)?.isPartial == false)
    }

    @Test("an ancestor inside its own derived list is the ancestor, and what is said there of it counts")
    func ancestorBackReference() throws {
        let bed = try Forge.store()
        let report = try bed.take(
            #"[{"id":1,"login":"ada","issues":[{"id":10,"title":"x","author":{"id":1,"name":"Ada"}},{"id":11,"title":"y"}]}]"#,
            "User")
        #expect(report.created == 3 && report.diagnosticCount == 0 && report.conflicts == 0)
        #expect(try bed.related("User", 1, "issues") == ["10", "11"])
        #expect(try bed.value("User", 1, "name") == .string("Ada"))
    }

    @Test("a child that several records share is one record, known by all of them")
    func sharedChild() throws {
        let bed = try Forge.store()
        let issues = (1...50).map {
            #"{"id":\#($0),"title":"t","labels":[{"id":1,"name":"shared"},{"id":\#($0 + 1)}],"author":{"id":1,"login":"ada"}}"#
        }
        let report = try bed.take("[\(issues.joined(separator: ","))]", "Issue")
        #expect(report.entities["Label"] == ImportReport.Counts(created: 51))
        #expect(report.entities["User"] == ImportReport.Counts(created: 1))
        #expect(try bed.related("Label", 1, "labelled").count == 50)
        #expect(try bed.related("User", 1, "issues") == (1...50).map(String.init))
    }

    @Test("listed records belong to the parent that was asked for, whatever their own JSON leaves out")
    func parentInjection() throws {
        let bed = try Forge.store()
        let parent = ParentReference(relationship: "issue", key: RecordKey(5))
        try bed.take(
            #"[{"id":1,"text":"a"},{"id":2,"issue":null},{"id":3,"issue":5,"author":{"id":9,"login":"x"}}]"#, "Comment",
            parent: parent)
        #expect(try bed.related("Issue", 5, "comments") == ["1", "2", "3"])
        #expect(try bed.related("Comment", 1, "issue") == ["5?"])
        #expect(try bed.related("Comment", 3, "author") == ["9"])
        #expect(try bed.take(#"[{"id":1,"text":"a"}]"#, "Comment", parent: parent).unchanged == 1)
    }

    @Test("the parent's own object in a listed record is imported as well")
    func parentObject() throws {
        let bed = try Forge.store()
        let parent = ParentReference(relationship: "issue", key: RecordKey(5))
        try bed.take(#"[{"id":1,"issue":{"id":5,"title":"five"}}]"#, "Comment", parent: parent)
        #expect(try bed.value("Issue", 5, "title") == .string("five"))
        #expect(try bed.related("Issue", 5, "comments") == ["1"])
    }

    @Test("a parent is only for the listed records, not for those nested in them")
    func parentOfListedOnly() throws {
        let bed = try Forge.store()
        let parent = ParentReference(relationship: "friend", key: RecordKey(5))
        try bed.take(
            #"[{"id":1,"login":"a","friend":2,"issues":[{"id":1,"title":"t","assignees":[{"id":3,"login":"c","friend":4}]}]}]"#,
            "User", parent: parent)
        #expect(try bed.related("User", 1, "friend") == ["5?"])
        #expect(try bed.related("User", 3, "friend") == ["4?"])
    }

    @Test("a parent must be led to by a to-one relationship", arguments: ["nothing", "title", "labels", "comments"])
    func parentMustBeToOne(_ relationship: String) throws {
        let bed = try Forge.store()
        #expect(throws: ImportError.unknownField(entity: "Issue", field: relationship)) {
            try bed.add("[]", "Issue", parent: ParentReference(relationship: relationship, key: RecordKey(1)))
        }
    }
}
