enum OutputFormat: String, CaseIterable {
    /// Aligned columns, cut to the width of the terminal.
    case table
    /// One JSON object a line.
    case json

    /// A table for people, JSON for pipes.
    static var `default`: OutputFormat { Output.isTerminal ? .table : .json }
}
