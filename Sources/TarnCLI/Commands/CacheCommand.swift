// `tarn cache`: lists and removes stored responses.

import ArgumentParser
import Foundation

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List and purge cached responses, and remove unreachable records.",
        discussion: """
            The store is the argument, or that of the description file.

            Examples:
              tarn cache list forge.tarn --prefix https://api.example.org/issues
              tarn cache totals forge.tarn
              tarn cache purge forge.tarn --older-than 604800
              tarn cache collect forge.tarn --roots Issue --dry-run
            """,
        subcommands: [CacheListCommand.self, CacheTotalsCommand.self, CachePurgeCommand.self, CacheCollectCommand.self])
}

extension Output {
    /// Writes one JSON object, without the nil values.
    static func json(_ values: [String: Any?]) throws {
        let data = try JSONSerialization.data(
            withJSONObject: values.compactMapValues(\.self), options: [.sortedKeys, .withoutEscapingSlashes])
        json(String(decoding: data, as: UTF8.self))
    }
}
