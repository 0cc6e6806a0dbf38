// Text from outside never acts on a terminal, whichever command shows it and wherever it comes
// from.

import Foundation
import LMDB
import Tarn
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: hostile text")
struct HostileTextTests {
    /// Everything that acts on a terminal: escape sequences that write the clipboard and the title,
    /// colours by C1, the rest of C0, DEL, all bidirectional controls.
    static let hostile =
        "<\u{1B}]52;c;cHduZWQ=\u{7}\u{1B}]0;x\u{1B}\\\u{9B}31m\u{90}\u{85}\r\n\r\t\u{8}\u{0}\u{7F}"
        + "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200E}\u{200F}\u{61C}\u{2028}\u{2029}>"
    /// As an argument, without NUL.
    static let argument = hostile.replacing("\u{0}", with: "")

    private static func quoted(_ text: String) -> String {
        var json = ""
        json.appendJSONString(text)
        return json
    }

    /// Checks the output on a terminal or in a pipe: only text, line breaks, and erased progress.
    ///
    /// - Parameter hasTabs: whether the format separates by tabs.
    private func expectHarmless(_ result: TarnProcess.Result, _ what: String, hasTabs: Bool = false) {
        for text in [result.output, result.error] {
            // The sequences of progress and colours, which only the program writes.
            let rest = text.replacing(/\u{1B}\[(K|J|\d+A|\d+m)/, with: "").unicodeScalars
            var previous: Unicode.Scalar?
            for (offset, scalar) in rest.enumerated() {
                defer { previous = scalar }
                // Progress returns to the first column; lines end in LF alone.
                let isProgress = scalar == "\r" && (previous == nil || previous == "\n" || offset > 0)
                if scalar == "\t", hasTabs { continue }
                if scalar == "\n" || isProgress && text.contains("\u{1B}[K") { continue }
                let value = scalar.value
                let acts =
                    value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x61C || value == 0x200E
                    || value == 0x200F
                    || (0x2028...0x202E).contains(value) || (0x2066...0x2069).contains(value)
                if acts {
                    Issue.record("\(what): U+\(String(value, radix: 16)) in \(text.debugDescription.prefix(600))")
                    return
                }
            }
        }
    }

    /// Runs a command on a terminal and into pipes.
    @discardableResult
    private func check(_ arguments: [String], status: Int32, shows: String? = nil) async throws -> TarnProcess.Result {
        let what = arguments.prefix(3).joined(separator: " ")
        let terminal = try await Terminal.run(arguments), pipe = try await tarn(arguments)
        for result in [terminal, pipe] {
            #expect(result.status == status, "\(what): \(result.error)\(result.output.suffix(400).debugDescription)")
            expectHarmless(result, what)
        }
        if let shows { #expect(terminal.output.contains(shows), "\(what): \(terminal.output)") }
        return pipe
    }

    /// A store whose records, diagnostics and unmapped keys are hostile.
    private func mirror() async throws -> (folder: TemporaryFolder, file: String, server: LocalServer) {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api:
              base: https://api.test.example
            entities:
              Item:
                key: id
                attributes: { id: string, name: string, count: int?, more: json? }
                relationships:
                  owner: { to: User, inverse: items }
              User: { key: id, attributes: { id: string, login: string? } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
              broken: { path: /broken, entity: Item, paginate: single_page }
              refused: { path: /refused, entity: Item, paginate: single_page }
            """)
        let text = Self.quoted(Self.hostile)
        let items = """
            [{"id":\(text),"name":\(text),"count":\(text),"more":{\(text):[\(text),
              1]},\(text):1,"owner":{"id":\(text),"login":\(text)}},
             {"id":"b","name":"plain","count":1,"owner":\(Self.quoted(Self.hostile + "missing"))}]
            """
        let server = try LocalServer([
            recording("/items", items), recording("/broken", "[{\"id\": \(Self.hostile)"),
            recording("/refused", "{\"message\":\(text)}", status: "422 Unprocessable"),
        ])
        return (folder, file, server)
    }

    @Test(
        "records, unmapped keys, diagnostics, error bodies and pages that are no JSON never act on a terminal, in any command"
    )
    func mirrored() async throws {
        let (folder, file, server) = try await mirror()
        defer { _ = (folder, server) }
        let sync = ["sync", "--file", file, "--base", server.base, "--refetch"], key = Self.argument
        // A value does not fit.
        try await check(sync + ["items"], status: 3, shows: "\\u{1B}]52;c;cHduZWQ=\\u{7}")
        try await check(sync + ["items", "--json"], status: 3)
        try await check(sync + ["items", "--verbose"], status: 3)
        try await check(sync + ["broken"], status: 1)
        try await check(sync + ["refused"], status: 1, shows: "\\u{1B}]0;x\\u{1B}")
        let store = folder.path + "/tarn.tarn"
        #expect(FileManager.default.fileExists(atPath: store))
        for format in ["table", "json", "yaml", "markdown"] {
            let read = ["--file", file, "--format", format]
            try await check(["list", "Item", "--include", "owner"] + read, status: 0)
            try await check(
                ["list", "Item", "--where", "name = \(Self.quoted(Self.hostile))", "--explain"] + read, status: 0)
            try await check(["related", "User", "b", "items"] + read, status: 1)
            try await check(["count", "Item", "--by", "name"] + read, status: 0)
            try await check(["missing", "Item", "owner"] + read, status: 0)
            try await check(["changes"] + read, status: 0)
            try await check(["get", "Item", "b", "--include", "owner"] + read, status: 0)
            try await check(["get", "Item", key] + read, status: 1)
            try await check(["get", key, key] + read, status: 2)
            try await check(["cache", "list", store, "--format", format], status: 0)
            try await check(["search", "52;c", "--file", file, "--format", format], status: 0)
        }
        // Data formats keep the bytes in a pipe; on a terminal they are escaped.
        for format in ["csv", "tsv"] {
            for arguments in [["list", "Item", "--include", "owner"], ["changes"], ["search", "52;c"]] {
                let shown = try await Terminal.run(arguments + ["--file", file, "--format", format])
                #expect(shown.status == 0, "\(shown.output)")
                expectHarmless(shown, "\(arguments) as \(format)", hasTabs: true)
            }
        }
        try await check(["status", "--file", file], status: 3)
        try await check(["status", "--file", file, "--json"], status: 3)
        try await check(["open", "Item", "b", "--file", file, "--print"], status: 1)
        try await check(["fetch", "items", "--file", file, "--base", server.base], status: 3)
        try await check(["fetch", "refused", "--file", file, "--base", server.base], status: 1)
        try await check(["watch", "Item", "--limit", "1", "--file", file], status: 0)
        try await check(["inspect", "dump", store], status: 0)
        try await check(["inspect", "stat", store], status: 0)
        try await check(["inspect", "verify", store], status: 0)
    }

    @Test("what JSON lines mean stays the same: only the spelling of some characters is another")
    func meaning() async throws {
        let (folder, file, server) = try await mirror()
        let sync = try await tarn("sync", "items", "--file", file, "--base", server.base)
        #expect(sync.status == 3, "\(sync.error)")
        let dump = try await tarn("inspect", "dump", folder.path + "/tarn.tarn")
        let item = try #require(try dump.lines.map { try json($0) }.first { ($0["key"] as? String) == Self.hostile })
        let fields = try #require(item["fields"] as? [String: Any])
        #expect((fields["name"] as? String).map { Array($0.unicodeScalars) } == Array(Self.hostile.unicodeScalars))
        let more = try #require(fields["more"] as? [String: Any])
        #expect((more[Self.hostile] as? [Any])?.first as? String == Self.hostile)
        let list = try await tarn("list", "Item", "--file", file, "--format", "ndjson")
        #expect(try list.lines.map { try json($0)["name"] as? String }.contains(Self.hostile))
    }

    @Test("the body of `fetch --raw` goes into a pipe byte for byte, and to a terminal as text without commands")
    func rawBody() async throws {
        let folder = try TemporaryFolder()
        let body = Array((Self.hostile + "\nline\tend\n").utf8) + [0xFF, 0x9B, 0x31, 0x6D]
        try Data(Array("GET /logo\nHTTP/1.1 200 OK\nContent-Type: text/plain\n\n".utf8) + body)
            .write(to: URL(fileURLWithPath: folder.path + "/logo.http"))
        let server = try LocalServer(directory: folder.path)
        let arguments = ["fetch", "--raw", server.base + "/logo", "--store", folder.path + "/cache.tarn"]
        let shell = try await shell(
            "\"$TARN\" \(arguments.map { "'\($0)'" }.joined(separator: " ")) > '\(folder.path)/body'")
        #expect(shell.status == 0, "\(shell.error)")
        #expect(FileManager.default.contents(atPath: folder.path + "/body") == Data(body))
        let terminal = try await Terminal.run(arguments)
        #expect(terminal.output.contains("line\tend\n\u{FFFD}\u{FFFD}1m"), "\(terminal.output.debugDescription)")
        var result = terminal
        result.output = terminal.output.replacing("\t", with: " ")
        expectHarmless(result, "fetch --raw")
    }

    @Test("names of tables in a foreign file never act on a terminal")
    func tableNames() async throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(
            at: folder.path + "/foreign", options: Environment.Options(durability: .volatile, mapSize: 1 << 24))
        try environment.writeOpeningTables { transaction in
            let table = try transaction.table(Self.argument)
            try [1].withUnsafeBytes { try transaction.raw.put(table, $0, $0) }
        }
        let stat = try await Terminal.run(["inspect", "stat", folder.path + "/foreign"])
        expectHarmless(stat, "stat")
        let dump = try await Terminal.run(["inspect", "dump", "--tables", folder.path + "/foreign"])
        expectHarmless(dump, "dump --tables")
        #expect(dump.output.contains(#"<\1b]52;"#), "\(dump.output)")
        // A line break in a name would end the line `database=`: `mdb_load` would read other tables.
        let file = try await tarn("inspect", "dump", "--tables", folder.path + "/foreign")
        #expect(file.status == 6 && !file.output.contains("database="), "\(file.output)")
        let lines = try await tarn(
            "inspect", "dump", folder.path + "/foreign", "--table", Self.argument, "--format", "ndjson")
        #expect(lines.status == 0 && lines.lines.count == 2, "\(lines.output)\(lines.error)")
    }

    @Test("names of files and wrong arguments never act on a terminal, and cannot add lines to a message")
    func arguments() async throws {
        let folder = try TemporaryFolder()
        let forged = "x\ntarn: all is well", path = folder.path + "/" + Self.argument
        try await check(["inspect", "stat", path], status: 6)
        try await check(["store", "backup", path, path + "2"], status: 6)
        try await check(["list", "Item", "--file", path], status: 2)
        try await check(["sync", "--file", path], status: 2)
        _ = try folder.write(
            "hostile.yaml", "entities: { \(Self.quoted(Self.hostile)): { key: \(Self.quoted(forged)) } }\n")
        try await check(["sync", "--file", folder.path + "/hostile.yaml"], status: 2)
        let store = try await Forge.store
        for text in [Self.argument, forged] {
            for arguments in [
                [text], ["sync", text, "--frobnicate"], ["list"] + ["--limit", text],
                ["list", "Issue", "--limit=" + text], ["inspect", text],
                ["list", "Issue", "--format", text], ["--" + text], ["store", "quota", "x", "--set", text],
                ["get", "Issue", "7", text],
                ["changes", "--since", text], ["cache", "purge", text], ["list", text, "--store", store],
                ["get", "Issue", text, "--store", store],
                ["list", "Issue", "--where", text, "--store", store],
                ["list", "Issue", "--sort", text, "--store", store],
                ["list", "Issue", "--after", text, "--store", store], ["fetch", "--raw", text],
                ["fetch", "x", "--policy", text],
                ["proxy", "--upstream", text, "--store", path],
                ["sync", "--base", text, "--file", Repository.forgeFile],
                ["sync", text, "--file", Repository.forgeFile], ["help", text],
            ] {
                let result = try await check(arguments, status: 2)
                #expect(
                    !result.errorLines.contains { $0.hasPrefix("tarn: all is well") }, "\(arguments): \(result.error)")
            }
        }
    }

    @Test("a line for people has an end: one that is too long keeps its beginning, its length and its end")
    func longLines() async throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 100_000)
        let result = try await tarn("list", "Item", "--file", folder.path + "/" + name)
        #expect(result.status == 2 && result.error.utf8.count < 5000)
        let cut = try #require(result.error.firstMatch(of: /… \((\d+) bytes\) …/))
        #expect(Int(cut.1) ?? 0 > 100_000)
        #expect(
            result.error.hasSuffix("with --file\n") || result.error.hasSuffix("n\n") || result.error.count > 1000,
            "\(result.error.suffix(100))")
        let usage = try await tarn("list", "Item", "--limit", name)
        #expect(usage.status == 2 && usage.error.utf8.count < 2000, "\(usage.error.utf8.count)")
    }

    @Test(
        "text is cut between characters, marks on one character are bounded, and text that acts on nothing stays as it is"
    )
    func visibleText() {
        for count in 0..<8 {
            let line = VisibleText.line(
                String(repeating: "a", count: count) + String(repeating: "é\u{1F600}", count: 2000))
            #expect(line.utf8.count < VisibleText.limit + 64 && !line.contains("\u{FFFD}"))
        }
        let stacked = "e" + String(repeating: "\u{301}", count: 100)
        #expect(VisibleText.line(stacked).hasPrefix("e" + String(repeating: "\u{301}", count: 30) + "\\u{301}"))
        for text in ["", "plain \\n text", "žluťoučký kůň", "日本語", "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "क्षि"] {
            #expect(VisibleText.line(text) == text && VisibleText.lines(text) == text && VisibleText.cell(text) == text)
        }
        #expect(VisibleText.line("a\r\nb\rc\nd\te") == #"a\r\nb\rc\nd\te"#)
        #expect(VisibleText.lines("a\r\nb\rc\nd\te\r") == "a\nb\\rc\nd\\te\\r")
        #expect(VisibleText.cell("a\r\nb\rc\nd\te") == #"a b\rc d e"#)
        // A cell's width is counted after it is escaped.
        var table = Table(["one", "two"])
        table.add(["\u{202E}x", "y"])
        table.add(["plain", String(repeating: "\u{1B}[2J", count: 30)])
        #expect(table.lines(width: 30) == ["one        two", "\\u{202E}x  y", "plain      \\u{1B}[2J\\u{1B}[2J…"])
    }

    @Test("JSON text is rewritten only where a character acts, for every scalar")
    func everyScalar() throws {
        func rewritten(_ text: String) -> String {
            var bytes: [UInt8] = [], text = text
            text.withUTF8 { VisibleText.appendJSON($0, to: &bytes) }
            return String(decoding: bytes, as: UTF8.self)
        }
        for value in UInt32(0x20)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = rewritten("\"ab\(scalar)é\"")
            if VisibleText.acts(value) {
                let hex = String(value, radix: 16)
                #expect(line == "\"ab\\u" + String(repeating: "0", count: 4 - hex.count) + hex + "é\"")
            } else if line != "\"ab\(scalar)é\"" {
                Issue.record("U+\(String(value, radix: 16)): \(line)")
            }
        }
        #expect(rewritten("[1,\n\t2]") == "[1,  2]")
    }

    @Test("nothing in the command line or the library prints past the writer")
    func onlyWriter() throws {
        let sources = URL(fileURLWithPath: Repository.root + "/Sources")
        let others =
            /\b(debugPrint|print|dump|fputs|puts|putchar|fwrite|fprintf|vfprintf|perror|syslog|NSLog|write)\(|\bFileHandle\.standard(?!Input)|\bSTD(OUT|ERR)_FILENO|\b(stdout|stderr)\b|\.standardError\.|\bLoggingSystem\b/
        var checked = 0
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        {
            let place = file.path.dropFirst(sources.path.count + 1)
            guard file.pathExtension == "swift", !place.hasPrefix("FixtureServer/"), !place.hasPrefix("HostileSync/"),
                !place.hasPrefix("StoreWorker/"), !place.hasPrefix("OutboxWorker/")
            else { continue }
            guard place != "TarnCLI/Output/Output.swift" else { continue }
            checked += 1
            let isCommand = place.hasPrefix("TarnCLI/")
            for (number, line) in try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false
            ).enumerated() {
                let code = line.prefix { $0 != "/" || !line.hasPrefix("///") }
                guard !code.trimmingCharacters(in: .whitespaces).hasPrefix("//"),
                    let found = code.firstMatch(of: others)
                else { continue }
                let word = String(found.0)
                // Writes to a store and to file descriptors are not printing; neither are `fflush`
                // and the proxy's channel.
                if word == "write(" || word == "dump(", !isCommand { continue }
                if line.contains("func \(word)") || line.contains(".\(word)") || line.contains("try \(word)") {
                    continue
                }
                Issue.record(
                    "\(place):\(number + 1): \(line.trimmingCharacters(in: .whitespaces)): print through Output")
            }
        }
        #expect(checked > 100)
    }
}
