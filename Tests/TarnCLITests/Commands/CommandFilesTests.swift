// A command of `tarn inspect` and of `tarn store` is a file and its test; this file finds the commands by itself.

import Foundation
import TestSupport
import Testing

@Suite("Command line: files of commands")
struct CommandFilesTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Repository.root + "/" + path, encoding: .utf8)
    }

    /// All tests of the command line but this file.
    private static func tests() throws -> String {
        let folder = "Tests/TarnCLITests"
        let files = try FileManager.default.subpathsOfDirectory(atPath: Repository.root + "/" + folder).filter {
            $0.hasSuffix(".swift") && !$0.hasSuffix("CommandFilesTests.swift") && !$0.hasSuffix("UsageTests.swift")
        }
        return try files.map { try text("\(folder)/\($0)") }.joined()
    }

    @Test(
        "every command of a group has a file of its own, help with an example, a test, and its line in the documentation",
        arguments: [("inspect", "InspectCommand"), ("store", "StoreCommand")])
    func files(_ group: String, _ type: String) async throws {
        let list = try #require(
            try Self.text("Sources/TarnCLI/Commands/\(type).swift").split(separator: "subcommands: [").dropFirst().first
        )
        let commands = list.prefix { $0 != "]" }.matches(of: /(\w+)\.self/).map { String($0.1) }
        #expect(commands.count >= 4)
        let documents = try Self.text("README.md") + Self.text("Sources/Tarn/Tarn.docc/Operating.md"),
            tests = try Self.tests()
        for command in commands {
            let source = try Self.text("Sources/TarnCLI/Commands/\(command).swift")
            #expect(source.contains("struct \(command): "))
            let name = try #require(source.firstMatch(of: /commandName: "([a-z-]+)"/)).1
            let help = try await tarn(group, String(name), "--help")
            #expect(help.status == 0 && help.output.contains("  tarn \(group) \(name) "), "\(help.output)")
            #expect(documents.contains("tarn \(group) \(name)"), "tarn \(group) \(name)")
            #expect(tests.contains("\"\(group)\", \"\(name)\""), "tarn \(group) \(name)")
        }
    }
}
