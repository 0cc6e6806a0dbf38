// Progress: lines on a real pseudo-terminal, plain lines in a pipe, and the text of one endpoint's line.

import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnCLI

@Suite("Command line: progress")
struct ProgressTests {
    private func onTerminal(
        _ arguments: [String], _ folder: TemporaryFolder, _ environment: [String: String] = [:]
    ) async throws -> TarnProcess.Result {
        try await Terminal.run(arguments, output: folder.path + "/output", environment: environment)
    }

    /// The lines that were drawn, without the sequences of the terminal.
    private func updates(_ result: TarnProcess.Result) -> [String] {
        // `\r\n` is one character to Swift: split by scalars.
        result.output.unicodeScalars.split { $0 == "\r" || $0 == "\n" }
            .map { String($0).replacing(/\u{1B}\[(K|J|\d+A|\d+m)/, with: "") }.filter { !$0.isEmpty }
    }

    @Test(
        "pages count up to the total that the server reports, on lines that fit the terminal and are erased at the end")
    func lineMoves() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--latency", "150")
        let result = try await onTerminal(
            Forge.arguments(folder.path + "/s", server.base, ["labels", "issues"]), folder)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(
            result.output.firstMatch(of: /\r(\u{1B}\[\d+A)?\u{1B}\[K\u{1B}\[J$/) != nil,
            "\(result.output.suffix(60).debugDescription)")
        let updates = updates(result)
        for update in updates { #expect(VisibleText.columns(of: update) < 60, "\(update)") }
        let issues = updates.compactMap { $0.firstMatch(of: /^issues\s+(\d)\/7 pages, (\d+) records,/) }
        #expect(issues.count >= 3, "\(updates)")
        // The last page is shorter. Pages that arrive together are counted together.
        #expect(issues.allSatisfy { Int($0.2) == Int($0.1).map { min($0 * 50, 330) } }, "\(updates)")
        let pages = issues.compactMap { Int($0.1) }
        #expect(pages == pages.sorted())
        #expect(updates.contains { $0.firstMatch(of: /^labels\s+0 pages, 0 records  … http:\/\/127.0.0.1:/) != nil })
        #expect(updates.contains("1 endpoint done"), "\(updates)")
        // Both are scanned side by side: a line each.
        #expect(result.output.contains("\u{1B}[1A"))
        let summary = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(summary.hasPrefix("endpoint") && !summary.contains("\u{1B}"))
    }

    @Test("NO_COLOR draws without colours; --quiet draws nothing")
    func coloursAndQuiet() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--latency", "100")
        let arguments = Forge.arguments(folder.path + "/s", server.base, ["users"])
        let coloured = try await onTerminal(arguments, folder, ["TERM": "xterm", "NO_COLOR": ""])
        #expect(coloured.output.contains("\u{1B}[1musers"), "\(coloured.output.debugDescription)")
        let plain = try await onTerminal(arguments, folder, ["TERM": "xterm", "NO_COLOR": "1"])
        #expect(plain.output.contains("users") && plain.output.firstMatch(of: /\u{1B}\[\d+m/) == nil)
        let quiet = try await onTerminal(arguments + ["--quiet"], folder)
        #expect(quiet.status == 0 && quiet.output == "", "\(quiet.output)")
    }

    @Test("a terminal without escape sequences gets none")
    func dumbTerminal() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--latency", "100")
        let arguments = Forge.arguments(folder.path + "/s", server.base, ["users"])
        let result = try await onTerminal(arguments, folder, ["TERM": "dumb"])
        #expect(result.status == 0 && !result.output.contains("\u{1B}"), "\(result.output.debugDescription)")
    }

    @Test(
        "a refused request shows its status, the countdown and the number of the next try; a failed endpoint's row is marked"
    )
    func triesAndFailures() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(
            directory: Repository.forge, "--latency", "500", "--fault", "/labels:status:503:times=1", "--fault",
            "/milestones?:status:404")
        let result = try await onTerminal(
            Forge.arguments(folder.path + "/s", server.base, ["labels", "milestones", "users"]), folder)
        #expect(result.status == 3)
        #expect(
            updates(result).contains { $0.firstMatch(of: /labels\s.*503: (waiting \d+ s, )?try 2 of \d/) != nil },
            "\(updates(result))")
        let summary = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(summary.contains("\n(FAILED) milestones "), "\(summary)")
        #expect(summary.contains("\nusers "), "\(summary)")
        #expect(updates(result).contains { $0.hasPrefix("tarn: GET http://") })
    }

