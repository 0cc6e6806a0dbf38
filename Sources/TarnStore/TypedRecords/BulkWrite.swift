internal import LMDB

/// A bulk write in progress: the records held in memory, and the number of those stored.
@usableFromInline
struct BulkWrite: ~Copyable {
    let plan: RowPlan
    let table: Table
    var batch = RecordBatch()
    var changed = 0

    init(_ plan: RowPlan, _ table: Table) {
        self.plan = plan
        self.table = table
    }
}
