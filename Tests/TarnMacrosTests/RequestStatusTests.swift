// Typed requests: their status, parameters and header fields of the API and of a call, bare keys by
// the naming convention, and the keys in reports.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Typed requests: status, parameters, header fields", .timeLimit(.minutes(2)))
struct RequestStatusTests {
    private func client(
        _ server: ScriptedServer, _ folder: TemporaryFolder, _ configure: (inout Description) -> Void = { _ in }
    ) throws -> RecordClient {
        try RecordClient(
            base: server.base, records: Issue.self, User.self, Label.self, Milestone.self, store: folder("forge.tarn")
        ) {
            $0.api.retry.attempts = 1
            configure(&$0)
        }
    }

    @Test("the status of a request: its stored pages, its own failure, also for another client of the store")
    func status() async throws {
        let forge = try ForgeServer()
        let request = RecordRequest.issues("acme/anvil")
        var status = try await forge.client.status(of: request)
        #expect(status.completedAt == nil && status.unfinished == nil && status.failure == nil)
        _ = try await forge.client.page(request)
        status = try await forge.client.status(of: request)
        #expect(status.completedAt == nil && status.unfinished?.pages == 1 && status.unfinished?.records == 2)
        _ = try await forge.client.all(request)
        status = try await forge.client.status(of: request)
        #expect(status.completeLists == 1 && status.age.map { $0 < 60 } == true && status.unfinished == nil)
        // Another request of the same path fails: this one's status does not change.
        await #expect(throws: CacheError.self) { try await forge.client.one(.issue(404)) }
        let other = try ForgeServer.client(forge.server.base, forge.folder)
        #expect(try await other.status(of: .issue(404)).failure?.message.contains("404") == true)
        #expect(try await other.status(of: .issue(7)).failure == nil)
        #expect(try await other.status(of: request).failure == nil)
        _ = try await forge.client.one(.issue(7))
        #expect(try await other.status(of: .issue(404)).failure != nil)
    }

    @Test("header fields and hooks of a request are part of it: its status is that of its own answer")
    func variants() async throws {
        let forge = try ForgeServer()
        let plain = RecordRequest.issues("acme/anvil")
        let edited = plain.editing { _, _ in }
        let headed = plain.header("X-Preview", "on")
        for request in [edited, headed] {
            #expect(try await forge.client.status(of: request).completeLists == 0)
            _ = try await forge.client.all(request)
            #expect(try await forge.client.status(of: request).completeLists == 1)
        }
        #expect(try await forge.client.status(of: plain).completeLists == 0)
    }

    @Test("a request that is not kept has the status of its last failure")
    func post() async throws {
        let isFailing = Switch()
        let forge = try ForgeServer { request in
            request.target == "/search" && isFailing.isOn ? .init(status: "503 Service Unavailable") : nil
        }
        isFailing.set(true)
        await #expect(throws: CacheError.self) { try await forge.client.all(.search("x")) }
        #expect(try await forge.client.status(of: .search("x")).failure?.message.contains("503") == true)
        #expect(try await forge.client.status(of: .search("y")).failure == nil)
        isFailing.set(false)
        #expect(try await forge.client.all(.search("x")).map(\.id) == [4])
        #expect(try await forge.client.status(of: .search("x")).failure == nil)
    }

    @Test("parameters of the API go with every typed request; its own win; a header field of a call replaces the API's")
    func parameters() async throws {
        let server = try ScriptedServer { _ in .init(fields: ["Cache-Control: max-age=600"], body: "[]") }
        let folder = try TemporaryFolder()
        let forge = try client(server, folder) {
            $0.api.parameters = [.init("per_page", "50"), .init("format", "json")]
            $0.api.headers = [.init("Accept-Language", "en")]
        }
        let labels = RecordRequest.labels("acme/anvil")
        _ = try await forge.all(.issues("acme/anvil"))
        _ = try await forge.all(labels)
        #expect(
            server.targets == [
                "/repos/acme/anvil/issues?per_page=2&format=json", "/repos/acme/anvil/labels?per_page=50&format=json",
            ])
        _ = try await forge.all(labels)
        #expect(server.requests.count == 2)
        // Another value is not answered by the stored response.
        _ = try await forge.all(labels.header("accept-language", "de"))
        #expect(server.requests.map { $0.field("Accept-Language") } == ["en", "en", "de"])
        _ = try await forge.all(labels.header("accept-language", "de"))
        #expect(server.requests.count == 3)
        // The first response still answers the request with the API's value.
        _ = try await forge.all(labels)
        #expect(server.requests.count == 3)
        withExtendedLifetime(folder) {}
    }

    @Test("with references of the naming convention, a bare key is the reference; reports name what was created")
    func references() async throws {
        let server = try ScriptedServer { _ in
            .init(
                body:
                    #"[{"id":1,"number":10,"title":"t","state":"open","user_id":5,"label_ids":[2,1],"milestone_id":70}]"#
            )
        }
        let folder = try TemporaryFolder()
        let forge = try client(server, folder) { $0.mapping.naming.referenceSuffixes = ["_id"] }
        let page = try await forge.page(.issues("acme/anvil"))
        let issue = try #require(page.records.first)
        #expect(issue.labels.keys == [2, 1] && issue.milestone?.key == 70)
        #expect(page.report?.keys(.created).map(\.description) == ["Issue 1"])
        withExtendedLifetime(folder) {}
    }
}

/// A condition that a test changes while a server reads it.
private final class Switch: Sendable {
    private let held = Mutex(false)

    var isOn: Bool { held.withLock { $0 } }
    func set(_ value: Bool) { held.withLock { $0 = value } }
}
