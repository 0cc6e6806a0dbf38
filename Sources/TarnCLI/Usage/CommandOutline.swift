// The commands and their arguments, as ArgumentParser describes them to tools.

import ArgumentParser
import Foundation

/// A command with its arguments and subcommands.
struct CommandOutline: Decodable {
    /// An argument, an option or a flag of a command.
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }

        /// A name of an option or a flag.
        struct Name: Decodable {
            var kind: String
            var name: String

            /// The name as it is written: `--file` or `-f`.
            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        var kind: Kind
        var names: [Name]?
        var valueName: String?
        var abstract: String?
        var allValues: [String]?
        var isRepeating: Bool
        var shouldDisplay: Bool

        /// The names as they are written.
        var texts: [String] { (names ?? []).map(\.text) }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool
    var arguments: [Argument]?
    var subcommands: [CommandOutline]?

    /// The command `tarn`.
    static func program() -> CommandOutline? { CommandOutline(of: TarnCommand.self) }

    /// The command `tarn`, with the arguments of the command that the words name.
    ///
    /// Of all other commands it has the names only: to describe a hundred of them takes longer than
    /// everything else that a usage error needs.
    static func program(along words: some Sequence<String>) -> CommandOutline? {
        let words = Array(words)
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return program() }
        return CommandOutline(of: TarnCommand.self, along: words[...])
    }

    private init?(of command: any ParsableCommand.Type, along words: ArraySlice<String>) {
        let below = command.configuration.subcommands
        guard let word = words.first, !word.hasPrefix("-"), !below.isEmpty else {
            self.init(of: command)
            // By itself it is the whole program to ArgumentParser, with the command `help`; below
            // `tarn` it has the option `--version`.
            subcommands?.removeAll { $0.commandName == "help" }
            arguments?.append(Self.version)
            return
        }
        self.init(named: command)
        subcommands = below.map { subcommand in
            guard subcommand._commandName == word else { return CommandOutline(named: subcommand) }
            return CommandOutline(of: subcommand, along: words.dropFirst()) ?? CommandOutline(named: subcommand)
        }
    }

    private init(named command: any ParsableCommand.Type) {
        (commandName, shouldDisplay) = (command._commandName, command.configuration.shouldDisplay)
    }

    private static let version = Argument(
        kind: .flag, names: [Argument.Name(kind: "long", name: "version")], isRepeating: false, shouldDisplay: true)

    /// Describes a command; nil if ArgumentParser describes it in another way than today.
    init?(of command: any ParsableCommand.Type) {
        struct Tool: Decodable { var command: CommandOutline }
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)) else { return nil }
        self = tool.command
    }

    /// The subcommands that help pages show.
    var shownSubcommands: [CommandOutline] { (subcommands ?? []).filter(\.shouldDisplay) }

    /// The options and flags that help pages show.
    var shownOptions: [Argument] { (arguments ?? []).filter { $0.kind != .positional && $0.shouldDisplay } }

    var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }

    func subcommand(_ name: String) -> CommandOutline? { subcommands?.first { $0.commandName == name } }

    /// The option or flag with a name such as `--file`.
    func option(_ text: String) -> Argument? { arguments?.first { $0.texts.contains(text) } }
}
