// Requests without a task: the same outcomes as with one, over real sockets.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Requests without a task", .timeLimit(.minutes(5)))
struct DirectTransportTests {
    private typealias Outcome = Result<TransportResponse, TransportError>

    /// A started request, and its outcome.
    private final class Started: Sendable {
        let transfer = DirectTransfer()
        private let outcomes = Mutex<[Outcome]>([])

        /// - Returns: nil if the transport cannot start the request.
        init?(_ url: String, _ transport: RetryingTransport, isCancelled: Bool = false) {
            if isCancelled { transfer.cancel() }
            let isStarted = transport.start(TransportRequest(url: url), transfer) { outcome in
                self.outcomes.withLock { $0.append(outcome) }
            }
            guard isStarted else { return nil }
        }

        var outcome: Outcome? { outcomes.withLock { $0.first } }
        /// The number of calls of the completion.
        var count: Int { outcomes.withLock { $0.count } }

        func end() async throws -> TransportResponse {
            try await eventually("an outcome") { outcome != nil }
            return try #require(outcome).get()
        }

        func failure() async throws -> TransportError.Kind? {
            try await eventually("an outcome") { outcome != nil }
            if case .failure(let error)? = outcome { return error.kind }
            return nil
        }
    }

    /// The chain of transports of a client.
    private static func chain(
        _ pace: Pace = Pace(), _ authentication: Authentication = .none, _ policy: RetryPolicy = RetryPolicy(),
        rules: [ResponseRule] = []
    ) -> RetryingTransport {
        let paced = PacedTransport(ObservedTransport(CurlTransport()), pace: pace)
        return RetryingTransport(
            RedirectGuard(AuthorizedTransport(paced, authentication, origins: ["http://127.0.0.1:1"]), RedirectScope()),
            policy: policy,
            rules: rules)
    }

    @Test("an answer comes complete, and only once")
    func answer() async throws {
        let server = try LocalServer([CurlTransportTests.page])
        let started = try #require(Started(server.base + "/issues?page=1", Self.chain()))
        let response = try await started.end()
        #expect(response.status == 200 && response.body == Array(#"[{"id":1}]"#.utf8) && response.redirectedTo == nil)
        #expect(started.count == 1 && server.requests.count == 1)
    }

    @Test("a refusal that repeats a secret of the request's own fields has none of it")
    func carriedSecret() async throws {
        let server = try RawServer("HTTP/1.1 403 Forbidden\r\nContent-Length: 25\r\n\r\nno s3cret-0123456789 here")
        let request = TransportRequest(
            url: server.base + "/", headers: TransportHeaders([.init("X-Api-Key", "s3cret-0123456789")]))
        let response = try await Self.chain().sendDirectly(request)
        #expect(String(decoding: response.body, as: UTF8.self) == "no *** here" && response.status == 403)
    }

    @Test("transient answers and failures are retried", arguments: ["status:503:times=2", "close:times=2"])
    func retries(fault: String) async throws {
        let server = try LocalServer([CurlTransportTests.page], "--fault", "page=1:\(fault)")
        let chain = Self.chain(Pace(), .none, RetryPolicy(firstDelay: .milliseconds(20)))
        let started = try #require(Started(server.base + "/issues?page=1", chain))
        #expect(try await started.end().status == 200)
        #expect(started.count == 1 && server.requests.count == 3)
    }

    @Test("the function that cancels an earlier step does not take the place of the next step's")
    func steps() {
        let transfer = DirectTransfer(), cancelled = Mutex<[String]>([])
        let step = transfer.begin()
        // The step has ended before its function is set.
        transfer.onCancel { cancelled.withLock { $0.append("next") } }
        transfer.onCancel(of: step) { cancelled.withLock { $0.append("earlier") } }
        transfer.cancel()
        #expect(cancelled.withLock(\.self) == ["next"])
    }

    @Test("a rule of the user makes a success transient")
    func rules() async throws {
        let server = try ScriptedServer { request in
            ScriptedServer.Answer(body: "try \(request.target.count)")
        }
        let policy = RetryPolicy(attempts: 2, firstDelay: .milliseconds(5))
        let chain = Self.chain(Pace(), .none, policy, rules: [ResponseRule(text: "try", action: .retry)])
        #expect(try await #require(Started(server.base + "/a", chain)).end().status == 200)
        #expect(server.requests.count == 2)
    }

    @Test("redirects are followed, and refused where the scope does not allow them")
    func redirects() async throws {
        let other = try ScriptedServer { _ in ScriptedServer.Answer(body: "other") }
        let server = try ScriptedServer { request in
            switch request.target {
            case "/a": ScriptedServer.Answer(status: "302 Found", fields: ["Location: /b"])
            case "/out": ScriptedServer.Answer(status: "302 Found", fields: ["Location: \(other.base)/"])
            default: ScriptedServer.Answer(body: "here")
            }
        }
        let response = try await #require(Started(server.base + "/a", Self.chain())).end()
        #expect(response.body == Array("here".utf8) && response.redirectedTo == server.base + "/b")
        #expect(try await #require(Started(server.base + "/out", Self.chain())).failure() == .protocol)
        #expect(other.requests.isEmpty)
    }

    @Test("requests wait for the pace in their order; a cancelled one is not sent, and one under way ends")
    func cancels() async throws {
        let server = try HoldingServer(), chain = Self.chain(Pace(concurrent: 1))
        let first = try #require(Started(server.base + "/1", chain))
        let second = try #require(Started(server.base + "/2", chain))
        try await eventually("the first request") { server.held == 1 }
        second.transfer.cancel()
        #expect(try await second.failure() == .cancelled)
        let third = try #require(Started(server.base + "/3", chain))
        #expect(first.outcome == nil && third.outcome == nil && server.held == 1)
        first.transfer.cancel()
        #expect(try await first.failure() == .cancelled)
        try await eventually("the third request") { server.held == 2 }
        server.answer("[]")
        #expect(try await third.end().status == 200)
        let late = try #require(Started(server.base + "/4", chain, isCancelled: true))
        #expect(try await late.failure() == .cancelled)
        #expect([first, second, third, late].allSatisfy { $0.count == 1 })
    }

    @Test("requests with credentials, to no URL, and over other transports need a task")
    func refused() throws {
        #expect(Started("http://127.0.0.1:1/", Self.chain(Pace(), .bearer(.value(Secret("secret"))))) == nil)
        #expect(Started("no url", Self.chain()) == nil)
        struct Other: Transport {
            func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
                TransportResponse(status: 200)
            }
        }
        #expect(Started("http://127.0.0.1:1/", RetryingTransport(PacedTransport(Other()))) == nil)
    }
}
