// The changes of edge lists when a record is written: of the edge table and of the indexes.

internal import LMDB

/// The changes of edge lists in one change of a record.
/// Collected before the row is written, applied afterwards.
struct EdgeListChanges: ~Copyable {
    /// An edge list that is created, changed, moved between row and table, or removed.
    struct Change {
        var field: UInt16
        /// The old list, in either form. Nil if there was none.
        var before: EncodedValue?
        var old: EdgeList?
        /// The new list in the form of a list in the row, or null. Nil if the field is removed.
        var after: EncodedValue?
        var new: EdgeList?
        /// The range of positions that differ, and the offset of the first one in the new list.
        var first: UInt32 = 0, end: UInt32 = 0
        var offset = 1
    }

    var changes: [Change] = []
    private var builder = BodyBuilder()
    private var body = ByteWriter()
    /// The index entry that is being made.
    var entry = ByteWriter()
    /// The number of rows of the edge table that this transaction has stored or deleted.
    private(set) var rowCount = 0

    /// Replaces long lists in a new row by edge lists. Nil if there is nothing to replace.
    ///
    /// - Parameter nextID: The id of the first new list.
    private mutating func replaceLists(
        _ body: RowBody, old: RowBody?, nextID: () throws -> UInt64
    ) rethrows -> RowBody? {
        changes.removeAll(keepingCapacity: true)
        var newID: UInt64?, isReplaced = false
        for index in 0..<body.count {
            guard let value = body.value(at: index), value.tag == ValueTag.references || value.isNull else { continue }
            let isLong = value.bytes.count > EdgeList.longestInRow
            guard isLong || old != nil else { continue }
            let before = old?.value(of: body.id(at: index)), known = EdgeList(before)
            guard isLong || known != nil else { continue }
            // A store made before the edge table keeps an unchanged long list in the row.
            if let before, Bytes.equal(before.bytes, value.bytes) { continue }
            var change = Change(field: body.id(at: index), before: before, old: known, after: value)
            if isLong {
                let id = try known?.id ?? newID ?? nextID()
                if known == nil { newID = id + 1 }
                change.new = EdgeList(id: id, of: value)
                isReplaced = true
            }
            changes.append(change)
        }
        guard isReplaced else { return nil }
        builder.removeAll()
        var next = 0
        for index in 0..<body.count {
            guard let value = body.value(at: index) else { continue }
            let id = body.id(at: index)
            while next < changes.count, changes[next].field < id { next += 1 }
            if next < changes.count, changes[next].field == id, let list = changes[next].new {
                builder.field(id) { list.append(to: &$0) }
            } else {
                builder.field(id, value)
            }
        }
        // An equal edge list value means equal contents: nothing to change.
        changes.removeAll { $0.old == $0.new }
        self.body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &self.body)
        return RowBody(self.body.bytes, isWide: isWide)
    }

    /// Adds the edge lists of fields that a row loses.
    mutating func drop(_ fields: Set<UInt16>, _ old: RowBody) {
        for id in fields {
            guard let before = old.value(of: id), let list = EdgeList(before) else { continue }
            changes.append(Change(field: id, before: before, old: list))
        }
    }

    /// Returns whether a field has a change.
    func concern(_ field: UInt16) -> Bool { changes.contains { $0.field == field } }

    /// Replaces long lists in a body by edge lists, without writing them.
    /// Returns the same body if there are none.
    mutating func replacing(
        _ body: RowBody, old: RowBody?, _ rules: EntityRules, _ access: StoreAccess
    ) throws -> RowBody {
        guard rules.hasLists else {
            changes.removeAll(keepingCapacity: true)
            return body
        }
        return try replaceLists(body, old: old) {
            try access.raw.nextNumber(access.state.meta, key: MetaKey.nextList)
        } ?? body
    }

    /// Removes all changes: a record is removed.
    mutating func removeAll() { changes.removeAll(keepingCapacity: true) }

    /// Writes changed edge lists into their table. Must be called after the row is written.
    mutating func store(_ access: StoreAccess) throws {
        guard !changes.isEmpty else { return }
        defer { changes.removeAll(keepingCapacity: true) }
        try access.raw.willAdd()
        var highest: UInt64 = 0
        for change in changes {
            if let list = change.new {
                try put(list, change, access)
                if change.old == nil { highest = max(highest, list.id) }
            }
            if let old = change.old { try deleteEdges(of: old, from: change.new?.count ?? 0, access) }
        }
        if highest > 0 { try access.raw.put(access.state.meta, key: MetaKey.nextList, number: highest) }
    }

    private mutating func put(_ list: EdgeList, _ change: Change, _ access: StoreAccess) throws {
        let end = min(change.end, list.count)
        guard change.first < end else { return }
        let table = try access.state.edgeTable()
        var appender = try Appender(access.raw, table.table)
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var reader = ReferenceReader(change.after, at: change.offset)
        let known = change.old?.count ?? 0
        for position in change.first..<end {
            guard let target = reader.next() else { return }
            let isThere = try list.withKey(position) { key in
                guard position < known, let entry = try cursor.find(key) else { return false }
                return Bytes.equal(entry.value, target)
            }
            if isThere { continue }
            try list.withKey(position) { key in
                try cursor.put(key, target, append: position >= known && appender.isPastTheEnd(key))
            }
            rowCount += 1
        }
    }

    private mutating func deleteEdges(of list: EdgeList, from start: UInt32, _ access: StoreAccess) throws {
        guard start < list.count else { return }
        let table = try access.state.edgeTable()
        for position in start..<list.count {
            if try list.withKey(position, { try access.raw.delete(table, $0) }) { rowCount += 1 }
        }
    }
}

extension RowBody {
    func fields(notIn other: RowBody) -> Set<UInt16> {
        Set((0..<count).map { id(at: $0) }.filter { other.value(of: $0) == nil })
    }
}
