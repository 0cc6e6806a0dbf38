// The keys that a report names: which records, in which order, and how many.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: keys of reports")
struct ReportKeysTests {
    private func items(_ range: some Sequence<Int>, _ title: String = "t") -> String {
        "[" + range.map { #"{"id":\#($0),"title":"\#(title)"}"# }.joined(separator: ",") + "]"
    }

    private func ids(_ report: ImportReport, _ outcome: ImportReport.Outcome) -> [String] {
        report.keys(outcome).map(\.description)
    }

    @Test("a report names created and updated records in document order, and no unchanged ones")
    func outcomes() throws {
        let bed = try Forge.store()
        let first = try bed.take(
            #"[{"id":3,"title":"c","author":{"id":9,"login":"a"}},{"id":1,"title":"a"},{"id":2,"title":"b"}]"#, "Issue")
        #expect(ids(first, .created) == ["Issue 3", "User 9", "Issue 1", "Issue 2"])
        #expect(first.keys(.updated).isEmpty && first.keys(.deleted).isEmpty)
        let second = try bed.take(
            #"[{"id":2,"title":"B"},{"id":1,"title":"a"},{"id":3,"title":"C"},{"id":7,"title":"new"}]"#, "Issue")
        #expect(ids(second, .created) == ["Issue 7"] && ids(second, .updated) == ["Issue 2", "Issue 3"])
        #expect(second.keys(.updated, of: "Issue") == [RecordKey(2), RecordKey(3)])
        #expect(second.keys(.updated, of: "User").isEmpty)
    }

    @Test("a deleted record is named as deleted, whether or not others of the unit are stored")
    func deleted() throws {
        var mapping = Forge.mapping
        mapping.entities["Issue"]?.tombstone = TombstoneRule(path: "gone")
        let bed = try TestStore(Forge.schema, mapping)
        try bed.take(items(1...4), "Issue")
        let report = try bed.take(
            #"[{"id":4,"gone":true},{"id":5,"title":"t"},{"id":2,"gone":true},{"id":8,"gone":true}]"#, "Issue")
        #expect(ids(report, .deleted) == ["Issue 4", "Issue 2"] && report.deleted == 2)
        #expect(ids(report, .created) == ["Issue 5"])
    }

    @Test("records that only a reference of another one changes come last, once")
    func byReference() throws {
        let bed = try Forge.store()
        try bed.take(
            #"[{"id":1,"title":"t"},{"id":2,"title":"t"},{"id":3,"title":"t"}]"#, "Issue")
        let report = try bed.take(#"[{"id":5,"login":"a","issues":[2,1]},{"id":4,"login":"b"}]"#, "User")
        #expect(ids(report, .created) == ["User 5", "User 4"])
        #expect(Set(ids(report, .updated)) == ["Issue 1", "Issue 2"] && report.updated == 2)
    }

    @Test("a record that is not stored because of a unique value is not named")
    func dropped() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "User", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .int), AttributeDefinition("login", .string, unique: true),
                    ])
            ]))
        let report = try bed.take(
            #"[{"id":1,"login":"a"},{"id":2,"login":"a"},{"id":3,"login":"b"}]"#, "User")
        #expect(ids(report, .created) == ["User 1", "User 3"] && report.created == 2 && report.skipped == 1)
    }

    @Test("keys are bounded, counts are not; the limit can be raised and switched off", arguments: [nil, 0, 7, 400])
    func limit(_ limit: Int?) throws {
        let bed = try Forge.store()
        if let limit { bed.importer.keyLimit = limit }
        let most = limit ?? 100
        let created = try bed.take(items((1...300).reversed()), "Issue")
        #expect(created.created == 300 && created.keyLimit == most)
        #expect(ids(created, .created) == (1...300).reversed().prefix(most).map { "Issue \($0)" })
        var updated = try bed.take(items(1...300, "u"), "Issue")
        #expect(ids(updated, .updated) == (1...300).prefix(most).map { "Issue \($0)" })
        let more = try bed.take(items(301...350), "Issue")
        updated.add(more)
        #expect(ids(updated, .created) == ids(more, .created) && ids(more, .created).count == min(most, 50))
        updated.add(created)
        #expect(updated.keys(.created).count == min(most, 350) && updated.created == 350)
        #expect(ids(updated, .created).prefix(50) == ids(more, .created).prefix(50))
    }

    @Test("a sum has the largest limit of its parts, and keeps the entities of the keys apart")
    func sums() throws {
        let bed = try Forge.store()
        bed.importer.keyLimit = 150
        var sum = ImportReport()
        for page in 0..<5 {
            sum.add(try bed.take(items(page * 40..<page * 40 + 40), "Issue"))
            sum.add(try bed.take(#"[{"id":\#(page),"login":"u\#(page)"}]"#, "User"))
        }
        #expect(sum.keyLimit == 150 && sum.keys(.created).count == 150 && sum.created == 205)
        #expect(sum.keys(.created, of: "User") == [0, 1, 2].map { RecordKey(Int64($0)) })
        #expect(sum.keys(.created, of: "Issue") == (0..<147).map { RecordKey(Int64($0)) })
    }

    @Test("a key that is longer than a storage key is named in full")
    func longKeys() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "File", key: ["path"],
                    attributes: [
                        AttributeDefinition("path", .string), AttributeDefinition("gone", .bool, optional: true),
                    ])
            ]), Mapping(entities: ["File": EntityMapping { $0.tombstone = TombstoneRule(path: "gone") }]))
        let long = String(repeating: "k", count: 900)
        let created = try bed.take(#"[{"path":"a"},{"path":"\#(long)"},{"path":"b"}]"#, "File")
        #expect(created.keys(.created, of: "File") == [RecordKey("a"), RecordKey(long), RecordKey("b")])
        var sum = ImportReport()
        sum.add(created)
        sum.add(try bed.take(#"[{"path":"\#(long)","gone":true}]"#, "File"))
        #expect(sum.keys(.created) == created.keys(.created) && sum.keys(.deleted, of: "File") == [RecordKey(long)])
    }
}
