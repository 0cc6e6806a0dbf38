// The progress line on a real pseudo-terminal.

import Foundation
import TestSupport
import Testing

@Suite("Command line: progress on a terminal")
struct ProgressTests {
    private func onTerminal(_ arguments: [String], _ folder: TemporaryFolder) async throws -> TarnProcess.Result {
        try await Terminal.run(arguments, output: folder.path + "/output")
    }

    @Test("pages and records count up on one line that fits the terminal, and the line is erased at the end")
    func lineMoves() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge)
        let result = try await onTerminal(
            Forge.arguments(folder.path + "/s", server.base, ["labels", "issues"]), folder)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.hasSuffix("\r\u{1B}[K"))
        // `\r\n` is one character to Swift: split by scalars.
        let updates = result.output.unicodeScalars.split { $0 == "\r" || $0 == "\n" }
            .map { String($0).replacing("\u{1B}[K", with: "") }.filter { !$0.isEmpty }
        for update in updates { #expect(update.count < 60, "\(update)") }
        let issues = updates.compactMap { try? /issues: (\d+) pages?, (\d+) records?.*/.wholeMatch(in: $0) }
        #expect(
            issues.map { "\($0.1) \($0.2)" } == [
                "0 0", "0 0", "0 0", "1 50", "1 50", "2 100", "2 100", "3 150", "3 150", "4 200", "4 200", "5 250",
                "6 300", "7 330",
            ])
        #expect(updates.contains { $0.hasPrefix("labels: 0 pages, 0 records  … http://127.0.0.1:") }, "\(updates)")
        let summary = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(summary.hasPrefix("endpoint") && !summary.contains("\u{1B}"))
    }

    @Test(
        "pages that did not change are counted apart; with --quiet, and without a terminal, there is no progress at all"
    )
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