    @Test("without a terminal a line is written every few seconds, and with --verbose one for each page")
    func plainLines() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--latency", "300")
        let arguments = Forge.arguments(folder.path + "/s", server.base, ["issues"])
        let result = try await tarn(arguments, environment: ["TARN_PROGRESS_SECONDS": "0.4"])
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.errorLines.contains { $0.firstMatch(of: /^issues: [1-6]\/7 pages, \d+ records, .* new/) != nil },
            "\(result.error)")
        let verbose = try await tarn(arguments + ["--verbose", "--refetch"])
        #expect(
            verbose.errorLines.contains { $0.firstMatch(of: /^issues: page 7: 30 records, .*iB: http:\/\//) != nil },
            "\(verbose.error)")
        #expect(verbose.errorLines.count == 7)
    }

    @Test("without a terminal, a line names the attempt that is under way, however short the pause before it was")
    func plainTries() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(
            directory: Repository.forge, "--latency", "1500", "--fault", "/labels:status:503:times=1")
        let result = try await tarn(
            Forge.arguments(folder.path + "/s", server.base, ["labels"]), environment: ["TARN_PROGRESS_SECONDS": "0.2"])
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.errorLines.contains { $0.firstMatch(of: /^labels: .*, 503: try 2 of \d/) != nil },
            "\(result.error)")
    }

    @Test("an endpoint that --missing requests in several rounds is one endpoint")
    func rounds() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            // Lines are drawn at most every 80 milliseconds.
            Thread.sleep(forTimeInterval: 0.12)
            let id = request.target.split(separator: "/").last.flatMap { Int($0) } ?? 0
            let node = #"{"id":\#(id),"next":\#(id < 6 ? "\(id + 1)" : "null")}"#
            return .init(body: request.target == "/nodes" ? "[\(node)]" : node)
        }
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(server.base)' }
            entities:
              Node: { key: id, attributes: { id: int }, relationships: { next: Node } }
            endpoints:
              nodes: { path: /nodes, entity: Node }
              node: { path: '/nodes/{node.id}', for_each: Node, entity: Node }
            """)
        try await expectSuccess(tarn("sync", "nodes", "--file", file))
        let result = try await onTerminal(["sync", "--missing", "--file", file], folder)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(server.targets == ["/nodes"] + (1...6).map { "/nodes/\($0)" })
        let updates = updates(result)
        #expect(updates.contains { $0.hasPrefix("node ") } && !updates.contains("2 endpoints done"), "\(updates)")
    }

    // MARK: One line

    private func progress(_ change: (inout SyncProgress) -> Void) -> SyncProgress {
        var progress = SyncProgress(endpoint: "issues", pages: 0, notModified: 0, listed: 0, requesting: nil)
        change(&progress)
        return progress
    }

    @Test("the line of an endpoint has totals, changes and failures, and counts what an interrupted sync has committed")
    func oneLine() {
        let row = SyncRow(
            progress {
                ($0.pages, $0.listed, $0.notModified, $0.confirmed) = (3, 150, 1, 50)
                ($0.created, $0.updated, $0.unchanged, $0.deleted, $0.bytes) = (7, 2, 91, 1, 3_145_728)
                ($0.resumedPages, $0.resumedRecords, $0.expectedPages, $0.expectedRecords) = (4, 200, 9, 440)
                $0.failures = 1
            })
        #expect(
            row.line(nameColumns: 8).plain
                == "issues    7/9 pages, 1 not modified, 350/440 records, 7 new 2 changed 141 same 1 deleted, 3.0 MiB  1 failure"
        )
        // A total of one list, and records of several ones.
        let several = SyncRow(
            progress { ($0.pages, $0.listed, $0.expectedRecords, $0.countedPart) = (1, 30, 40, 1.0 / 3) })
        #expect(several.line(nameColumns: 6).plain == "issues  1 page, 30 records")
        let many = SyncRow(
            progress { ($0.lists, $0.listsDone, $0.requesting) = (12, 5, "https://x.example/\u{1B}[2J") })
        let line = many.line(nameColumns: 6)
        #expect(line.plain.hasPrefix("issues  5/12 lists, 0 pages, 0 records"))
        #expect(!line.rendered(columns: 200, isColoured: false).contains("\u{1B}"))
        #expect(VisibleText.columns(of: line.rendered(columns: 20, isColoured: false)) <= 20)
    }

    @Test("the progress of a further round has the counts of the rounds before it")
    func following() {
        let round = progress {
            ($0.pages, $0.notModified, $0.listed, $0.confirmed, $0.bytes) = (1, 2, 3, 4, 5)
            ($0.created, $0.updated, $0.unchanged, $0.deleted, $0.failures) = (6, 7, 8, 9, 10)
            ($0.resumedPages, $0.resumedRecords, $0.resumedLists, $0.lists, $0.listsDone) = (11, 12, 13, 14, 15)
        }
        let sum = round.following(round)
        let counts: [Int] = [
            sum.pages, sum.notModified, sum.listed, sum.confirmed, sum.bytes, sum.created, sum.updated, sum.unchanged,
            sum.deleted, sum.failures, sum.resumedPages, sum.resumedRecords, sum.resumedLists, sum.lists, sum.listsDone,
        ]
        #expect(counts == (1...15).map { 2 * $0 })
        #expect(round.following(nil).pages == 1)
    }

    @Test("colours obey NO_COLOR, then CLICOLOR_FORCE, then the terminal")
    func colours() {
        #expect(Output.isColoured([:], isTerminal: true))
        #expect(!Output.isColoured([:], isTerminal: false))
        #expect(!Output.isColoured(["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], isTerminal: true))
        #expect(Output.isColoured(["NO_COLOR": ""], isTerminal: true))
        #expect(Output.isColoured(["CLICOLOR_FORCE": "1"], isTerminal: false))
        #expect(!Output.isColoured(["CLICOLOR_FORCE": "0"], isTerminal: false))
        #expect(!Output.isColoured(["TERM": "dumb"], isTerminal: true))
        #expect(!Output.isColoured(["CLICOLOR": "0"], isTerminal: true))
    }
}
