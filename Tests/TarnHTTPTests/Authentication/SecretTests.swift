// The sources of secrets, and that secrets are never shown.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Secrets")
struct SecretTests {
    private func file(_ text: String) throws -> (path: String, folder: String) {
        let folder = try LocalServer.makeFolder()
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/secret"))
        return (folder + "/secret", folder)
    }

    @Test("a secret comes from the environment, from a file or from a command")
    func sources() throws {
        let (path, folder) = try file("s3cret\r\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try SecretSource.environment("A").read(environment: ["A": "s3cret"]).exposed == "s3cret")
        #expect(try SecretSource.file(path).read(environment: [:]).exposed == "s3cret")
        #expect(try SecretSource.command(["printf", "s3cret\\n"]).read(environment: [:]).exposed == "s3cret")
        #expect(try SecretSource.command(["cat", path]).read(environment: [:]).exposed == "s3cret")
        #expect(try SecretSource.value(Secret("a b")).read(environment: [:]).exposed == "a b")
    }

    @Test("a byte order mark and the end of the line are no part of the secret in a file")
    func byteOrderMark() throws {
        let (path, folder) = try file("\u{FEFF}s3cret\r\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try SecretSource.file(path).read(environment: [:]).exposed.utf8.elementsEqual("s3cret".utf8))
    }

    @Test("a secret that is not there is an error that says where it should be, and not what is there instead")
    func missing() throws {
        let (path, folder) = try file("one\ntwo-s3cret")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sources: [(SecretSource, String)] = [
            (.environment("NOT_SET"), "the environment variable NOT_SET"), (.environment("EMPTY"), "is not set"),
            (.file("/nowhere/secret"), "the file /nowhere/secret does not exist; it must provide a secret of this API"),
            (.file(folder), "cannot be read: Is a directory"), (.file(path + "/x"), "does not exist"),
            (.file(String(repeating: "x", count: 300)), "cannot be read: File name too long"),
            (.file(path), "contains several lines"),
            (.command(["false"]), "the command false failed with status 1; it must provide a secret of this API"),
            (.command(["sh", "-c", "echo s3cret >&2; exit 3"]), "failed with status 3"),
            (.command(["no-such-command-here"]), "the command no-such-command-here does not exist"),
            (.command(["sh", "-c", "no-such-command-here"]), "127: it may run a program that does not exist"),
            (.command([path]), "is not executable"),
            (.command(["true"]), "is empty"), (.command(["sh", "-c", "kill -9 $$"]), "was terminated"),
        ]
        for (source, says) in sources {
            let error = #expect(throws: SecretError.self) { try source.read(environment: ["EMPTY": ""]) }
            let text = error?.description ?? ""
            #expect(text.contains(says) && !text.contains("s3cret"), "\(text)")
        }
    }

    @Test("a command has its time and its length, whatever it does with signals, children and its output")
    func boundedCommands() throws {
        let started = ContinuousClock.now
        // A child keeps the pipe.
        let command = SecretSource.command(["sh", "-c", "sleep 60 & echo s3cret"])
        #expect(try command.read(environment: [:]).exposed == "s3cret")
        let error = #expect(throws: SecretError.self) {
            try SecretSource.command(["sh", "-c", "yes | head -c 2000000000"]).read(environment: [:])
        }
        #expect(error?.reason.contains("more than 64 KiB") == true)
        for words in [["sleep", "60"], ["sh", "-c", "trap '' TERM; sleep 60; echo s3cret"]] {
            let error = #expect(throws: SecretError.self) {
                try SecretCommand().run(words, .command(words), limit: 100, time: .milliseconds(200))
            }
            #expect(error?.reason.contains("was terminated") == true)
        }
        #expect(ContinuousClock.now - started < .seconds(30))
    }

    @Test("the output of a command that has ended counts, also if it is read after the end of its time")
    func lateReading() throws {
        // As in a process that was stopped meanwhile.
        var ends: [Int32] = [-1, -1], processID: pid_t = 0
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        try #require(write(ends[1], "s3cret\n", 7) == 7)
        close(ends[1])
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(arguments[0]) }
        try #require(posix_spawnp(&processID, "true", nil, nil, &arguments, environ) == 0)
        defer { waitpid(processID, nil, 0) }
        var info = siginfo_t()
        try #require(waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) == 0)
        let end = SuspendingClock.now - .seconds(60)
        #expect(SecretCommand.output(of: processID, ends[0], limit: 100, until: end) == Data("s3cret\n".utf8))
    }

    @Test("in a process that ignores SIGCHLD, and so learns no status, a command gives no secret")
    func unknownStatus() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            let error = #expect(throws: SecretError.self) {
                try SecretSource.command(["sh", "-c", "echo s3cret; exit 3"]).read(environment: [:])
            }
            #expect(error?.reason.contains("SIGCHLD") == true)
        }
    }

    @Test("a command for which nobody waits any more is ended")
    func cancelledCommand() async throws {
        let transport = AuthorizedTransport(
            ScriptedTransport([.status(200)]), .bearer(.command(["sleep", "60"])), origins: ["http://h"])
        let started = ContinuousClock.now
        let task = Task { try await transport.send(TransportRequest(url: "http://h/")) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test("a command that begins when nobody waits any more is ended")
    func lateCommand() throws {
        let commands = SecretCommands(), command = SecretCommand()
        commands.close()
        commands.begin(command)
        let error = #expect(throws: SecretError.self) {
            try SecretSource.command(["sh", "-c", "sleep 2; echo s3cret"]).read(environment: [:], command)
        }
        #expect(error?.reason == "was interrupted")
    }

    @Test("a request that waits for the secret in a pipe ends with its task, and keeps no thread of the pool")
    func cancelledPipe() async throws {
        let folder = try TemporaryFolder(), pipe = folder("secret"), isOver = Mutex(false)
        try #require(mkfifo(pipe, 0o600) == 0)
        let transport = AuthorizedTransport(
            ScriptedTransport([.status(200)]), .bearer(.file(pipe)), origins: ["http://h"])
        let task = Task {
            defer { isOver.withLock { $0 = true } }
            return try await transport.send(TransportRequest(url: "http://h/"))
        }
        var writer: Int32 = -1
        // It can be opened as soon as there is a reader.
        try await eventually("the reader") {
            writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return writer >= 0
        }
        defer { close(writer) }
        task.cancel()
        try await eventually("the end") { isOver.withLock(\.self) }
        await expectFailure(.cancelled) { try await task.value }
        // The next request waits for the same secret.
        let next = Task { try await transport.send(TransportRequest(url: "http://h/")) }
        try #require(write(writer, "s3cret\n", 7) == 7)
        close(writer)
        writer = -1
        #expect(try await next.value.status == 200)
    }

    @Test("a secret does not show itself, however it is printed")
    func hidden() {
        let secret = Secret("s3cret"), authentication = Authentication.bearer(.value(secret))
        var dumped = ""
        dump([secret], to: &dumped)
        dump(authentication, to: &dumped)
        let printed = [
            "\(secret)", String(reflecting: secret), "\(authentication)", String(reflecting: authentication), dumped,
            "\(["a": secret])",
        ]
        #expect(!printed.contains { $0.contains("s3cret") }, "\(printed)")
    }
}
