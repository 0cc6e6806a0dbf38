internal import LMDB

/// What a record was before the transaction that changed it.
struct RememberedRecord {
    struct Row {
        var body: [UInt8]
        var isWide: Bool, isPartial: Bool
        var entity: UInt16
        var version: UInt64

        init(_ row: RowView) {
            body = Array(row.body.bytes)
            (isWide, isPartial) = (row.isWide, row.isPartial)
            (entity, version) = (row.entity, row.version)
        }
    }

    /// Among those that were remembered.
    var order: Int
    /// Nil if it was not there.
    var old: Row?
    var outcome: StoreWriter.Outcome
    /// Its changes in the log.
    var ordinals: [UInt32] = []
}
