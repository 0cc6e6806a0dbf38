internal import LMDB

/// Records on their way into a table: those that have to wait, and how many were stored.
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
