// The daily work of users of GRDB.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From GRDB", .timeLimit(.minutes(2)))
struct GRDBTests {
    private typealias Player = League.Player
    private typealias Team = League.Team
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try League.store(folder)
    }

    private func ids(_ query: TypedQuery<Player>) throws -> [Int] { try store.read { try $0.fetch(query) }.map(\.id) }

    @Test(
        "GRDB `struct Player: Codable, FetchableRecord, PersistableRecord` → `@Record struct Player`: the struct is the entity, its schema and its columns"
    )
    func definition() throws {
        #expect(try store.read { try $0.fetch(Player.all) } == League.players)
        try store.validate(Player.self, Team.self)
    }

    @Test(
        "GRDB dbQueue.read { db in … } → store.read { … }: a snapshot, in any number of threads and processes; it never waits for a writer"
    )
    func read() async throws {
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { [store] in try store.read { try $0.count(Player.all) } } }
            return try await group.reduce(0, +)
        }
        #expect(count == 16)
    }

    @Test("GRDB dbQueue.write { db in … } → store.write { … }: one transaction; an error undoes all of it")
    func write() async throws {
        struct Undo: Error {}
        await #expect(throws: Undo.self) {
            try await store.write { writer in
                try writer.put(Player(id: 9, name: "Ed", score: 0))
                throw Undo()
            }
        }
        #expect(try ids(Player.all) == [1, 2, 3, 4])
    }

    @Test(
        "GRDB Player.fetchAll(db), fetchOne(db), fetchOne(db, key:) → reader.fetch(_:), first(_:), get(_:_:): all, the first, or one by its key"
    )
    func fetching() throws {
        let (all, first, one, none) = try store.read { reader in
            (
                try reader.fetch(Player.all), try reader.first(Player.order(by: \.score)),
                try reader.get(Player.self, 3),
                try reader.get(Player.self, 99)
            )
        }
        #expect(all.count == 4 && first?.name == "Bo" && one?.name == "Cy" && none == nil)
    }

    @Test("GRDB Player.fetchCursor(db) → reader.forEach(_:_:): rows are lent one by one, and nothing is copied")
    func cursor() throws {
        var total = 0
        try store.read { reader in
            try reader.forEach(Player.where { $0.score > 10 }) { row in total += try row.get(.score) as Int }
        }
        #expect(total == 90)
    }

    @Test(
        "GRDB Player.filter { $0.score > 10 } → Player.where { $0.score > 10 }: conditions that the compiler checks; nil, lists, ranges, patterns"
    )
    func filter() throws {
        #expect(try ids(Player.where { $0.score > 10 && $0.position == .attack }) == [1, 4])
        #expect(try ids(Player.where { $0.team == nil || $0.name.like("B%") }) == [2, 4])
        #expect(try ids(Player.where { $0.score.isIn(10...20) && !($0.email == nil) }) == [3])
        #expect(try ids(Player.where { $0.email.ignoringCase == "ADA@e.example" }) == [1])
    }

    @Test(
        "GRDB .order(\\.score.desc).limit(2, offset: 1) → .order(by: \\.score, .descending).dropFirst(1).limit(2): the order, the beginning, and the number"
    )
    func order() throws {
        #expect(try ids(Player.order(by: \.score, .descending).dropFirst(1).limit(2)) == [1, 3])
    }

    @Test(
        "GRDB Player.fetchCount(db) and isEmpty(db) → reader.count(_:), exists(_:): without reading rows where an index or the table knows it"
    )
    func counts() throws {
        #expect(try store.read { try $0.count(Player.where { $0.position == .attack }) } == 2)
        #expect(try !store.read { try $0.exists(Player.where { $0.score > 100 }) })
    }

    @Test("GRDB select(max(score)), sum, average → reader.maximum(of:_:), minimum, sum, average: typed by the column")
    func aggregates() throws {
        let (greatest, least) = try store.read {
            (try $0.maximum(of: \.score, Player.all), try $0.minimum(of: \.score, Player.all))
        }
        let (sum, mean) = try store.read {
            (try $0.sum(of: \.score, Player.where { $0.team == 1 }), try $0.average(of: \.score, Player.all))
        }
        #expect(greatest == 40 && least == 10 && sum == 40 && mean == 25)
    }

    @Test(
        "GRDB .group(\\.teamId).annotated(with: count) → reader.counts(by:_:): the values of a column with their numbers, also through a relationship"
    )
    func groups() throws {
        let counts = try store.read { try $0.counts(by: \.team.name, Player.all) }
        #expect(counts.map { "\($0.value ?? "none") \($0.count)" } == ["none 1", "Blues 1", "Reds 2"])
    }

    @Test(
        "GRDB Player.including(optional: Player.team) → Player.include(\\.team): a tuple of the record and its target; each target is read once"
    )
    func including() throws {
        let found = try store.read { try $0.fetch(Player.include(\.team)) }
        #expect(found.map { $0.1?.name } == ["Reds", "Reds", "Blues", nil])
    }

    @Test(
        "GRDB Team.including(all: Team.players) → Team.include(\\.players): the other side of a relationship, as a list"
    )
    func includingAll() throws {
        #expect(
            try store.read { try $0.fetch(Team.include(\.players)) }.map { $0.1.map(\.name) } == [
                ["Ada", "Bo"], ["Cy"],
            ])
    }

    @Test(
        "GRDB joining(required: Player.team.filter(name == \"Reds\")) → Player.where { $0.team.name == \"Reds\" }: a condition on a related record"
    )
    func joining() throws {
        #expect(try ids(Player.where { $0.team.name == "Reds" }.order(by: \.team.name).order(by: \.score)) == [2, 1])
    }

    @Test("GRDB player.insert(db), update(db), save(db), upsert → writer.put(_:): stores the record, new or not")
    func put() async throws {
        try await store.write { writer in
            try writer.put(Player(id: 1, name: "Ada L.", score: 31))
            try writer.put(Player(id: 5, name: "Ed", score: 1))
        }
        #expect(try store.read { try $0.get(Player.self, [1, 5]) }.map { $0?.name } == ["Ada L.", "Ed"])
    }

    @Test(
        "GRDB player.updateChanges(db) { $0.score += 1 } and Player.filter(…).updateAll(db, …) → writer.patch(_:_:_:), store.update(_:_:): only some fields, of one record or of all of a query"
    )
    func patch() async throws {
        try await store.write { _ = try $0.patch(Player.self, 2) { $0.set(.score, 11) } }
        let report = try await store.update(Player.where { $0.position == .attack }) { $0.set(.score, 0) }
        #expect(report.changed == 2)
        #expect(try store.read { try $0.fetch(Player.all) }.map(\.score) == [0, 11, 20, 0])
    }

    @Test(
        "GRDB player.delete(db), Player.deleteAll(db) → writer.delete(_:_:), store.delete(_:): by key, or all records of a query"
    )
    func delete() async throws {
        try await store.write { _ = try $0.delete(Player.self, 1) }
        #expect(try await store.delete(Player.where { $0.score < 25 }).changed == 2)
        #expect(try ids(Player.all) == [4])
    }

    @Test(
        "GRDB unique index, `SQLITE_CONSTRAINT` → @Index(unique: true): StoreWriteError, and nothing of the write is stored"
    )
    func unique() async throws {
        await #expect(throws: StoreWriteError.self) {
            try await store.write { try $0.put(Player(id: 9, name: "X", email: "ADA@E.EXAMPLE", score: 0)) }
        }
        #expect(try ids(Player.all).count == 4)
    }

    @Test(
        "GRDB create(index:on:columns:condition:) and EXPLAIN QUERY PLAN → `static var indexes`, `reader.explain(_:)`: combined and partial indexes, and the plan of a query"
    )
    func indexes() throws {
        let query = Player.where { $0.team == 1 }.order(by: \.score)
        let plan = try store.read { try $0.explain(query.query) }
        #expect("\(plan)".contains("team_score"))
    }

    @Test(
        "GRDB DatabaseMigrator (add a column, rename one) → the struct itself: Store.open changes the schema, and @Attribute(renamedFrom:) keeps the values"
    )
    func migration() throws {
        let path = folder("migrated.tarn")
        try {
            let old = try Store.open(at: path, schema: Schema(records: [Old.self]))
            try old.write { try $0.put(Old(id: 1, nick: "a")) }
        }()
        let new = try Store.open(at: path, schema: Schema(records: [New.self]))
        #expect(try new.read { try $0.fetch(New.all) } == [New(id: 1, handle: "a", level: nil)])
    }

    @Record("Member") struct Old: Equatable {
        @Key var id: Int
        var nick: String
    }

    @Record("Member") struct New: Equatable {
        @Key var id: Int
        @Attribute(renamedFrom: "nick") var handle: String
        var level: Int?
    }

    @Test(
        "GRDB ValueObservation.tracking { … }.values(in:) → store.observe(_:): the result of a query, then every change of it, by whichever process"
    )
    func observation() async throws {
        var seen: [[Int]] = []
        for try await change in store.observe(Player.where { $0.score >= 30 }) {
            seen.append(change.value.map(\.id))
            if seen.count == 2 { break }
            // A change that does not concern the result is not reported.
            try await store.write { _ = try $0.patch(Player.self, 2) { $0.set(.score, 12) } }
            try await store.write { _ = try $0.patch(Player.self, 3) { $0.set(.score, 99) } }
        }
        #expect(seen == [[1, 4], [1, 3, 4]])
    }

    @Test(
        "GRDB ValueObservation of a request with associations → store.observe(Player.include(\\.team)): the change of an included target is a change of the result"
    )
    func includedObservation() async throws {
        var seen: [[String?]] = []
        for try await change in store.observe(Player.where { $0.team != nil }.include(\.team)) {
            seen.append(change.value.map { $0.1?.name })
            if seen.count == 2 { break }
            try await store.write { _ = try $0.patch(Team.self, 2) { $0.set(.name, "Greens") } }
        }
        #expect(seen == [["Reds", "Reds", "Blues"], ["Reds", "Reds", "Greens"]])
    }
}
