// The tables of a store: every name once, with one line about it.

internal import LMDB

package enum TableName {
    /// How many tables a store may have open: entities, indexes, and its own. Every transaction has room for all of them and goes
    /// through those that there are, so it is no larger than what an API may need.
    package static let limit = 1024

    /// Format version, incarnation, generation, commit sequence, catalog: everything about the store as a whole.
    package static let meta = "meta"
    /// Place and digest of a request key (`RequestDigest`) → response id.
    package static let requests = "requests"
    /// Response id → the response's entry, in the form of a row of entity 0.
    package static let responses = "responses"
    /// URL cut at 400 bytes ++ response id → nothing: purging by prefix.
    package static let urls = "urls"
    /// Entity id ++ storage key ++ response id → nothing: which responses list a record.
    package static let members = "members"
    /// Response id ++ u32 chunk number → a body's bytes, 65,520 of them or what is left (`ResponseBody`).
    package static let bodies = "bodies"
    /// Commit sequence ++ ordinal → operation, entity, key.
    package static let changes = "changes"
    /// Changes that still have to reach the server. Reserved.
    package static let outbox = "outbox"
    /// Name → a mirror's progress, in the form of a row of entity 0.
    package static let checkpoints = "checkpoints"

    /// List id ++ position → the target of a reference in a long list.
    package static let edges = "edges"

    /// Digest of a walk ++ entity id ++ storage key → which scan listed the record last (`ScanMember`).
    package static let scans = "scans"
    /// Root entity id ++ storage key → that the record was changed here and not yet at the server (`LocalMark`).
    package static let local = "local"

    package static let all = [meta, requests, responses, urls, members, bodies, changes, outbox, checkpoints, edges, scans, local]

    /// The rows of an entity.
    package static func records(_ entity: UInt16) -> String { "r/\(entity)" }
    /// Indexed values ++ storage key → nothing.
    package static func index(_ index: UInt32) -> String { "i/\(index)" }
}
