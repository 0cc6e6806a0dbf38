// `tarn fetch`: one response, from the store if the HTTP caching rules allow it.

import ArgumentParser
import Foundation
import Tarn

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract:
            "Fetch one response: from the store if it is fresh, else from the server; offline, from the store.",
        discussion: """
            Prints the records of the response, and their source, their age and the metadata of the response on \
            standard error. If records were skipped, such as those without a usable key, the exit code is 3. With --raw, \
            it prints the body of any URL, also of one that the description does not cover.

            Examples:
              tarn fetch issues                                          an endpoint of the description
              tarn fetch https://api.example.org/issues?page=2           one page of an endpoint
              tarn fetch issues --explain                                show the decision, and send nothing
              tarn fetch issues --offline                                from the store, also if it is stale
              tarn fetch issues --policy older-than=600                  from the store if at most ten minutes old
              tarn fetch --raw https://example.org/logo.png --store cache.tarn > logo.png

            Policies: cache-first (the default), network-first, cache-only, network-only, older-than=SECONDS.
            """)

    @Argument(help: "URL, or name of an endpoint.") var target: String
    @Flag(help: "Print the body of the response unchanged, without importing records.") var raw = false
    @Flag(help: "Show the decision rule by rule, and send nothing.") var explain = false
    @Flag(help: "Use the stored response, also if it is stale, where no rule forbids it. Nothing is sent.")
    var offline = false
    @Option(help: ArgumentHelp("Accept responses stale by at most SECONDS.", valueName: "seconds")) var maxStale: Int?
    @Flag(help: "Send the request even if the server's rate limit is used up.") var ignoreLimits = false
    @Option(help: ArgumentHelp("Cache policy, as listed above (default: from the description).", valueName: "policy"))
    var policy: String?
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("With --raw: request header field, as 'Name: value'. May be repeated.", valueName: "field"))
    var header: [String] = []
    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path")) var store:
        String?
    @OptionGroup var base: BaseOption
    @Flag(name: [.short, .long], help: "Do not print the source of the response.") var quiet = false
    @OptionGroup var format: FormatOption

    func run() async throws {
        if let maxStale, maxStale < 0 {
            throw Failure(.usage, "--max-stale \(maxStale): must be at least 0 seconds")
        }
        if raw, !base.texts.isEmpty { _ = try base.replacements(nil) }
        if raw { return try await fetchRaw() }
        guard header.isEmpty else {
            throw Failure(.usage, "--header requires --raw: the description declares the fields of other requests")
        }
        try await fetchRecords()
    }

    /// Runs requests. An interrupt ends them, with the programs that print their secrets.
    private static func interruptible<Value: Sendable>(
        _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        try await FollowedTask.value {
            do { return try await body() } catch {
                // The transfer was cancelled because of the interrupt.
                if Task.isCancelled { throw Failure(.interrupted, "") }
                throw error
            }
        }
    }

    private func wantedPolicy() throws -> CachePolicy? {
        guard !offline else {
            guard policy == nil else { throw Failure(.usage, "--offline and --policy exclude each other") }
            return .cacheOnly
        }
        switch policy {
        case nil: return nil
        case "cache-first": return .cacheFirst
        case "network-first": return .networkFirst
        case "cache-only": return .cacheOnly
        case "network-only": return .networkOnly
        case let text? where text.hasPrefix("older-than="):
            if let seconds = Int(text.dropFirst("older-than=".count)), seconds >= 0 {
                return .olderThan(seconds: seconds)
            }
        default: break
        }
        throw Failure(
            .usage,
            "--policy \(policy ?? ""): expected cache-first, network-first, cache-only, network-only or older-than=SECONDS"
        )
    }

    // MARK: Records

    private func fetchRecords() async throws {
        var description = try description.load()
        let policy = try wantedPolicy()
        let path = store ?? description.storePath
        let store = try Failure.ofLocking { try Store.open(at: path, schema: description.schema) }
        var client = APIClient.Options()
        try base.replacements(description).apply(to: &client)
        client.ignoresLimits = ignoreLimits
        let progress = SyncDisplay(SyncDisplay.form(isQuiet: quiet))
        client.onWait = progress.wait
        defer { progress.clear() }
        let target = target
        let names = description.endpoints.contains { $0.name == target } ? [target] : nil as Set<String>?
        description.keepCredentials(ofEndpoints: names)
        let cache = RecordCache(
            try APIClient(description, store: store, options: client) { CurlTransport($1.transport) })
        var request: CacheRequest
        if let endpoint = description.endpoints.first(where: { $0.name == target }) {
            try checkIsOneList(endpoint)
            request = CacheRequest(target)
        } else if let found = cache.request(for: target) {
            request = found
        } else {
            throw Failure(
                .usage,
                "\(Redaction.url(target)) is neither an endpoint of \(description.file) nor the URL of one; "
                    + (Spelling.nearest(to: target, among: description.endpoints.map(\.name)).map {
                        "did you mean \($0)?"
                    } ?? "--raw fetches any URL")
            )
        }
        request.directives = maxStale.map { "max-stale=\($0)" }
        let found = request
        guard !explain else {
            let explanation = try await FetchCommand.interruptible { try await cache.explain(found, policy: policy) }
            return Output.lines(explanation.description)
        }
        let answer = try await FetchCommand.interruptible { try await cache.fetch(found, policy: policy) }
        progress.clear()
        try write(answer.records, store)
        Output.finish()
        await cache.finishBackground()
        if !quiet { describe(answer) }
        try checkWhole(answer)
    }

    /// Checks that an endpoint has one list, which its name stands for.
    private func checkIsOneList(_ endpoint: Endpoint) throws {
        guard endpoint.forEach == nil else {
            throw Failure(
                .usage,
                "\(target) is requested for each record of an entity: fetch its URL for one of them, with the "
                    + "record's values in \(endpoint.path)")
        }
        guard let partition = endpoint.partitions.first else { return }
        throw Failure(
            .usage,
            "\(target) is requested for each value of \(partition.name) (partitions): fetch its URL with one of them "
                + "in \(endpoint.path), or in the query")
    }

    /// Checks that the list that was printed is that of the server, as after a sync.
    private func checkWhole(_ answer: CachedAnswer) throws {
        if answer.source == .fetched, let failure = answer.failure { throw Failure(.partly, "\(failure)") }
        // A record may also be left out when it is stored, as one that is not unique.
        let texts = answer.report.map { [$0.skippedText, $0.unfitText].compactMap(\.self) } ?? []
        guard answer.skipped > 0 || !texts.isEmpty else { return }
        let text = "skipped \(countText(answer.skipped, "record")) of the response"
        throw Failure(.partly, texts.isEmpty ? text : texts.joined(separator: "; "))
    }

    /// Prints where an answer comes from, and what is not in it.
    private func describe(_ answer: CachedAnswer) {
        Output.note(
            FetchCommand.line(
                "\(answer.source)", answer.decision, answer.age, countText(answer.records.count, "record")))
        if !answer.metadata.isEmpty { Output.note("metadata: \(jsonObject(answer.metadata))") }
        answer.report?.diagnosticLines.forEach { Output.note($0) }
        for (flag, count) in answer.cutLists.sorted(by: { $0.key < $1.key }) {
            Output.note(SyncSummary.line(ofCutLists: flag, count))
        }
        if let failure = answer.failure, answer.source != .fetched {
            Output.note("\(failure.isUnreachable ? "offline" : "the server failed"): \(failure)")
        }
        if let failure = answer.next?.failure {
            Output.note("there is a next page, but it cannot be requested: \(failure)")
        } else if let next = answer.next?.url {
            Output.note("next page: \(Redaction.url(next))")
        } else if answer.isCutOff {
            Output.note("the list ends here, at a limit of the description or where the server may have more")
        }
    }

    /// Writes records, those of one root entity after the other as one table.
    private func write(_ records: [Record], _ store: Store) throws {
        format.beginOutput()
        try store.read { reader in
            let catalog = store.catalog
            var printer: RecordPrinter?, rows: RowWriter?
            for record in records {
                let root = catalog.entity(record.entity).flatMap { catalog.entity(id: $0.root) }
                if let root, printer == nil || root.id != printer?.entity.id && !format.format.isObjects {
                    rows?.end()
                    printer = try RecordPrinter(root, catalog, format.style)
                    rows = printer?.writer()
                }
                guard let printer, var open = rows else { continue }
                let hasKinds = catalog.entities.contains { $0.id != root?.id && $0.root == root?.id }
                let kind: [RowWriter.Member] = hasKinds ? [(RecordColumn.kindName, .text(record.entity))] : []
                // The records need not be stored: only their own fields are shown.
                try open.add(
                    members: kind + record.fields.map { ($0.name, .value($0.value)) },
                    cells: printer.columns.map { try $0.value(of: record, printer, reader) })
                rows = open
            }
            if var rows {
                rows.end()
            } else if format.format.isObjects {
                var none = RowWriter([], format.style)
                none.end()
            }
        }
    }

    /// Formats the source of a response: `fresh, 12 s old (…, RFC 9111 §4.2): 30 records`.
    private static func line(_ source: String, _ decision: CacheDecision, _ age: Int, _ what: String) -> String {
        switch source {
        case "stored": "fresh, \(age) s old (\(decision.rule.meaning), \(decision.rule.paragraph)): \(what)"
        case "stale": "stale, \(age) s old (\(decision.rule.meaning), \(decision.rule.paragraph)): \(what)"
        default: "\(source) (\(decision.rule.meaning), \(decision.rule.paragraph)): \(what)"
        }
    }

    // MARK: Whole responses

    private func fetchRaw() async throws {
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(target) } catch { throw Failure(.usage, error.description) }
        var path = store, transport = CurlTransport.Options(), options = CachedTransport.Options()
        if description.isThere {
            let description = try description.load()
            path = path ?? description.storePath
            // A client certificate of one API is not shown to the server of another.
            let own = description.apis.first { (try? HTTPURL($0.api.base))?.hasSameOrigin(as: url) ?? false }
            transport = own?.api.transport ?? (description.hasSeveralAPIs ? transport : description.api.transport)
            (options.rules, options.limits) = (description.api.cache.rules, description.api.cache.limits)
        }
        guard let path else { throw description.failure(way: " with --store") }
        let store = try RawStore.open(path)
        // A command waits for other writes, and reports for which.
        options.longestWrite = .seconds(1 << 20)
        let cached = CachedTransport(CurlTransport(transport), store: store, options: options)
        var request = TransportRequest(url: url.description)
        for text in header {
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
                throw Failure(.usage, "--header '\(text)': expected 'Name: value'")
            }
            let field = TransportHeaders.Field(
                String(text[..<colon]), text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
            guard HTTPSyntax.isWellFormed(field) else {
                throw Failure(.usage, "--header '\(text)': not a header field of HTTP")
            }
            request.headers.fields.append(field)
        }
        let policy = try wantedPolicy() ?? .cacheFirst
        for directive in directives(of: policy) { request.headers.fields.append(.init("Cache-Control", directive)) }
        guard !explain else { return Output.lines(try cached.explain(request, policy: policy).description) }
        let found = request
        let answer = try await FetchCommand.interruptible { try await cached.answer(found, policy: policy) }
        Output.raw(answer.response.body)
        await cached.finishBackground()
        if answer.decision.outcome == .unanswerable {
            throw Failure(.noNetwork, "\(Redaction.url(target)): no stored response may be used")
        }
        if let failure = answer.storeFailure { Output.note("the response is not stored: \(failure)") }
        if !quiet {
            let what = "\(answer.response.status), \(answer.response.body.count) bytes"
            switch answer.decision.outcome {
            case _ where answer.status.isHit:
                let source = if case .stale = answer.decision.outcome { "stale" } else { "stored" }
                Output.note(FetchCommand.line(source, answer.decision, answer.age ?? 0, what))
            default:
                let source = answer.status.forwardStatus == 304 ? "revalidated" : "fetched"
                Output.note(FetchCommand.line(source, answer.decision, 0, what))
            }
        }
        if let code = FetchCommand.code(ofStatus: answer.response.status) {
            throw Failure(code, "\(Redaction.url(target)): the server returned \(answer.response.status)")
        }
    }

    /// Returns the exit code for the status of a response; nil for a success.
    private static func code(ofStatus status: Int) -> Failure.Code? {
        switch status {
        case ..<400: nil
        case 401, 403: .credentials
        case 429: .limited
        default: .failed
        }
    }

    /// Returns the directives of a request for one response. Other policies have none.
    private func directives(of policy: CachePolicy) -> [String] {
        var directives = maxStale.map { ["max-stale=\($0)"] } ?? []
        switch policy {
        case .cacheFirst, .networkFirst, .networkOnly, .cacheAndNetwork: break
        case .cacheOnly: directives.append("only-if-cached, max-stale")
        case .olderThan(let seconds): directives.append("max-age=\(seconds), max-stale")
        }
        return directives
    }
}
