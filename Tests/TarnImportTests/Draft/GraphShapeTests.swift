// Graphs as answers really have them: references to oneself and to each other, one child of many
// parents, bare ids between objects, nulls, and more levels than a document may have.

import TarnImport
import TarnStore
import Testing

@Suite("Import: shapes of graphs")
struct GraphShapeTests {
    @Test(
        "records that refer to themselves and to each other are imported, nested or by bare ids, in one unit or in two",
        arguments: [
            [
                #"[{"id":1,"login":"a","friend":{"id":2,"login":"b","friend":{"id":1,"login":"a"}}},{"id":3,"login":"c","friend":{"id":3,"login":"c"}}]"#
            ],
            [#"[{"id":1,"login":"a","friend":2},{"id":2,"login":"b","friend":1},{"id":3,"login":"c","friend":3}]"#],
            [
                #"[{"id":3,"login":"c","friend":3},{"id":1,"login":"a","friend":2}]"#,
                #"[{"id":2,"login":"b","friend":1}]"#,
            ],
            [
                #"[{"id":2,"login":"b","friend":{"id":1}}]"#,
                #"[{"id":1,"login":"a","friend":2},{"id":3,"login":"c","friend":{"id":3}}]"#,
            ],
        ])
    func circles(documents: [String]) throws {
        let bed = try Forge.store()
        for document in documents { try bed.take(document, "User") }
        for (key, friend) in [(1, "2"), (2, "1"), (3, "3")] {
            #expect(try bed.related("User", Int64(key), "friend") == [friend])
        }
        #expect(try bed.lines().count == 3 && bed.lines().allSatisfy { !$0.contains("partial") })
    }

    @Test("a child under twenty thousand parents is one record, drafted once", .timeLimit(.minutes(1)))
    func sharedChild() throws {
        let bed = try Forge.store()
        let issues = (1...20_000).map {
            #"{"id":\#($0),"title":"t","author":{"id":7,"login":"l"},"labels":[{"id":9,"name":"bug"},9]}"#
        }
        let report = try bed.take("[\(issues.joined(separator: ","))]", "Issue")
        #expect(
            report.entities["User"] == ImportReport.Counts(created: 1)
                && report.entities["Label"] == ImportReport.Counts(created: 1))
        #expect(report.diagnosticCount == 0 && report.conflicts == 0)
        #expect(
            try bed.related("User", 7, "issues").count == 20_000 && bed.related("Label", 9, "labelled").count == 20_000)
    }

    @Test(
        "a list mixed of objects, bare ids in either form and nulls is one list, stored or derived, in its order where it has one",
        arguments: [
            "labels", "assignees", "comments",
        ])
    func mixedLists(relationship: String) throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":5}]"#, "Comment")
        let report = try bed.take(
            #"[{"id":1,"title":"t","\#(relationship)":[null,{"id":9,"login":"l"},"5",null,{"id":2,"login":"m"},5,null]}]"#,
            "Issue")
        #expect(report.diagnosticCount == 0)
        let expected = ["labels": ["9", "5?", "2"], "assignees": ["9", "5?", "2"], "comments": ["2", "5", "9"]]
        #expect(try bed.related("Issue", 1, relationship) == expected[relationship])
    }

    @Test("null where a record is listed is no record: it is reported, and the others are imported")
    func nullsInTheList() throws {
        let bed = try Forge.store()
        let added = try bed.add(#"[null,{"id":1,"title":"t"},null]"#, "Issue")
        #expect(added.count == 3 && added.listed.count == 1 && added.skipped == 2)
        let report = try bed.commit()
        #expect(
            report.created == 1
                && report.diagnostics.map { "\($0.code.rawValue) \($0.path)" } == [
                    "key.missing $[0]", "key.missing $[2]",
                ])
    }

    @Test("ten thousand levels are refused, whatever they are made of, and nothing is imported")
    func tenThousandLevels() throws {
        let bed = try Forge.store()
        let levels = 10_000
        for (open, close) in [(#"{"id":1,"login":"l","friend":"#, "}"), ("[", "]"), (#"{"x":["#, "]}")] {
            let deep = String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
            #expect {
                try bed.add("[\(deep)]", "User")
            } throws: { error in
                guard case .invalidJSON(let reason, let offset, _, _)? = error as? ImportError else { return false }
                return reason.contains("deep") && offset > 1000 && offset < open.utf8.count * 1100
            }
        }
        #expect(try bed.commit() == ImportReport())
    }
}
