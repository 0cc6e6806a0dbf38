// The problems of a description file, each with line, column and field.

/// The problems that make a description unusable, by line. ``description`` has the first 20.
public struct DescriptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of problems in ``description``.
    private static let limit = 20

    /// One problem of a description file.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The path of the file, as the caller has passed it.
        package var file: String
        /// The line, counted from 1; nil if the problem concerns the whole file.
        package var line: Int?
        /// The column in Unicode scalars, counted from 1; nil if `line` is nil.
        package var column: Int?
        /// The dotted path of the field: `entities.Issue.attributes.state.values`; may be empty.
        package var field: String
        /// The problem and its remedy.
        package var message: String

        /// Creates a problem.
        package init(file: String, line: Int? = nil, column: Int? = nil, field: String = "", _ message: String) {
            self.file = file
            self.line = line
            self.column = column
            self.field = field
            self.message = Problem.shortened(message)
        }

        /// The length from which a word of a message is cut, and what remains of it.
        private static let longest = (word: 200, rest: 100)

        /// Cuts words that are too long to read, such as a wrong value.
        private static func shortened(_ text: String) -> String {
            guard text.utf8.count > longest.word else { return text }
            var result = "", word = ""
            func end() {
                if word.count > longest.word {
                    let end = word.reversed().prefix { "\":;,.)".contains($0) }
                    word = word.prefix(longest.rest) + "…" + String(end.reversed())
                }
                result += word
                word = ""
            }
            for character in text {
                if character.isWhitespace {
                    end()
                    result.append(character)
                } else {
                    word.append(character)
                }
            }
            end()
            return result
        }

        /// One line, whatever the file contains: `forge.yaml:23:14: entities.User.key: …`.
        package var description: String {
            var text = file
            if let line { text += ":\(line)" }
            if line != nil, let column { text += ":\(column)" }
            text += ": "
            if !field.isEmpty { text += "\(field): " }
            return Problem.oneLine(text + message)
        }

        /// Escapes control characters, which would break the line or act on the terminal.
        private static func oneLine(_ text: String) -> String {
            // Appending a sequence to a view of scalars copies the view.
            var line = ""
            for scalar in text.unicodeScalars {
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator:
                    line += "\\u{\(String(scalar.value, radix: 16))}"
                default: line.unicodeScalars.append(scalar)
                }
            }
            return line
        }
    }

    /// All problems; never empty.
    package var problems: [Problem]

    /// Sorts the problems by location.
    package init(_ problems: [Problem]) {
        let sorted = problems.enumerated().sorted { a, b in
            (a.element.line ?? 0, a.element.column ?? 0, a.offset) < (
                b.element.line ?? 0, b.element.column ?? 0, b.offset
            )
        }
        self.problems = sorted.map(\.element)
    }

    /// One line for each of the first 20 problems, and the number of the others.
    public var description: String {
        var lines = problems.prefix(DescriptionError.limit).map(\.description)
        if problems.count > lines.count { lines.append("… and \(problems.count - lines.count) more") }
        return lines.joined(separator: "\n")
    }
}
