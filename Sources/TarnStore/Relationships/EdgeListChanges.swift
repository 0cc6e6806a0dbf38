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
    /// The number of rows of the edge table that were stored or deleted.
    var rowCount = 0

    /// Replaces long lists in a new row by edge lists. Nil if there is nothing to replace.
    ///
    /// - Parameter nextID: The id of the first new list.
    mutating func replaceLists(_ body: RowBody, old: RowBody?, nextID: () throws -> UInt64) rethrows -> RowBody? {
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
}

extension RowBody {
    func fields(notIn other: RowBody) -> Set<UInt16> {
        Set((0..<count).map { id(at: $0) }.filter { other.value(of: $0) == nil })
    }
}

extension StoreWriter {
    /// The number of rows of the edge table that this transaction has stored or deleted.
    var edgeRowCount: Int { edges.rowCount }

    /// Replaces long lists in a body by edge lists, without writing them.
    /// Returns the same body if there are none.
    mutating func replacingLongLists(_ body: RowBody, old: RowBody?, _ rules: EntityRules) throws -> RowBody {
        guard rules.hasLists else {
            edges.changes.removeAll(keepingCapacity: true)
            return body
        }
        let access = access
        return try edges.replaceLists(body, old: old) {
            try access.raw.nextNumber(access.state.meta, key: MetaKey.nextList)
        } ?? body
    }

    /// Collects the index changes of changed edge lists.
    /// Must be called before the row is written, because the bytes of the old row are still needed.
    mutating func indexLongLists(_ before: Catalog.Entity, _ entity: Catalog.Entity, _ key: Bytes) throws {
        for position in edges.changes.indices {
            let id = edges.changes[position].field
            guard let field = entity.field(id: id) ?? before.field(id: id) else { continue }
            var change = edges.changes[position]
            try compare(&change, field, entity, key)
            edges.changes[position] = change
        }
    }

    /// Writes changed edge lists into their table. Must be called after the row is written.
    mutating func storeLongLists() throws {
        guard !edges.changes.isEmpty else { return }
        defer { edges.changes.removeAll(keepingCapacity: true) }
        try access.raw.willAdd()
        var highest: UInt64 = 0
        for change in edges.changes {
            if let list = change.new {
                try put(list, change)
                if change.old == nil { highest = max(highest, list.id) }
            }
            if let old = change.old { try deleteEdges(of: old, from: change.new?.count ?? 0) }
        }
        if highest > 0 { try access.raw.put(access.state.meta, key: MetaKey.nextList, number: highest) }
    }

    /// Collects the index changes of a removed row's edge lists, and the lists to delete.
    mutating func indexRemovedLongLists(_ entity: Catalog.Entity, _ key: Bytes, _ body: RowBody) throws {
        for index in 0..<body.count {
            guard let value = body.value(at: index), let list = EdgeList(value) else { continue }
            let id = body.id(at: index)
            if let field = entity.field(id: id) { try addEntries(field, value, entity, key, insertion: false) }
            edges.changes.append(EdgeListChanges.Change(field: id, old: list))
        }
    }

    // MARK: Indexes

    private mutating func addEntry(_ field: Catalog.Field, _ target: Bytes, _ owner: Bytes, insertion: Bool) {
        guard let index = field.index, case .reference(let reference) = field.kind else { return }
        scratch.removeAll()
        IndexEntry.append(target, IndexEntry.Targets(reference), owner, to: &scratch)
        indexChanges.add(scratch.bytes, to: index, insertion: insertion)
    }

    private mutating func addEntries(
        _ field: Catalog.Field, _ value: EncodedValue, _ entity: Catalog.Entity, _ key: Bytes, insertion: Bool
    ) throws {
        let access = access
        let isWhole = try access.forEachReference(value) { target in
            addEntry(field, target, key, insertion: insertion)
            return true
        }
        guard isWhole else { throw StoreError.damagedRow(entity: entity.name, key: access.describe(key)) }
    }

    /// Finds the positions where two lists differ, and collects added and removed targets.
    private mutating func compare(
        _ change: inout EdgeListChanges.Change, _ field: Catalog.Field, _ entity: Catalog.Entity, _ key: Bytes
    ) throws {
        let after = change.after
        guard let before = change.before else {
            change.end = change.new?.count ?? 0
            if let after { try addEntries(field, after, entity, key, insertion: true) }
            return
        }
        var gone = RecordSet(), come = RecordSet(), reader = ReferenceReader(after), position: UInt32 = 0
        var first: (position: UInt32, offset: Int)?, end: UInt32 = 0
        func differs(_ offset: Int) {
            if first == nil { first = (position, offset) }
            end = position + 1
        }
        let isWhole = try access.forEachReference(before) { target in
            let offset = reader.offset, new = reader.next()
            if new.map({ !Bytes.equal($0, target) }) ?? true {
                differs(offset)
                gone.add(0, target, entity: 0, origin: 0, version: 0)
                if let new { come.add(0, new, entity: 0, origin: 0, version: 0) }
            }
            position += 1
            return true
        }
        guard isWhole else { throw StoreError.damagedRow(entity: entity.name, key: access.describe(key)) }
        while true {
            let offset = reader.offset
            guard let new = reader.next() else { break }
            differs(offset)
            come.add(0, new, entity: 0, origin: 0, version: 0)
            position += 1
        }
        // Without an old list in the table, the whole new list must be written.
        if change.old == nil {
            (change.first, change.offset, change.end) = (0, 1, change.new?.count ?? 0)
        } else {
            (change.first, change.offset, change.end) = (first?.position ?? 0, first?.offset ?? 1, end)
        }
        var stays = [Bool](repeating: false, count: gone.count)
        for place in 0..<gone.count where come.find(0, gone.key(at: place)) != nil { stays[place] = true }
        if stays.contains(false) {
            // A target that occurs twice in a list may have lost only one of its positions.
            var all = ReferenceReader(after)
            while let target = all.next() {
                if let place = gone.find(0, target) { stays[place] = true }
            }
        }
        for place in stays.indices where !stays[place] { addEntry(field, gone.key(at: place), key, insertion: false) }
        for place in 0..<come.count where gone.find(0, come.key(at: place)) == nil {
            addEntry(field, come.key(at: place), key, insertion: true)
        }
    }

    // MARK: The table

    private mutating func put(_ list: EdgeList, _ change: EdgeListChanges.Change) throws {
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
            edges.rowCount += 1
        }
    }

    private mutating func deleteEdges(of list: EdgeList, from start: UInt32) throws {
        guard start < list.count else { return }
        let table = try access.state.edgeTable()
        for position in start..<list.count {
            if try list.withKey(position, { try access.raw.delete(table, $0) }) { edges.rowCount += 1 }
        }
    }
}
