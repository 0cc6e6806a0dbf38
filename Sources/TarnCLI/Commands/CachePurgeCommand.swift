import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache purge`.
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
