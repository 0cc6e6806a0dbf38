// The progress line on a real pseudo-terminal.

import Foundation
import Testing

@Suite("Command line: progress on a terminal")
struct ProgressTests {
    /// Runs a command with standard error on a terminal of 60 columns, and prints what arrives there.
    private static let script = """
        import fcntl, os, pty, struct, sys, termios
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 60, 0, 0))
        child = os.fork()
        if child == 0:
            os.dup2(slave, 2)
            os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 1)
            os.execv(sys.argv[2], sys.argv[2:])
        os.close(slave)
        seen = b''
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        status = os.waitpid(child, 0)[1]
        sys.stdout.buffer.write(seen)
        sys.exit(os.waitstatus_to_exitcode(status))
        """

    private func onTerminal(_ arguments: [String], _ folder: TemporaryFolder) async throws -> TarnProcess.Result {
        let script = try folder.write("terminal.py", ProgressTests.script)
        return try await TarnProcess(
            ["python3", script, folder.path + "/output", TarnProcess.executable] + arguments, program: "/usr/bin/env"
        ).end()
    }

    @Test("pages and records count up on one line that fits the terminal, and the line is erased at the end")
    func lineMoves() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge)
        let result = try await onTerminal(Forge.arguments(folder.path + "/s", server.base, ["labels", "issues"]), folder)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.hasSuffix("\r\u{1B}[K"))
        // `\r\n` is one character to Swift: split by scalars.
        let updates = result.output.unicodeScalars.split { $0 == "\r" || $0 == "\n" }
            .map { String($0).replacing("\u{1B}[K", with: "") }.filter { !$0.isEmpty }
        for update in updates { #expect(update.count < 60, "\(update)") }
        let issues = updates.compactMap { try? /issues: (\d+) pages, (\d+) records.*/.wholeMatch(in: $0) }
        #expect(issues.map { "\($0.1) \($0.2)" } == [
            "0 0", "0 0", "0 0", "1 50", "1 50", "2 100", "2 100", "3 150", "3 150", "4 200", "4 200", "5 250", "6 300", "7 330",
        ])
        #expect(updates.contains { $0.hasPrefix("labels: 0 pages, 0 records  … http://127.0.0.1:") }, "\(updates)")
        let summary = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(summary.hasPrefix("endpoint") && !summary.contains("\u{1B}"))
    }

    @Test("pages that did not change are counted apart; with --quiet, and without a terminal, there is no progress at all")
    func notModifiedAndQuiet() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge)
        let arguments = Forge.arguments(folder.path + "/s", server.base, ["users"])
        let first = try await tarn(arguments)
        #expect(first.status == 0 && first.error == "")
        let second = try await onTerminal(arguments, folder)
        #expect(second.output.contains("users: 2 pages (2 not modified), 38 records"), "\(second.output)")
        let quiet = try await onTerminal(arguments + ["--quiet"], folder)
        #expect(quiet.status == 0 && quiet.output == "", "\(quiet.output)")
    }
}
