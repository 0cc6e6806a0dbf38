// A log with values, played back onto a copy, gives the same store.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Replaying changes", .timeLimit(.minutes(10)))
struct ChangeReplayTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Everything that is in a store, but for the ids of long lists and the log itself: a line for
    /// each record, index entry and reference.
    private func content(_ store: Store) throws -> [String] {
        try store.read { reader in
            var lines: [String] = []
            let access = reader.access
            for entity in reader.catalog.entities {
                if entity.root == entity.id {
                    try access.records.scan(entity) { key, row in
                        let record = try access.record(entity, key, row)
                        var text = "\(record.entity) \(Array(key)) \(record.key) \(record.isPartial) \(record.version) "
                        record.appendFieldsJSON(to: &text)
                        lines.append(text)
                        for index in 0..<row.body.count {
                            guard let value = row.body.value(at: index), value.tag == ValueTag.edges else { continue }
                            try access.forEachReference(value) { target in
                                lines.append("  \(row.body.id(at: index)) → \(Array(target))")
                                return true
                            }
                        }
                        return true
                    }
                }
            }
            for index in reader.catalog.indexIDs {
                for key in try access.keys(of: access.state.index(index)) { lines.append("index \(index) \(key)") }
            }
            return lines
        }
    }

    /// Applies every commit after a token in a separate write.
    private func replay(_ source: Store, since token: ChangeToken, onto copy: Store, limit: Int = 1000) throws {
        var commit: [Change] = []
        func apply() throws {
            let changes = commit
            if !changes.isEmpty { try copy.write { try $0.apply(changes) } }
            commit = []
        }
        var next = token
        while true {
            let page = try source.read { try $0.changes(since: next, limit: limit) }
            for change in page.changes {
                if let last = commit.last, last.sequence != change.sequence { try apply() }
                commit.append(change)
            }
            next = page.token
            guard page.hasMore else { return try apply() }
        }
    }

    @Test(
        "random operations, played back from the log onto an empty store and onto a copy from the middle, give the same stores",
        arguments: [201, 202, 203, 204, 205, 206] as [UInt64])
    func random(_ seed: UInt64) async throws {
        var source = OperationSource(seed: seed)
        let operations = source.operations(isSanitized ? 300 : 700)
        let run = try ModelRun(keepsValues: true)
        var middle: (store: Store, token: ChangeToken)?
        for (position, operation) in operations.enumerated() {
            // The filling of the store belongs to the tests of quotas.
            if case .fill = operation { continue }
            try run.step(operation)
            if middle == nil, position >= operations.count / 2 {
                middle = (try run.copy("middle"), try run.read { try $0.changeToken })
            }
            await Task.yield()
        }
        let original = try run.copy("original"), empty = try run.empty("empty"), half = try #require(middle)
        let wanted = try content(original)
        try replay(original, since: original.read { try $0.oldestChangeToken }, onto: empty, limit: 7)
        #expect(try difference(content(empty), wanted) == nil, "seed \(seed), from the beginning")
        #expect(try empty.sequence == original.sequence, "seed \(seed)")
        try replay(original, since: half.token, onto: half.store)
        #expect(try difference(content(half.store), wanted) == nil, "seed \(seed), from the middle")
        #expect(wanted.count > 100)
    }

    /// The first line in which two stores differ.
    private func difference(_ found: [String], _ wanted: [String]) -> String? {
        for (a, b) in zip(found, wanted) where a != b { return "\(a.prefix(2000))\n instead of\n\(b.prefix(2000))" }
        return found.count == wanted.count ? nil : "\(found.count) lines, not \(wanted.count)"
    }

    @Test("a copy loses the value of a field that the record loses, as when a local change is taken back")
    func lostField() throws {
        let store = try Forge.open(folder("s")), copy = try Forge.open(folder("copy"))
        try store.setChangeValues(.all)
        let start = try store.read { try $0.changeToken }
        try store.put("Issue", 1, ["title": .string("a"), "number": .int(3)])
        let issue = try #require(store.catalog.entity("Issue")), number = try #require(issue.field("number")).id
        let closedAt = try #require(issue.field("closedAt")).id, time = Value.date(Timestamp(microseconds: 5))
        try store.write { writer in
            let record = ListedRecord(entity: issue.root, storageKey: RecordKey(1).storageKey)
            try writer.setFields(record, [number: nil, closedAt: time.withEncoded { Array($0.bytes) }])
        }
        #expect(try store.record("Issue", 1)?.fields.map(\.name) == ["id", "title", "closedAt"])
        let last = try #require(try store.read { try $0.changes(since: start).changes.last })
        // In the order of ids, as in a row.
        #expect(last.fields == [.init("number", .null), .init("closedAt", time)])
        try replay(store, since: start, onto: copy)
        let record = try #require(try copy.record("Issue", 1))
        #expect(record["title"] == .string("a") && record["number"] == .null && record["closedAt"] == time)
        #expect(try IndexVerification.problem(in: copy) == nil)
    }

    @Test("an update tells the fields that changed, a new record all of them, a deleted one none")
    func values() throws {
        let store = try Forge.open(folder("s"))
        try store.setChangeValues(.entities(["Issue"]))
        let start = try store.read { try $0.changeToken }
        try store.put("Issue", 1, ["title": .string("a"), "number": .int(3)])
        try store.put("Issue", 1, ["title": .string("b"), "number": .int(3)])
        try store.put("Issue", 1, ["number": .null])
        try store.put("User", 1, ["login": .string("x")])
        try store.write { _ = try $0.delete("Issue", 1) }
        let changes = try store.read { try $0.changes(since: start).changes }
        func fields(_ position: Int) -> [String: Value]? {
            changes[position].fields.map { Dictionary($0.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }
        }
        #expect(fields(0) == ["id": .int(1), "title": .string("a"), "number": .int(3)])
        #expect(fields(1) == ["title": .string("b")])
        #expect(fields(2) == ["number": .null])
        #expect(fields(3) == nil)
        #expect(fields(4) == nil)
    }

    @Test("a long list is told by its references, and played back")
    func longLists() throws {
        let store = try Forge.open(folder("s")), copy = try Forge.open(folder("c"))
        try store.setChangeValues(.all)
        let start = try store.read { try $0.changeToken }
        var labels = (0..<500).map { RecordKey("label \($0)") }
        try store.put("Issue", 1, ["labels": .references(labels)])
        labels.swapAt(3, 400)
        labels.removeLast(5)
        try store.put("Issue", 1, ["labels": .references(labels)])
        let changes = try store.read { try $0.changes(since: start).changes }
        #expect(changes.last?.fields == [.init("labels", .references(labels))])
        try replay(store, since: start, onto: copy)
        #expect(try difference(content(copy), content(store)) == nil)
        #expect(try copy.record("Issue", 1)?["labels"] == .references(labels))
    }

    @Test("how far a copy has come is committed with what was applied, or not at all")
    func position() throws {
        let store = try Forge.open(folder("s")), copy = try Forge.open(folder("c"))
        try store.setChangeValues(.all)
        let start = try store.read { try $0.changeToken }
        let name = String(repeating: "a long name ", count: 40)
        #expect(try copy.read { try $0.changePosition(name) } == nil)
        try store.put("User", 1, ["login": .string("a")])
        let page = try store.read { try $0.changes(since: start) }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try copy.write { writer in
                try writer.apply(page.changes)
                try writer.setChangePosition(name, page.token)
                throw Stop()
            }
        }
        #expect(try copy.read { try $0.changePosition(name) } == nil)
        try copy.write { writer in
            try writer.apply(page.changes)
            try writer.setChangePosition(name, page.token)
        }
        #expect(try copy.read { try $0.changePosition(name) } == page.token)
        #expect(try copy.read { try $0.changePosition("other") } == nil)
    }

    @Test("the positions of consumers that come and go are removed on demand, and leave nothing")
    func removedPositions() throws {
        let store = try Forge.open(folder("s")), token = try store.read { try $0.changeToken }
        func settings() throws -> Int {
            try store.read { try $0.access.raw.statistics($0.access.state.meta).entries }
        }
        let before = try settings()
        for number in 0..<100 { try store.write { try $0.setChangePosition("consumer \(number)", token) } }
        #expect(try settings() == before + 100)
        for number in 0..<100 {
            try store.write { try $0.setChangePosition("consumer \(number)", nil) }
            #expect(try store.read { try $0.changePosition("consumer \(number)") } == nil)
        }
        #expect(try settings() == before)
        try store.write { try $0.setChangePosition("none", nil) }
    }

    @Test(
        "what cannot be applied is refused: without values, to a record that is not there, with a field that is not there"
    )
    func refused() throws {
        let store = try Forge.open(folder("s")), copy = try Forge.open(folder("c"))
        let start = try store.read { try $0.changeToken }
        try store.put("User", 1, ["login": .string("a")])
        func changes() throws -> [Change] { try store.read { try $0.changes(since: start).changes } }
        let bare = try changes()
        #expect(
            storeError { try copy.write { try $0.apply(bare) } }
                == ChangeLogError.changeWithoutValues(entity: "User", key: "1"))
        try store.setChangeValues(.all)
        try store.put("User", 1, ["login": .string("b")])
        let update = try Array(changes().dropFirst())
        #expect(
            storeError { try copy.write { try $0.apply(update) } }
                == ChangeLogError.changeOfMissingRecord(entity: "User", key: "1"))
        #expect(try copy.sequence == 0)
        let small = try Forge.open(
            folder("small"),
            Schema([EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)])]))
        try small.put("User", 1)
        #expect(
            storeError { try small.write { try $0.apply(update) } }
                == StoreError.unknownField(entity: "User", name: "login", known: ["id"]))
    }

    @Test("fields are matched by their names where two stores gave them other ids")
    func otherIDs() throws {
        let store = try Forge.open(folder("s"))
        var schema = Schema([])
        for entity in Forge.schema.entities.reversed() {
            var entity = entity
            entity.attributes.reverse()
            schema.entities.append(entity)
        }
        let copy = try Forge.open(folder("c"), schema)
        try store.setChangeValues(.all)
        let start = try store.read { try $0.changeToken }
        try store.put("User", 1, ["login": .string("a")])
        try store.put("Issue", 7, ["title": .string("t"), "author": .reference(1), "number": .int(4)])
        try store.put("Issue", 7, ["title": .string("u")])
        try replay(store, since: start, onto: copy)
        for name in ["id", "title", "author", "number"] {
            #expect(try copy.record("Issue", 7)?[name] == store.record("Issue", 7)?[name])
        }
        #expect(try copy.related("User", 1, "issues") == [7])
    }
}
