// Programs that print secrets of OAuth 2, and tasks that are cancelled.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

extension OAuth2Tests {
    /// A program that prints the identifier of the client as soon as a file is there.
    ///
    /// It notes in a second file that it was started.
    private struct Program {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        var transport: AuthorizedTransport {
            var settings = OAuth2Tests.client
            settings.clientID = .command([
                "sh", "-c",
                "echo >> '\(folder("started"))'; while ! [ -e '\(folder("open"))' ]; do sleep 0.01; done; echo tarn",
            ])
            return AuthorizedTransport(TokenServer(), .oauth2(settings), origins: ["https://api.example"])
        }

        func started(_ count: Int) async throws {
            try await eventually("\(count) programs") {
                (try? Data(contentsOf: URL(fileURLWithPath: folder("started"))))?.count == count
            }
        }

        func open() throws { try Data().write(to: URL(fileURLWithPath: folder("open"))) }
    }

    @Test("a program that prints a secret for the account ends with the task that asks for it")
    func cancelledScope() async throws {
        let program = try Program(), transport = program.transport
        let scope = Task { try await transport.scope() }
        try await program.started(1)
        scope.cancel()
        await #expect { _ = try await scope.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
        // Also if it is cancelled before.
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.scope()
        }
        await #expect { _ = try await early.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
    }

    @Test("a task that is cancelled knows the account whose secrets need no wait")
    func cancelledPlainScope() async throws {
        let transport = AuthorizedTransport(
            TokenServer(), .oauth2(OAuth2Tests.client), origins: ["https://api.example"])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.scope()
        }
        #expect(try await task.value != nil)
    }

    @Test("a request that is cancelled does not end the program by which another caller asks for the account")
    func cancelledBesideScope() async throws {
        let program = try Program(), transport = program.transport
        let scope = Task { try await transport.scope() }
        try await program.started(1)
        let request = Task { try await transport.send(self.request) }
        try await program.started(2)
        request.cancel()
        await expectFailure(.cancelled) { try await request.value }
        try program.open()
        #expect(try await scope.value != nil)
    }
}
