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

    @Test("the wait for a secret in a pipe ends with the task that asks for the account, and keeps no thread")
    func cancelledPipe() async throws {
        let folder = try TemporaryFolder(), pipe = folder("client")
        defer { withExtendedLifetime(folder) {} }
        try #require(mkfifo(pipe, 0o600) == 0)
        var settings = OAuth2Tests.client
        settings.clientID = .file(pipe)
        let transport = AuthorizedTransport(TokenServer(), .oauth2(settings), origins: ["https://api.example"])
        // A pipe can be opened for writing while there is a reader.
        func writer() -> Int32 { open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC) }
        var first: Int32 = -1
        let scope = Task { try await transport.scope() }
        try await eventually("the reader") {
            first = writer()
            return first >= 0
        }
        defer { close(first) }
        scope.cancel()
        await #expect { _ = try await scope.value } throws: { ($0 as? TransportError)?.kind == .cancelled }
        try await eventually("the end of the reader") {
            let other = writer()
            if other >= 0 { close(other) }
            return other < 0
        }
        let next = Task { try await transport.scope() }
        var second: Int32 = -1
        try await eventually("the next reader") {
            second = writer()
            return second >= 0
        }
        try #require(write(second, "tarn\n", 5) == 5)
        close(second)
        close(first)
        first = -1
        #expect(try await next.value != nil)
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
