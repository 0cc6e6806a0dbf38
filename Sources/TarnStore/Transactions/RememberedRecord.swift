/// The state of a record before the transaction that changed it.
struct RememberedRecord {
    struct Row {
        var body: [UInt8]
        var isWide: Bool, isPartial: Bool
        var entity: UInt16
        var version: UInt64

        init(_ row: EncodedRow) {
            body = Array(row.body.bytes)
            (isWide, isPartial) = (row.isWide, row.isPartial)
            (entity, version) = (row.entity, row.version)
        }
    }

    /// The position among the remembered records.
    var order: Int
    /// Nil if the record did not exist.
    var old: Row?
    var outcome: StoreWriter.Outcome
    /// The ordinals of its changes in the change log.
    var ordinals: [UInt32] = []
}
