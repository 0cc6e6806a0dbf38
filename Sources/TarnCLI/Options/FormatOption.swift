import ArgumentParser
import Tarn

/// The option `--format`.
struct FormatOption: ParsableArguments {
    @Option(help: "Output format: table, or json with one object per line (default: table on a terminal, else json).")
    var format: OutputFormat = .default
}
