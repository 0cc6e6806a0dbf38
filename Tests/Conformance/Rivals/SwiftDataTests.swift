// The daily work of users of SwiftData.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From SwiftData", .timeLimit(.minutes(2)))
struct SwiftDataTests {
    private typealias Player = League.Player
    private typealias Team = League.Team
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try League.store(folder)
    }

    @Record struct Trip: Equatable {
        @Key var id: UUID
        var name: String
        @Relationship(inverse: "trip", onDelete: .cascade) var stops = Inverse<Stop>()
        @Transient var isSelected = false
    }

    @Record struct Stop: Equatable {
        @Key var id: Int
        @Relationship(inverse: "stops") var trip: Reference<Trip>
        @Attribute(type: .json) var place: Place?
    }

    struct Place: Codable, Hashable {
        var latitude: Double
        var name: String
    }

    private func trips() throws -> Store {
        try Store.open(at: folder("trips.tarn"), schema: Schema(records: [Trip.self, Stop.self]))
    }

    @Test(
        "SwiftData `@Model class Player` → `@Record struct Player`: a value that is read from a snapshot; it does not change under the reader"
    )
    func model() throws {
        #expect(try store.read { try $0.fetch(Player.all) } == League.players)
    }

    @Test(
        "SwiftData ModelContainer(for: Player.self, Team.self) → Store.open(at:schema:): one store for all threads and processes, with its schema inside"
    )
    func container() throws {
        let again = try Store.open(at: folder("league.tarn"), schema: Schema(records: [Player.self, Team.self]))
        #expect(again === store)
    }

    @Test(
        "SwiftData ModelContext.fetch(FetchDescriptor(predicate: #Predicate { $0.score > 10 })) → reader.fetch(Player.where { $0.score > 10 }): checked by the compiler; nothing fails when it runs"
    )
    func predicate() throws {
        #expect(
            try store.read { try $0.fetch(Player.where { $0.score > 10 && $0.team.name == "Reds" }) }.map(\.id) == [1])
    }

    @Test(
        "SwiftData SortDescriptor, fetchLimit, fetchOffset → .order(by:), .limit(_:), .dropFirst(_:): several orders, the number, and the beginning"
    )
    func sorting() throws {
        let query = Player.order(by: \.score, .descending).order(by: \.name).dropFirst(1).limit(2)
        #expect(try store.read { try $0.fetch(query) }.map(\.id) == [1, 3])
    }

    @Test(
        "SwiftData fetchCount(_:), fetchIdentifiers(_:) → reader.count(_:), forEach(_:_:) with row.key: without records"
    )
    func counting() throws {
        var keys: [Int] = []
        let count = try store.read { reader in
            try reader.forEach(Player.where { $0.score > 20 }) { row in keys.append(try row.key) }
            return try reader.count(Player.where { $0.team == nil })
        }
        #expect(keys == [1, 4] && count == 1)
    }

    @Test(
        "SwiftData context.insert(_:) and save() → store.write { try $0.put(…) }: a write that has returned is on disk")
    func insert() async throws {
        try await store.write { try $0.put(Player(id: 7, name: "Ed", score: 0)) }
        #expect(try store.read { try $0.get(Player.self, 7) }?.name == "Ed")
    }

    @Test(
        "SwiftData model.name = \"…\" → writer.patch(_:_:_:): a change names its fields; others stay, also those that another writer has changed"
    )
    func change() async throws {
        try await store.write { _ = try $0.patch(Player.self, 1) { $0.set(.name, "Ada L.") } }
        let player = try store.read { try $0.get(Player.self, 1) }
        #expect(player?.name == "Ada L." && player?.score == 30)
    }

    @Test(
        "SwiftData context.delete(_:), delete(model:where:) → writer.delete(_:_:), store.delete(_:): by key, or all records of a query"
    )
    func delete() async throws {
        #expect(try await store.delete(Player.where { $0.team == 1 }).changed == 2)
        #expect(try store.read { try $0.count(Player.all) } == 2)
    }

    @Test("SwiftData context.rollback() → an error thrown in store.write: nothing of it is stored")
    func rollback() async throws {
        struct Rollback: Error {}
        await #expect(throws: Rollback.self) {
            try await store.write { writer in
                _ = try writer.delete(Player.self, 1)
                throw Rollback()
            }
        }
        #expect(try store.read { try $0.count(Player.all) } == 4)
    }

    @Test(
        "SwiftData @Attribute(.unique) → @Key, or @Index(unique: true): a record with the same key is updated, one with the same unique value is refused"
    )
    func unique() async throws {
        try await store.write { try $0.put(Player(id: 1, name: "again", score: 1)) }
        #expect(try store.read { try $0.count(Player.all) } == 4)
        await #expect(throws: StoreWriteError.self) {
            try await store.write { try $0.put(Player(id: 8, name: "x", email: "cy@e.example", score: 1)) }
        }
    }

    @Test(
        "SwiftData @Relationship(deleteRule: .cascade, inverse: \\Stop.trip) → @Relationship(inverse: \"trip\", onDelete: .cascade): .cascade, .nullify, .deny or none"
    )
    func cascade() async throws {
        let store = try trips(), id = UUID()
        try await store.write { writer in
            try writer.put(Trip(id: id, name: "t"))
            for stop in 1...3 { try writer.put(Stop(id: stop, trip: Reference(id))) }
        }
        #expect(try store.read { try $0.fetch(Trip.include(\.stops)) }.first?.1.map(\.id) == [1, 2, 3])
        try await store.write { _ = try $0.delete(Trip.self, id) }
        #expect(try store.read { try $0.count(Stop.all) } == 0)
    }

    @Test(
        "SwiftData @Transient and Codable properties → @Transient, @Attribute(type: .json): a property that is not stored, a value that is kept as JSON"
    )
    func properties() async throws {
        let store = try trips(), id = UUID(), place = Place(latitude: 59.9, name: "Oslo")
        try await store.write { writer in
            try writer.put(Trip(id: id, name: "t", isSelected: true))
            try writer.put(Stop(id: 1, trip: Reference(id), place: place))
        }
        #expect(try store.read { try $0.get(Trip.self, id) }?.isSelected == false)
        #expect(try store.read { try $0.get(Stop.self, 1) }?.place == place)
    }

    @Test(
        "SwiftData relationshipKeyPathsForPrefetching → .include(\\.team): targets come with the records, in two passes; no fault is fired later"
    )
    func prefetching() throws {
        let found = try store.read { try $0.fetch(Player.where { $0.team != nil }.include(\.team)) }
        #expect(found.map { $0.1?.name } == ["Reds", "Reds", "Blues"])
    }

    @Test(
        "SwiftData #Index<Player>([\\.team, \\.score]) → `static var indexes`: combined, partial, unique, without case")
    func indexes() throws {
        let plan = try store.read { try $0.explain(Player.where { $0.name == "Ada" }.query) }
        #expect("\(plan)".contains("name"))
    }

    @Test("SwiftData `@Query var players` in a view → store.observe(_:): the result, then each change of it")
    func query() async throws {
        var seen: [[String]] = []
        for try await change in store.observe(Player.where { $0.team == 2 }) {
            seen.append(change.value.map(\.name))
            if seen.count == 2 { break }
            try await store.write { try $0.put(Player(id: 9, name: "Ed", score: 0, team: Reference(2))) }
        }
        #expect(seen == [["Cy"], ["Cy", "Ed"]])
    }

    @Test(
        "SwiftData `@Query var players` with @Observable → ObservedRecords: an observable object of an actor, whose records follow the store"
    )
    @MainActor func observable() async throws {
        let players = ObservedRecords(store.observe(Player.where { $0.team == 2 }))
        while players.isLoading { try await Task.sleep(for: .milliseconds(2)) }
        #expect(players.records.map(\.name) == ["Cy"])
        try await store.write { try $0.put(Player(id: 9, name: "Ed", score: 0, team: Reference(2))) }
        // The suite's time limit ends the wait for a change that does not come.
        while players.records.map(\.name) != ["Cy", "Ed"] { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test(
        "SwiftData fetchHistory(_:) → reader.changes(since:), store.changes(since:of:): what every commit has changed, from a token on"
    )
    func history() async throws {
        let token = try store.read { try $0.changeToken }
        try await store.write { _ = try $0.delete(Player.self, 4) }
        let page = try store.read { try $0.changes(since: token) }
        #expect(page.changes.map { "\($0.entity) \($0.key) \($0.operation)" } == ["Player 4 deleted"])
    }

    @Test(
        "SwiftData VersionedSchema and SchemaMigrationPlan → the struct itself: safe changes are applied when the store is opened, others are refused with the way out"
    )
    func migration() throws {
        let path = folder("m.tarn")
        try {
            _ = try Store.open(at: path, schema: Schema(records: [GRDBTests.Old.self])).write {
                try $0.put(GRDBTests.Old(id: 1, nick: "a"))
            }
        }()
        let store = try Store.open(at: path, schema: Schema(records: [GRDBTests.New.self]))
        #expect(try store.read { try $0.fetch(GRDBTests.New.all) }.map(\.handle) == ["a"])
    }
}
