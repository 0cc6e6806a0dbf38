// Kinds of records in units: local changes, reference conflicts, versions, and unreadable records
// of a scan.

import TarnImport
import TarnStore
import Testing

@Suite("Import: kinds of records in units")
struct KindUnitTests {
    /// Event ← Push ← ForcePush, Event ← Release; each may have one slot, and is on a board that
    /// lists them.
    private static let schema = Schema([
        EntityDefinition(
            "Event", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("type", .string, optional: true),
                AttributeDefinition("note", .string, optional: true),
                AttributeDefinition("version", .int, optional: true),
            ],
            relationships: [
                RelationshipDefinition("slot", to: "Slot", inverse: "event"),
                RelationshipDefinition("board", to: "Board", inverse: "events"),
            ]),
        EntityDefinition(
            "ForcePush", parent: "Push", attributes: [AttributeDefinition("before", .string, optional: true)]),
        EntityDefinition("Push", parent: "Event", attributes: [AttributeDefinition("branch", .string, optional: true)]),
        EntityDefinition("Release", parent: "Event", attributes: [AttributeDefinition("tag", .string, optional: true)]),
        EntityDefinition(
            "Slot", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("event", to: "Event", inverse: "slot")]),
        EntityDefinition(
            "Board", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("events", to: "Event", many: true, inverse: "board")]),
    ])

    private static func bed(otherwise: EntityChoice.Otherwise = .parent, _ change: (inout Mapping) -> Void = { _ in })
        throws -> TestStore
    {
        let rules: [EntityChoice.Rule] = ["Push", "Release", "ForcePush"].map {
            .entity($0, when: [RecordCondition("type", .matches([$0]))])
        }
        var mapping = Mapping(entities: [
            "Event": EntityMapping { $0.choice = EntityChoice(rules, otherwise: otherwise) },
            "Board": EntityMapping(declared: ["events"]),
        ])
        change(&mapping)
        return try TestStore(schema, mapping)
    }

    private func edit(_ bed: TestStore, _ entity: String, _ values: [Record.Field]) throws {
        try bed.store.write { try $0.putLocally(entity, RecordKey(1), values) }
    }

    @Test("a record that was changed here keeps its kind, and its local value, until the server knows the change")
    func localKind() throws {
        let bed = try Self.bed()
        try bed.take(#"[{"id":1,"type":"Push","branch":"b","note":"old"}]"#, "Event")
        try edit(bed, "Push", [Record.Field("branch", .string("mine"))])
        let answer = #"[{"id":1,"type":"Release","tag":"t","note":"new"}]"#
        let report = try bed.take(answer, "Event")
        #expect(
            report.diagnostics.map(\.code) == [.localKept]
                && report.diagnostics.first?.message.contains("it stays a Push") == true)
        let record = try #require(try bed.record("Event", 1))
        #expect(
            record.entity == "Push" && record["branch"] == .string("mine") && record["note"] == .string("new")
                && record["tag"] == nil)
        #expect(try bed.store.read { try $0.localChange("Push", RecordKey(1)) } != nil)
        _ = try bed.store.write { try $0.clearLocalChange("Push", RecordKey(1)) }
        try bed.take(answer, "Event")
        let known = try #require(try bed.record("Event", 1))
        #expect(known.entity == "Release" && known["tag"] == .string("t") && known["branch"] == nil)
    }

    @Test(
        "a more special kind has all fields that were changed here, and is taken; where the whole record is kept, it is not",
        arguments: [
            (LocalPolicy.fields, "ForcePush"), (.keep, "Push"), (.server, "ForcePush"),
        ])
    func moreSpecial(policy: LocalPolicy, kind: String) throws {
        let bed = try Self.bed { $0.entities["Event"]?.local = policy }
        try bed.take(#"[{"id":1,"type":"Push","branch":"b"}]"#, "Event")
        try edit(bed, "Push", [Record.Field("branch", .string("mine"))])
        try bed.take(#"[{"id":1,"type":"ForcePush","branch":"c","before":"x"}]"#, "Event")
        let record = try #require(try bed.record("Event", 1))
        #expect(record.entity == kind && record["branch"] == .string(policy == .server ? "c" : "mine"))
        #expect(record["before"] == (policy == .keep ? nil : .string("x")))
    }

    @Test("a kind has its parent's rule for local changes, and its own goes before")
    func localInherited() throws {
        for (own, branch) in [(nil, "mine"), (LocalPolicy.server, "c")] {
            let bed = try Self.bed {
                $0.local = .server
                $0.entities["Event"]?.local = .fields
                $0.entities["Push"] = EntityMapping { $0.local = own }
            }
            try bed.take(#"[{"id":1,"type":"Push","branch":"b"}]"#, "Event")
            try edit(bed, "Push", [Record.Field("branch", .string("mine"))])
            try bed.take(#"[{"id":1,"type":"Push","branch":"c"}]"#, "Event")
            #expect(try bed.value("Event", 1, "branch") == .string(branch))
        }
    }

    @Test("a record that was changed here stays though the server says that it is no more, as whatever kind it says so")
    func localTombstone() throws {
        let bed = try Self.bed { $0.entities["Event"]?.tombstone = TombstoneRule(path: "gone") }
        try bed.take(#"[{"id":1,"type":"Push","branch":"b"}]"#, "Event")
        try edit(bed, "Push", [Record.Field("branch", .string("mine"))])
        #expect(try bed.take(#"[{"id":1,"type":"Release","gone":true}]"#, "Event").deleted == 0)
        #expect(try bed.record("Event", 1)?.entity == "Push")
        #expect(try bed.store.read { try $0.localChange("Push", RecordKey(1))?.isGoneAtServer } == true)
    }

    @Test("what is no more need not say what it was, also where records of no known kind are skipped")
    func bareTombstone() throws {
        let bed = try Self.bed(otherwise: .skip) { $0.entities["Event"]?.tombstone = TombstoneRule(path: "gone") }
        try bed.take(#"[{"id":1,"type":"Push"},{"id":2,"type":"Release"}]"#, "Event")
        let report = try bed.take(#"[{"id":1,"gone":true},{"id":2}]"#, "Event")
        #expect(report.deleted == 1 && report.skipped == 1)
        #expect(try bed.record("Event", 1) == nil && bed.record("Event", 2)?.entity == "Release")
    }

    @Test("an older answer that says another kind counts as older, and neither changes nor ends the record")
    func older() throws {
        let bed = try Self.bed {
            $0.entities["Event"]?.version = "version"
            $0.entities["Event"]?.tombstone = TombstoneRule(path: "gone")
        }
        try bed.take(#"[{"id":1,"type":"Push","branch":"b","version":5}]"#, "Event")
        for answer in [
            #"{"id":1,"type":"Release","tag":"t","version":4}"#, #"{"id":1,"type":"Release","gone":true,"version":4}"#,
        ] {
            let report = try bed.take("[\(answer)]", "Event")
            #expect(report.older == 1 && report.deleted == 0)
            #expect(try bed.record("Event", 1)?.entity == "Push" && bed.value("Event", 1, "branch") == .string("b"))
        }
        #expect(try bed.take(#"[{"id":1,"type":"Release","version":6}]"#, "Event").updated == 1)
        #expect(try bed.record("Event", 1)?.entity == "Release")
    }

    @Test("one-to-one: records of several kinds claim the same record in one relationship, and the later one has it")
    func claims() throws {
        let bed = try Self.bed()
        let report = try bed.take(
            #"[{"id":1,"type":"Push","slot":5},{"id":2,"type":"Release","slot":{"id":5}}]"#, "Event")
        #expect(
            report.diagnostics.map(\.code) == [.relationshipConflict] && report.diagnostics.first?.path == "$[1].slot")
        #expect(try bed.related("Slot", 5, "event") == ["2"] && bed.value("Event", 1, "slot") == .null)
        #expect(
            report.entities == ["Push": .init(created: 1), "Release": .init(created: 1), "Slot": .init(created: 1)])
        try bed.take(#"[{"id":3,"slot":5}]"#, "Event")
        #expect(try bed.related("Slot", 5, "event") == ["3"] && bed.record("Event", 2)?.entity == "Release")
    }

    @Test("one-to-one: what is claimed by a key path into the surroundings is claimed all the same")
    func outerClaims() throws {
        let bed = try Self.bed { $0.entities["Event"]?.paths = ["slot": ["@root.slot"]] }
        let report = try bed.take(#"{"slot":5,"list":[{"id":1},{"id":2}]}"#, "Event", records: "list")
        #expect(report.diagnostics.map(\.code) == [.relationshipConflict])
        #expect(try bed.value("Event", 1, "slot") == .null && bed.value("Event", 2, "slot") == .reference(RecordKey(5)))
    }

    @Test("a record of a special kind that a list claims is counted once, as that kind")
    func counted() throws {
        let bed = try Self.bed()
        try bed.take(#"[{"id":1,"type":"Push"}]"#, "Event")
        _ = try bed.add(#"[{"id":1,"type":"Push"}]"#, "Event")
        _ = try bed.add(#"[{"id":9,"events":[1]}]"#, "Board")
        #expect(try bed.commit().entities == ["Push": .init(updated: 1), "Board": .init(created: 1)])
    }

    @Test(
        "records without a key, of no known kind, or that a hook made unreadable are what was not read, in lists of every form"
    )
    func unread() throws {
        let bed = try Self.bed(otherwise: .skip)
        let list =
            #"[{"id":1,"type":"Push","slot":{}},{"type":"Push"},{"id":2,"type":"Other"},{"id":3,"type":"Release"},7]"#
        #expect(try bed.add(list, "Event").skipped == 3)
        let several = try bed.add(
            #"{"groups":[{"list":\#(list)},{"list":\#(list)}]}"#, "Event", records: "groups.*.list")
        #expect(several.skipped == 6 && several.count == 10 && several.listed.count == 4)
        let envelope = try bed.importer.add(
            Array(#"{"events":\#(list),"slots":[{},{"id":4}]}"#.utf8),
            envelope: [EnvelopePart("events", "Event"), EnvelopePart("slots", "Slot")])
        #expect(envelope.skipped == 4 && envelope.count == 7)
        // Read in parts.
        bed.importer.limits.documentSize = 120
        bed.importer.limits.partSize = 120
        #expect(try bed.add(#"{"list":\#(list)}"#, "Event", records: "list").skipped == 3)
    }

    @Test("a unit that a record without a key fails can only be discarded, and says so")
    func failed() throws {
        let bed = try Self.bed { $0.keyless = .fail }
        try bed.add(#"[{"id":1}]"#, "Event")
        #expect(!bed.importer.hasFailed)
        #expect(throws: ImportError.self) { try bed.add(#"[{"note":"x"}]"#, "Event") }
        #expect(bed.importer.hasFailed)
        #expect(throws: ImportError.self) { try bed.commit() }
        bed.importer.discard()
        #expect(!bed.importer.hasFailed)
        #expect(try bed.take(#"[{"id":2}]"#, "Event").created == 1)
        #expect(try bed.count("Event") == 1)
    }
}
