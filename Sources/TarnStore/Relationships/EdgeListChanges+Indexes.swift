// The index entries of changed edge lists: only the differences of two lists change the index.

extension EdgeListChanges {
    /// Collects the index changes of changed edge lists.
    /// Must be called before the row is written, because the bytes of the old row are still needed.
    mutating func index(
        _ before: Catalog.Entity, _ entity: Catalog.Entity, _ key: Bytes, _ access: StoreAccess,
        into indexes: inout IndexChanges
    ) throws {
        guard !changes.isEmpty else { return }
        for position in changes.indices {
            let id = changes[position].field
            guard let field = entity.field(id: id) ?? before.field(id: id) else { continue }
            var change = changes[position]
            try compare(&change, field, entity, key, access, into: &indexes)
            changes[position] = change
        }
    }

    /// Collects the index changes of a removed row's edge lists, and the lists to delete.
    mutating func indexRemoved(
        _ entity: Catalog.Entity, _ key: Bytes, _ body: RowBody, _ access: StoreAccess, into indexes: inout IndexChanges
    ) throws {
        for index in 0..<body.count {
            guard let value = body.value(at: index), let list = EdgeList(value) else { continue }
            let id = body.id(at: index)
            if let field = entity.field(id: id) {
                try addEntries(field, value, entity, key, access, insertion: false, into: &indexes)
            }
            changes.append(Change(field: id, old: list))
        }
    }

    private mutating func addEntry(
        _ field: Catalog.Field, _ target: Bytes, _ owner: Bytes, insertion: Bool, into indexes: inout IndexChanges
    ) {
        guard let index = field.index, case .reference(let reference) = field.kind else { return }
        entry.removeAll()
        IndexEntry.append(target, IndexEntry.Targets(reference), owner, to: &entry)
        indexes.add(entry.bytes, to: index, insertion: insertion)
    }

    private mutating func addEntries(
        _ field: Catalog.Field, _ value: EncodedValue, _ entity: Catalog.Entity, _ key: Bytes, _ access: StoreAccess,
        insertion: Bool, into indexes: inout IndexChanges
    ) throws {
        let isWhole = try access.forEachReference(value) { target in
            addEntry(field, target, key, insertion: insertion, into: &indexes)
            return true
        }
        guard isWhole else { throw StoreError.damagedRow(entity: entity.name, key: access.describe(key)) }
    }

    /// Finds the positions where two lists differ, and collects added and removed targets.
    private mutating func compare(
        _ change: inout Change, _ field: Catalog.Field, _ entity: Catalog.Entity, _ key: Bytes, _ access: StoreAccess,
        into indexes: inout IndexChanges
    ) throws {
        let after = change.after
        guard let before = change.before else {
            change.end = change.new?.count ?? 0
            if let after {
                try addEntries(field, after, entity, key, access, insertion: true, into: &indexes)
            }
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
        for place in stays.indices where !stays[place] {
            addEntry(field, gone.key(at: place), key, insertion: false, into: &indexes)
        }
        for place in 0..<come.count where gone.find(0, come.key(at: place)) == nil {
            addEntry(field, come.key(at: place), key, insertion: true, into: &indexes)
        }
    }
}
