// The service over a real store, with its refreshes, and a forge that it fetches from.

import Foundation
import Testing

@testable import Edge

@Suite("Edge", .timeLimit(.minutes(2)))
struct EdgeTests {
    /// Runs a forge and the service, and calls the closure when all issues are there.
    private func withService(
        every interval: Duration = .seconds(3600), _ body: (LocalService, Upstream) async throws -> Void
    ) async throws {
        let upstream = Upstream()
        let store = FileManager.default.temporaryDirectory.path + "/edge-\(UUID().uuidString).tarn"
        defer { try? FileManager.default.removeItem(atPath: store) }
        try await withLocal(upstream.application) { forge in
            let edge = try Edge(api: forge.address, repositories: ["acme/anvil"], store: store, every: interval)
            try await withLocal(edge.application(port: 0)) { service in
                while try await service.get("/health").status != 200 { try await Task.sleep(for: .milliseconds(10)) }
                try await body(service, upstream)
            }
        }
    }

    private static func object(_ answer: LocalService.Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    private static func ids(_ answer: LocalService.Answer) throws -> [Int] {
        try #require(try object(answer)["issues"] as? [[String: Any]]).compactMap { $0["id"] as? Int }
    }

    @Test("one issue has its author and its labels; an unknown one is 404, and one that is no number 400")
    func issue() async throws {
        try await withService { service, _ in
            let response = try await service.get("/issues/7")
            #expect(response.status == 200 && response.contentType == "application/json")
            #expect(
                response.text
                    == #"{"id":7,"number":70,"title":"t7","body":null,"state":"open","comments":0,"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-03-07T10:00:00Z","milestone":null,"author":{"id":2,"login":"bob","name":null},"labels":[{"id":1,"name":"bug","color":"f00"},{"id":3,"name":"ui","color":"00f"}]}"#
            )
            #expect(try await service.get("/issues/99").status == 404)
            #expect(try await service.get("/issues/x").status == 400)
        }
    }

    @Test("a list has filters that may be absent, an order, and pages by tokens; a token of another list is 400")
    func issues() async throws {
        try await withService { service, _ in
            let all = try await Self.ids(service.get("/issues?limit=100"))
            #expect(all == Array((1...25).reversed()))
            #expect(try await Self.ids(service.get("/issues?state=closed&order=number")) == [5, 10, 15, 20, 25])
            #expect(try await Self.ids(service.get("/issues?state=closed&author=ADA&order=number")).isEmpty)
            #expect(try await Self.ids(service.get("/issues?state=closed&author=ada&order=number")) == [15])
            var paged: [Int] = [], path = "/issues?limit=10", tokens: [String] = []
            while true {
                let response = try await service.get(path)
                paged += try Self.ids(response)
                guard let next = try Self.object(response)["next"] as? String else { break }
                tokens.append(next)
                path = "/issues?limit=10&after=\(next)"
            }
            #expect(paged == all && tokens.count == 2)
            #expect(try await service.get("/issues?state=open&after=\(tokens[0])").status == 400)
            for wrong in ["after=x", "state=ajar"] {
                #expect(try await service.get("/issues?\(wrong)").status == 400)
            }
        }
    }

    @Test("a user is found by the login, in any case")
    func user() async throws {
        try await withService { service, _ in
            let ada = try await Self.object(service.get("/users/ada")), unknown = try await service.get("/users/eve")
            #expect(ada["id"] as? Int == 1 && unknown.status == 404)
        }
    }

    @Test("changes after a token wait until the next refresh brings some; a text that is no token is 400")
    func changes() async throws {
        try await withService(every: .milliseconds(50)) { service, upstream in
            let from = try await Self.firstChange(service, upstream)
            let later = Task { try await service.get("/changes?since=\(from)") }
            try await Task.sleep(for: .milliseconds(100))
            upstream.change { $0[2].title = "renamed" }
            let page = try await Self.object(later.value)
            #expect(page["changes"] as? [[String: Int]] == [["updated": 3]] && page["next"] as? String != from)
            #expect(try await service.get("/issues/3").text.contains("renamed"))
            #expect(try await service.get("/changes?since=x").status == 400)
            #expect(try await service.get("/changes?since=another-store:1").status == 400)
        }
    }

    /// Changes an issue, and returns the token after it.
    private static func firstChange(_ service: LocalService, _ upstream: Upstream) async throws -> String {
        let waiting = Task { try await service.get("/changes") }
        try await Task.sleep(for: .milliseconds(100))
        upstream.change { $0[0].title = "first" }
        let page = try await object(waiting.value)
        #expect(page["changes"] as? [[String: Int]] == [["updated": 1]])
        return try #require(page["next"] as? String)
    }

    @Test("health is degraded while the forge fails, and the service answers all the same")
    func health() async throws {
        try await withService(every: .milliseconds(20)) { service, upstream in
            upstream.fail(true)
            while try await Self.object(service.get("/health"))["status"] as? String != "degraded" {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await service.get("/health").status == 200)
            #expect(try await service.get("/issues/7").status == 200)
        }
    }
}
