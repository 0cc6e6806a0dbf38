import ArgumentParser

/// The option `--format` of commands that print a report.
struct ReportFormatOption: ParsableArguments {
    @Option(help: "Output format: table, or json with one object per line (default: table on a terminal, else json).")
    var format: ReportFormat = .default
}
