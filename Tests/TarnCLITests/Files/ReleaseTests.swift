// The contents of a release by `tools/dist`: man pages from the commands, and a start without libcurl. A release is
// not built here.

import Foundation
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: release")
struct ReleaseTests {
    private static func names(_ command: CommandOutline, _ name: String) -> [String] {
        [name]
            + command.shownSubcommands.filter { $0.commandName != "help" }.flatMap {
                names($0, "\(name)-\($0.commandName)")
            }
    }

    @Test("every command has a man page with its options and examples, which groff reads without a warning")
    func manPages() async throws {
        let folder = try TemporaryFolder()
        let made = try await shell("'\(Repository.root)/tools/make-man' \"$TARN\" '\(folder.path)'")
        #expect(made.status == 0, "\(made.error)")
        let names = Self.names(try #require(CommandOutline.program()), "tarn")
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(names.map { $0 + ".1" }))
        for name in names {
            let page = try String(contentsOfFile: "\(folder.path)/\(name).1", encoding: .utf8)
            #expect(page.hasPrefix(".TH \"\(name.uppercased())\" \"1\""))
            #expect(page.contains(".SH SYNOPSIS") && (page.contains(".SH OPTIONS") || page.contains(".SH COMMANDS")))
            #expect(name == "tarn" || page.contains(".SH EXAMPLES"), "\(name)")
        }
        let root = try String(contentsOfFile: folder.path + "/tarn.1", encoding: .utf8)
        #expect(root.contains(".SH EXIT STATUS") && root.contains("Partial success"))
        let groff = try await shell(
            "! command -v groff >/dev/null || for page in '\(folder.path)'/*.1; do groff -man -ww -z -Tutf8 \"$page\"; done"
        )
        #expect(groff.status == 0 && groff.error == "", "\(groff.error.prefix(2000))")
    }

    @Test("the list of libcurl's functions that a release loads later has every one that the sources call")
    func lazyFunctions() throws {
        let file = try String(contentsOfFile: Repository.root + "/tools/lazy-curl.c", encoding: .utf8)
        let listed = Set(file.matches(of: /X\(\d+, (curl_\w+)\)/).map { String($0.1) })
        var called: Set<String> = []
        let sources = Repository.root + "/Sources"
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources) {
            guard path.hasSuffix(".swift") || path.hasSuffix(".h") else { continue }
            let text = try String(contentsOfFile: sources + "/" + path, encoding: .utf8)
            called.formUnion(text.matches(of: /(?:^|[^\w`])(curl_[a-z_]+)\(/).map { String($0.1) })
        }
        called.remove("curl_off_t")
        #expect(called.count > 10 && called.subtracting(listed) == [], "add them to tools/lazy-curl.c")
        let numbers = file.matches(of: /X\((\d+), curl_\w+\)/).compactMap { Int($0.1) }
        #expect(numbers == Array(0..<numbers.count))
    }

    @Test("the scripts are valid shell, and refuse an unknown argument with exit code 2")
    func scripts() async throws {
        let dist = Repository.root + "/tools/dist"
        #expect(try await shell("bash -n '\(dist)'").status == 0)
        let usage = try await shell("'\(dist)' --bogus")
        #expect(usage.status == 2 && usage.error.hasPrefix("usage: tools/dist"), "\(usage.error)")
    }
}
