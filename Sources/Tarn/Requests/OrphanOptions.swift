import TarnStore

/// The treatment of records that a request no longer lists.
struct OrphanOptions: Sendable {
    var rules: Orphans
    /// Decides in the transaction of the deletion; nil if all orphans are removed.
    var mayDelete: (@Sendable (Record, StoreReader) throws -> Bool)?
}
