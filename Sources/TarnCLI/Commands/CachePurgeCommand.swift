import ArgumentParser
import Foundation
import Tarn

/// The command `tarn cache purge`.
struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove cached responses, so that the next request goes to the server.",
        discussion: """
            Records stay; `tarn cache collect` removes the unreachable ones. Pages of `tarn sync` are removed only if \
            --url or --prefix names them, because they record what the server lists. Other processes may read and \
            write meanwhile.

            Examples:
              tarn cache purge forge.tarn --url 'https://api.example.org/issues?page=2'
              tarn cache purge forge.tarn --prefix https://api.example.org/issues
              tarn cache purge --entity Issue
              tarn cache purge forge.tarn --older-than 604800
              tarn cache purge forge.tarn --all
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: "Responses of this URL, in any notation, for all users.") var url: String?
    @Option(help: ArgumentHelp("Responses of all URLs with this prefix.", valueName: "url")) var prefix: String?
    @Option(help: "Responses that list a record of this entity.") var entity: String?
    @Option(help: ArgumentHelp("Responses that the server last confirmed more than SECONDS ago.", valueName: "seconds"))
    var olderThan: Int?
    @Flag(help: "All responses of caches.") var all = false

    func validate() throws {
        guard [url != nil, prefix != nil, entity != nil, olderThan != nil, all].count(where: \.self) == 1 else {
            throw ValidationError("Choose one of --url, --prefix, --entity, --older-than and --all.")
        }
        guard olderThan ?? 0 >= 0 else { throw ValidationError("--older-than must be at least 0 seconds") }
        guard url != "" else { throw ValidationError("--url is empty: to remove all responses, use --all") }
        guard prefix != "" else { throw ValidationError("--prefix is empty: to remove all responses, use --all") }
    }

    private var purge: RecordCache.Purge {
        if let url { return .url(url) }
        if let prefix { return .prefix(prefix) }
        if let entity { return .entity(entity) }
        return olderThan.map { .olderThan(seconds: $0) } ?? .all
    }

    func run() async throws {
        let cache = try store.openCache(), removed = try await cache.purge(purge), left = try cache.totals.entries
        Output.line("\(countText(removed, "response")) removed, \(left) left in caches")
    }
}
