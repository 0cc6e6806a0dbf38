// The status monitors that a sync keeps for the next one, each for its own request.

import Foundation
import TarnDescription
import TarnStore
import TestSupport
import Testing

@testable import Tarn
@testable import TarnHTTP

@Suite("Mirror: kept status monitors", .timeLimit(.minutes(5)))
struct AwaitedAnswersTests {
    private static let now = Timestamp(clampingSeconds: 1_800_000_000)
    private static let names = ["a", "b"]

    /// Two requests to one URL, which differ in their bodies.
    private static func request(_ name: String) -> TransportRequest {
        TransportRequest(method: "POST", url: "https://api.test.example/v1/search", body: Array(name.utf8))
    }

    private static func begin(
        _ name: String, _ answers: AwaitedAnswers, _ store: Store, after seconds: Int = 0
    ) throws -> AwaitedAnswers.Origin {
        let key = RequestKey(method: "POST", url: request(name).url, endpoint: "\(name) 1")
        return try store.read { reader in
            try answers.begin(request(name), key, reader, now: now.earlier(bySeconds: -seconds))
        }
    }

    @Test("a monitor is asked for its own request, within a day, and its result is as old as that request")
    func kept() async throws {
        let mirror = try MirrorStore(yaml: itemsYAML()), store = try mirror.open()
        let first = AwaitedAnswers(store)
        let begun = try Self.names.map { try Self.begin($0, first, store) }
        #expect(begun.allSatisfy { $0.monitor == nil && $0.startedAt == Self.now })
        for name in Self.names { await first.keep("https://api.test.example/jobs/\(name)", for: Self.request(name)) }
        // Records that are stored meanwhile may be newer than the results.
        try await store.write { try $0.put("Item", RecordKey(1), [.init("name", .string("new"))]) }
        let sequence = try store.read { try $0.access.settings.sequence }
        #expect(sequence > begun[0].sequence)

        let second = AwaitedAnswers(store)
        for (name, before) in zip(Self.names, begun) {
            let origin = try Self.begin(name, second, store, after: 3600)
            #expect(origin.monitor == "https://api.test.example/jobs/\(name)" && origin.startedAt == Self.now)
            #expect(origin.sequence == before.sequence && origin.revision == before.revision)
        }
        // An old result may be of an older list; a time in the future is that of a wrong clock.
        for seconds in [86_400, -1] {
            let origin = try Self.begin("a", AwaitedAnswers(store), store, after: seconds)
            #expect(origin.monitor == nil && origin.sequence == sequence)
        }
        #expect(try await second.forget(Self.request("a"))?.monitor == "https://api.test.example/jobs/a")
        #expect(try Self.begin("a", AwaitedAnswers(store), store).monitor == nil)
        #expect(try Self.begin("b", AwaitedAnswers(store), store).monitor == "https://api.test.example/jobs/b")
    }
}
