// The changes of an operation, by record.

/// An operation by touched record.
///
/// A deletion may touch very many records. With what concerns one of them at hand, no part of the
/// end of an operation searches all its changes for each record.
struct OperationParts {
    private let whole: StoredOperation
    /// The operation without changes.
    private let empty: StoredOperation
    private var changes: [ListedRecord: [Int]] = [:]
    private var edits: [ListedRecord: [Int]] = [:]
    private var rows: [ListedRecord: [Int]] = [:]

    init(_ operation: StoredOperation, _ own: ListedRecord) {
        whole = operation
        var empty = operation
        (empty.changes, empty.edits, empty.rows) = ([], [], [])
        self.empty = empty
        for (index, change) in operation.changes.enumerated() {
            changes[change.record ?? own, default: []].append(index)
        }
        for (index, edit) in operation.edits.enumerated() { edits[edit.record ?? own, default: []].append(index) }
        for (index, row) in operation.rows.enumerated() { rows[row.record, default: []].append(index) }
    }

    /// The operation with only those changes, edits and rows that are of a record.
    subscript(record: ListedRecord) -> StoredOperation {
        var part = empty
        part.changes = (changes[record] ?? []).map { whole.changes[$0] }
        part.edits = (edits[record] ?? []).map { whole.edits[$0] }
        part.rows = (rows[record] ?? []).map { whole.rows[$0] }
        return part
    }
}
