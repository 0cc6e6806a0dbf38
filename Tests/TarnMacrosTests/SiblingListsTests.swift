// Lists of one path that differ in header fields or hooks: what one of them keeps for the others, and for how long.

import Foundation
import Synchronization
import TarnMacros
import TarnStore
import TestSupport
import Testing

@Suite("Lists of one path", .timeLimit(.minutes(2)))
struct SiblingListsTests {
    /// A server of one list, three items a page.
    private struct Bed {
        let ids = SharedIDs()
        let server: ScriptedServer
        let folder: TemporaryFolder
        let client: RecordClient

        init() throws {
            let ids = ids
            folder = try TemporaryFolder()
            server = try ScriptedServer { request in
                let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
                let part = ids.list.dropFirst((page - 1) * 3).prefix(3).map { "{\"id\":\($0)}" }
                let next = "Link: <http://\(request.field("Host") ?? "")/items?page=\(page + 1)>; rel=\"next\""
                return .init(
                    fields: ["Cache-Control: max-age=31536000", "Vary: X-View"]
                        + (ids.list.count > page * 3 ? [next] : []),
                    body: "[" + part.joined(separator: ",") + "]")
            }
            var options = APIClient.Options()
            options.time = ids.time
            client = try RecordClient(
                base: server.base, records: Entry.self, store: folder("a.tarn"), options: options)
        }

        func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Entry.all).map(\.id) } }

        /// Loads a list, and returns what is stored then.
        func load(_ view: String = "a", line: UInt = 1, scans: Int = 1) async throws -> [Int64] {
            _ = try await client.all(SiblingListsTests.request(view, line, scans))
            return try stored()
        }
    }

    /// The items of the server, and the time.
    private final class SharedIDs: Sendable {
        private let state = Mutex((ids: [Int64](), now: Date(timeIntervalSince1970: 1_000_000_000)))

        var list: [Int64] { state.withLock(\.ids) }

        func set(_ ids: Int64...) { state.withLock { $0.ids = ids } }

        func pass(days: Double) { state.withLock { $0.now += days * 86_400 } }

        var time: TimeSource {
            TimeSource(
                now: {
                    self.state.withLock { state in
                        state.now += 1
                        return state.now
                    }
                }, sleep: { try await Task.sleep(for: $0) }, random: { 0.5 })
        }
    }

    /// A list with a header field, and a hook at a line of the program.
    private static func request(_ view: String, _ line: UInt, _ scans: Int = 1) -> RecordRequest<Entry> {
        RecordRequest<Entry>.get("/items")
            .header("X-View", view)
            .filtering(file: "Program.swift", line: line, column: 1) { _, _ in true }
            .removingOrphans(Orphans(scans: scans))
    }

    @Test("a page that the last complete load of its list has not reached keeps no record in the store")
    func lostPages() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2, 3, 4)
        for view in ["a", "b"] { _ = try await bed.load(view) }
        bed.ids.set(1, 2)
        #expect(try await bed.load("a") == [1, 2, 3, 4])
        // Both lists have a second page that lists 4.
        #expect(try await bed.load("b") == [1, 2])
    }

    @Test("lists that take turns remove what all of them have lost, after as many complete lists as the rules say")
    func turns() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2, 3)
        for view in ["a", "b", "c"] { _ = try await bed.load(view, scans: 2) }
        bed.ids.set(1, 2)
        for view in ["a", "b", "c", "a"] { #expect(try await bed.load(view, scans: 2) == [1, 2, 3]) }
        // The second list in a row of one that has lost it, and none has it.
        #expect(try await bed.load("c", scans: 2) == [1, 2])
    }

    @Test("when a hook moves to another line, the list with it takes over what the former one had, after 30 days")
    func movedHook() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2)
        _ = try await bed.load(line: 10)
        bed.ids.set(1)
        #expect(try await bed.load(line: 20) == [1, 2])
        bed.ids.pass(days: 29)
        #expect(try await bed.load(line: 20) == [1, 2])
        bed.ids.pass(days: 2)
        #expect(try await bed.load(line: 20) == [1])
        // A list that comes back begins anew.
        bed.ids.set(1, 3)
        #expect(try await bed.load(line: 10) == [1, 3])
        #expect(try await bed.load(line: 20) == [1, 3])
    }

    @Test("while the clock is behind, as after a start without a battery, no list retires")
    func clockBehind() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2)
        _ = try await bed.load(line: 10)
        bed.ids.set(1)
        bed.ids.pass(days: -60)
        for _ in 0..<2 { #expect(try await bed.load(line: 20) == [1, 2]) }
        bed.ids.pass(days: 100)
        #expect(try await bed.load(line: 20) == [1])
    }

    @Test("a list keeps its name when a token in a header field is replaced")
    func rotatingToken() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2)
        for (token, stored) in [("a", [1, 2]), ("b", [1, 2]), ("c", [1])] as [(String, [Int64])] {
            _ = try await bed.client.all(Self.request("a", 1, 2).header("X-Api-Key", token))
            #expect(try bed.stored() == stored)
            bed.ids.set(1)
        }
        // Any other field makes lists of its own.
        _ = try await bed.client.all(Self.request("a", 1, 2).header("X-Request-Id", "1"))
        let names = try bed.client.store.read { reader in
            var names: [String] = []
            try reader.forEachCheckpoint { name, _ in names.append(name) }
            return names
        }
        #expect(names.count == 2 && Set(names).count == 2, "\(names)")
    }

    @Test("a list that only fresh answers of the store use keeps its records as long as it is used")
    func freshAnswers() async throws {
        let bed = try Bed()
        bed.ids.set(1, 2)
        _ = try await bed.load(line: 10)
        bed.ids.set(1)
        for _ in 0..<3 {
            bed.ids.pass(days: 20)
            let kept = try await bed.client.all(Self.request("a", 10).policy(.cacheFirst))
            #expect(kept.map(\.id) == [1, 2])
            #expect(try await bed.load(line: 20) == [1, 2])
        }
        bed.ids.pass(days: 31)
        #expect(try await bed.load(line: 20) == [1])
    }
}
