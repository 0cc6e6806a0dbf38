// Fetches of page after page that are killed at random points: of each page all its records and its
// entry are there, or neither.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Killed fetches", .timeLimit(.minutes(5)))
struct FetchKillTests {
    private static let seed =
        ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    private static let pages = 12, items = 20

    private static func ids(_ page: Int) -> ClosedRange<Int> { page * 1000...page * 1000 + items - 1 }

    @Test("of each page that was fetched when the process was killed, records and entry are there, or neither")
    func killLoop() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML()),
            dead = DeadPort()
        let store = folder.path + "/store.tarn"
        let server = try LocalServer(
            (1...Self.pages).map { page in
                let body = Self.ids(page).map { #"{"id":\#($0),"name":"item \#($0)"}"# }.joined(separator: ",")
                return "GET /items?page=\(page)\nHTTP/1.1 200 OK\nCache-Control: max-age=600\n\n[\(body)]"
            })
        func arguments(_ page: Int, _ base: String, _ more: String...) -> [String] {
            ["fetch", "https://api.test.example/items?page=\(page)", "--file", file, "--base", base] + more
        }
        var dice = SeededRandom(seed: Self.seed), kills = 0, kept = 0
        for page in 1...Self.pages {
            let asked = server.requests.count, process = try TarnProcess(arguments(page, server.base))
            let deadline = ContinuousClock.now + .seconds(60)
            while server.requests.count == asked, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(1))
            }
            try await Task.sleep(for: .microseconds(dice.roll(0..<3_000)))
            process.send(SIGKILL)
            if await process.end().status == -SIGKILL { kills += 1 }
            guard FileManager.default.fileExists(atPath: store + "/data.mdb") else { continue }
            let answer = try await tarn(arguments(page, "http://127.0.0.1:\(dead.port)", "--offline"))
            let ids = Self.ids(page)
            let stored = try await tarn(
                "count", "Item", "--store", store, "--where", "id >= \(ids.lowerBound) and id <= \(ids.upperBound)")
            let context: Comment = "seed \(Self.seed), page \(page): \(answer.error)\(stored.error)"
            if answer.status == 0 {
                kept += 1
                #expect(answer.lines.count == Self.items && stored.lines == ["\(Self.items)"], context)
            } else {
                #expect(answer.status == 5 && stored.lines == ["0"], context)
            }
        }
        try await expectSuccess(tarn("inspect", "verify", store))
        // The last of them is fetched as if nothing had been.
        try await expectSuccess(tarn(arguments(Self.pages, server.base)))
        print("\(kills) kills of a fetch, \(kept) pages were there, seed \(Self.seed)")
    }
}
