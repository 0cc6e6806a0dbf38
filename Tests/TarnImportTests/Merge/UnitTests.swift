// A unit: documents added together, the report of its commit, and the effect of a failure.

import TarnImport
import TarnStore
import Testing

@Suite("Import: units and reports")
struct UnitTests {
    private struct Stop: Error {}

    @Test("one importer makes any number of units, each with a report of its own")
    func severalCommits() throws {
        let bed = try Forge.store()
        for page in 0..<5 {
            let report = try bed.take(
                #"[{"id":\#(page),"title":"t","x":1,"author":{"id":1,"login":"a\#(page)"}},{"no":1}]"#, "Issue")
            #expect(report.listed == 2 && report.diagnosticCount == 1 && report.conflicts == 0)
            #expect(report.entities["Issue"] == ImportReport.Counts(created: 1, skipped: 1))
            #expect(
                report.entities["User"]
                    == (page == 0 ? ImportReport.Counts(created: 1) : ImportReport.Counts(updated: 1)))
            #expect(report.unmapped.map { "\($0.entity).\($0.path) \($0.count)" } == ["Issue.no 1", "Issue.x 1"])
        }
        #expect(try bed.commit() == ImportReport())
    }

    @Test("a document that fails leaves the unit as it was before, and usable")
    func failedAdd() throws {
        let bed = try Forge.store()
        try bed.add(#"[{"id":1,"title":"first","x":0}]"#, "Issue")
        #expect(throws: ImportError.self) { try bed.add(#"[{"id":2,"title":"cut"},{"id":3"#, "Issue") }
        #expect(throws: ImportError.self) {
            try bed.add(#"{"other":[{"id":4,"title":"elsewhere"}]}"#, "Issue", records: "data")
        }
        #expect(throws: ImportError.self) { try bed.add("[]", "Nothing") }
        try bed.add(#"[{"id":5,"title":"second"}]"#, "Issue")
        let report = try bed.commit()
        #expect(report.listed == 2 && report.created == 2 && report.diagnosticCount == 0)
        #expect(try bed.lines() == [#"Issue 1 {"id":1,"title":"first"}"#, #"Issue 5 {"id":5,"title":"second"}"#])
    }

    @Test("what is discarded is not stored, and is not in the next report")
    func discard() throws {
        let bed = try Forge.store()
        try bed.add(#"[{"id":1,"title":"t","x":0,"comments":[7]},{"id":1,"title":"u"},{}]"#, "Issue")
        #expect(bed.importer.diagnostics.count == 1)
        bed.importer.discard()
        #expect(bed.importer.diagnostics.isEmpty)
        let report = try bed.take(#"[{"id":2,"title":"t"}]"#, "Issue")
        #expect(report.entities == ["Issue": ImportReport.Counts(created: 1)] && report.listed == 1)
        #expect(
            report.diagnosticGroups.isEmpty && report.unmapped.isEmpty && report.skipped == 0 && report.dropped.isEmpty)
        #expect(report.absentAttributes.allSatisfy { $0.records == 1 })
        #expect(try bed.count("Issue") == 1)
    }

    @Test("a unit whose transaction fails leaves nothing behind")
    func abortedCommit() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"before","comments":[{"id":1}]}]"#, "Issue")
        let (lines, sequence) = (try bed.lines(), try bed.sequence)
        try bed.add(
            #"[{"id":1,"title":"after","comments":[{"id":2}],"labels":[{"id":1}]},{"id":2,"title":"new"}]"#, "Issue")
        #expect(throws: Stop.self) {
            try bed.store.write { writer in
                _ = try bed.importer.commit(into: &writer)
                throw Stop()
            }
        }
        #expect(try bed.lines() == lines)
        #expect(try bed.sequence == sequence)
        #expect(try bed.related("Issue", 1, "comments") == ["1"])
    }

