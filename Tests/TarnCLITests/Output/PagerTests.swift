// The pager, on a terminal that is the process's own; and the limits of a terminal.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: pager and terminal")
struct PagerTests {
    /// A pager that marks what goes through it.
    private func pager(_ folder: TemporaryFolder) throws -> String {
        let path = try folder.write("pager", "#!/bin/sh\nsed 's/^/paged: /'\n")
        _ = chmod(path, 0o755)
        return path
    }

    private func list(_ arguments: [String], _ environment: [String: String]) async throws -> TarnProcess.Result {
        try await Terminal.run(
            arguments + ["--store", try await Forge.store], isControlling: true, environment: environment)
    }

    @Test("output longer than the screen goes through TARN_PAGER or PAGER; the notes follow it")
    func longOutput() async throws {
        let folder = try TemporaryFolder(), pager = try pager(folder)
        for environment in [["TARN_PAGER": pager, "PAGER": "false"], ["PAGER": pager]] {
            let result = try await list(["list", "Issue"], environment)
            let lines = result.output.split(separator: "\n")
            #expect(result.status == 0 && lines.count { $0.hasPrefix("paged: ") } == 101, "\(result.output)")
            let last = lines.suffix(4).map(String.init)
            #expect(last[0] == "100 of 330 records" && last[2] == "All records: repeat with `--all`", "\(last)")
        }
        let all = try await list(["list", "Issue", "--all"], ["PAGER": pager])
        #expect(all.output.split(separator: "\n").count { $0.hasPrefix("paged: ") } == 331)
    }

    @Test(
        "output that fits the screen, --no-pager, an empty pager, `cat`, and a pager that does not exist show it directly"
    )
    func direct() async throws {
        let folder = try TemporaryFolder(), pager = try pager(folder)
        for (arguments, environment) in [
            (["list", "Issue", "--limit", "20"], ["PAGER": pager]),
            (["list", "Issue", "--no-pager"], ["PAGER": pager]),
            (["list", "Issue"], ["TARN_PAGER": "", "PAGER": pager]), (["list", "Issue"], ["PAGER": "cat"]),
            (["list", "Issue"], ["PAGER": folder.path + "/none"]),
            (["list", "Issue"], ["PAGER": pager, "TERM": "dumb"]),
        ] as [([String], [String: String])] {
            let result = try await list(arguments, environment)
            #expect(result.status == 0 && !result.output.contains("paged"), "\(arguments) \(environment)")
            #expect(result.output.hasPrefix("id "))
        }
    }

    @Test("the output that a pager has not shown, because it failed, goes to the terminal")
    func failing() async throws {
        let folder = try TemporaryFolder(), refusing = try folder.write("refusing", "#!/bin/sh\nexit 127\n")
        _ = chmod(refusing, 0o755)
        for pager in ["false", refusing] {
            let result = try await list(["list", "Issue", "--all"], ["PAGER": pager])
            #expect(result.status == 0 && result.output.hasPrefix("id "), "\(pager): \(result.output.prefix(200))")
            #expect(result.output.split(separator: "\n").count >= 331, "\(pager)")
        }
        // More than the kernel keeps for a pager.
        let long = try await list(["list", "Comment", "--all", "--format", "ndjson"], ["PAGER": "false"])
        #expect(long.status == 0 && long.output.utf8.count > 1 << 16, "\(long.output.utf8.count)")
        #expect(long.output.split(separator: "\n").count { $0.hasPrefix("{") } == 500)
    }

    @Test("a pager that has read everything has shown it, whatever its exit code is")
    func failedAtEnd() async throws {
        let folder = try TemporaryFolder()
        let failing = try folder.write("failing", "#!/bin/sh\nsed 's/^/paged: /'\nexit 3\n")
        _ = chmod(failing, 0o755)
        let result = try await list(["list", "Issue", "--all"], ["PAGER": failing])
        let lines = result.output.split(separator: "\n")
        #expect(result.status == 0 && lines.count { $0.hasPrefix("paged: ") } == 331, "\(result.output.suffix(200))")
        #expect(!lines.contains { $0.hasPrefix("id ") })
    }

    @Test("a user who leaves the pager early ends the command without an error")
    func leftEarly() async throws {
        let result = try await list(["list", "Comment", "--all", "--fields", "all"], ["PAGER": "head -n 1"])
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 1, "\(result.output)")
    }

    @Test("a pager has no signal blocked: Ctrl-Z, Ctrl-C and the size of the terminal act on it")
    func signals() async throws {
        // Started by a thread of the pool, whose signals are blocked. A shell would unblock them.
        let result = try await list(["changes"], ["PAGER": "grep SigBlk /proc/self/status"])
        let words = result.output.split(whereSeparator: \.isWhitespace).drop { $0 != "SigBlk:" }
        #expect(words.dropFirst().first == "0000000000000000", "\(result)")
    }

    @Test("Ctrl-C ends a command whose pager was left, while it goes on")
    func interruptAfterPager() async throws {
        let folder = try TemporaryFolder(), items = (1...60).map { "{\"id\":\($0)}" }.joined(separator: ",")
        let isFirst = Mutex(true), leave = DispatchSemaphore(value: 0)
        defer { leave.signal() }
        let server = try ScriptedServer { _ in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            // The revalidation in the background has no answer.
            if !isFirst { leave.wait() }
            return .init(fields: ["Cache-Control: max-age=0, stale-while-revalidate=600"], body: "[\(items)]")
        }
        let file = try folder.write("tarn.yaml", itemsYAML("paginate: single_page"))
        let pager = try folder.write(
            "pager",
            "#!/bin/sh\n(while kill -INT $PPID; do sleep 0.2; done) < /dev/null > /dev/null 2>&1 &\nhead -n 1\n")
        _ = chmod(pager, 0o755)
        let arguments = ["fetch", "items", "--file", file, "--base", server.base]
        expectSuccess(try await tarn(arguments))
        let result = try await Terminal.run(arguments, isControlling: true, environment: ["PAGER": pager])
        // The script of the terminal exits with the negative number of the signal.
        #expect(result.status == 256 - SIGINT, "\(result)")
    }

    @Test("a user who leaves the pager ends a command that finds nothing more to show")
    func leftWithoutOutput() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // A terminal of its own, with this process in its foreground.
            setsid()
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2): unlock it, and its number.
            var unlocked: Int32 = 0, number: Int32 = 0
            guard ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else { _exit(8) }
            let terminal = open("/dev/pts/\(number)", O_RDWR)
            var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            guard ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0, dup2(terminal, STDOUT_FILENO) == STDOUT_FILENO else {
                _exit(8)
            }
            setenv("TERM", "xterm", 1)
            setenv("TARN_PAGER", "head -n 1", 1)
            Pager.begin()
            guard Pager.isHolding else { _exit(8) }
            for number in 1...100 { Output.line("line \(number)") }
            sleep(30)
            _exit(9)
        }
    }

    @Test("the pager's command is split at spaces, and no shell runs it")
    func command() {
        #expect(Pager.command(["TERM": "xterm"]) == ["less"])
        #expect(Pager.command(["TERM": "xterm", "PAGER": "less -S;rm x"]) == ["less", "-S;rm", "x"])
        #expect(Pager.command(["TERM": "xterm", "PAGER": "a", "TARN_PAGER": "b -c"]) == ["b", "-c"])
        #expect(Pager.command([:]) == nil && Pager.command(["TERM": "xterm", "PAGER": " "]) == nil)
    }
}
