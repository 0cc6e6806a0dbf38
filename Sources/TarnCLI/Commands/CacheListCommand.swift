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
            listed as a mirror's, and the lists of a program, each of several responses, as a list. Secrets in URLs are \
            masked. Data formats have the metadata that the endpoint declares, too.

            Examples:
              tarn cache list forge.tarn
              tarn cache list --prefix https://api.example.org/issues --format ndjson
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Only URLs with this prefix.", valueName: "url")) var prefix = ""
    @OptionGroup var format: FormatOption

    func run() throws {
        let now = Date().timeIntervalSince1970, style = format.style, prefix = prefix
        let names = ["url", "status", "records", "bytes", "age", "of"] + (style.format.isForPeople ? [] : ["metadata"])
        format.beginOutput()
        var rows = RowWriter(names, style, rightAligned: [1, 2, 3, 4], named: 0)
        try store.open().read { reader in
            try reader.access.responses.forEach { view in
                guard view.url.hasPrefix(prefix) else { return true }
                let age = max(0, Int(now - Double(view.validatedAt.microseconds) / 1_000_000))
                let metadata = PageMetadata.declared(in: view.metadata)
                var cells: [OutputValue] = [
                    .text(Redaction.url(view.requestURL)), .number(view.status),
                    view.bodySize == nil ? .number(view.count) : .absent,
                    view.bodySize.map(OutputValue.number) ?? .absent,
                    .number(age), .text(view.isOfList ? "list" : view.isCaches ? "cache" : "mirror"),
                ]
                if !style.format.isForPeople {
                    cells.append(metadata.isEmpty ? .absent : .json(jsonObject(metadata)))
                }
                var members: [RowWriter.Member] = zip(names, cells).filter { !$1.isAbsent }.map { ($0, $1) }
                if view.isInvalidated { members.append(("invalidated", .json("true"))) }
                rows.add(members: members, cells: cells)
                return true
            }
        }
        rows.end()
    }
}

/// Returns a JSON object of members whose values are JSON text, by name.
func jsonObject(_ members: [String: String]) -> String {
    var text = "{"
    for (index, (name, json)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { text += "," }
        text.appendJSONString(name)
        text += ":" + json
    }
    return text + "}"
}
