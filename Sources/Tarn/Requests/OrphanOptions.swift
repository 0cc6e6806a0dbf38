import TarnStore

/// The treatment of records that a request no longer lists.
struct OrphanOptions: Sendable {
    var rules: Orphans
    /// Decides in the transaction of the deletion; nil if all orphans are removed.
    var mayDelete: (@Sendable (Record, StoreReader) throws -> Bool)?
    /// Changes an orphan instead of deleting it, in the same transaction; nil to delete it.
    var mark: (@Sendable (RecordKey, inout StoreWriter) throws -> Void)?
}
