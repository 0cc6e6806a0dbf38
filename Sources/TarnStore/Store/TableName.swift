// The table names of a store, each defined once.

/// The names of the tables of a store.
package enum TableName {
    /// The largest number of open tables: of entities, of indexes, and the fixed ones.
    /// A transaction allocates room for all of them, and iterates over those that exist, so the
    /// limit is no larger than an API needs.
    static let limit = 1024

    /// Data about the store as a whole: format version, incarnation, generation, sequence, catalog.
    package static let meta = "meta"
    /// Position and digest of a request key (`RequestDigest`) → response id.
    package static let requests = "requests"
    /// Response id → the response's entry, a row of entity 0.
    package static let responses = "responses"
    /// URL cut at 400 bytes ++ response id → nothing. For purging by prefix.
    package static let urls = "urls"
    /// Entity id ++ storage key ++ response id → nothing: the responses that list a record.
    package static let members = "members"
    /// Response id ++ u32 chunk number → a chunk of a body, at most 65,520 bytes (`ResponseBody`).
    package static let bodies = "bodies"
    /// Commit sequence ++ ordinal → operation, entity, key.
    package static let changes = "changes"
    /// Local changes that have not reached the server yet (`OutboxEntryKey`).
    package static let outbox = "outbox"
    /// Name → a mirror's progress, a row of entity 0.
    package static let checkpoints = "checkpoints"

    /// List id ++ position → the target of a reference in an edge list.
    package static let edges = "edges"

    /// The last scan that listed a record (`ScanMember`).
    /// Digest that names an endpoint's scans ++ entity id ++ storage key → scan.
    package static let scans = "scans"
    /// Marks of local changes that have not reached the server (`LocalMark`).
    /// Root entity id ++ storage key → mark.
    package static let local = "local"

    package static let all = [
        meta, requests, responses, urls, members, bodies, changes, outbox, checkpoints, edges, scans, local,
    ]

    /// Returns the table name of an entity's rows.
    package static func records(_ entity: UInt16) -> String { "r/\(entity)" }
    /// Returns the table name of an index: indexed values ++ storage key → nothing.
    package static func index(_ index: UInt32) -> String { "i/\(index)" }
}
