// Help pages in the width of the terminal.

import ArgumentParser
import Foundation

enum HelpText {
    /// The columns of help pages: `COLUMNS`, else those of the terminal, else 80.
    static var columns: Int {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns >= 20 {
            return min(columns, 1000)
        }
        return Output.isTerminal ? max(20, Output.width) : 80
    }

    /// The width in which ArgumentParser leaves every line whole.
    static let unwrapped = 1 << 20

    /// Columns that are enough for ArgumentParser, which indents descriptions by 26.
    private static let enough = 40

    /// Returns ArgumentParser's exit code for an error.
    ///
    /// To find it, ArgumentParser makes the help page for the terminal. In few columns, a
    /// description has no room, which ends a debug build: `COLUMNS` is larger meanwhile.
    static func exitCode(for error: any Error, of command: any ParsableArguments.Type) -> ExitCode {
        let chosen = ProcessInfo.processInfo.environment["COLUMNS"]
        guard chosen.flatMap({ Int($0) }) ?? columns < enough else { return command.exitCode(for: error) }
        setenv("COLUMNS", "80", 1)
        defer {
            if let chosen { setenv("COLUMNS", chosen, 1) } else { unsetenv("COLUMNS") }
        }
        return command.exitCode(for: error)
    }

    /// Breaks the lines of a help page that are too long.
    ///
    /// A line that ends in a description, which two or more spaces separate, continues below the
    /// description; any other line continues with a larger indentation.
    static func wrapped(_ text: String, columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { lines(Array($0), columns) }
            .joined(separator: "\n")
    }

    private static func lines(_ line: [Character], _ columns: Int) -> [String] {
        guard line.count > columns else { return [String(line)] }
        let indent = line.prefix { $0 == " " }.count
        if let start = descriptionStart(line, after: indent) {
            if start + 20 <= columns { return filled(line, columns, hanging: start) }
            // No room beside the example: its description comes below.
            let example = line[..<start].reversed().drop { $0 == " " }.reversed()
            let below = [Character](repeating: " ", count: indent + 4)
            return lines(Array(example), columns) + filled(below + line[start...], columns, hanging: indent + 4)
        }
        // ArgumentParser indents the descriptions of options by 26 columns.
        let hanging = String(line).hasPrefix("USAGE: ") ? 7 : indent == 0 || indent >= 20 ? indent : indent + 4
        return filled(line, columns, hanging: min(hanging, columns / 2))
    }

    /// The index of the text behind the first two spaces in a row, if there are any.
    private static func descriptionStart(_ line: [Character], after indent: Int) -> Int? {
        guard indent > 0 else { return nil }
        for index in line.indices.dropFirst(indent + 2)
        where line[index] != " " && line[index - 1] == " " && line[index - 2] == " " {
            return index
        }
        return nil
    }

    private static func filled(_ line: [Character], _ columns: Int, hanging: Int) -> [String] {
        var result: [String] = [], rest = line[...]
        let indent = [Character](repeating: " ", count: hanging)
        while rest.count > columns {
            let text = rest.drop { $0 == " " }
            let end = rest.prefix(columns + 1).lastIndex(of: " ").flatMap { $0 > text.startIndex ? $0 : nil }
            guard let end = end ?? text.firstIndex(of: " ") else { break }
            result.append(String(rest[..<end]))
            rest = (indent + rest[end...].drop { $0 == " " })[...]
        }
        return result + [String(rest)]
    }
}
