/// The format of rows, and the form of their values.
struct OutputStyle {
    var format: OutputFormat
    /// Whether times are in the local time zone; otherwise they are in UTC.
    var isLocal = false
    /// Whether cells that a spreadsheet would run as formulas are marked.
    var isSpreadsheetSafe = false

    init(_ format: OutputFormat) { self.format = format }
}
