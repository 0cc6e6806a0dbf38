// Help pages: their width, and their examples.

import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: help pages")
struct HelpTextTests {
    /// Every command, by its path.
    private static func commands() throws -> [(path: [String], command: CommandOutline)] {
        func below(_ command: CommandOutline, _ path: [String]) -> [(path: [String], command: CommandOutline)] {
            [(path, command)]
                + command.shownSubcommands.filter { $0.commandName != "help" }.flatMap {
                    below($0, path + [$0.commandName])
                }
        }
        return below(try #require(CommandOutline.program()), [])
    }

    /// The lines of a help text that show a call of `tarn`, up to their description.
    private static func examples(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line -> String? in
            let call = line.drop { $0 == " " }
            guard line.hasPrefix("  "), call.hasPrefix("tarn ") || call.contains("(tarn ") else { return nil }
            let bare =
                call.hasPrefix("tarn ")
                ? call : call[(call.range(of: "(tarn ")?.lowerBound ?? call.startIndex)...].dropFirst()
            return String(bare.split(separator: "   ", maxSplits: 1)[0])
        }
    }

    /// The words of a call as a shell splits them, up to a pipe or a redirection.
    private static func words(_ call: String) -> [String] {
        var words: [String] = [], word = "", quote: Character?, isWord = false
        for character in call {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                (quote, isWord) = (character, true)
            } else if character == " " {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else if "|>)".contains(character) {
                break
            } else {
                word.append(character)
                isWord = true
            }
        }
        return isWord ? words + [word] : words
    }

    @Test("every command's help has an example, and every example parses")
    func examples() async throws {
        var count = 0
        for (path, command) in try Self.commands() {
            // Tests that run at the same time share two threads or so; this takes seconds.
            await Task.yield()
            let name = "tarn " + path.joined(separator: " ")
            let examples = Self.examples(in: command.discussion ?? "")
            #expect(!examples.isEmpty, "\(name) has no example")
            for example in examples {
                count += 1
                // The value of a shell variable is unknown: its option is left out.
                var words = Self.words(example).dropFirst()
                while let variable = words.firstIndex(where: { $0.hasPrefix("$") }) {
                    words.removeSubrange((variable - 1)...variable)
                }
                if words.first == "help" { continue }
                #expect(throws: Never.self, "\(name): \(example)") { _ = try TarnCommand.parseAsRoot(Array(words)) }
            }
            if !path.isEmpty {
                #expect(examples.contains { $0.hasPrefix(name) }, "\(name): no example of its own in \(examples)")
            }
        }
        #expect(count > 40)
    }

    private static let widths = [40, 64, 80, 132]

    private static func expectWidth(_ page: String, _ columns: Int, _ path: [String]) {
        for line in page.split(separator: "\n") where line.count > columns {
            // Only a word that does not fit alone may stand out.
            let words = line.drop { $0 == " " }.split(separator: " ")
            #expect(words.count == 1, "\(path), \(columns) columns: \(line)")
        }
    }

    private static func unwrapped(_ path: [String]) -> String {
        do {
            // Running what is parsed throws the page.
            var command = try TarnCommand.parseAsRoot(path + ["--help"])
            try command.run()
            return ""
        } catch {
            return TarnCommand.fullMessage(for: error, columns: HelpText.unwrapped)
        }
    }

    /// A process takes a fifth of a second: each page is printed by one, and wrapped here for the
    /// other widths.
    @Test("a help page is as wide as COLUMNS says, and each line is broken once")
    func width() async throws {
        for (index, command) in try Self.commands().enumerated() {
            let columns = Self.widths[index % Self.widths.count]
            let page = try await tarn(command.path + ["--help"], environment: ["COLUMNS": "\(columns)"])
            Self.expectWidth(page.output, columns, command.path)
            let unwrapped = Self.unwrapped(command.path)
            #expect(unwrapped.contains("OPTIONS:"), "\(command.path)")
            #expect(page.output == HelpText.wrapped(unwrapped, columns: columns) + "\n", "\(command.path)")
            for columns in Self.widths {
                Self.expectWidth(HelpText.wrapped(unwrapped, columns: columns), columns, command.path)
            }
            await Task.yield()
        }
    }

    @Test("each entry of a help topic is broken by the width alone", arguments: ["environment", "exit-codes"])
    func topics(_ topic: String) async throws {
        let wide = try await tarn(["help", topic], environment: ["COLUMNS": "400"])
        let lines = wide.output.split(separator: "\n")
        // In a wide terminal, an indented line is the description of the long name above it.
        for (line, next) in zip(lines, lines.dropFirst()) where next.hasPrefix("        ") {
            #expect(!line.drop { $0 == " " }.contains("  ") && !line.hasPrefix("        "), "\(topic): \(line)")
        }
        Self.expectWidth(try await tarn(["help", topic], environment: ["COLUMNS": "60"]).output, 60, [topic])
    }

    @Test("in a narrow terminal, each help page is printed in 20 columns or more", arguments: [1, 20, 26])
    func narrow(_ columns: Int) async throws {
        for arguments in [["--help"], ["help", "sync"], ["inspect", "--help"], ["list", "Issue", "--help"]] {
            let page = try await tarn(arguments, environment: ["COLUMNS": "\(columns)"])
            #expect(page.status == 0 && page.error == "", "\(arguments): \(page.error)")
            #expect(page.output.contains("OPTIONS:"), "\(arguments): \(page.output)")
            // Fewer than 20 columns count as none.
            Self.expectWidth(page.output, columns < 20 ? 80 : columns, arguments)
        }
        let error = try await tarn(["list"], environment: ["COLUMNS": "\(columns)"])
        #expect(error.status == 2 && error.error.hasPrefix("tarn: Missing expected argument"), "\(error)")
    }

    @Test("a command that is described for a usage error has the options and subcommands of the whole program's")
    func alone() async throws {
        for (path, command) in try Self.commands() {
            var found = try #require(CommandOutline.program(along: path + ["--unknown"]))
            for name in path { found = try #require(found.subcommand(name), "\(path)") }
            let options = Set(command.shownOptions.flatMap(\.texts))
            #expect(Set(found.shownOptions.flatMap(\.texts)) == options, "\(path)")
            let names = Set(command.shownSubcommands.map(\.commandName))
            #expect(Set(found.shownSubcommands.map(\.commandName)) == names, "\(path)")
            await Task.yield()
        }
    }

    @Test("a wide page is the narrow one with fewer line breaks, and descriptions stay below each other")
    func wrapping() {
        #expect(HelpText.wrapped("one two three", columns: 8) == "one two\nthree")
        #expect(
            HelpText.wrapped("  tarn a     what it does here and more", columns: 34)
                == "  tarn a     what it does here and\n             more")
        #expect(
            HelpText.wrapped("  tarn a long example     what it does", columns: 26)
                == "  tarn a long example\n      what it does")
        #expect(
            HelpText.wrapped("USAGE: tarn list [<options>] <entity>", columns: 30)
                == "USAGE: tarn list [<options>]\n       <entity>")
        let text = "a" + String(repeating: "b", count: 50)
        #expect(HelpText.wrapped(text, columns: 20) == text)
        #expect(HelpText.wrapped("x\n\ny", columns: 20) == "x\n\ny")
    }
}