    @Test("a unit is one commit, however many documents it has")
    func oneCommit() throws {
        let bed = try Forge.store()
        let before = try bed.sequence
        for page in 0..<10 { try bed.add(#"[{"id":\#(page),"title":"t"}]"#, "Issue") }
        #expect(try bed.count("Issue") == 0)
        _ = try bed.commit()
        #expect(try bed.count("Issue") == 10)
        #expect(try bed.sequence == before + 1)
    }

    @Test("listed records are named in the order of the document, also those that were listed before")
    func listedOrder() throws {
        let bed = try Forge.store()
        let added = try bed.add(
            #"[{"id":9,"title":"t"},{"id":3,"title":"t"},{"title":"no key"},{"id":9,"title":"t"}]"#, "Issue")
        let entity = try #require(bed.store.catalog.entity("Issue"))
        #expect(
            added.listed == [9, 3, 9].map { ListedRecord(entity: entity.id, storageKey: RecordKey($0).storageKey) })
        #expect(added.count == 4)
    }

    @Test("diagnostics beyond the limit are counted, not kept")
    func diagnosticLimit() throws {
        let bed = try Forge.store()
        let report = try bed.take("[" + String(repeating: "{},", count: 999) + "{}]", "Issue")
        #expect(report.diagnostics.count == ImportReport.diagnosticLimit && report.diagnosticCount == 1000)
        var total = ImportReport()
        total.add(report)
        total.add(report)
        #expect(total.diagnostics.count == ImportReport.diagnosticLimit && total.diagnosticCount == 2000)
    }

    @Test("reports of pages add up")
    func reportsAddUp() throws {
        let bed = try Forge.store()
        var total = ImportReport()
        for page in [
            #"[{"id":1,"title":"t","b":1,"a":1,"author":{"id":1,"login":"x"}}]"#,
            #"[{"id":1,"title":"u","a":1},{"id":1,"title":"v"},{"id":2,"title":"w","c":0}]"#,
        ] {
            total.add(try bed.take(page, "Issue"))
        }
        #expect(
            total.entities == [
                "Issue": ImportReport.Counts(created: 2, updated: 1), "User": ImportReport.Counts(created: 1),
            ])
        #expect(total.created == 3 && total.updated == 1 && total.unchanged == 0)
        #expect(total.listed == 4 && total.conflicts == 1)
        #expect(total.unmapped.map { "\($0.path) \($0.count)" } == ["a 2", "b 1", "c 1"])
    }

    @Test("a diagnostic is one line that names code, place, record and field")
    func diagnosticText() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"{"data":[{"id":4,"title":{}}]}"#, "Issue", records: "data")
        #expect(
            report.diagnostics.first?.description
                == "value.type at $.data[0].title: Issue 4.title: expected string, found an object; the stored value is kept"
        )
    }

    @Test("another importer, of the catalog as it stands in the store, goes on where the first one was")
    func anotherImporter() throws {
        let bed = try Forge.store()
        try bed.take(#"[{"id":1,"title":"t","labels":[{"id":1}],"comments":[{"id":1}]}]"#, "Issue")
        let again = try Store.open(at: bed.directory, options: Store.Options(durability: .volatile))
        let importer = try Importer(Forge.mapping, again.catalog)
        _ = try importer.add(Array(#"[{"id":1,"title":"t","labels":[1],"comments":[1]}]"#.utf8), entity: "Issue")
        let report = try again.write { try importer.commit(into: &$0) }
        #expect(report.unchanged == 1 && report.created + report.updated == 0)
    }

    @Test("what is to be concealed is in no text about the unit, and the next unit does not conceal it")
    func concealed() throws {
        let bed = try Forge.store(), json = #"[{"id":"hidden","title":"t"},{"id":1,"title":"hidden","hidden":0}]"#
        bed.importer.conceal("hidden") { $0.replacing("hidden", with: "***") }
        try bed.add(json, "Issue")
        #expect(bed.importer.diagnostics.allSatisfy { !"\($0) \($0.sample ?? "")".contains("hidden") })
        let report = try bed.commit()
        #expect(report.unmapped.map(\.path) == ["***"] && report.diagnosticCount == 1)
        for diagnostic in report.diagnostics + report.diagnosticGroups.map(\.first) {
            #expect(!"\(diagnostic) \(diagnostic.sample ?? "")".contains("hidden"))
        }
        #expect(try bed.value("Issue", 1, "title") == .string("hidden"))
        #expect(try bed.take(json, "Issue").unmapped.map(\.path) == ["hidden"])
    }
}
