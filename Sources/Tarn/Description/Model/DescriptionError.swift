// What is wrong with a description file: every problem with its line, its column and its field.

/// A description that cannot be used, with every problem that was found (up to ``limit``), in the order of their lines.
public struct DescriptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many problems are reported at once. Past that the first ones should be mended first.
    public static let limit = 20

    /// One problem.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The path of the file, as it was given.
        public var file: String
        /// Counted from 1. Nil if the problem is about the file as a whole.
        public var line: Int?
        /// Counted from 1, in Unicode scalars. Nil if the problem is about the file as a whole.
        public var column: Int?
        /// The dotted path of the field, such as `entities.Issue.attributes.state.values`. Empty if there is none.
        public var field: String
        /// What is wrong and what to do.
        public var message: String

        public init(file: String, line: Int? = nil, column: Int? = nil, field: String = "", _ message: String) {
            self.file = file
            self.line = line
            self.column = column
            self.field = field
            self.message = message
        }

        /// One line, whatever the file contains: `forge.yaml:23:14: entities.User.key: …`.
        public var description: String {
            var text = file
            if let line { text += ":\(line)" }
            if line != nil, let column { text += ":\(column)" }
            text += ": "
            if !field.isEmpty { text += "\(field): " }
            return Problem.oneLine(text + message)
        }

        /// Control characters would break the line, or reach the terminal as commands.
        private static func oneLine(_ text: String) -> String {
            var line = String.UnicodeScalarView()
            for scalar in text.unicodeScalars {
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator:
                    line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
                default: line.append(scalar)
                }
            }
            return String(line)
        }
    }

    /// Not empty.
    public var problems: [Problem]
    /// How many more there are than ``problems`` shows.
    public var omitted: Int

    /// Sorts the problems by place and keeps the first ``limit``.
    public init(_ problems: [Problem]) {
        let sorted = problems.enumerated().sorted { a, b in
            (a.element.line ?? 0, a.element.column ?? 0, a.offset) < (
                b.element.line ?? 0, b.element.column ?? 0, b.offset
            )
        }
        self.problems = sorted.prefix(DescriptionError.limit).map(\.element)
        omitted = max(0, problems.count - DescriptionError.limit)
    }

    /// One line for each problem.
    public var description: String {
        var lines = problems.map(\.description)
        if omitted > 0 { lines.append("… and \(omitted) more") }
        return lines.joined(separator: "\n")
    }
}
