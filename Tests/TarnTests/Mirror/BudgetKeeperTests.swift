// The limits of servers in a store that several syncs use.

import Foundation
import TarnHTTP
import TarnStore
import Testing

@testable import Tarn

@Suite("Mirror: the limits of servers in the store")
struct BudgetKeeperTests {
    private static let first = "http://127.0.0.1:1", second = "http://127.0.0.1:2"
    /// Times before and after the end of the pauses.
    private static let before = Date(timeIntervalSinceReferenceDate: 700_000_000)
    private static let after = Date(timeIntervalSinceReferenceDate: 900_000_000)

    private static func paused(_ origin: String, until seconds: Int) -> String {
        "{\"\(origin)\":{\"limits\":[],\"pausedUntil\":\(seconds),\"tokens\":0}}"
    }

    private static func store() throws -> MirrorStore {
        try MirrorStore(yaml: "api: { base: '\(first)' }\nentities: { Item: { key: id, attributes: { id: int } } }")
    }

    /// The keeper of a client whose credentials are for the first server.
    private func keeper(_ store: Store, scope: String = "") -> BudgetKeeper {
        BudgetKeeper(BudgetKeeper.limits(of: store), scope: scope, origins: [Self.first])
    }

    private func save(_ text: String, in store: Store) async throws {
        try await store.write { try $0.setRequestBudgets(text) }
    }

    @Test("a sync of one API keeps the limits that a sync of another one has saved since it began")
    func ofOthers() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let budget = try #require(keeper(store).restored[Self.first])
        try await save("{}", in: store)
        // Each sync of a watch has a client of its own.
        let one = keeper(store), two = keeper(store)
        try await store.write { try one.save([Self.first: budget], now: Self.before, &$0) }
        try await store.write { try two.save([Self.second: budget], now: Self.before, &$0) }
        #expect(keeper(store).restored.keys.sorted() == [Self.first, Self.second])
    }

    @Test("limits of other credentials that still hold stay, be they a pause or a count")
    func heldByOtherCredentials() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        let count = #"{"limits":[{"name":"a","remaining":0,"resetsAt":800000000}],"tokens":0}"#
        for text in [Self.paused(Self.first, until: 800_000_000), "{\"\(Self.first)\":\(count)}"] {
            try await save(text, in: store)
            let budget = try #require(keeper(store).restored[Self.first])
            for scope in ["a", "b"] {
                let keeper = keeper(store, scope: scope)
                try await store.write { try keeper.save([Self.first: budget], now: Self.before, &$0) }
            }
            for scope in ["a", "b"] { #expect(keeper(store, scope: scope).restored == [Self.first: budget]) }
        }
    }

    @Test("a limit that is over goes, unless another sync has noted it anew")
    func over() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let late = keeper(store), last = keeper(store)
        let again = Self.paused(Self.first, until: 900_000_000)
        try await save(again, in: store)
        try await store.write { try late.save([:], now: Self.before, &$0) }
        #expect(keeper(store).restored.count == 1)
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        try await store.write { try last.save([:], now: Self.before, &$0) }
        #expect(keeper(store).restored.isEmpty)
    }
    @Test("limits of other credentials are neither used nor overwritten, and are removed when they are over")
    func ofOtherCredentials() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        // As from an earlier version.
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let budget = try #require(keeper(store).restored[Self.first])
        let one = keeper(store, scope: "a"), two = keeper(store, scope: "b")
        #expect(one.restored.isEmpty && two.restored.isEmpty)
        try await store.write { try one.save([Self.first: budget], now: Self.before, &$0) }
        #expect(keeper(store, scope: "a").restored.keys.sorted() == [Self.first])
        #expect(keeper(store, scope: "b").restored.isEmpty && keeper(store).restored.count == 1)
        // Requests to the second server carry no credentials.
        try await store.write { try two.save([Self.second: budget], now: Self.after, &$0) }
        #expect(keeper(store, scope: "a").restored.keys.sorted() == [Self.second])
        #expect(keeper(store).restored.keys.sorted() == [Self.first, Self.second])
    }
}
