import ArgumentParser
import Tarn

/// The option `--format`.
struct FormatOption: ParsableArguments {
    @Option(help: "table or json (one object a line); by default a table on a terminal, and json for a pipe.")
    var format: OutputFormat = .default
}
