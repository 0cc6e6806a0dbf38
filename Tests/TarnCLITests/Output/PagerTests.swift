// The pager, on a terminal that is the process's own; and the limits of a terminal.

import Foundation
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

    @Test("the pager's command is split at spaces, and no shell runs it")
    func command() {
        #expect(Pager.command(["TERM": "xterm"]) == ["less"])
        #expect(Pager.command(["TERM": "xterm", "PAGER": "less -S;rm x"]) == ["less", "-S;rm", "x"])
        #expect(Pager.command(["TERM": "xterm", "PAGER": "a", "TARN_PAGER": "b -c"]) == ["b", "-c"])
        #expect(Pager.command([:]) == nil && Pager.command(["TERM": "xterm", "PAGER": " "]) == nil)
    }
}
