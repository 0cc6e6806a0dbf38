// Unknown commands and options: the nearest known name.

import ArgumentParser
import Tarn

enum UsageAdvice {
    /// Returns the message for the first unknown command or option, with the nearest known name.
    ///
    /// - Parameter arguments: the arguments after the program's name, which ArgumentParser refuses.
    /// - Returns: nil if all commands and options are known: the arguments are wrong for another
    ///   reason.
    static func message(_ arguments: some Sequence<String>, _ program: CommandOutline) -> String? {
        var command = program, skipsValue = false, previous = "", isRoot = true
        for argument in arguments {
            if argument == "--" { return nil }
            defer { previous = argument }
            if skipsValue {
                skipsValue = false
                if previous == "--watch", argument.hasPrefix("-"), argument.dropFirst().first?.isNumber == true {
                    return VisibleText.line("--watch \(argument): \(SyncInterval.expectation)", limit: 512)
                }
            } else if argument.hasPrefix("-") {
                let name = String(argument.prefix { $0 != "=" })
                if let option = command.option(name) {
                    skipsValue = option.kind == .option && name == argument
                } else if name.hasPrefix("--"), name.utf8.count > 2 {
                    return unknown("option", name, command.shownOptions.flatMap(\.texts))
                } else if isNegative(argument) {
                    return
                        "\(VisibleText.line(argument, limit: 64)) reads as an option: write a key that begins with - "
                        + "behind --, after all options, as in `tarn get Issue -- -5`"
                }
            } else if let subcommand = command.subcommand(argument) {
                (command, isRoot) = (subcommand, false)
            } else if let subcommands = command.subcommands, !subcommands.isEmpty {
                if let other = elsewhere(argument) {
                    return "unknown command \"\(argument)\": did you mean `\(other)`?"
                }
                // `help` is ArgumentParser's own.
                return unknown(
                    "command", argument, command.shownSubcommands.map(\.commandName) + (isRoot ? ["help"] : []))
            }
        }
        return nil
    }

    /// Returns the command of another group with this name, such as `tarn inspect salvage`; nil
    /// without one.
    private static func elsewhere(_ name: String) -> String? {
        for command in TarnCommand.configuration.subcommands {
            if command._commandName == name { return "tarn \(name)" }
            if command.configuration.subcommands.contains(where: { $0._commandName == name }) {
                return "tarn \(command._commandName) \(name)"
            }
        }
        return nil
    }

    private static func isNegative(_ argument: String) -> Bool {
        argument.utf8.count > 1 && argument.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Returns the message for an option whose value begins with a dash: ArgumentParser calls the
    /// value missing.
    ///
    /// - Parameter message: The message of ArgumentParser.
    static func dashedValue(_ message: String, _ arguments: some Sequence<String>) -> String? {
        guard message.contains("Missing value for") else { return nil }
        let arguments = Array(arguments)
        for (name, value) in zip(arguments, arguments.dropFirst())
        where message.contains("'\(name) ") && name.hasPrefix("--") && value.hasPrefix("-") && Double(value) != nil {
            return VisibleText.line("a value that begins with a dash is written \(name)=\(value)", limit: 512)
        }
        return nil
    }

    private static func unknown(_ kind: String, _ name: String, _ known: [String]) -> String {
        // Short options are not near to anything.
        let message = Spelling.unknown(kind, name, among: known.filter { $0.utf8.count > 2 })
        return VisibleText.line(message, limit: 512)
    }
}
