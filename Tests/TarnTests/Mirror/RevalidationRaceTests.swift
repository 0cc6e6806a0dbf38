// Mirrors and caches that fetch the same pages at once, with delays wherever they wait, while the
// server changes its mind: each stored answer stays one with its records.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite(
    "Races of 304 and newer answers",
    .timeLimit(.minutes(ProcessInfo.processInfo.environment["TARN_RACES"] == nil ? 10 : 240)))
struct RevalidationRaceTests {
    static let rounds = ProcessInfo.processInfo.environment["TARN_RACES"].flatMap { Int($0) } ?? 12
    static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)

    /// Evenly spread numbers from a seed (SplitMix64), for many threads.
    private final class Dice: Sendable {
        private let state: Mutex<UInt64>

        init(_ seed: UInt64) { state = Mutex(seed) }

        func roll(_ count: Int) -> Int {
            let value = state.withLock { state -> UInt64 in
                state &+= 0x9E37_79B9_7F4A_7C15
                var z = state
                z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                return z ^ (z >> 31)
            }
            return Int(value % UInt64(count))
        }
    }

    private static let pages = 3

    /// Version `v` of page `p` lists the records 10·p and 10·p + v, both named `v`.
    private static func body(_ page: Int, _ version: Int) -> String {
        "[" + [10 * page, 10 * page + version].map { #"{"id":\#($0),"name":"\#(version)"}"# }.joined(separator: ",")
            + "]"
    }

    private static func url(_ page: Int) -> String {
        "https://api.test.example/v1/items" + (page == 1 ? "" : "?page=\(page)")
    }

    @Test("an entry lists what its validator stands for, and its records are those of that version, whoever comes late")
    func races() async throws {
        var conflicts = 0
        for round in 0..<Self.rounds {
            conflicts += try await race(Dice(Self.seed &+ UInt64(round)), "seed \(Self.seed), round \(round)")
        }
        print(
            "races: \(Self.rounds) rounds, \(conflicts) requests beyond those of undisturbed clients, seed \(Self.seed)"
        )
    }

    private func race(_ dice: Dice, _ what: String) async throws -> Int {
        let versions = Mutex([1, 1, 1]), isCalm = Mutex(false)
        let server = try ScriptedServer { request in
            let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
            let calm = isCalm.withLock(\.self)
            let version = versions.withLock { versions in
                if !calm, dice.roll(3) == 0 { versions[page - 1] = 1 + dice.roll(3) }
                return versions[page - 1]
            }
            var answer = ScriptedServer.Answer.tagged("\(page)-\(version)", request, Self.body(page, version))
            if page < Self.pages { answer.fields.append("Link: <\(Self.url(page + 1))>; rel=\"next\"") }
            if !calm { Thread.sleep(forTimeInterval: Double(dice.roll(6)) / 1000) }
            return answer
        }
        let fixture = try MirrorStore(yaml: itemsYAML()), store = try fixture.open(), base = server.base + "/v1"
        @Sendable func pause() async {
            if dice.roll(2) == 0 { try? await Task.sleep(for: .microseconds(dice.roll(4000))) }
        }
        @Sendable func options(_ unit: Endpoint.CommitUnit) -> SyncOptions {
            var options = SyncOptions()
            options.base = base
            options.retry = .never
            options.commitUnit = unit
            options.prefetches = dice.roll(3) > 0
            options.claimsEndpoints = false
            options.interleave = pause
            return options
        }
        let sync: @Sendable (Endpoint.CommitUnit) async throws -> Void = { unit in
            let options = options(unit)
            let mirror = try APIMirror(
                fixture.description, store: store, transport: MirrorStore.impatient(), client: options.client,
                options: options.mirror)
            let report = await mirror.sync()
            #expect(report.failures.isEmpty, "\(what): \(report.texts)")
        }
        try await sync(.pages(1))
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<3 { try await sync([.pages(1), .pages(2), .scan][dice.roll(3)]) }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    var cacheOptions = RecordCache.Options()
                    cacheOptions.sharesTransfersBetweenProcesses = false
                    let cache = try RecordCache(
                        fixture.description, store: store, transport: MirrorStore.impatient(),
                        client: options(.pages(1)).client, options: cacheOptions)
                    for _ in 0..<8 {
                        let page = 1 + dice.roll(Self.pages)
                        _ = try await cache.fetch(CacheRequest("items", url: Self.url(page)), policy: .networkFirst)
                    }
                }
            }
            // Whole responses of the same pages: header fields and body are of one version.
            for _ in 0..<2 {
                group.addTask {
                    let inner = ClosureTransport { request in
                        await pause()
                        let response = try await MirrorStore.impatient().send(request)
                        await pause()
                        return response
                    }
                    let transport = CachedTransport(inner, store: store)
                    for _ in 0..<6 {
                        let page = 1 + dice.roll(Self.pages), url = base + "/items" + (page == 1 ? "" : "?page=\(page)")
                        let answer = try await transport.send(
                            TransportRequest(url: url, headers: TransportHeaders([.init("Cache-Control", "no-cache")])))
                        let version = answer.headers["ETag"]?.last { $0.isNumber }?.wholeNumberValue ?? 0
                        #expect(String(decoding: answer.body, as: UTF8.self) == Self.body(page, version), "\(what)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try expectSound(store, what)
        // From here on the server's content is constant, and one more sync brings the store there.
        isCalm.withLock { $0 = true }
        let asked = server.requests.count
        try await sync(.pages(1))
        try expectSound(store, what)
        let final = versions.withLock(\.self)
        for page in 1...Self.pages {
            #expect(
                try fixture.record("Item", Int64(10 * page))["name"] == .string("\(final[page - 1])"),
                "\(what), page \(page)")
        }
        return max(0, asked - 3 - 2 * 3 * 3 - 2 * 8 - 2 * 6)
    }

    private func expectSound(_ store: Store, _ what: String) throws {
        try store.read { reader in
            for page in 1...Self.pages {
                try reader.access.responses.forEach(to: Self.url(page), scope: "") { view in
                    guard let index = view.headers.firstIndex(of: "ETag"),
                        let version = view.headers[index + 1].last(where: \.isNumber)
                    else {
                        Issue.record("\(what): page \(page) has no tag: \(view.headers)")
                        return true
                    }
                    let number = Int64(version.wholeNumberValue ?? 0)
                    let names = try view.entry?.listing.listed.map { try reader.access.record($0)?["name"] } ?? []
                    let keys = view.entry?.listing.listed.map(\.storageKey) ?? []
                    let expected = [10 * Int64(page), 10 * Int64(page) + number]
                    #expect(
                        keys == expected.map { RecordKey($0).storageKey }, "\(what), page \(page), version \(version)")
                    #expect(
                        names == [.string(String(version)), .string(String(version))],
                        "\(what), page \(page), version \(version)")
                    return true
                }
            }
        }
    }
}
