import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: the server's keys")
struct OutboxAdoptionTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws { bed = try OutboxBed() }

    @Test("a key is replaced in rows, references, lists, joins, owned keys, marks and operations")
    func everywhere() throws {
        let label = try bed.create("Label", .temporary, ["color": .string("blue")]).key
        let issue = try bed.create(
            "Issue", .temporary, ["title": .string("t"), "labels": .references(["bug", label])]
        ).key
        let comment = try bed.create("Comment", .temporary, ["issue": .reference(issue), "text": .string("c")]).key
        try bed.create("Reaction", .partial(comment.components.map(Optional.some) + [.string("+1")]))
        guard case .int(let number)? = issue.components.first else { return }
        try store.put("Review", 8, ["issueID": .int(number)])
        try bed.update(17, ["parent": .reference(issue)])
        try store.put("Note", 3)
        _ = try store.write { try $0.enqueueAdd([3], to: "notes", of: "Issue", issue) }
        try bed.claim(1, 2)
        try bed.complete(1, "blue")
        #expect(try store.related("Issue", issue, "labels") == ["bug", "blue"])
        let completion = try #require(try bed.complete(2, 99))
        #expect(completion.key == 99 && !completion.isMerged)
        let own = RecordKey([.int(99)] + comment.components.dropFirst())
        #expect(try store.record("Issue", 99)?["title"] == .string("t"))
        #expect(try store.related("Issue", 99, "labels") == ["bug", "blue"])
        #expect(try store.related("Issue", 99, "comments") == [own] && store.related("Issue", 99, "children") == [17])
        #expect(try store.related("Issue", 99, "reviews") == [8] && store.related("Issue", 99, "notes") == [3])
        #expect(try store.count("Issue") == 2 && store.count("Comment") == 1 && store.count("Reaction") == 1)
        #expect(
            try bed.operations() == [
                "3 create Comment \(own) text:->c issue:->99",
                "4 create Reaction [99, \(comment.components[1]), +1] name:->+1 comment:->\(own)",
                "5 update Issue 17 parent:->99", "6 add Issue 99 notes=[3]",
            ])
        #expect(
            try bed.marks() == [
                "create Comment \(own) ", "create Reaction [99, \(comment.components[1]), +1] ",
                "update Issue 17 parent",
                "update Note 3 issue",
            ])
        // The old keys still lead to the records.
        #expect(try store.record("Issue", issue)?.key == 99 && store.record("Comment", comment)?.key == own)
        #expect(try store.related("Issue", issue, "notes") == [3])
        try bed.complete(3, RecordKey([.int(99), .int(4)]))
        #expect(try store.record("Comment", comment)?.key == RecordKey([.int(99), .int(4)]))
        #expect(try store.record("Reaction", RecordKey([.int(99), .int(4), .string("+1")])) != nil)
        for id in [4, 5, 6] as [UInt64] { try bed.complete(id) }
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
        #expect(try bed.update(issue, ["title": .string("by the old key")]).key == 99)
    }

    @Test("local changes and deletions by a temporary key that was replaced are those of the record")
    func writesByOldKey() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.claim(1)
        try bed.complete(1, 99)
        let id = try #require(made.components.first.map { Value($0) })
        try store.write {
            try $0.putLocally("Issue", made, [Record.Field("id", id), Record.Field("title", .string("later"))])
        }
        #expect(try store.record("Issue", 99)?["title"] == .string("later") && store.count("Issue") == 2)
        #expect(try bed.marks() == ["update Issue 99 title"])
        #expect(try store.write { try $0.deleteLocally("Issue", made) })
        #expect(try bed.marks() == ["delete Issue 99 "] && store.count("Issue") == 1)
        try store.put("Issue", 99)
        #expect(try store.delete("Issue", made) == 1 && store.count("Issue") == 1)
    }

    @Test("fields that are put by a temporary key that was replaced are those of the record")
    func putByOldKey() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.complete(1, 99)
        let id = try #require(made.components.first)
        try store.write { writer in
            try writer.put(
                "Issue", made, [Record.Field("id", Value(id)), Record.Field("title", .string("later"))], ifVersion: nil)
        }
        #expect(try store.record("Issue", 99)?["title"] == .string("later") && store.count("Issue") == 2)
        #expect(throws: StoreWriteError.self) { try store.write { try $0.put("Issue", made, [], ifVersion: 0) } }
        // Another value than that of the key stays an error.
        #expect(throws: (any Error).self) {
            try store.write { try $0.put("Issue", made, [Record.Field("id", .int(12_345))], ifVersion: nil) }
        }
    }

    @Test("a stepwise deletion by a temporary key that was replaced deletes the record and its cascade in steps")
    func stepsByOldKey() async throws {
        for suspends in [false, true] {
            let bed = try OutboxBed(), store = bed.store
            func prepare() throws -> (RecordKey, ChangeToken) {
                let made = try bed.create("Repo").key
                try bed.claim(1)
                try bed.complete(1, 99)
                for id: Int64 in 101...106 { try store.put("Issue", RecordKey(id), ["repo": .reference(99)]) }
                return (made, try store.read { try $0.changeToken })
            }
            func deleteNow(_ key: RecordKey) throws -> Int { try store.delete("Repo", key, step: 2) }
            let (made, token) = try prepare()
            let count = suspends ? try await store.delete("Repo", made, step: 2) : try deleteNow(made)
            #expect(count == 7)
            let left = try store.read { (try $0.count("Issue"), try $0.count("Repo")) }
            #expect(left == (1, 1))
            let changes = try store.read { try $0.changes(since: token).changes }
            #expect(Set(changes.map(\.sequence)).count > 1)
        }
    }

    @Test("a key that is replaced behind other writes of a transaction leads to the record there")
    func replacedInTransaction() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try store.write { writer in
            // Before the first alias of the store.
            try writer.put("Label", "bug", [.init("color", .string("blue"))], ifVersion: nil)
            _ = try writer.completeOperation(1, adopting: 99)
            try writer.put("Issue", made, [.init("title", .string("later"))], ifVersion: nil)
        }
        #expect(try store.record("Issue", 99)?["title"] == .string("later") && store.count("Issue") == 2)
    }

    @Test("a record that is put under an owner whose key was replaced belongs to the present owner")
    func putUnderOldOwner() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.complete(1, 99)
        let comment = RecordKey(made.components + [.int(4)]), own = RecordKey([.int(99), .int(4)])
        try store.write { writer in
            try writer.put(
                "Comment", comment, [.init("issue", .reference(made)), .init("text", .string("a"))], ifVersion: nil)
            try writer.putLocally("Reaction", RecordKey(comment.components + [.string("+1")]), [])
        }
        #expect(try store.related("Issue", 99, "comments") == [own] && store.count("Comment") == 1)
        #expect(try store.record("Comment", comment)?.key == own)
        #expect(try store.record("Reaction", RecordKey(own.components + [.string("+1")])) != nil)
        #expect(try store.write { try $0.delete("Comment", comment, ifVersion: nil) } && store.count("Comment") == 0)
    }

    @Test("the server's record with a key that the program had chosen for another one is not taken for that one")
    func takenKey() throws {
        try bed.create("Issue", .client(5), ["title": .string("mine")])
        try bed.claim(1)
        try bed.complete(1, 99)
        #expect(try store.record("Issue", 5)?.key == 99)
        try bed.update(99, ["title": .string("later")])
        try store.put("Issue", 5, ["title": .string("theirs")])
        #expect(try store.read { try $0.localChange("Issue", 5) } == nil)
        #expect(try store.read { try $0.outbox.operations(of: "Issue", 5) }.isEmpty)
        #expect(try store.read { try $0.outbox.resolvedKey("Issue", 5) } == 5)
        try bed.delete("Issue", 5)
        #expect(try store.record("Issue", 5) == nil)
        #expect(throws: OutboxError.self) { try bed.update(5, ["title": .string("x")]) }
        #expect(try store.record("Issue", 99)?["title"] == .string("later"))
    }

    @Test("a key that another record adopts no longer leads to the one that had it before")
    func adoptedByAnother() throws {
        try bed.create("Issue", .client(5), ["title": .string("mine")])
        try bed.complete(1, 99)
        #expect(try store.record("Issue", 5)?.key == 99)
        let made = try bed.create("Issue", .temporary, ["title": .string("other")]).key
        try bed.complete(2, 5)
        #expect(try store.record("Issue", made)?["title"] == .string("other"))
        #expect(try store.delete("Issue", 5) == 1)
        #expect(try store.record("Issue", made) == nil && store.record("Issue", 5) == nil)
        #expect(try store.record("Issue", 99)?["title"] == .string("mine"))
        #expect(try store.read { try $0.outbox.counters.aliases } == 1)
    }

    @Test("the record that a page brought meanwhile and the created one become one; local changes stay")
    func merged() throws {
        let made = try bed.create(
            "Issue", .temporary, ["title": .string("mine"), "state": .string("open"), "sku": .int(1)]
        ).key
        try bed.claim(1)
        try bed.update(made, ["title": .string("later")])
        try store.put("Issue", 99, ["title": .string("server"), "state": .string("closed")])
        try store.put("Issue", 18, ["parent": .reference(99)])
        let completion = try bed.complete(1, 99)
        #expect(completion?.isMerged == true)
        let record = try #require(try store.record("Issue", 99))
        #expect(record["title"] == .string("later") && record["state"] == .string("closed") && record["sku"] == .int(1))
        #expect(try store.count("Issue") == 3 && store.related("Issue", 99, "children") == [18])
        #expect(try bed.marks() == ["update Issue 99 title"])
        try bed.discard(2)
        // The server's value of the field.
        #expect(try store.record("Issue", 99)?["title"] == .string("server"))
    }

    @Test("of two changed records that become one, what the server has is kept, and no local value is taken for it")
    func mergedMarks() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.claim(1)
        try bed.update(made, ["title": .string("later")])
        try store.put("Issue", 99, ["title": .string("server"), "state": .string("open")])
        try bed.update(99, ["title": .string("other"), "state": .string("closed")])
        try bed.tell("Issue", 99, "state", .string("merged"))
        try bed.complete(1, 99)
        let change = try #require(try store.read { try $0.localChange("Issue", 99) })
        #expect(change.fields == ["title", "state"])
        #expect(change.server == [.init("title", .string("mine")), .init("state", .string("merged"))])
        try bed.discard(3)
        #expect(try store.record("Issue", 99)?["state"] == .string("merged"))
    }

    @Test("a record that was deleted while its creation was sent stays deleted")
    func deleted() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("mine")]).key
        try bed.claim(1)
        try bed.delete("Issue", made)
        #expect(try bed.waits(2) == ["1 creation"])
        try store.put("Issue", 99, ["title": .string("server")])
        try bed.complete(1, 99)
        #expect(try store.record("Issue", 99) == nil && bed.operations() == ["2 delete Issue 99"])
        #expect(try bed.marks() == ["delete Issue 99 "])
        try bed.discard(2)
        #expect(try store.record("Issue", 99)?["title"] == .string("server") && bed.marks() == [])
    }

    @Test("long keys and long lists")
    func long() throws {
        let label = try bed.create("Label").key, long = String(repeating: "x", count: 300)
        let many = (0..<300).map { RecordKey("label \($0)") }
        try store.put("Issue", 17, ["labels": .references(many + [label])])
        try bed.complete(1, RecordKey(long))
        #expect(try store.record("Label", RecordKey(long))?.key == RecordKey(long))
        #expect(try store.related("Issue", 17, "labels").last == RecordKey(long))
        #expect(try store.related("Label", RecordKey(long), "issues") == [17])
    }

    @Test("a condition with a key that was replaced finds the record, also behind relationships and for writes")
    func conditions() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        let label = try bed.create("Label").key
        try store.put("Issue", 18, ["parent": .reference(made), "labels": .references([label])])
        try bed.complete(1, 99)
        try bed.complete(2, "la")
        func found(_ condition: Condition) throws -> [RecordKey] {
            try store.read { try $0.fetch(Query("Issue", where: condition)).map(\.key) }
        }
        let id = try #require(made.components.first.map { Value($0) })
        #expect(try found(.compare("id", .equal, id)) == [99])
        #expect(try found(.compare("id", .notEqual, id)) == [17, 18])
        #expect(try found(.isIn("id", [id, .int(17), .int(99)])) == [17, 99])
        #expect(try found(.not(.or([.compare("id", .equal, id), .compare("id", .equal, .int(17))]))) == [18])
        #expect(try found(.compare("parent", .equal, .reference(made))) == [18])
        #expect(try found(.compare(FieldPath(["parent", "id"]), .equal, id)) == [18])
        #expect(try found(.contains("labels", .reference(label))) == [18])
        let query = Query("Issue", where: .compare("id", .equal, id))
        #expect(try store.read { try $0.count(query) } == 1)
        #expect(try store.updateLocally(query, set: ["title": .string("by the old key")]).changed == 1)
        #expect(try store.record("Issue", 99)?["title"] == .string("by the old key"))
    }

    @Test("a condition with a replaced key under which there is another record by now finds that one")
    func reusedKey() throws {
        try bed.create("Label", .client("La"), ["color": .string("blue")])
        try bed.complete(1, "la")
        let query = Query("Label", where: .compare("name", .equal, .string("La")))
        #expect(try store.read { try $0.fetch(query).map(\.key) } == ["la"])
        try store.put("Issue", 17, ["labels": .references(["la"])])
        #expect(try store.related("Label", "La", "issues") == [17])
        try store.put("Label", "La", ["color": .string("green")])
        #expect(try store.read { try $0.fetch(query).map(\.key) } == ["La"])
        // So do its relationships.
        #expect(try store.related("Label", "La", "issues") == [])
        try store.put("Issue", 18, ["labels": .references(["La"])])
        #expect(try store.related("Label", "La", "issues") == [18])
        #expect(try store.related("Label", "la", "issues") == [17])
    }

    /// An issue with a relationship that others store.
    struct Parent: TypedRecord {
        static let entity = "Issue"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, title }
        struct Columns: RecordColumns {
            let path: ColumnPath
            var children: ToManyColumn<Parent> { ToManyColumn(path, "children") }
        }
        static var fields: [FieldDeclaration] {
            [.attribute("id", Int64.self, isKey: true), .attribute("title", String?.self)]
        }

        var id: Int64
        var title: String?

        init(_ row: Row<Parent>) throws(StoreError) {
            id = try row.get(.id)
            title = try row.get(.title)
        }

        func encode(into row: inout RowEncoder<Parent>) {
            row.set(.id, id)
            row.set(.title, title)
        }
    }

    @Test("a record with nested targets, and its relationships, are found by a key that was replaced")
    func nested() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key, old = try #require(Int64(made))
        try store.put("Issue", 18, ["title": .string("c"), "parent": .reference(made)])
        try bed.complete(1, 99)
        try store.read { reader in
            var bytes: [UInt8] = []
            let isThere = try reader.writeJSON(Parent.self, old, including: \.children, into: &bytes)
            #expect(isThere)
            #expect(
                String(decoding: bytes, as: UTF8.self) == #"{"id":99,"title":"t","children":[{"id":18,"title":"c"}]}"#)
            var children: [Int64] = []
            try reader.forEachRelated(Parent.self, old, "children", to: Parent.self) { row in
                children.append(try row.get(.id))
            }
            #expect(children == [18])
        }
    }

    @Test("an update of records by query writes the present key of a target whose key was replaced")
    func values() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        let label = try bed.create("Label").key
        try bed.complete(1, 99)
        try bed.complete(2, "la")
        let query = Query("Issue", where: .compare("id", .equal, .int(17)))
        #expect(
            try store.updateLocally(
                query, set: ["parent": .reference(made), "labels": .references(["bug", label])]
            ).changed == 1)
        let record = try #require(try store.record("Issue", 17))
        #expect(record["parent"] == .reference(99) && record["labels"] == .references(["bug", "la"]))
        // There is another record under the key by now.
        try store.put("Issue", made, ["title": .string("other")])
        _ = try store.write { try $0.update(query, set: ["parent": .reference(made)]) }
        #expect(try store.record("Issue", 17)?["parent"] == .reference(made))
    }

    @Test("a joined attribute that is queued with a key that was replaced has the present one")
    func joinedValues() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        guard case .int(let number)? = made.components.first else { return }
        try bed.complete(1, 99)
        let review = try bed.create("Review", .client(8), ["issueID": .int(number)])
        #expect(try store.record("Review", review.key)?["issueID"] == .int(99))
        #expect(try store.related("Issue", 99, "reviews") == [8])
        try store.put("Review", 9)
        try bed.update(9, ["issueID": .int(number)], "Review")
        #expect(try store.related("Issue", 99, "reviews") == [8, 9])
        #expect(
            try bed.operations() == ["2 create Review 8 id:->8 issueID:->99", "3 update Review 9 issueID:->99"])
        // Other numbers stay.
        try bed.update(9, ["issueID": .int(17)], "Review")
        #expect(try bed.operations().last == "3 update Review 9 issueID:->17")
    }

    @Test("a key that is replaced between the steps of an update is not written any more")
    func valuesOfLaterSteps() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        try store.put("Issue", 16, ["title": .string("t")])
        let query = Query("Issue", where: .compare("id", .lessOrEqual, .int(17)))
        let work = try store.read { reader in
            try QueryWrite(
                query, isLocal: true, { .update(try RecordChange(["parent": .reference(made)], $1, $0)) },
                reader.access)
        }
        func step() throws { work.take(try store.write { try work.step(&$0, limit: 1) }) }
        // Temporary keys come first: the created record has itself as its parent.
        try step()
        try step()
        try bed.complete(1, 99)
        try step()
        #expect(work.isDone)
        for key in [99, 16, 17] as [RecordKey] {
            #expect(try store.record("Issue", key)?["parent"] == .reference(99), "\(key)")
        }
    }

    @Test("a query continues after a record whose key was replaced, and does not show it twice")
    func cursors() throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("z")]).key
        try store.put("Issue", 20, ["title": .string("a")])
        var query = Query("Issue")
        query.limit = 1
        let first = try store.read { try $0.page(query) }
        #expect(first.records.map(\.key) == [made])
        try bed.complete(1, 99)
        query.after = first.next
        query.limit = 10
        #expect(try store.read { try $0.page(query) }.records.map(\.key) == [17, 20])
        query.after = nil
        #expect(try store.read { try $0.page(query) }.records.map(\.key) == [17, 20, 99])
    }

    @Test("the observer of a record with a temporary key sees its changes under the server's key, too")
    func observed() async throws {
        let made = try bed.create("Issue", .temporary, ["title": .string("t")]).key
        let early = Collected(store.observe("Issue", made))
        try await eventually("it has its first result") { early.values.count == 1 }
        try bed.complete(1, 99)
        try await eventually("it has the server's key") { early.values.last??.key == 99 }
        let late = Collected(store.observe("Issue", made))
        try await eventually("it has its first result") { late.values.count == 1 }
        try store.put("Issue", 99, ["title": .string("later")])
        for observer in [early, late] {
            try await eventually("it has seen the change") { observer.values.last??["title"] == .string("later") }
        }
    }

    @Test("the keys of observed records are looked up after changes of the outbox, not after every commit")
    func observedLooks() async throws {
        let made = try bed.create("Issue").key
        try bed.complete(1, 99)
        let observer = Collected(store.observe("Issue", made))
        try await eventually("it has its first result") { observer.values.count == 1 }
        func looks() -> Int { store.observers.counters.withLock { $0.aliasLooks } }
        for number in 0..<10 {
            let title = Value.string("t\(number)")
            try store.put("Issue", 99, ["title": title])
            try await eventually("it has seen the change") { observer.values.last??["title"] == title }
        }
        #expect(looks() == 1)
        let other = try bed.create("Issue").key
        try bed.complete(2, 98)
        let second = Collected(store.observe("Issue", other))
        try await eventually("it has its first result") { second.values.count == 1 }
        try store.put("Issue", 98, ["title": .string("other")])
        try await eventually("it has seen the change") { second.values.last??["title"] == .string("other") }
        #expect(looks() > 1)
    }

    @Test("an alias ends after 30 days, when another key is adopted")
    func expiry() throws {
        let first = try bed.create().key, second = try bed.create().key, now = Timestamp.now
        let day: Int64 = 86_400_000_000
        _ = try store.write { try $0.completeOperation(1, adopting: 98, at: now) }
        #expect(try store.record("Issue", first)?.key == 98)
        _ = try store.write {
            try $0.completeOperation(2, adopting: 99, at: Timestamp(microseconds: now.microseconds + 31 * day))
        }
        #expect(try store.record("Issue", first) == nil && store.record("Issue", second)?.key == 99)
        #expect(try store.read { try $0.outbox.counters.aliases } == 1)
    }

    @Test("a record that was deleted under its new key does not come back with the answer to its creation")
    func deletedBeforeAdoption() throws {
        let bed = try OutboxBed(), made = try bed.create("Issue", .temporary, ["title": .string("t")])
        // The answer was lost, and a sync has brought the record.
        try bed.store.put("Issue", 50, ["title": .string("t")])
        try bed.delete("Issue", 50)
        try bed.complete(1, 50)
        try bed.complete(2)
        #expect(try bed.store.record("Issue", 50) == nil)
        #expect(try bed.store.record("Issue", made.key) == nil)
        #expect(try bed.operations() == [])
        #expect(try bed.marks() == [] && bed.counts.isEmpty)
    }
}
