// A model of lists of one path that differ in header fields and hooks: whatever is loaded in whatever order, no record
// goes that another list has, and none stays that no list has.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Lists of one path: a model", .timeLimit(.minutes(5)))
struct SiblingListsModelTests {
    /// A list that a program requests: a view of the server, filtered by a hook.
    private struct Variant: Hashable {
        var view: String
        var kind: Int
        /// The line of the hook: it moves when the program changes.
        var line: UInt

        func request(_ rules: Orphans) -> RecordRequest<Entry> {
            let kind = kind
            return RecordRequest<Entry>.get("/items")
                .header("X-View", view)
                .filtering(file: "Program.swift", line: line, column: 1) { _, json in
                    json["rank"] == .number("\(kind)")
                }
                .removingOrphans(rules)
        }
    }

    /// A server of items with a kind, in views, three items a page.
    private final class Items: Sendable {
        let views = Mutex<[Int64: Set<String>]>([:])

        func list(_ view: String) -> [Int64] {
            views.withLock { items in items.filter { $0.value.contains(view) }.map(\.key).sorted() }
        }

        static func kind(_ id: Int64) -> Int { Int(id % 2) }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1, view = request.field("X-View") ?? ""
            let all = list(view), items = all.dropFirst((page - 1) * 3).prefix(3)
            let next = "Link: <http://\(request.field("Host") ?? "")/items?page=\(page + 1)>; rel=\"next\""
            let link = all.count > page * 3 ? [next] : []
            let body = "[" + items.map { "{\"id\":\($0),\"rank\":\(Self.kind($0))}" }.joined(separator: ",") + "]"
            let tag = "\(view)\(page)-" + items.map { "\($0)" }.joined(separator: "-")
            var answer = ScriptedServer.Answer.tagged(
                tag + "\(link.count)", request, body, "Cache-Control: max-age=1000", "Vary: X-View")
            answer.fields += link
            return answer
        }
    }

    private struct Bed {
        let items = Items()
        let server: ScriptedServer
        let folder: TemporaryFolder
        let client: RecordClient
        let time = SharedTime()
        let rules: Orphans
        var random: SeededRandom
        var variants: [Variant] = []
        /// The records that each list is known to have.
        var known: [Variant: Set<Int64>] = [:]
        /// The records that a complete list has had.
        var members: Set<Int64> = []

        init(seed: UInt64, _ rules: Orphans) throws {
            let items = items, time = time
            folder = try TemporaryFolder()
            server = try ScriptedServer { items.answer($0) }
            var options = APIClient.Options()
            options.time = time.source
            client = try RecordClient(
                base: server.base, records: Entry.self, store: folder("a.tarn"), options: options)
            self.rules = rules
            random = SeededRandom(seed: seed)
            variants = ["a", "b"].flatMap { view in [0, 1].map { Variant(view: view, kind: $0, line: UInt(10 + $0)) } }
        }

        func stored() throws -> Set<Int64> { Set(try client.store.read { try $0.fetch(Entry.all).map(\.id) }) }

        func listed(_ variant: Variant) -> Set<Int64> {
            Set(items.list(variant.view).filter { Items.kind($0) == variant.kind })
        }

        /// Notes complete loads, and expects that no record of any list has gone.
        mutating func note(complete loaded: [Variant], _ place: String) throws {
            let stored = try stored()
            for variant in loaded {
                known[variant] = listed(variant)
                members.formUnion(listed(variant))
            }
            for (other, records) in known where variants.contains(other) {
                #expect(records.isSubset(of: stored), "\(place): \(other) has lost \(records.subtracting(stored))")
            }
        }

        mutating func load(_ variant: Variant, _ place: String) async throws {
            time.pass(10)
            let records = try await client.all(variant.request(rules))
            #expect(Set(records.map(\.id)) == listed(variant), "\(place)")
            try note(complete: [variant], place)
        }
    }

    private final class SharedTime: Sendable {
        private let now = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

        func pass(_ seconds: Double) { now.withLock { $0 += seconds } }

        var source: TimeSource {
            TimeSource(
                now: { self.now.withLock { $0 } }, sleep: { try await Task.sleep(for: $0) }, random: { 0.5 })
        }
    }

    private func step(_ bed: inout Bed, moves: Bool, _ place: String) async throws {
        let variant = bed.variants[bed.random.roll(0..<bed.variants.count)], id = Int64(bed.random.roll(0..<12))
        switch bed.random.roll(0..<(moves ? 13 : 12)) {
        case 0...2:
            let views = Set(["a", "b"].filter { _ in bed.random.roll(0..<2) == 0 })
            bed.items.views.withLock { $0[id] = views }
        case 3...4: bed.items.views.withLock { $0[id] = nil }
        case 5...8: try await bed.load(variant, place)
        case 9:
            // A loop that is left.
            bed.time.pass(10)
            for try await page in bed.client.pages(variant.request(bed.rules)) {
                // The other pages may list what has moved to this one, or is gone.
                bed.known[variant] = Set(page.records.map(\.id))
                break
            }
        case 10:
            bed.time.pass(1)
            _ = try? await bed.client.all(variant.request(bed.rules).policy(.cacheFirst))
            bed.known[variant] = nil
        case 11:
            bed.time.pass(10)
            let pair = [variant, bed.variants[bed.random.roll(0..<bed.variants.count)]]
            let lists = try await bed.client.batch(pair.map { $0.request(bed.rules) }, atomic: true)
            #expect(lists.map { Set($0.map(\.id)) } == pair.map { bed.listed($0) }, "\(place)")
            try bed.note(complete: pair, place)
        default:
            // The program is changed: the hooks of one kind are at another line.
            let kind = bed.random.roll(0..<2)
            for index in bed.variants.indices where bed.variants[index].kind == kind { bed.variants[index].line += 100 }
        }
    }

    @Test(
        "no list loses what another one has, and nothing stays that no list has once all are loaded again",
        arguments: 1...24 as ClosedRange<UInt64>)
    func model(seed: UInt64) async throws {
        let moves = seed % 3 == 0, scans = Int(seed % 2) + 1, isOfEntity = seed % 4 < 2
        var bed = try Bed(seed: seed, Orphans(isOfEntity ? .entity : .listed, scans: scans, allowsEmpty: true))
        for step in 0..<60 { try await self.step(&bed, moves: moves, "seed \(seed), step \(step)") }
        if moves { bed.time.pass(40 * 86_400) }
        // A list of a former program has retired; those of this one are new again.
        bed.known = [:]
        for round in 0..<(scans + 2) {
            for variant in bed.variants { try await bed.load(variant, "seed \(seed), last round \(round)") }
        }
        let live = bed.variants.reduce(into: Set<Int64>()) { $0.formUnion(bed.listed($1)) }
        let kept = try bed.stored().subtracting(live)
        #expect(isOfEntity ? kept.isEmpty : kept.isDisjoint(with: bed.members), "seed \(seed) keeps \(kept)")
        #expect(try live.isSubset(of: bed.stored()), "seed \(seed)")
    }
}
