// Writing the change log, within a write transaction.

/// The entries that a write transaction appends to the change log.
///
/// They are collected, and written in large parts.
struct ChangeLogWriter: ~Copyable {
    private let sequence: UInt64
    /// The switches of the change log: it exists, and it records values of some entity.
    private let keepsChanges: Bool, keepsValues: Bool
    /// The number of changes so far, whether the log has them or not.
    private(set) var count: UInt32 = 0
    /// The number of changes that were undone.
    private(set) var undoneCount: UInt32 = 0
    /// Whether any change is left.
    var isChanged: Bool { count > undoneCount }
    /// Entries that are not in the table yet. For each: u32 length of the value, key, value.
    private var pending = ByteWriter(capacity: 4096)
    private var group: PendingGroup?
    private static let limit = 1 << 20

    init(_ options: ChangeOptions, sequence: UInt64) {
        self.sequence = sequence
        keepsChanges = options.keepsChanges
        keepsValues = options.keepsValues
    }

    /// Appends an entry (`ChangeEntry`).
    ///
    /// - Parameter edges: the changed lists of the record.
    mutating func append(
        _ operation: ChangeEntry.Operation, _ rules: EntityRules, _ key: Bytes, old: RowBody?, _ new: RowBody?,
        isPartial: Bool, _ edges: borrowing EdgeListChanges, _ access: StoreAccess
    ) throws {
        guard keepsChanges else {
            count += 1
            return
        }
        let hasDetails = keepsValues || StorageKey.isDigest(key), groups = !hasDetails && access.state.groupsChanges
        if groups, let group, group.takes(operation, rules.id, key, end: pending.count) {
            ChangeGroup.append(key, to: &pending)
            finishEntry(at: group.start)
            return
        }
        let start = pending.count
        pending.appendLittleEndian(UInt32(0))
        pending.appendBigEndian(sequence)
        pending.appendBigEndian(count)
        group = nil
        if hasDetails {
            try appendWithDetails(operation, rules, key, old, new, isPartial, edges, access)
        } else if groups {
            ChangeGroup.append(operation, rules.id, key, to: &pending)
            group = PendingGroup(start: start, operation: operation, entity: rules.id)
        } else {
            ChangeEntry.append(operation, rules.id, key, to: &pending)
        }
        finishEntry(at: start)
        if pending.count > ChangeLogWriter.limit { try write(to: access.changes) }
    }

    private mutating func finishEntry(at start: Int) {
        pending.store(UInt32(pending.count - start - 4 - ChangeEntry.keySize), at: start)
        count += 1
    }

    /// Appends an entry's value with the whole of a long key and the values of changed fields.
    private mutating func appendWithDetails(
        _ operation: ChangeEntry.Operation, _ rules: EntityRules, _ key: Bytes, _ old: RowBody?, _ new: RowBody?,
        _ isPartial: Bool, _ edges: borrowing EdgeListChanges, _ access: StoreAccess
    ) throws {
        var wholeKey: [UInt8]?
        if StorageKey.isDigest(key), let row = new ?? old { wholeKey = try access.wholeKey(rules.entity, row)?.tuple }
        var values: ChangedFields?
        if let new, access.state.changeOptions.keepsValues(of: rules.id) {
            let before = operation == .create ? nil : old
            // Those of another kind are lost with the change of the kind.
            let lost = before?.fields(notIn: new).filter { rules.entity.field(id: $0) != nil }.sorted() ?? []
            values = ChangedFields(old: before, new: new, lists: edges.changes, lost: lost)
        }
        ChangeEntry.append(
            operation, rules.id, key, wholeKey: wholeKey, values: values, isPartial: isPartial, to: &pending)
    }

    /// Writes the pending entries to the log.
    mutating func write(to log: ChangeLog) throws {
        guard pending.count > 0 else { return }
        try log.append(pending.bytes)
        pending.removeAll()
        group = nil
    }

    /// Takes changes of this transaction back from the log.
    ///
    /// - Parameter ordinals: the ordinals of the changes.
    mutating func undo(_ ordinals: [UInt32], in log: ChangeLog) throws {
        try write(to: log)
        undoneCount += UInt32(ordinals.count)
        for ordinal in ordinals { try log.remove(sequence, ordinal) }
    }
}
