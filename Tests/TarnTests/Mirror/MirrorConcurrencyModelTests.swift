// Syncs of random APIs: scanned side by side, they end as scanned one after the other.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: concurrency against the sequential order", .timeLimit(.minutes(10)))
struct MirrorConcurrencyModelTests {
    /// An API whose content depends on a seed and on a version.
    private struct RandomAPI: Sendable {
        let seed: UInt64
        /// The content changes with it.
        var version = 0

        private func random(_ text: String) -> SeededRandom {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in "\(seed) \(text)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return SeededRandom(seed: hash)
        }

        /// The version in which a target has changed last.
        private func version(of target: String) -> Int {
            (0...version).last { version in
                var random = random("changes \(target) \(version)")
                return version == 0 || random.roll(0..<3) == 0
            } ?? 0
        }

        private func list(_ target: String, _ ids: [Int]) -> String {
            let version = version(of: target)
            return "["
                + ids.map { #"{"id":\#($0),"text":"\#(version)","user":{"id":\#($0 % 7),"name":"u\#($0 % 7)"}}"# }
                .joined(separator: ",") + "]"
        }

        func response(to request: TransportRequest, attempt: Int) -> TransportResponse {
            let target = request.url.replacing("https://api.test.example", with: "")
            let path = String(target.prefix { $0 != "?" }), page = target.last.flatMap(\.wholeNumberValue) ?? 1
            let isPaged = target.contains("?page=")
            var random = random("kind \(path)")
            let kind = random.roll(0..<20), pages = random.roll(1..<4)
            var fate = self.random("fate \(target) \(version)")
            if path.hasSuffix("/cards") {
                switch kind {
                case 0: return TransportResponse(status: 404)
                case 1: return TransportResponse(status: 403, body: Array(#"{"message":"no"}"#.utf8))
                case 2: return TransportResponse(status: 200, body: Array("<html>".utf8))
                case 3 where version == 1 && (isPaged ? page : 1) == pages: return TransportResponse(status: 500)
                default: break
                }
            }
            if attempt == 0, fate.roll(0..<8) == 0 { return TransportResponse(status: 503) }
            let number = isPaged ? page : 1
            let ids: [Int]
            if path.hasSuffix("/cards") {
                let board = Int(path.split(separator: "/")[1]) ?? 0
                // A card may be removed in a later version.
                ids = (0..<3).map { board * 100 + number * 10 + $0 }.filter { id in
                    var random = self.random("removed \(id)")
                    return random.roll(0..<6) > version
                }
            } else {
                ids = Array((number - 1) * 8 + 1...number * 8)
            }
            let body = list(target, ids), count = path.hasSuffix("/cards") ? pages : 3
            var headers = TransportHeaders()
            if number < count {
                headers["Link"] = "<https://api.test.example\(path)?page=\(number + 1)>; rel=\"next\""
            }
            let tag = "\"\(body.utf8.reduce(5381) { ($0 &* 33) ^ Int($1) })\""
            if kind % 2 == 0 { headers["ETag"] = tag }
            if kind % 2 == 0, request.headers["If-None-Match"] == tag {
                return TransportResponse(status: 304, headers: headers)
            }
            return TransportResponse(
                status: 200, headers: headers, body: Array(body.utf8),
                redirectedTo: kind == 4 ? "https://api.test.example\(path)/moved" : nil)
        }
    }

    private static func yaml(_ commit: String, orphans: String) -> String {
        """
        api: { base: https://api.test.example, pace: { concurrent: 6 } }
        entities:
          User: { key: id, attributes: { id: int, name: string } }
          Topic: { key: id, attributes: { id: int, text: string }, relationships: { user: User } }
          Board: { key: id, attributes: { id: int, text: string }, relationships: { user: User } }
          Card:
            key: id
            attributes: { id: int, text: string }
            relationships: { board: { to: Board, inverse: cards }, user: User }
        endpoints:
          topics: { path: /topics, entity: Topic, paginate: header_link }
          boards: { path: /boards, entity: Board, paginate: header_link, orphans: \(orphans) }
          cards:
            path: '/boards/{board.id}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
            paginate: header_link
            commit: \(commit)
            orphans: \(orphans)
        """
    }

    /// The observable results of a sync, apart from its order and its commits.
    private static func facts(_ report: SyncReport, _ store: MirrorStore) throws -> [String] {
        var facts: [String] = []
        for endpoint in report.endpoints {
            facts.append(
                "\(endpoint.name) \(endpoint.pages) \(endpoint.notModified) \(endpoint.listed) \(endpoint.skippedParents)"
            )
            // The first failure of a kind depends on the order; their number does not.
            facts += endpoint.failures.map { "\($0)".prefix { $0 != ";" && $0 != ":" } }.sorted().map { "  \($0)" }
            let counts = endpoint.report.entities["Card"]
            facts.append(
                "  \(counts?.created ?? 0) \(counts?.updated ?? 0) \(counts?.unchanged ?? 0) \(endpoint.orphans?.deleted ?? 0)"
            )
        }
        try store.read { reader in
            try reader.forEachCheckpoint { name, checkpoint in
                facts.append(
                    "\(name): \(checkpoint.state) \(checkpoint.pages) \(checkpoint.records) \(checkpoint.failure?.kind ?? "-") "
                        + (checkpoint.nextURL ?? "-"))
            }
        }
        return facts + (try store.dump())
    }

    private static func syncs(
        _ seed: UInt64, _ commit: String, _ orphans: String, concurrency: Int?
    ) async throws -> [[String]] {
        let store = try MirrorStore(yaml: yaml(commit, orphans: orphans))
        var results: [[String]] = []
        for version in 0..<3 {
            let api = RandomAPI(seed: seed, version: version), attempts = Mutex<[String: Int]>([:])
            let transport = ClosureTransport { request in
                let attempt = attempts.withLock { attempts in
                    defer { attempts[request.url, default: 0] += 1 }
                    return attempts[request.url, default: 0]
                }
                if concurrency == nil { try await Task.sleep(for: .microseconds(Int.random(in: 0...3000))) }
                return api.response(to: request, attempt: attempt)
            }
            let report = try await store.sync(
                nil, transport: transport,
                options: { options in
                    options.concurrency = concurrency
                    options.client.retry = RetryPolicy(attempts: 2, firstDelay: .milliseconds(1))
                })
            results.append(try facts(report, store))
        }
        return results
    }

    @Test(
        "random APIs with failing parents, retries, 304s, redirects and orphans end alike, scanned side by side or in sequence",
        arguments: [
            ("page", "keep"), ("page", "after_one_scan"), ("{ every: 4 }", "after_two_scans"),
            ("walk", "after_one_scan"),
        ])
    func model(commit: String, orphans: String) async throws {
        for _ in 0..<6 {
            let seed = UInt64.random(in: 0...UInt64.max)
            let expected = try await Self.syncs(seed, commit, orphans, concurrency: 1)
            let found = try await Self.syncs(seed, commit, orphans, concurrency: nil)
            for (version, (expected, found)) in zip(expected, found).enumerated() {
                let difference = found.difference(from: expected)
                #expect(difference.isEmpty, "seed \(seed), version \(version): \(difference)")
                if !difference.isEmpty { return }
            }
        }
    }
}
