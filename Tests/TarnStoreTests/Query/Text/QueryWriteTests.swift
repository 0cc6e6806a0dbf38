// Changing and deleting the records of a query, in steps and at once.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Writes by query")
struct QueryWriteTests {
    private static let schema = Schema([
        EntityDefinition(
            "Item", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("n", .int, indexed: true),
                AttributeDefinition("name", .string, optional: true, indexed: true),
                AttributeDefinition("due", .date, optional: true),
            ],
            relationships: [
                RelationshipDefinition("box", to: "Box", inverse: "items"), RelationshipDefinition("twin", to: "Item"),
            ]),
        EntityDefinition(
            "Box", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("label", .string, optional: true)],
            relationships: [
                RelationshipDefinition("items", to: "Item", many: true, inverse: "box", onDelete: .cascade),
                RelationshipDefinition("seals", to: "Seal", many: true, inverse: "sealed", onDelete: .deny),
            ]),
        EntityDefinition(
            "Seal", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("sealed", to: "Box", inverse: "seals")]),
    ])

    private static func store(_ folder: TemporaryFolder, items: Int64, inBoxesOf size: Int64 = 10) throws -> Store {
        let store = try Forge.open(folder("s"), schema)
        try store.write { writer in
            for box in 0..<(items + size - 1) / size { try writer.put("Box", RecordKey(box), []) }
            for id in 0..<items {
                try writer.put(
                    "Item", RecordKey(id),
                    [
                        Record.Field("n", .int(id)), Record.Field("name", .string("item \(id % 7)")),
                        Record.Field("box", .reference(RecordKey(id / size))),
                    ])
            }
        }
        return store
    }

    private static func query(_ text: String, _ entity: String = "Item") throws -> Query {
        Query(entity, where: try Condition(text: text))
    }

    private static func values(_ store: Store) throws -> [Int64] {
        try store.read { r in
            try r.fetch(Query("Item")).map { record in if case .int(let n)? = record["n"] { n } else { -1 } }
        }
    }

    @Test("an update sets fields of what meets the condition, in steps that are writes of their own, and counts")
    func update() async throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 25)
        let before = try store.sequence
        let report = try await store.update(
            QueryWriteTests.query("n >= 3"), set: ["name": .string("x"), "due": .string("2026-01-02")], step: 10)
        #expect(report == QueryWriteReport(matched: 22, changed: 22, steps: 3))
        #expect(try store.sequence == before + 3)
        let item = try #require(try store.record("Item", 7))
        #expect(
            item["name"] == .string("x") && item["due"] == Timestamp("2026-01-02T00:00:00Z").map(Value.date)
                && item["n"] == .int(7))
        #expect(try store.record("Item", 2)?["name"] == .string("item 2"))
        let count = try store.read { r in try r.count(QueryWriteTests.query("name = x")) }
        #expect(count == 22)
        // Repeating the call changes nothing.
        let again = try await store.update(
            QueryWriteTests.query("n >= 3"), set: ["name": .string("x"), "due": .string("2026-01-02")])
        #expect(again == QueryWriteReport(matched: 22, changed: 0, steps: 1))
        let cleared = try await store.update(QueryWriteTests.query("n < 3"), set: ["name": .null, "box": .int(2)])
        #expect(cleared.changed == 3)
        #expect(try store.related("Box", 2, "items") == [0, 1, 2, 20, 21, 22, 23, 24])
        #expect(try await store.update(QueryWriteTests.query("n > 99"), set: ["n": .int(1)]) == QueryWriteReport())
    }

    @Test("an update that moves records ahead in the index that finds them changes each once")
    func halloween() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 50)
        // A scan by the value that it increases would meet the same record again.
        var query = try QueryWriteTests.query("n < 1000")
        query.order = [.ascending("n")]
        let report = try store.update(query, set: ["n": .int(500)], step: 7)
        #expect(report == QueryWriteReport(matched: 50, changed: 50, steps: 8))
        #expect(try QueryWriteTests.values(store) == Array(repeating: 500, count: 50))
        let limited = try store.write { writer in
            var query = try QueryWriteTests.query("n >= 500")
            query.order = [.descending("id")]
            query.limit = 3
            return try writer.update(query, set: ["n": .int(900)])
        }
        #expect(limited == QueryWriteReport(matched: 3, changed: 3, steps: 1))
        #expect(try QueryWriteTests.values(store).suffix(4) == [500, 900, 900, 900])
    }

    @Test("a record that no longer meets the condition in its step stays as it is")
    func looksAgain() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 30)
        let query = try QueryWriteTests.query("n < 20")
        let work = try store.read { reader in
            try QueryWrite(
                query, isLocal: false,
                { access, entity in .update(try RecordChange(["name": .string("x")], entity, access)) }, reader.access)
        }
        work.take(try store.write { writer in try work.step(&writer, limit: 8) })
        #expect(work.report == QueryWriteReport(matched: 20, changed: 8, steps: 1) && !work.isDone)
        // Between two steps others write.
        try store.put("Item", 10, ["n": .int(77)])
        _ = try store.write { writer in try writer.delete("Item", 11) }
        try store.put("Item", 25, ["n": .int(1)])
        while !work.isDone { work.take(try store.write { writer in try work.step(&writer, limit: 8) }) }
        #expect(work.report == QueryWriteReport(matched: 20, changed: 18, steps: 3))
        #expect(try store.record("Item", 10)?["name"] == .string("item 3") && store.record("Item", 11) == nil)
        #expect(
            try store.record("Item", 25)?["name"] == .string("item 4")
                && store.record("Item", 19)?["name"] == .string("x"))
    }

    @Test("a condition on another record is looked at before the first of the step is changed")
    func conditionsOnOthers() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 2)
        // The effect of the first change on the second's condition does not count in the same step.
        for id in [0, 1] as [Int64] {
            try store.put("Item", RecordKey(id), ["n": .int(1), "twin": .reference(RecordKey(1 - id))])
        }
        #expect(
            try store.update(QueryWriteTests.query("twin.n = 1"), set: ["n": .int(2)])
                == QueryWriteReport(matched: 2, changed: 2, steps: 1))
        #expect(try QueryWriteTests.values(store) == [2, 2])
        // In another step it does.
        #expect(
            try store.update(QueryWriteTests.query("twin.n = 2"), set: ["n": .int(3)], step: 1)
                == QueryWriteReport(matched: 2, changed: 1, steps: 2))
        #expect(try QueryWriteTests.values(store) == [3, 2])
    }

    @Test("deleting goes by the delete rules, in steps of about as many records as were asked for")
    func delete() async throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 100)
        let boxes = try await store.delete(QueryWriteTests.query("id < 4", "Box"), step: 15)
        // Each box is deleted with its 10 items: 11 records, two of which fill a step of 15.
        #expect(boxes == QueryWriteReport(matched: 4, changed: 44, steps: 2))
        #expect(try store.count("Item") == 60 && store.count("Box") == 6)
        let items = try await store.delete(QueryWriteTests.query("n < 45"), step: 2)
        #expect(items == QueryWriteReport(matched: 5, changed: 5, steps: 3))
        #expect(try await store.delete(Query("Seal")) == QueryWriteReport())
    }

    @Test(
        "a cascade that is larger than a step goes in steps of its own, and only if its record still meets the condition"
    )
    func largeCascades() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 60, inBoxesOf: 25)
        let before = try store.sequence
        let report = try store.delete(QueryWriteTests.query("id in (0, 2)", "Box"), step: 10)
        // 26 records in 3 steps, 11 in 2.
        #expect(report.matched == 2 && report.changed == 37)
        #expect(try report.steps == 5 && store.sequence == before + 5)
        #expect(try store.count("Item") == 25 && store.count("Box") == 1)
        let work = try store.read { r in
            try QueryWrite(
                QueryWriteTests.query("label is missing", "Box"), isLocal: false, { _, _ in .delete }, r.access)
        }
        work.take(try store.write { writer in try work.step(&writer, limit: 10) })
        #expect(work.report.changed == 10 && !work.isDone)
        try store.put("Box", 1, ["label": .string("kept")])
        while !work.isDone { work.take(try store.write { writer in try work.step(&writer, limit: 10) }) }
        #expect(work.report.changed == 10)
        #expect(try store.count("Box") == 1 && store.count("Item") == 15)
    }

    @Test(
        "records with queued operations stay when a cascade is deleted, however small the steps are",
        arguments: [1, 2, 9])
    func queuedMembers(step: Int) throws {
        let bed = try OutboxBed(), store = bed.store
        for id in [18, 19, 20] as [Int64] { try store.put("Issue", RecordKey(id), ["repo": .reference(1)]) }
        for id in [17, 19] as [RecordKey] { try bed.update(id, ["title": .string("mine")]) }
        let operations = try bed.operations()
        let work = try store.read { r in try QueryWrite(Query("Repo"), isLocal: false, { _, _ in .delete }, r.access) }
        for _ in 0..<9 where !work.isDone { work.take(try store.write { try work.step(&$0, limit: step) }) }
        // The repository with the two issues that nothing is queued for.
        #expect(work.isDone && work.report.changed == 3)
        #expect(try store.count("Repo") == 0 && store.count("Issue") == 2)
        for id in [17, 19] as [RecordKey] { #expect(try store.record("Issue", id)?["title"] == .string("mine")) }
        #expect(try bed.marks() == ["update Issue 17 title", "update Issue 19 title"])
        #expect(try bed.operations() == operations)
    }

    @Test("a record is deleted also if more records of its cascade stay than a step has")
    func manyQueuedMembers() async throws {
        let bed = try OutboxBed(), store = bed.store
        for id in [18, 19, 20] as [Int64] { try store.put("Issue", RecordKey(id), ["repo": .reference(1)]) }
        for id in [17, 19] as [RecordKey] { try bed.update(id, ["title": .string("mine")]) }
        // As orphans are: steps first, then the rest.
        #expect(try await store.deleteMost("Repo", 1, step: 1) == 2)
        let count = try await store.write { writer -> Int? in
            let repo = try writer.access.state.entity("Repo")
            var references = DeletedReferences()
            let count = try writer.delete(
                repo, ListedRecord(entity: repo.root, storageKey: RecordKey(1).storageKey), upTo: 1, &references)
            try writer.letGo(&references)
            return count
        }
        #expect(count == 1)
        #expect(try store.count("Repo") == 0 && store.count("Issue") == 2)
    }

    @Test("a delete that is denied says what was done before; the same call goes on when nothing is in the way")
    func denied() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 60)
        try store.put("Seal", 1, ["sealed": .reference(3)])
        do {
            try store.delete(Query("Box"), step: 11)
            Issue.record("nothing was denied")
        } catch let error as QueryWriteError {
            #expect(error.report == QueryWriteReport(matched: 6, changed: 33, steps: 3))
            #expect(
                error.reason as? StoreWriteError
                    == StoreWriteError.deleteDenied(entity: "Box", key: "3", relationship: "seals", by: "Seal 1"))
            #expect(error.description.contains("33 records in 3 earlier steps were written"))
        }
        #expect(try store.count("Box") == 3 && store.count("Item") == 30)
        // In one write nothing is kept.
        #expect(throws: StoreWriteError.self) {
            try store.write { writer in try writer.delete(Query("Box", sortedBy: [.descending("id")])) }
        }
        #expect(try store.count("Box") == 3)
        _ = try store.write { writer in try writer.delete("Seal", 1) }
        #expect(try store.delete(Query("Box")) == QueryWriteReport(matched: 3, changed: 33, steps: 1))
        #expect(try store.count("Item") == 0)
    }

    @Test("that nothing was written is said once")
    func nothingWritten() {
        let reasons: [StoreError] = [
            .lmdb(LMDBError(.diskFull, operation: "commit")), .lmdb(LMDBError(.readOnly, operation: "begin")),
        ]
        for reason in reasons {
            let error = QueryWriteError(report: QueryWriteReport(matched: 2), reason: reason)
            #expect(error.description.components(separatedBy: "nothing was written").count == 2, "\(error)")
        }
    }

    @Test("after steps that were written, an error does not say that nothing was")
    func somethingWritten() {
        let full = StoreWriteError.storeFull(path: "s", quota: 9)
        for (changed, steps, text) in [
            (1, 1, "1 record in 1 earlier step was written"), (20, 2, "20 records in 2 earlier steps were written"),
        ] {
            let report = QueryWriteReport(matched: 30, changed: changed, steps: steps)
            let error = QueryWriteError(report: report, reason: full)
            #expect(error.description.contains("nothing of this step was written"), "\(error)")
            #expect(error.description.contains(text), "\(error)")
            #expect(!error.description.contains("nothing was written"), "\(error)")
        }
    }

    @Test("what cannot be set is refused before anything is written")
    func refused() throws {
        let folder = try TemporaryFolder(), store = try QueryWriteTests.store(folder, items: 3)
        let before = try store.sequence
        func error(_ values: [String: Value]) -> (any StoreFailure)? {
            storeError { try store.update(Query("Item"), set: values) }
        }
        #expect(
            error(["nmae": .null])
                == StoreError.unknownField(
                    entity: "Item", name: "nmae", known: ["id", "n", "name", "due", "box", "twin"]))
        #expect(
            error(["n": .string("1")])
                == StoreError.wrongType(entity: "Item", field: "n", expected: "int", found: "\"1\""))
        guard case StoreError.wrongKey? = error(["id": .int(1)]) else {
            Issue.record("the key can be changed")
            return
        }
        guard case StoreError.wrongType? = error(["box": .string("a")]) else {
            Issue.record("a key of another form")
            return
        }
        #expect(try store.sequence == before)
    }

    @Test("partial records stay partial, special kinds keep their kind, and long keys are found again")
    func kindsAndPartials() throws {
        let folder = try TemporaryFolder()
        let store = try Forge.open(
            folder("s"),
            Schema([
                EntityDefinition(
                    "Event", key: ["id"],
                    attributes: [
                        AttributeDefinition("id", .string), AttributeDefinition("note", .string, optional: true),
                        AttributeDefinition("must", .int),
                    ]),
                EntityDefinition(
                    "Push", parent: "Event", attributes: [AttributeDefinition("branch", .string, optional: true)]),
            ]))
        let long = RecordKey(String(repeating: "k", count: 300))
        try store.put("Event", "a", ["must": .int(1)])
        try store.put("Push", "b", ["must": .int(1), "branch": .string("main")])
        try store.put("Push", long, ["must": .int(1)])
        try store.merge("Event", "p", complete: false, [(1, .string("p"))])
        #expect(try store.update(Query("Event", partials: .only), set: ["note": .string("partial")]).changed == 1)
        #expect(try store.record("Event", "p")?.isPartial == true)
        #expect(try store.update(Query("Event", partials: .excluded), set: ["note": .string("n")]).changed == 3)
        #expect(
            try store.record("Push", "b")?["branch"] == .string("main") && store.record("Event", "b")?.entity == "Push")
        #expect(try store.record("Push", long)?["note"] == .string("n"))
        #expect(try store.delete(Query("Push")).changed == 2)
        #expect(try store.count("Event") == 2)
    }

    @Test("typed: the closure says what is set, once; other fields and the key stay")
    func typed() async throws {
        let store = try TypedStore()
        try store.put((1...20).map { Ticket(Int64($0), "t\($0)") })
        let first = Ticket.where { $0[.id] <= Int64(12) }
        let report = try await store.store.update(first, step: 5) { ticket in
            ticket.set(.state, TicketState.closed)
            ticket.set(.comments, 4)
        }
        #expect(report == QueryWriteReport(matched: 12, changed: 12, steps: 3))
        let ticket = try #require(try store.get(Ticket.self, 2))
        #expect(ticket.title == "t2" && ticket.state == .closed && ticket.comments == 4)
        #expect(try await store.store.delete(first.filter { $0[.state] == TicketState.closed }).changed == 12)
    }

    @Test("typed, in one write: all of it or nothing")
    func typedInOneWrite() throws {
        let store = try TypedStore()
        try store.put((1...8).map { Ticket(Int64($0), "t\($0)") })
        var calls = 0
        let inWrite = try store.store.write { writer in
            try writer.update(Ticket.where { $0[.id] > Int64(1) }.prefix(2)) { ticket in
                calls += 1
                ticket.clear(.closedAt)
                ticket.set(.title, "first")
            }
        }
        #expect(inWrite.changed == 2 && calls == 1)
        #expect(try (1...4).map { try store.get(Ticket.self, $0)?.title } == ["t1", "first", "first", "t4"])
        let error = try TypedStore.error { try store.store.update(Ticket.all) { $0.set(.id, Int64(1)) } }
        guard case StoreError.wrongKey? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try store.store.write { writer in try writer.delete(Ticket.all) }.changed == 8)
    }
}
