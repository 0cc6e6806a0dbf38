// Records together with their related records: each once, in order, with the missing ones.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Including")
struct IncludingTests {
    private static func tag(_ n: UInt8) -> UUID { UUID(uuid: (n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n)) }

    private func typed() throws -> TypedStore {
        let store = try TypedStore()
        try store.put([Person("ada"), Person("bob")])
        try store.put([1, 2, 3].map { Tag(IncludingTests.tag($0)) })
        var tickets: [Ticket] = []
        for id in 1...6 as ClosedRange<Int64> {
            var ticket = Ticket(id, "t\(id)")
            ticket.author = [1: "ada", 2: "bob", 3: "gone", 4: "ada"][id].map { Reference($0) }
            ticket.labels = [1: [3, 1], 2: [9, 2, 8, 1], 4: []][id].map { References($0.map(IncludingTests.tag)) }
            tickets.append(ticket)
        }
        try store.put(tickets)
        return store
    }

    @Test(
        "several relationships of typed records: by owner, in the relationship's order, each record once, what is missing by its key"
    )
    func typedIncluding() throws {
        let store = try typed()
        try store.store.read { r in
            let (tickets, (authors, labels)) = try r.fetch(
                Ticket.all.sorted(by: .id, .descending), including: Ticket.related(.author, to: Person.self),
                Ticket.related(.labels, to: Tag.self))
            #expect(tickets.map(\.id) == [6, 5, 4, 3, 2, 1])
            #expect(authors.count == 6 && labels.count == 6)
            #expect(authors.records == [Person("ada"), Person("bob")])
            #expect((0..<6).map { authors[$0].map(\.login) } == [[], [], ["ada"], [], ["bob"], ["ada"]])
            #expect(
                authors.missing == [RecordKey("gone")] && authors.missing(of: 3) == [RecordKey("gone")]
                    && authors.missing(of: 2) == [])
            #expect(labels.records.map(\.id) == [1, 2, 3].map(IncludingTests.tag))
            #expect(
                labels[4].map(\.id) == [2, 1].map(IncludingTests.tag)
                    && labels[5].map(\.id) == [3, 1].map(IncludingTests.tag))
            // Positions begin at 0 for each owner.
            #expect(labels[5].startIndex == 0 && labels[5].indices == 0..<2 && authors[5][0] == Person("ada"))
            #expect((0..<2).map { labels[5][$0].id } == [3, 1].map(IncludingTests.tag))
            #expect(labels[5].dropFirst().first?.id == IncludingTests.tag(1) && labels[0].indices.isEmpty)
            #expect(labels[5].positions == [2, 0] && labels[2].isEmpty && labels[0].isEmpty)
            #expect(labels.missing(of: 4) == [9, 8].map { RecordKey(IncludingTests.tag($0)) })
            #expect(labels.missing == [8, 9].map { RecordKey(IncludingTests.tag($0)) } && labels.missing(of: 5) == [])
            // A derived relationship, and the next one.
            let (people, theirs) = try r.fetch(Person.all, including: Person.related("tickets", to: Ticket.self))
            #expect(people.map(\.login) == ["ada", "bob"] && (0..<2).map { theirs[$0].map(\.id) } == [[1, 4], [2]])
            let tags = try r.include(Ticket.related(.labels, to: Tag.self), of: theirs)
            #expect(tags.count == theirs.records.count)
            #expect(theirs[0].positions.map { tags[Int($0)].map(\.id) } == [[3, 1].map(IncludingTests.tag), []])
            #expect(
                try r.fetch(Ticket.where { $0[.id] > 99 }, including: Ticket.related(.author, to: Person.self)).included
                    .count == 0)
        }
        let wrong = try TypedStore.error {
            try store.store.read { r in _ = try r.fetch(Ticket.all, including: Ticket.related(.author, to: Tag.self)) }
        }
        #expect(wrong == StoreError.wrongType(entity: "Ticket", field: "author", expected: "Person", found: "Tag"))
        let unknown = try TypedStore.error {
            try store.store.read { r in _ = try r.fetch(Ticket.all, including: Ticket.related(.title, to: Tag.self)) }
        }
        #expect(unknown == StoreError.unknownField(entity: "Ticket", name: "title", known: ["author", "labels"]))
    }

    /// Tickets with columns that lead to records of other types than the store's.
    struct Misled: TypedRecord {
        static let entity = "Ticket"
        typealias Key = Int64
        enum Field: Int, RecordField { case id }
        struct Columns: RecordColumns {
            let path: ColumnPath
            var author: ToOneColumn<Misled> { ToOneColumn(path, "author") }
            var tickets: ToManyColumn<Tag> { ToManyColumn(path, "tickets") }
        }
        static var fields: [FieldDeclaration] { [.attribute("id", Int64.self, isKey: true)] }

        init(_ row: Row<Misled>) throws(StoreError) {}

        func encode(into row: inout RowEncoder<Misled>) {}
    }

    @Test("the error of a column that leads to another entity names the relationship and its owner, also in a path")
    func misledColumns() throws {
        let store = try typed()
        func error<each Column: RelationshipColumn>(
            _ query: IncludingQuery<Misled, repeat each Column>
        ) throws -> (any StoreFailure)? {
            try TypedStore.error { try store.store.read { r in _ = try r.fetch(query) } }
        }
        #expect(
            try error(Misled.include(\.author))
                == StoreError.wrongType(entity: "Ticket", field: "author", expected: "Person", found: "Ticket"))
        #expect(
            try error(Misled.include(\.author.tickets))
                == StoreError.wrongType(entity: "Person", field: "tickets", expected: "Ticket", found: "Tag"))
    }

    @Test(
        "a record that is known only in part, and lacks what the struct needs, is told by its key: the list is given all the same"
    )
    func partialRecords() throws {
        let store = try typed()
        let entity = try #require(store.store.catalog.entity("Ticket"))
        let said: [(UInt16, Value)] = try [
            ("id", Value.int(7)), ("state", .string("open")), ("author", .reference("ada")),
        ].map { name, value in
            (try #require(entity.field(name)).id, value)
        }
        try store.store.merge("Ticket", 7, complete: false, said.sorted { $0.0 < $1.0 })
        try store.store.read { r in
            let (people, tickets) = try r.fetch(Person.all, including: Person.related("tickets", to: Ticket.self))
            #expect(people.map(\.login) == ["ada", "bob"])
            #expect((0..<2).map { tickets[$0].map(\.id) } == [[1, 4], [2]])
            #expect(tickets.records.map(\.id) == [1, 2, 4] && tickets.missing == [] && tickets.missing(of: 0) == [])
            #expect(tickets.partial == [7] && tickets.partial(of: 0) == [7] && tickets.partial(of: 1) == [])
            // The following ones have the positions of existing records.
            let authors = try r.include(Ticket.related(.author, to: Person.self), of: tickets)
            #expect(authors.count == 3 && (0..<3).map { authors[$0].map(\.login) } == [["ada"], ["bob"], ["ada"]])
            // Without structs it is given as it is.
            let dynamic = try #require(try r.fetch(Query("Person"), including: ["tickets"])["tickets"])
            #expect(dynamic[0].map(\.isPartial) == [false, false, true])
        }
    }

    @Test("paths of dynamic records: a nested one is by the positions of what comes before it, and included with it")
    func dynamicIncluding() throws {
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"))
        for (id, login) in [(1, "ada"), (2, "bob")] as [(Int64, String)] {
            try store.put("User", RecordKey(id), ["id": .int(id), "login": .string(login)])
        }
        for id in 1...5 as ClosedRange<Int64> {
            try store.put(
                "Issue", RecordKey(id),
                [
                    "id": .int(id), "title": .string("i\(id)"),
                    "author": id == 5 ? .null : .reference(RecordKey(id % 3 + 1)),
                    "duplicateOf": id > 2 ? .reference(RecordKey(id - 2)) : .null,
                    "labels": .references([RecordKey("b"), RecordKey("a")]),
                ])
        }
        try store.put("Label", "a", ["name": .string("a")])
        try store.read { r in
            let query = Query("Issue", sortedBy: [.descending("id")])
            let result = try r.fetch(
                query,
                including: ["author", "labels", "duplicateOf.author", "duplicateOf.duplicateOf.labels", "duplicates"])
            #expect(result.records.map(\.key) == [5, 4, 3, 2, 1])
            let authors = try #require(result["author"]), labels = try #require(result["labels"])
            #expect((0..<5).map { authors[$0].map(\.key) } == [[], [2], [1], [], [2]])
            #expect(authors.missing(of: 3) == [3] && authors.missing == [3])
            #expect((0..<5).allSatisfy { labels[$0].map(\.key) == ["a"] && labels.missing(of: $0) == ["b"] })
            let originals = try #require(result["duplicateOf"])
            #expect(originals.records.map(\.key) == [1, 2, 3] && originals[0].map(\.key) == [3])
            let theirAuthors = try #require(result["duplicateOf.author"])
            #expect((0..<3).map { theirAuthors[$0].map(\.key) } == [[2], [], [1]])
            #expect(result["duplicateOf.duplicateOf"]?.records.map(\.key) == [1])
            #expect(result["duplicateOf.duplicateOf.labels"]?[0].map(\.key) == ["a"])
            #expect(result["duplicates"].map { all in (0..<5).map { all[$0].map(\.key) } } == [[], [], [5], [4], [3]])
            #expect(result["board"] == nil)
        }
        for path in ["authr", "author.nope", "title", "author.login"] {
            let error = storeError { try store.read { r in _ = try r.fetch(Query("Issue"), including: [path]) } }
            guard case StoreError.unknownField? = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("random graphs: what is included is what following each record gives", arguments: [1, 2, 3] as [UInt64])
    func randomGraphs(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"))
        func some(_ prefix: String, _ count: Int) -> [RecordKey] {
            (0..<Int.random(in: 0...count, using: &random)).map { _ in
                // Some are longer than a storage key, with a common beginning.
                RecordKey(
                    (Bool.random(using: &random) ? "" : String(repeating: "x", count: 250)) + prefix
                        + "\(Int.random(in: 0..<150, using: &random))")
            }
        }
        try store.write { writer in
            for id in 0..<80 as Range<Int64> {
                var targets: [RecordKey] = []
                for key in some("l", id == 7 ? 400 : 6) where !targets.contains(key) { targets.append(key) }
                try writer.put(
                    "Issue", RecordKey(id),
                    [
                        Record.Field("title", .string("")), Record.Field("labels", .references(targets)),
                        Record.Field("duplicateOf", .reference(RecordKey(Int64.random(in: 0..<120, using: &random)))),
                    ])
            }
            for key in some("l", 200) { try writer.put("Label", key, []) }
        }
        try store.read { r in
            let names = ["labels", "duplicateOf", "duplicates"]
            let result = try r.fetch(Query("Issue"), including: names)
            for name in names {
                let included = try #require(result[name])
                for (position, record) in result.records.enumerated() {
                    var present: [RecordKey] = [], missing: [RecordKey?] = []
                    try r.forEachRelated("Issue", record.key, name) { target in
                        if let record = target.record { present.append(record.key) } else { missing.append(target.key) }
                        return true
                    }
                    #expect(included[position].map(\.key) == present, "seed \(seed): \(name) of \(record.key)")
                    #expect(included.missing(of: position) == missing, "seed \(seed): \(name) of \(record.key)")
                }
                #expect(Set(included.records.map(\.key)).count == included.records.count)
            }
        }
    }
}
