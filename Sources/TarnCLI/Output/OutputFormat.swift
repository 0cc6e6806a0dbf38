/// The format of a command's output.
enum OutputFormat: String, CaseIterable {
    /// Aligned columns, cut to the width of the terminal.
    case table
    /// One JSON object a line.
    case json

    /// A table on a terminal, JSON in a pipe.
    static var `default`: OutputFormat { Output.isTerminal ? .table : .json }
}
