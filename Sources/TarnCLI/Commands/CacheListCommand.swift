import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache list`.
struct CacheListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached responses.",
        discussion: """
            Each row has the URL, the status, the number of listed records or the size of the body in bytes, and the \
            seconds since the server confirmed the response; the oldest entry is first. Responses of `tarn sync` are \
            listed as a mirror's. Secrets in URLs are masked.

            Examples:
              tarn cache list forge.tarn
              tarn cache list --prefix https://api.example.org/issues --format json
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Only URLs with this prefix.", valueName: "url")) var prefix = ""
    @OptionGroup var format: FormatOption

    func run() throws {
        let now = Date().timeIntervalSince1970, format = format.format, prefix = prefix
        var table = Table(["url", "status", "records", "bytes", "age", "of"], rightAligned: [1, 2, 3, 4])
        try store.open().read { reader in
            try reader.access.responses.forEach { view in
                guard view.url.hasPrefix(prefix) else { return true }
                let age = max(0, Int(now - Double(view.validatedAt.microseconds) / 1_000_000)),
                    url = Redaction.url(view.requestURL)
                let records = view.bodySize == nil ? view.count : nil, kind = view.isCaches ? "cache" : "mirror"
                if format == .table {
                    table.add([
                        url, "\(view.status)", records.map(String.init) ?? "", view.bodySize.map(String.init) ?? "",
                        "\(age)", kind,
                    ])
                } else {
                    try Output.json([
                        "url": url, "status": view.status, "records": records, "bytes": view.bodySize, "age": age,
                        "of": kind,
                        "invalidated": view.isInvalidated ? true : nil,
                    ])
                }
                return true
            }
        }
        if format == .table { table.lines(width: Output.width).forEach(Output.line) }
    }
}
