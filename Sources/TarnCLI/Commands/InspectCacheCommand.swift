// `tarn inspect cache`: the stored responses of a file, and the decision about one of them.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct InspectCacheCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List the stored responses with their freshness, or explain whether one would answer a request.",
        discussion: """
            Each row has the URL, the status, the freshness now, the age in seconds, the validators, the number of \
            listed records (for whole responses none) and the size in bytes. Responses of mirrors answer a cache, too; \
            a list of a program is the order of several responses, and answers no request. A table that is narrower \
            than 120 columns leaves some of them out. `explain URL` shows every rule of HTTP caching (RFC 9111) with \
            its values, for each response of the URL; --header adds fields to the request, for Vary and for \
            directives. Nothing is sent. The rules are those of a private cache; limits and policies of a description \
            do not count. Secrets in URLs are masked. Damaged entries are reported on standard error, and the exit \
            code is then 6.

            Examples:
              tarn inspect cache forge.tarn
              tarn inspect cache forge.tarn --url https://api.example.org/issues --format ndjson
              tarn inspect cache forge.tarn explain 'https://api.example.org/issues?page=2'
              tarn inspect cache forge.tarn explain https://api.example.org/user --header 'Accept: text/html'
              tarn inspect cache forge.tarn explain https://api.example.org/user --header 'Cache-Control: max-stale'
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Argument(help: ArgumentHelp("`explain` and a URL (default: list the responses).", valueName: "question"))
    var question: [String] = []
    @Option(help: ArgumentHelp("Only URLs with this prefix.", valueName: "prefix")) var url = ""
    @Option(help: "With explain: the method of the request.") var method = "GET"
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("With explain: a header field of the request. May be repeated.", valueName: "name: value"))
    var header: [String] = []
    @OptionGroup var format: FormatOption

    private var now: Int { Int(Date().timeIntervalSince1970) }

    func validate() throws {
        guard question.isEmpty || question.count == 2 && question[0] == "explain" else {
            throw ValidationError("after the store, only `explain URL` is possible")
        }
        if question.isEmpty, !header.isEmpty || method != "GET" {
            throw ValidationError("--header and --method are only for `explain URL`")
        }
        if !question.isEmpty, !url.isEmpty { throw ValidationError("--url is only for the list") }
    }

    func run(on inspector: StoreInspector) throws {
        try TableQuestions.refuse(
            store, inspector, has: "no stored responses",
            instead: "`tarn inspect schema` lists its tables, and `keys`, `get`, `grep` and `dump --table` show them")
        let report = DamageReport(store)
        try noteWithoutLocks(
            store, question.isEmpty ? list(inspector, report) : explain(inspector, question[1], report))
        try report.end("read")
    }

    private func list(_ inspector: StoreInspector, _ report: DamageReport) throws -> String? {
        let style = format.style, now = now, hidden = hiddenColumns(style)
        let columns = InspectCacheCommand.columns.indices.filter { !hidden.contains(InspectCacheCommand.columns[$0]) }
        var rows = RowWriter(
            columns.map { InspectCacheCommand.columns[$0] }, style,
            rightAligned: Set(columns.indices.filter { [2, 4, 5, 7, 8].contains(columns[$0]) }), named: 0)
        format.beginOutput()
        let reason = try inspector.responses(
            { id, entry in
                let response = StoredResponse(id, entry, at: now)
                guard response.begins(with: url) else { return }
                let validators = response.validatorTexts.joined(separator: ", ")
                let cells: [OutputValue] = [
                    .text(response.url), .text(response.method), .number(response.status), .text(response.state),
                    .number(response.freshness.age), .number(response.freshness.lifetime),
                    validators.isEmpty ? .absent : .text(validators),
                    response.records.map(OutputValue.number) ?? .absent, .number(response.bytes),
                    .text(response.keeper.rawValue),
                ]
                rows.add(columns.map { cells[$0] })
            }, damaged: { report.add($0) })
        rows.end()
        if !hidden.isEmpty, rows.count > 0 {
            Output.note(
                "\(countText(hidden.count, "hidden column")): \(hidden.joined(separator: ", ")) (a wider terminal, or another "
                    + "--format, shows all)")
        }
        return reason
    }

    private static let columns = [
        "url", "method", "status", "state", "age", "lifetime", "validators", "records", "bytes", "of",
    ]

    /// The columns that a narrow table leaves out, so that URLs can be told apart.
    private func hiddenColumns(_ style: OutputStyle) -> [String] {
        style.format == .table && Output.width < 120 ? ["method", "lifetime", "validators", "of"] : []
    }

    private func explain(_ inspector: StoreInspector, _ url: String, _ report: DamageReport) throws -> String? {
        let headers = TransportHeaders(try header.map { try InspectCacheCommand.field($0) })
        let path = url.prefix { $0 != "?" }, now = now
        var found = 0, near: [String] = []
        let reason = try inspector.responses(
            { id, entry in
                let response = StoredResponse(id, entry, at: now)
                // The list shows URLs with masked secrets.
                guard [response.requestURL, response.url].contains(where: { $0.utf8.elementsEqual(url.utf8) }) else {
                    if near.count < 5, response.requestURL.prefix(while: { $0 != "?" }) == path {
                        near.append(response.url)
                    }
                    return
                }
                if found > 0 { Output.line("") }
                found += 1
                show(response, response.explanation(method: method, headers, at: now))
            }, damaged: { report.add($0) })
        guard found == 0 else { return reason }
        Output.line(Redaction.url(url))
        Output.line("miss: request to the server")
        Output.line("  \(CacheRule.nothingStored.meaning) (\(CacheRule.nothingStored.paragraph))")
        for url in near { Output.line("  the store has a response of the same path: \(url)") }
        return reason
    }

    private func show(_ response: StoredResponse, _ explanation: CacheExplanation) {
        for line in explanation.description.split(separator: "\n") { Output.line(String(line)) }
        Output.line(
            "  stored: response \(response.id) of \(response.endpoint), status \(response.status), "
                + (response.records.map { countText($0, "record") + ", " } ?? "") + byteText(response.bytes)
                + (response.keeper == .cache ? "" : ", of a \(response.keeper.rawValue)"))
        Output.line("  scope: \(response.scopeText)")
        for text in response.varianceTexts + response.validatorTexts { Output.line("  \(text)") }
    }

    private static func field(_ text: String) throws -> TransportHeaders.Field {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw Failure(.usage, "--header \(text): write it as 'Name: value'")
        }
        return .init(
            String(text[..<colon]), text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
}
