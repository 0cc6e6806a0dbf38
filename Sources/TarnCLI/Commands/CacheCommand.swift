// `tarn cache`: what is kept of answers, and taking it out again.

import ArgumentParser
import Foundation
import Tarn

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List and purge the answers that a store keeps, and remove records that nothing reaches any more.",
        discussion: """
            The store is the argument, or the one of the description file.

            Examples:
              tarn cache list forge.tarn --prefix https://api.example.org/issues
              tarn cache totals forge.tarn
              tarn cache purge forge.tarn --older-than 604800
              tarn cache collect forge.tarn --roots Issue --dry-run
            """,
        subcommands: [CacheListCommand.self, CacheTotalsCommand.self, CachePurgeCommand.self, CacheCollectCommand.self])
}

/// A store by its place, or by a description.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's directory; by default the store of the description file.") var store: String?
    @OptionGroup var description: DescriptionOption

    func open(forWriting: Bool = false) throws -> Store {
        try description.openStore(store, forWriting: forWriting, way: "")
    }

    /// A cache over the store that asks nobody: for what concerns what is kept alone.
    func openCache() throws -> RecordCache {
        let store = try open(forWriting: true)
        let description = Description(
            file: store.path, storePath: store.path, api: APIDescription(base: "http://localhost"), schema: Schema([]), mapping: Mapping(),
            endpoints: [])
        var options = RecordCache.Options()
        options.sharesTransfersBetweenProcesses = false
        return try RecordCache(description, store: store, transport: NoTransport(), options: options)
    }
}

private struct NoTransport: Transport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.connect, method: request.method, url: request.url, detail: "nothing is sent")
    }
}

struct CacheListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the answers that are kept.",
        discussion: """
            In the order in which they were made first: URL, status, how many records they list or how large their body is, and how many
            seconds ago the server confirmed them. Those of `tarn sync` are listed too, as a mirror's. Secrets in URLs are not shown.

            Examples:
              tarn cache list forge.tarn
              tarn cache list --prefix https://api.example.org/issues --format json
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Only URLs that begin so.", valueName: "url")) var prefix = ""
    @OptionGroup var format: FormatOption

    func run() throws {
        let now = Date().timeIntervalSince1970, format = format.format, prefix = prefix
        var table = Table(["url", "status", "records", "bytes", "age", "of"], rightAligned: [1, 2, 3, 4])
        try store.open().read { reader in
            try reader.access.forEachResponse { view in
                guard view.url.hasPrefix(prefix) else { return true }
                let age = max(0, Int(now - Double(view.validatedAt.microseconds) / 1_000_000)), url = Redaction.url(view.requestURL)
                let records = view.bodySize == nil ? view.count : nil, kind = view.isCaches ? "cache" : "mirror"
                if format == .table {
                    table.add([url, "\(view.status)", records.map(String.init) ?? "", view.bodySize.map(String.init) ?? "", "\(age)", kind])
                } else {
                    try Output.json([
                        "url": url, "status": view.status, "records": records, "bytes": view.bodySize, "age": age, "of": kind,
                        "invalidated": view.isInvalidated ? true : nil,
                    ])
                }
                return true
            }
        }
        if format == .table { table.lines(width: Output.width).forEach(Output.line) }
    }
}

struct CacheTotalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totals",
        abstract: "Say how many answers caches keep, and how large they are.",
        discussion: """
            As the limits of the description (`cache: { entries, bytes }`) count them: without those of mirrors.

            Example:
              tarn cache totals forge.tarn
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var format: FormatOption

    func run() throws {
        let totals = try store.open().read { try $0.cacheTotals }
        if format.format == .json { return try Output.json(["entries": totals.entries, "bytes": totals.bytes]) }
        Output.line("\(totals.entries) entries, \(byteText(totals.bytes))")
    }
}

struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove answers, so that the next request asks the server.",
        discussion: """
            Records stay: `tarn cache collect` removes those that nothing reaches. What `tarn sync` keeps of its pages goes only if a URL or a
            prefix names it: it tells which records the server lists. Others may read and write meanwhile.

            Examples:
              tarn cache purge forge.tarn --url 'https://api.example.org/issues?page=2'
              tarn cache purge forge.tarn --prefix https://api.example.org/issues
              tarn cache purge --entity Issue
              tarn cache purge forge.tarn --older-than 604800
              tarn cache purge forge.tarn --all
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: "Those of one URL, whoever asked.") var url: String?
    @Option(help: ArgumentHelp("Those of all URLs that begin so.", valueName: "url")) var prefix: String?
    @Option(help: "Those that list a record of an entity.") var entity: String?
    @Option(help: ArgumentHelp("Those that the server confirmed longer ago.", valueName: "seconds")) var olderThan: Int?
    @Flag(help: "All of caches.") var all = false

    func validate() throws {
        guard [url != nil, prefix != nil, entity != nil, olderThan != nil, all].count(where: \.self) == 1 else {
            throw ValidationError("Say which: one of --url, --prefix, --entity, --older-than and --all.")
        }
        guard olderThan ?? 0 >= 0 else { throw ValidationError("--older-than: a number of seconds, 0 at least") }
        guard prefix != "" else { throw ValidationError("--prefix: it is empty; --all means all") }
    }

    private var purge: RecordCache.Purge {
        if let url { return .url(url) }
        if let prefix { return .prefix(prefix) }
        if let entity { return .entity(entity) }
        return olderThan.map { .olderThan(seconds: $0) } ?? .all
    }

    func run() async throws {
        let cache = try store.openCache(), removed = try await cache.purge(purge), left = try cache.totals.entries
        Output.line("\(removed) entries removed, \(left) of caches left")
    }
}

struct CacheCollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Remove records that nothing reaches: no answer lists them, and no record that is reached refers to them.",
        discussion: """
            What is listed by an answer that is kept, is of an entity of --roots, or was changed here stays, and what these refer to. References are
            followed as they are stored; a derived relationship, such as from a user to its issues, only with --through.

            Examples:
              tarn cache collect forge.tarn --roots Issue,Project --dry-run
              tarn cache collect forge.tarn --roots Issue --through Issue.comments
              tarn cache collect forge.tarn --roots ''                             nothing stays but what answers list
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("Entities all of whose records stay, with commas between them.", valueName: "entities")) var roots: String
    @Option(parsing: .singleValue, help: ArgumentHelp("A derived relationship that is followed too, Entity.name. May be repeated.", valueName: "relationship"))
    var through: [String] = []
    @Flag(help: "Count, and remove nothing.") var dryRun = false
    @OptionGroup var format: FormatOption

    func run() async throws {
        let roots = Set(roots.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
        let report = try await store.openCache().collect(roots: roots, through: Set(through), isDryRun: dryRun)
        switch format.format {
        case .json:
            // What is left of the unreachable ones after they have gone says nothing.
            try Output.json([
                "reached": report.reached, "unreachable": dryRun ? report.unreachable : nil, "deleted": report.deleted, "denied": report.denied,
            ])
        case .table:
            let entities = report.unreachable.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            if dryRun {
                Output.line("\(report.unreachable.values.reduce(0, +)) records are not reached\(entities.isEmpty ? "" : " (\(entities))"), \(report.reached) are; nothing was removed")
            } else {
                Output.line("\(report.deleted) records removed, \(report.reached) are reached" + (report.denied > 0 ? "; \(report.denied) kept by a delete rule" : ""))
            }
        }
    }
}

extension Output {
    /// Writes one JSON object, without what is nil.
    static func json(_ values: [String: Any?]) throws {
        let data = try JSONSerialization.data(withJSONObject: values.compactMapValues(\.self), options: [.sortedKeys, .withoutEscapingSlashes])
        json(String(decoding: data, as: UTF8.self))
    }
}
