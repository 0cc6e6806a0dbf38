// Long lists of references as a record is written: what changed in them, for the table and for the index.

internal import LMDB

/// The long lists that a change of one record concerns. Filled before its row is written, applied after.
struct EdgeListChanges: ~Copyable {
    /// A list that comes, changes, moves between row and table, or goes.
    struct Change {
        var field: UInt16
        /// The list as it was, wherever it was; nil if there was none.
        var before: EncodedValue?
        var old: EdgeList?
        /// The list as it will be, in the form of a row, or null; nil if the field goes.
        var after: EncodedValue?
        var new: EdgeList?
        /// The first place where they differ, and behind the last one; where the first begins in the new list.
        var first: UInt32 = 0, end: UInt32 = 0
        var offset = 1
    }

    var changes: [Change] = []
    private var builder = BodyBuilder()
    private var body = ByteWriter()
    /// How many rows of the table were put or deleted.
    var rowCount = 0

    /// A new row's fields with long lists replaced by what stands for them. Nil if there is nothing to replace.
    ///
    /// - Parameter nextID: the id that the first new list gets.
    mutating func replaceLists(_ body: RowBody, old: RowBody?, nextID: () throws -> UInt64) rethrows -> RowBody? {
        changes.removeAll(keepingCapacity: true)
        var newID: UInt64?, isReplaced = false
        for index in 0..<body.count {
            guard let value = body.value(at: index), value.tag == ValueTag.references || value.isNull else { continue }
            let isLong = value.bytes.count > EdgeList.longestInRow
            guard isLong || old != nil else { continue }
            let before = old?.value(of: body.id(at: index)), known = EdgeList(before)
            guard isLong || known != nil else { continue }
            // In a store from before there was a table, the same list stays where it is.
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
        // What stands for a list that is the same is the same.
        changes.removeAll { $0.old == $0.new }
        self.body.removeAll()
        let isWide = builder.isWide
        builder.finish(into: &self.body)
        return RowBody(self.body.bytes, isWide: isWide)
    }

    /// Fields that a row loses altogether.
    mutating func drop(_ fields: Set<UInt16>, _ old: RowBody) {
        for id in fields {
            guard let before = old.value(of: id), let list = EdgeList(before) else { continue }
            changes.append(Change(field: id, before: before, old: list))
        }
    }

    /// Whether a field is among the changes.
    func concern(_ field: UInt16) -> Bool { changes.contains { $0.field == field } }
}

extension RowBody {
    func fields(notIn other: RowBody) -> Set<UInt16> {
        Set((0..<count).map { id(at: $0) }.filter { other.value(of: $0) == nil })
    }
}

extension StoreWriter {
    /// How many rows of the table of long lists this transaction has put or deleted.
    package var edgeRowCount: Int { edges.rowCount }

    /// The fields with long lists replaced by what stands for them; the same if there are none. Nothing is written.
    mutating func replacingLongLists(_ body: RowBody, old: RowBody?, _ rules: EntityRules) throws -> RowBody {
        guard rules.hasLists else {
            edges.changes.removeAll(keepingCapacity: true)
            return body
        }
        let access = access
        return try edges.replaceLists(body, old: old) {
            try access.raw.number(access.state.meta, key: MetaKey.nextList) + 1
        } ?? body
    }

    /// Collects what the changed long lists change in the indexes. To be called before the row is written, whose old bytes
    /// are still needed.
    mutating func indexLongLists(_ before: Catalog.Entity, _ entity: Catalog.Entity, _ key: Bytes) throws {
        for position in edges.changes.indices {
            let id = edges.changes[position].field
            guard let field = entity.field(id: id) ?? before.field(id: id) else { continue }
            var change = edges.changes[position]
            try compare(&change, field, entity, key)
            edges.changes[position] = change
        }
    }

    /// Writes the changed long lists into their table. To be called after the row was written.
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

    /// Collects the index entries of the long lists of a row that goes, and the lists for `storeLongLists`.
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
        IndexEntry.append(target, reference, owner, to: &scratch)
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

    /// Finds where two lists differ, and which targets come and go by that.
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
        // Where nothing of the old list is in the table, all of the new one is to be put there.
        if change.old == nil {
            (change.first, change.offset, change.end) = (0, 1, change.new?.count ?? 0)
        } else {
            (change.first, change.offset, change.end) = (first?.position ?? 0, first?.offset ?? 1, end)
        }
        var stays = [Bool](repeating: false, count: gone.count)
        for place in 0..<gone.count where come.find(0, gone.key(at: place)) != nil { stays[place] = true }
        if stays.contains(false) {
            // A target that a list has twice may have lost one place only.
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
