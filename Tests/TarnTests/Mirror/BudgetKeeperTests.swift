// The limits of servers in a store that several syncs use.

import TarnHTTP
import TarnStore
import Testing

@testable import Tarn

@Suite("Mirror: the limits of servers in the store")
struct BudgetKeeperTests {
    private static let first = "http://127.0.0.1:1", second = "http://127.0.0.1:2"

    private static func paused(_ origin: String, until seconds: Int) -> String {
        "{\"\(origin)\":{\"limits\":[],\"pausedUntil\":\(seconds),\"tokens\":0}}"
    }

    private static func store() throws -> MirrorStore {
        try MirrorStore(yaml: "api: { base: '\(first)' }\nentities: { Item: { key: id, attributes: { id: int } } }")
    }

    private func save(_ text: String, in store: Store) async throws {
        try await store.write { try $0.setRequestBudgets(text) }
    }

    @Test("a sync of one API keeps the limits that a sync of another one has saved since it began")
    func ofOthers() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let budget = try #require(BudgetKeeper(store).restored[Self.first])
        try await save("{}", in: store)
        // Each sync of a watch has a client of its own.
        let one = BudgetKeeper(store), two = BudgetKeeper(store)
        try await store.write { try one.save([Self.first: budget], &$0) }
        try await store.write { try two.save([Self.second: budget], &$0) }
        #expect(BudgetKeeper(store).restored.keys.sorted() == [Self.first, Self.second])
    }

    @Test("a limit that is over goes, unless another sync has noted it anew")
    func over() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let late = BudgetKeeper(store), last = BudgetKeeper(store)
        let again = Self.paused(Self.first, until: 900_000_000)
        try await save(again, in: store)
        try await store.write { try late.save([:], &$0) }
        #expect(BudgetKeeper(store).restored.count == 1)
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        try await store.write { try last.save([:], &$0) }
        #expect(BudgetKeeper(store).restored.isEmpty)
    }
}
