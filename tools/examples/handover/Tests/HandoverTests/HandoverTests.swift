// Responses of async-http-client become records, and answers of the client.

import AsyncHTTPClient
import Foundation
import TarnMacros
import Testing

@testable import Handover

@Suite("Handing over", .timeLimit(.minutes(1)))
struct HandoverTests {
    private func withFetcher(_ body: (Fetcher, Forge) async throws -> Void) async throws {
        let forge = try await Forge { head in
            switch head.uri {
            case "/repos/acme/anvil/issues":
                (.ok, [("ETag", "\"1\""), ("Link", "</repos/acme/anvil/issues?page=2>; rel=\"next\"")],
                    #"[{"id":1,"title":"a","user":{"id":5,"login":"ada"}},{"id":2,"title":"b","user":{"id":5,"login":"ada"}}]"#)
            case "/repos/acme/anvil/issues/3":
                (.ok, [("Cache-Control", "max-age=60")], #"{"id":3,"title":"c","user":{"id":6,"login":"bob"}}"#)
            case "/about": (.ok, [], "{}")
            default: (.notFound, [], #"{"message":"no"}"#)
            }
        }
        let path = FileManager.default.temporaryDirectory.path + "/handover-\(UUID().uuidString).tarn"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = try RecordClient(base: forge.base, records: Issue.self, User.self, store: path)
        try await body(Fetcher(http: .shared, forge: client), forge)
        try await forge.close()
    }

    @Test("a fetched list becomes records with their authors, in the store")
    func list() async throws {
        try await withFetcher { fetcher, forge in
            let records = try await fetcher.fetch(forge.base + "/repos/acme/anvil/issues")
            let expected = [(1, "a"), (2, "b")].map { Handover.Issue(id: $0, title: $1, author: Reference(5)) }
            #expect(records as? [Handover.Issue] == expected)
            let stored = try fetcher.forge.store.read { reader in try reader.fetch(Handover.Issue.include(\.author)) }
            #expect(stored.map { $0.1?.login } == ["ada", "ada"])
        }
    }

    @Test("the client answers from what was handed over, while it is fresh")
    func fresh() async throws {
        try await withFetcher { fetcher, forge in
            _ = try await fetcher.fetch(forge.base + "/repos/acme/anvil/issues/3")
            let page = try await fetcher.forge.page(.issue("3", in: "acme/anvil"))
            #expect(page.source == .stored && page.records.map(\.title) == ["c"])
            #expect(forge.targets == ["/repos/acme/anvil/issues/3"])
        }
    }

    @Test("a URL that is no request of the program gives nothing, and a refusal is an error")
    func others() async throws {
        try await withFetcher { fetcher, forge in
            let about = try await fetcher.fetch(forge.base + "/about")
            #expect(about == nil)
            await #expect(throws: CacheError.self) { _ = try await fetcher.fetch(forge.base + "/repos/acme/anvil/issues/9") }
            #expect(try fetcher.forge.store.read { try $0.count("Issue") } == 0)
        }
    }
}
