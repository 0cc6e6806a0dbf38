import ArgumentParser

/// The options of the output of records: `--format`, `--local`, `--csv-safe` and `--no-pager`.
struct FormatOption: ParsableArguments {
    @Option(
        help:
            "Output format: table, ndjson (one object per line), json, csv, tsv, yaml or markdown (default: table on a terminal, else ndjson)."
    )
    var format: OutputFormat = .default
    @Flag(name: .customLong("local"), help: "Show times in the local time zone (default: UTC).") var isLocal = false
    @Flag(help: "With csv and tsv: put an apostrophe before cells that a spreadsheet would run as formulas.")
    var csvSafe = false
    @Flag(name: .customLong("no-pager"), help: "On a terminal, do not show long output through a pager.")
    var hasNoPager = false

    var style: OutputStyle {
        var style = OutputStyle(format)
        style.isLocal = isLocal
        style.isSpreadsheetSafe = csvSafe
        return style
    }

    func validate() throws {
        if csvSafe, format != .csv, format != .tsv { throw ValidationError("--csv-safe is only for csv and tsv") }
    }

    /// Begins the output of records: on a terminal, through a pager if it is long.
    func beginOutput() {
        if !hasNoPager { Pager.begin() }
    }
}
