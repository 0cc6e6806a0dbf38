/// The format of a command's records.
enum OutputFormat: String, CaseIterable {
    /// Aligned columns, cut to the width of the terminal.
    case table
    /// One JSON object a line.
    case ndjson
    /// One JSON array of objects, or one object of a command that prints a single record.
    case json
    /// Comma-separated values with a header (RFC 4180).
    case csv
    /// Tab-separated values with a header; `\t`, `\n`, `\r` and `\\` are escapes.
    case tsv
    /// A YAML list of mappings.
    case yaml
    /// A table of Markdown.
    case markdown

    /// A table on a terminal, JSON lines in a pipe.
    static var `default`: OutputFormat { Output.isTerminal ? .table : .ndjson }

    /// Whether the format is for people: it shows a selection of the columns.
    var isForPeople: Bool { self == .table || self == .markdown }
    /// Whether the format has members by name, and only those that a record has.
    var isObjects: Bool { self == .ndjson || self == .json || self == .yaml }
}

/// The format of a command's report.
enum ReportFormat: String, CaseIterable {
    /// Text for people.
    case table
    /// One JSON object a line.
    case json

    /// Text on a terminal, JSON in a pipe.
    static var `default`: ReportFormat { Output.isTerminal ? .table : .json }
}
