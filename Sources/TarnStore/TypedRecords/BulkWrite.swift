internal import LMDB

/// A bulk write in progress: the records held in memory, and the number of those stored.
@usableFromInline
struct BulkWrite: ~Copyable {
    let plan: RowPlan
    let table: Table
    /// Whether keys may be those that others have replaced.
    let hasAliases: Bool
    var batch = RecordBatch()
    var changed = 0

    init(_ plan: RowPlan, _ table: Table, hasAliases: Bool) {
        self.plan = plan
        self.table = table
        self.hasAliases = hasAliases
    }
}
