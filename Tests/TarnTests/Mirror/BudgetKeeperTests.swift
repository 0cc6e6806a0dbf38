// The limits of servers in a store that several syncs use.

import Foundation
import Synchronization
import TarnHTTP
import TarnStore
import TestSupport
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
    private func keeper(_ store: Store, scope: String? = "") -> BudgetKeeper {
        BudgetKeeper(BudgetKeeper.limits(of: store), scope: scope, origins: [Self.first])
    }

    private func save(_ text: String, in store: Store) async throws {
        try await store.write { try $0.access.settings.setRequestBudgets(text) }
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

    @Test("limits of credentials that are unknown, such as a token from a pipe, are not kept; others are")
    func ofUnknownCredentials() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        try await save(Self.paused(Self.first, until: 800_000_000), in: store)
        let budget = try #require(keeper(store).restored[Self.first])
        try await save("{}", in: store)
        let one = keeper(store, scope: nil)
        try await store.write {
            try one.save([Self.first: budget, Self.second: budget], now: Self.before, &$0)
        }
        #expect(keeper(store, scope: nil).restored.keys.sorted() == [Self.second])
        #expect(keeper(store).restored.keys.sorted() == [Self.second])
        // Limits that an earlier version has kept for all of them.
        try await save(Self.paused("\(Self.first) unknown", until: 800_000_000), in: store)
        #expect(keeper(store, scope: nil).restored.isEmpty)
    }

    @Test("a limit of credentials that is over goes, unless another sync has noted it anew for these credentials")
    func overForCredentials() async throws {
        let mirror = try Self.store(), store = try mirror.open(), own = "\(Self.first) a"
        try await save(Self.paused(own, until: 800_000_000), in: store)
        let late = keeper(store, scope: "a")
        try #require(late.restored.count == 1)
        let again = Self.paused(own, until: 900_000_000), others = Self.paused(Self.first, until: 800_000_000)
        try await save("\(again.dropLast()),\(others.dropFirst())", in: store)
        try await store.write { try late.save([:], now: Self.before, &$0) }
        #expect(keeper(store, scope: "a").restored.count == 1 && keeper(store).restored.count == 1)
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
        #expect(keeper(store).restored.keys.sorted() == [Self.second])
    }

    @Test("of ten thousand servers that have stated a limit once, none is left when the limits are over")
    func ofPassingServers() async throws {
        let mirror = try Self.store(), store = try mirror.open()
        // Another client has stored them.
        let client = keeper(store), pause = "{\"limits\":[],\"pausedUntil\":800000000,\"tokens\":0}"
        let servers = (0..<10_000).map { "\"https://\($0).example\":\(pause)" }
        try await save("{\(servers.joined(separator: ","))}", in: store)
        let limits = BudgetKeeper.limits(of: store), budget = try #require(limits.values.first)
        #expect(limits.count == 10_000)
        try await store.write { try client.save([Self.second: budget], now: Self.before, &$0) }
        #expect(BudgetKeeper.limits(of: store).count == 10_001)
        try await store.write { try client.save([Self.first: budget], now: Self.after, &$0) }
        #expect(BudgetKeeper.limits(of: store).keys.sorted() == [Self.first])
    }

    @Test("a limit is stored for the credentials that are in use: a new token in a file has limits of its own")
    func ofRenewedToken() async throws {
        let current = Mutex("one")
        let server = try ScriptedServer { request in
            guard request.field("Authorization") == "Bearer \(current.withLock(\.self))" else {
                return .init(status: "401 Unauthorized")
            }
            return .init(fields: ["X-RateLimit-Remaining: 5", "X-RateLimit-Reset: 3600"], body: "[]")
        }
        var mirror = try MirrorStore(yaml: itemsYAML())
        let path = mirror.folder.path + "/token"
        mirror.description.api.authentication = .bearer(.file(path))
        try Data("one\n".utf8).write(to: URL(fileURLWithPath: path))
        let store = try mirror.open()
        var options = SyncOptions()
        options.base = server.base + "/v1"
        let client = try APIMirror(
            mirror.description, store: store, transport: MirrorStore.impatient(), client: options.client,
            options: options.mirror)
        #expect(await client.sync().failures.isEmpty)
        #expect(BudgetKeeper.limits(of: store).count == 1)
        try Data("two\n".utf8).write(to: URL(fileURLWithPath: path))
        current.withLock { $0 = "two" }
        #expect(await client.sync().failures.isEmpty)
        #expect(BudgetKeeper.limits(of: store).count == 2)
    }
}
