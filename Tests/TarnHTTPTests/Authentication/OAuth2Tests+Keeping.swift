// Tokens that are kept for the next client.

import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

extension OAuth2Tests {
    @Test("a token is kept for the next client, until the API refuses it")
    func keptToken() async throws {
        let server = TokenServer(), keeper = TokenKeeper()
        func send() async throws -> Int {
            try await AuthorizedTransport(
                server, .oauth2(Self.client), origins: ["https://api.example"], keeper: keeper
            ).send(request).status
        }
        for _ in 0..<3 { #expect(try await send() == 200) }
        #expect(server.tokenRequests.count == 1)
        server.revoke()
        for _ in 0..<2 { #expect(try await send() == 200) }
        #expect(server.tokenRequests.count == 2)
    }

    /// Two clients with one keeper of tokens.
    private func together(_ server: TokenServer) -> [AuthorizedTransport] {
        let keeper = TokenKeeper()
        return (0..<2).map { _ in
            AuthorizedTransport(server, .oauth2(Self.client), origins: ["https://api.example"], keeper: keeper)
        }
    }

    @Test("two clients that keep their tokens together use the newest, if the server accepts no other")
    func keptByTwo() async throws {
        let server = TokenServer(), both = together(server)
        for _ in 0..<4 {
            for transport in both { #expect(try await transport.send(request).status == 200) }
        }
        #expect(server.tokenRequests.count == 2)
    }

    @Test("a token of another client that the server refuses, too, is renewed in the same request")
    func keptAndRevoked() async throws {
        let server = TokenServer(), both = together(server)
        for transport in both { #expect(try await transport.send(request).status == 200) }
        server.revoke()
        #expect(try await both[0].send(request).status == 200)
        #expect(try await both[1].send(request).status == 200)
        #expect(server.tokenRequests.count == 3)
    }

    /// A server in front of a ``TokenServer`` that does something before each request of the API.
    private struct Front: Transport {
        let server: TokenServer
        let before: @Sendable (TransportRequest) async throws(TransportError) -> TransportResponse?

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            if !request.url.hasSuffix("/token"), let response = try await before(request) { return response }
            return try await server.send(request)
        }
    }

    @Test("a request takes the token of another client once only: it ends although that gets new ones all the time")
    func keptOnce() async throws {
        let server = TokenServer(), keeper = TokenKeeper(), sent = Mutex(0)
        let origins: Set<String> = ["https://api.example"]
        // It renews its token for each request, as the API refuses all.
        let other = AuthorizedTransport(
            Front(server: server) { _ in TransportResponse(status: 401) }, .oauth2(Self.client), origins: origins,
            keeper: keeper)
        let request = request
        let front = Front(server: server) { _ throws(TransportError) in
            let number = sent.withLock { count in
                count += 1
                return count
            }
            guard number < 10 else { return TransportResponse(status: 200) }
            _ = try await other.send(request)
            return TransportResponse(status: 401)
        }
        let transport = AuthorizedTransport(front, .oauth2(Self.client), origins: origins, keeper: keeper)
        #expect(try await transport.send(request).status == 401)
        #expect(sent.withLock(\.self) == 3, "with its token, with that of the other one, with a new one")
    }

    @Test("requests beside one that has taken the token of another client may renew it as well after its refusal")
    func keptBeside() async throws {
        let server = TokenServer(), keeper = TokenKeeper(), held = Mutex(0)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let origins: Set<String> = ["https://api.example"]
        // Two requests are answered once both have been sent with the old token.
        let front = Front(server: server) { sent in
            guard sent.url.hasSuffix("/held"), sent.headers["Authorization"] == "Bearer token-1" else { return nil }
            let isLast = held.withLock { held in
                held += 1
                return held == 2
            }
            if isLast { open.finish() } else { for await _ in gate { break } }
            return TransportResponse(status: 401)
        }
        let transport = AuthorizedTransport(front, .oauth2(Self.client), origins: origins, keeper: keeper)
        let other = AuthorizedTransport(server, .oauth2(Self.client), origins: origins, keeper: keeper)
        #expect(try await transport.send(request).status == 200)
        server.revoke()
        // The kept token of the first client is refused, too.
        #expect(try await other.send(request).status == 200)
        server.revoke()
        let beside = TransportRequest(url: "https://api.example/held")
        async let first = transport.send(beside)
        async let second = transport.send(beside)
        #expect(try await first.status == 200)
        #expect(try await second.status == 200)
    }

    @Test("a refresh token that the server has replaced is kept for the next client, too")
    func keptRefreshToken() async throws {
        let server = TokenServer(rotates: true), keeper = TokenKeeper()
        var settings = Self.client
        (settings.grant, settings.scopes, settings.parameters) = (.refreshToken(.value(Secret("refresh-0"))), [], [])
        for _ in 0..<3 {
            let transport = AuthorizedTransport(
                server, .oauth2(settings), origins: ["https://api.example"], keeper: keeper)
            #expect(try await transport.send(request).status == 200)
            server.revoke()
        }
        let sent = server.tokenRequests.map { form($0) }
        #expect(sent.count == 3)
        for (number, form) in sent.enumerated() { #expect(form.contains("refresh_token=refresh-\(number)"), "\(form)") }
    }
}
