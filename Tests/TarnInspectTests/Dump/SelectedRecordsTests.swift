// A selection has exactly the records that the store's own query has, in the order of the keys, with
// the fields that were named and without the values that were redacted.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: dump of a selection")
struct SelectedRecordsTests {
    private func select(
        _ path: String, _ entity: String?, _ change: (inout RecordSelection, Catalog) throws -> Void,
        damaged: ((StoreInspector.Damage) -> Void)? = nil
    ) throws -> [Record] {
        var records: [Record] = []
        try StoreInspector(at: path).selectRecords(
            of: entity,
            { catalog in
                var selection = RecordSelection()
                try change(&selection, catalog)
                return selection
            }, record: { records.append($0) }, damaged: { damaged?($0) ?? { Issue.record("\($0)") }($0) })
        return records
    }

    @Test("lines from the bytes of rows are those of the decoded records", arguments: [false, true])
    func lines(withVersions: Bool) throws {
        let rich = try RichStore()
        var lines: [String] = []
        try StoreInspector(at: rich.path).dumpRecords(
            withVersions: withVersions, line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        let decoded = try select(rich.path, nil) { _, _ in }
            .map { StoreInspector.line($0, withVersion: withVersions) }
        #expect(lines == decoded && lines.count > 500)
    }

    @Test(
        "a selection that takes new snapshots goes on behind an entity that is removed meanwhile",
        arguments: [false, true])
    func removedEntity(isReversed: Bool) throws {
        let folder = try TemporaryFolder(), path = folder("removed.tarn"), names = ["A", "B", "C"]
        let schema = Schema(names.map { EntityDefinition($0, key: ["id"], attributes: [.init("id", .int)]) })
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try store.write { writer in
            for name in names { for id in 1...100 { try writer.put(name, RecordKey(Int64(id)), []) } }
        }
        var found: [String: Int] = [:]
        let removed = isReversed ? "C" : "A"
        try StoreInspector(at: path).selectRecords(
            of: nil, renewal: 0,
            { _ in
                var selection = RecordSelection()
                selection.isReversed = isReversed
                return selection
            },
            record: { record in
                found[record.entity, default: 0] += 1
                guard record.entity == removed, found[removed] == 10 else { return }
                nonisolated(unsafe) var failure: (any Error)?
                // This thread reads.
                SecondThread { do { try store.remove(entity: removed) } catch { failure = error } }.join()
                #expect(failure == nil)
            }, damaged: { Issue.record("\($0)") })
        #expect(found == ["A": isReversed ? 100 : 64, "B": 100, "C": isReversed ? 64 : 100])
    }

    private func keys(_ path: String, _ entity: String, _ condition: String) throws -> [RecordKey] {
        try select(path, entity) { selection, catalog in
            selection.query = Query(
                entity, where: try Condition(text: condition, entity: entity, catalog: catalog))
        }.map(\.key)
    }

    @Test(
        "a condition has the records that the store's query has",
        arguments: [
            ("User", "age > 3"), ("User", "name like \"Name%\""), ("User", "age is missing or name is missing"),
            ("User", "login in (user1, user7, nobody)"), ("User", "any contains user1"),
            ("Issue", "author.login = user3"), ("Issue", "author.name like \"%5\" and not (labels contains bug)"),
            ("Issue", "labels contains docs"), ("Issue", "parts contains [5, 700]"), ("Issue", "parts is missing"),
            ("Issue", "author.age >= 5 and title != t"), ("Part", "issue.author.login = user6"),
            ("Part", "issue = 5 and number < 10"), ("Event", "at < 1970-01-01T00:00:00.00001Z"),
            ("Push", "at is not missing"), ("User", "issues is missing"), ("User", "issues contains 17"),
            ("Issue", "children contains [7, 0]"),
        ])
    func conditions(_ entity: String, _ condition: String) throws {
        let rich = try RichStore()
        let store = try Store.open(at: rich.path, options: Store.Options(durability: .volatile))
        let expected: [RecordKey]
        do {
            expected = try store.read { reader in
                try reader.fetch(
                    Query(entity, where: try Condition(text: condition, entity: entity, catalog: reader.catalog))
                ).map(\.key)
            }
        } catch let error as StoreError {
            // The inspector refuses the conditions that the store refuses.
            #expect(throws: error) { try keys(rich.path, entity, condition) }
            return
        }
        #expect(try keys(rich.path, entity, condition) == expected)
        #expect(!expected.isEmpty, "\(condition) tests nothing")
    }

    @Test("ranges of keys, a limit and the reverse order")
    func ranges() throws {
        let rich = try RichStore()
        func numbers(_ change: (inout RecordSelection) -> Void) throws -> [RecordKey] {
            try select(rich.path, "User") { selection, _ in change(&selection) }.map(\.key)
        }
        let closed = try numbers { $0.keys = .range(KeyRange(RecordKey(5)...RecordKey(8))) }
        #expect(closed == (5...8).map { RecordKey($0) })
        #expect(
            try numbers {
                ($0.keys, $0.isReversed) = (.range(KeyRange(RecordKey(5)..<RecordKey(8))), true)
            } == [7, 6, 5].map { RecordKey($0) })
        #expect(try numbers { $0.limit = 3 } == (1...3).map { RecordKey($0) })
        #expect(try numbers { ($0.limit, $0.isReversed) = (2, true) } == [101, 100].map { RecordKey($0) })
        #expect(try numbers { $0.limit = 0 } == [])
        let parts = try select(rich.path, "Part") { selection, _ in
            selection.keys = .range(.prefix(RecordKey([.int(7)])))
        }
        #expect(parts.map(\.key) == [RecordKey([.int(7), .int(0)])])
        let labels = try select(rich.path, "Label") { selection, _ in selection.keys = .text(beginning: "long ") }
        #expect(labels.map(\.key) == [RecordKey(String(repeating: "long ", count: 80))])
        let long = String(repeating: "long ", count: 79)
        for (beginning, count) in [(long, 1), (long + "x", 0), ("bu", 1), ("", 4), ("bug", 1), ("bugs", 0)] {
            let found = try select(rich.path, "Label") { selection, _ in selection.keys = .text(beginning: beginning) }
            #expect(found.count == count, "\(beginning)")
        }
        #expect(throws: RecordSelectionError.noTextKey(entity: "User", type: "int")) {
            try numbers { $0.keys = .text(beginning: "5") }
        }
    }

    @Test("a range of keys at the limit of storage keys has the longer keys, too", arguments: 203...208)
    func longRanges(length: Int) throws {
        let shelf = String(repeating: "s", count: length)
        let store = try InspectedStore { writer in
            for (name, number) in [(shelf, Int64(1)), (shelf, 2), (shelf + "\u{0}", 3), (shelf + "a", 4)] {
                let key = RecordKey([.string(name), .int(number)])
                try writer.put("Book", key, [.init("title", .string("t")), .init("author", .null)])
            }
        }
        for range in [KeyRange.prefix(RecordKey(shelf)), KeyRange(RecordKey(shelf)...RecordKey(shelf))] {
            for isReversed in [false, true] {
                let found = try select(store.path, "Book") { selection, _ in
                    (selection.keys, selection.isReversed) = (.range(range), isReversed)
                }
                #expect(Set(found.map { "\($0.key.components[1])" }) == ["1", "2"], "\(range)")
            }
        }
    }

    @Test("the reverse of a dump of all entities is the dump from its end")
    func reverse() throws {
        let rich = try RichStore()
        var lines: [String] = []
        try StoreInspector(at: rich.path).dumpRecords(line: { lines.append($0) }, damaged: { _ in })
        let reversed = try select(rich.path, nil) { selection, _ in selection.isReversed = true }
        #expect(reversed.map { StoreInspector.line($0, withVersion: true) } == lines.reversed())
    }

    @Test("named fields come in their order, and redacted values are replaced wherever the field is")
    func fields() throws {
        let rich = try RichStore()
        let users = try select(rich.path, "User") { selection, _ in
            (selection.fields, selection.limit) = (["login", "id"], 1)
        }
        #expect(users[0].fields.map(\.name) == ["login", "id"])
        let redacted = try select(rich.path, nil) { selection, _ in selection.redacted = ["User.name", "at", "title"] }
        for record in redacted {
            for field in record.fields where ["name", "at", "title"].contains(field.name) {
                let isHidden = field.value == .string(RecordSelection.redaction)
                #expect(isHidden != (record.entity == "Label"), "\(record.entity) \(record.key) \(field)")
            }
        }
        #expect(redacted.contains { $0.entity == "Push" && $0["at"] != nil })
        let whole = try select(rich.path, nil) { selection, _ in selection.redacted = [] }
        #expect(whole.map(\.key) == redacted.map(\.key))
    }

    @Test("a field that no entity has, a part of a key, and an option without its entity are errors")
    func wrongNames() throws {
        let rich = try RichStore()
        func redact(_ name: String) throws {
            _ = try select(rich.path, nil) { selection, _ in selection.redacted = [name] }
        }
        #expect(throws: RecordSelectionError.self) { try redact("nothing") }
        #expect(throws: StoreError.self) { try redact("User.title") }
        #expect(throws: RecordSelectionError.redactedKey(entity: "User", field: "id")) { try redact("User.id") }
        #expect(throws: RecordSelectionError.self) {
            try select(rich.path, "User") { selection, _ in selection.fields = ["title"] }
        }
        #expect(throws: RecordSelectionError.self) {
            try select(rich.path, nil) { selection, _ in selection.keys = .text(beginning: "a") }
        }
    }

    @Test("a record whose condition reads a damaged one is reported, and the others are written")
    func damagedTarget() throws {
        let store = try InspectedStore()
        try store.damage("Ada \"the\"")
        var damages: [String] = []
        let books = try select(
            store.path, "Book",
            { selection, catalog in
                selection.query = Query(
                    "Book", where: try Condition(text: "author.name like \"A%\"", entity: "Book", catalog: catalog))
            }, damaged: { damages.append("\($0)") })
        #expect(books.isEmpty)
        #expect(damages.count == 1, "\(damages)")
        #expect(damages.first?.hasPrefix("Book [a/b, 1]: the condition cannot be evaluated") ?? false, "\(damages)")
    }

    @Test("each record whose condition reads the same damaged one is reported, also one after the other")
    func recordsOfDamagedTarget() throws {
        let store = try InspectedStore { writer in
            try InspectedStore.twoBooks(&writer)
            try writer.put(
                "Book", RecordKey([.string("a/b"), .int(0)]),
                [.init("title", .string("Volume number 0")), .init("author", .reference(RecordKey(1)))])
        }
        try store.damage("Ada \"the\"")
        for (condition, numbers) in [("author.name like \"A%\"", []), ("author.name is missing", [2])]
            as [(String, [Int64])]
        {
            var damages: [String] = []
            let books = try select(
                store.path, "Book",
                { selection, catalog in
                    selection.query = Query(
                        "Book", where: try Condition(text: condition, entity: "Book", catalog: catalog))
                }, damaged: { damages.append("\($0)") })
            #expect(books.map(\.key) == numbers.map { RecordKey([.string("a/b"), .int($0)]) }, "\(condition)")
            #expect(damages.count == 2, "\(condition): \(damages)")
        }
    }
}
