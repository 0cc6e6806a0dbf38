// Tokens that are kept for the next client.

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
