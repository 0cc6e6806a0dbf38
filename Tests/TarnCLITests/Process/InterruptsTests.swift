// Signals that interrupt a command: those that come together, those that come when the work is
// done, and the programs that the command has started.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Interrupts")
struct InterruptsTests {
    @Test(
        "a signal that comes when nothing is left to interrupt ends the process", arguments: [SIGINT, SIGTERM, SIGHUP])
    func afterTheEnd(signal number: Int32) async {
        await #expect(processExitsWith: .signal(number)) { [number = number as Int32] in
            // As a shell leaves them: the runner of the tests may ignore some.
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
            Interrupts {}.stop()
            kill(getpid(), number)
            sleep(20)
        }
    }

    @Test("a signal that is sent twice at once, as timeout(1) does it, is one")
    func sentTwice() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages, "--fault", "page=2:stall:600")
        let file = try folder.write("tarn.yaml", itemsYAML())
        let sync = try TarnProcess(["sync", "--file", file, "--base", server.base])
        try await eventually { server.requests.contains { $0.contains("page=2 ") } }
        // Two numbers: the system may join two equal signals.
        sync.send(SIGTERM)
        sync.send(SIGHUP)
        let ended = await sync.end()
        #expect([143, 129].contains(ended.status) && ended.error.contains("tarn: interrupted; "), "\(ended)")
    }

    @Test("an interrupt is told, and has its exit code, also if it has ended the reader of the output")
    func withoutReader() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages, "--fault", "page=2:stall:600")
        let file = try folder.write("tarn.yaml", itemsYAML())
        let program = """
            import os, subprocess, sys
            reader, writer = os.pipe()
            child = subprocess.Popen(sys.argv[1:], stdout=writer)
            os.close(reader)
            print(child.pid, flush=True)
            print(child.wait())
            """
        let parent = try TarnProcess(
            ["python3", "-c", program, TarnProcess.executable, "sync", "--file", file, "--base", server.base],
            program: "/usr/bin/env")
        try await eventually { server.requests.contains { $0.contains("page=2 ") } }
        let sync = try #require(pid_t(parent.output.trimmingCharacters(in: .newlines)))
        kill(sync, SIGINT)
        let ended = await parent.end()
        #expect(ended.lines.last == "-\(SIGINT)" && ended.error.contains("tarn: interrupted; "), "\(ended)")
    }

    @Test("an interrupt of a fetch ends the program that prints its secret", arguments: [SIGINT, SIGTERM, SIGHUP])
    func secretCommand(signal: Int32) async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages), note = folder("process")
        let command =
            "  auth: { bearer: { command: [sh, -c, 'echo $$ > \(note).new; mv \(note).new \(note); sleep 600'] } }"
        let file = try folder.write("tarn.yaml", itemsYAML(api: command))
        let fetch = try TarnProcess(["fetch", "items", "--file", file, "--base", server.base])
        try await eventually("the program") { access(note, F_OK) == 0 }
        let text = try String(contentsOfFile: note, encoding: .utf8).trimmingCharacters(in: .newlines)
        let program = try #require(pid_t(text))
        fetch.send(signal)
        let ended = await fetch.end()
        #expect(ended.status == 128 + signal && ended.error.isEmpty, "\(ended)")
        // A zombie until its new parent has read its status.
        try await eventually("its end") {
            let status = try? String(contentsOfFile: "/proc/\(program)/stat", encoding: .utf8)
            return status.map { $0.contains(") Z ") } ?? true
        }
        #expect(server.requests.isEmpty)
    }

    /// Runs a command of a shell as its own group, and sends a signal to all of it after the first
    /// line of the output.
    private static let group = """
        import os, signal, subprocess, sys
        shell = subprocess.Popen(
            ['bash', '-c', sys.argv[1]] + sys.argv[2:], stdout=subprocess.PIPE, start_new_session=True)
        seen = os.read(shell.stdout.fileno(), 4096)
        os.killpg(shell.pid, signal.SIGINT)
        seen += shell.stdout.read()
        sys.stdout.buffer.write(seen)
        print(shell.wait())
        """

    @Test("Ctrl-C ends the loop of a shell around a command that handles it")
    func loop() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        let file = try folder.write("tarn.yaml", itemsYAML())
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let result = try await TarnProcess(
            [
                "python3", "-c", Self.group,
                "for i in 1 2; do \"$0\" watch Item --limit $((3 - i)) --file \"$1\"; done",
                TarnProcess.executable, file,
            ], program: "/usr/bin/env"
        ).end()
        #expect(result.lines.count == 2 && result.lines.last == "-\(SIGINT)", "\(result)")
    }
}
