// A service over one store: two clients with a cache each, an outbox, and list loaders.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

/// What one service has while its store is open.
final class LibraryBed: Sendable {
    let server: LibraryServer
    let rules: LibraryRules
    let store: Store
    let clients: [RecordClient]
    let outbox: Outbox
    /// Two loaders of list `a`, one of `b`, and one of `a` in the order of a query.
    let loaders: [ListLoader<LibraryNote>]

    static let records: [any MappedRecord.Type] = [
        LibraryNote.self, LibraryTag.self, LibraryCell.self, LibraryHalf.self,
    ]
    static let storeOptions = Store.Options(durability: .volatile)

    init(_ server: LibraryServer, _ rules: LibraryRules, at path: String) async throws {
        (self.server, self.rules) = (server, rules)
        let description = Description(
            file: "library", storePath: path, api: APIDescription(base: LibraryServer.base),
            schema: Schema(records: Self.records), mapping: Mapping(records: Self.records), endpoints: [])
        let store = try Store.open(at: path, schema: description.schema, options: Self.storeOptions)
        self.store = store
        var options = APIClient.Options()
        options.retry = .never
        options.time = server.source
        var cache = RecordCache.Options()
        cache.limits = CacheLimits(entries: rules.entries)
        clients = try (0..<2).map { _ in
            RecordClient(
                try APIClient(description, store: store, transport: server, options: options), options: cache)
        }
        var sending = Outbox.Options()
        sending.backOff = RetryPolicy(attempts: .max, firstDelay: .milliseconds(1), longestDelay: .milliseconds(2))
        outbox = clients[0].outbox(writes: LibraryRules.writes, conflicts: rules.conflicts, options: sending)
        loaders = [
            try await clients[0].list(rules.list("a")), try await clients[1].list(rules.list("a")),
            try await clients[0].list(rules.list("b")),
            try await clients[1].list(rules.list("a"), local: LibraryNote.all.order(by: \.id)),
        ]
    }

    /// The name of the list of each loader.
    static let names = ["a", "a", "b", "a"]
    /// The loader in the order of a query.
    static let local = 3

    func notes() throws -> [LibraryNote] { try store.read { try $0.fetch(LibraryNote.all) } }
}

/// A difference from the model.
struct LibraryFinding: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
