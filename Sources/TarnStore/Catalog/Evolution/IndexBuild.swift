// One step of building indexes from existing rows, or of checking an index that became unique.
//
// A step runs inside a write transaction, so no row changes between its read and the writes of its
// entries. Rows behind the mark may have entries already: writers maintain every index of the
// catalog, complete or not. So an entry to be added may exist, and one to be removed may not.

internal import LMDB

/// The steps of index builds in one transaction.
struct IndexBuild {
    /// The access, perhaps with the catalog before the change.
    let access: StoreAccess
    let catalog: Catalog
    let records: (UInt16) throws -> Table
    let table: (UInt32) throws -> Table

    /// Takes one step for the indexes that have marks.
    ///
    /// It reads rows of one table for all of its indexes with equal progress, or checks entries of
    /// one index. It does not change the marks in the store: the caller does.
    func step(_ marks: [UInt32: IndexMark], _ options: IndexBuildOptions) throws -> IndexStep? {
        let places = marks.keys.sorted().map { ($0, catalog.place(ofIndex: $0)) }
        for (id, place) in places where place == nil {
            // The index no longer exists.
            return IndexStep(indexes: [(id, nil)], isTransition: true)
        }
        let building = places.compactMap { id, place -> (id: UInt32, root: UInt16, mark: IndexMark)? in
            guard let mark = marks[id], mark.phase == .building, let entity = place?.entity,
                let root = catalog.entity(id: entity)?.root
            else { return nil }
            return (id, root, mark)
        }
        if let root = building.first?.root {
            let first = building.filter { $0.root == root }.min { $0.mark.key.lexicographicallyPrecedes($1.mark.key) }
            let group = building.filter { $0.root == root && $0.mark.key == first?.mark.key }
            return try build(group.map { ($0.id, $0.mark) }, root, options)
        }
        guard let (id, place) = places.first, let place, let mark = marks[id] else { return nil }
        return try check(id, place, mark, options)
    }

    private func build(_ group: [(id: UInt32, mark: IndexMark)], _ root: UInt16, _ options: IndexBuildOptions) throws
        -> IndexStep?
    {
        guard let start = group.first?.mark.key else { return nil }
        let ids = Set(group.map(\.id))
        let rules = Dictionary(
            uniqueKeysWithValues: catalog.entities.filter { $0.root == root }.map { entity in
                let rules = EntityRules(entity, catalog)
                return (entity.id, (rules.entity, rules.indexes.filter { ids.contains($0.id) }))
            })
        let cursor = try access.raw.cursor(records(root))
        defer { cursor.close() }
        var changes = IndexChanges(), scratch = ByteWriter(), last = start, rows = 0, bytes = 0
        var entry = try cursor.seek(start)
        if let found = entry, found.key.elementsEqual(start) { entry = try cursor.next() }
        while let (key, value) = entry, rows < options.rows, bytes < options.bytes {
            // Without a damaged row of another entity, or of none, the index would lack an entry,
            // and queries would not report it.
            guard value.count >= RowFormat.headerSize, let (entity, indexes) = rules[value.load(6)],
                !indexes.isEmpty || access.records.isSound(value, root: root, key)
            else { throw damaged(key, root) }
            if !indexes.isEmpty {
                try access.lending {
                    let row = try access.records.view(value, entity, key)
                    for index in indexes {
                        IndexEntry.forEach(index, row.body, owner: key, scratch: &scratch) { entry, _ in
                            changes.add(entry, to: index.id, insertion: true)
                        }
                        // `IndexEntry.forEach` has no entries for a long list, which is not in the
                        // row.
                        guard case .field(let field) = index.source, case .reference(let reference) = field.kind,
                            let value = row.body.value(of: field.id), value.tag == ValueTag.edges
                        else { continue }
                        try access.forEachReference(value) { target in
                            scratch.removeAll()
                            IndexEntry.append(target, IndexEntry.Targets(reference), key, to: &scratch)
                            changes.add(scratch.bytes, to: index.id, insertion: true)
                            return true
                        }
                    }
                }
            }
            rows += 1
            bytes += value.count
            last.removeAll(keepingCapacity: true)
            last.append(contentsOf: key)
            entry = try cursor.next()
        }
        if rows > 0 { try access.raw.willAdd() }
        try changes.apply(access.raw, table: table) { _, _ in }
        let isLast = entry == nil
        let after = group.map { id, mark -> (UInt32, IndexMark?) in
            var mark = mark
            (mark.key, mark.count) = (last, mark.count + rows)
            guard isLast else { return (id, mark) }
            return (id, catalog.isUnique(id) ? IndexMark(.checking, isNew: mark.isNew) : nil)
        }
        return IndexStep(indexes: after, count: rows, bytes: bytes, isTransition: isLast)
    }

    private func damaged(_ key: Bytes, _ root: UInt16) -> StoreError {
        .damagedRow(entity: catalog.entity(id: root)?.name ?? "#\(root)", key: access.describe(key))
    }

    private func check(_ id: UInt32, _ place: Catalog.NewIndex, _ mark: IndexMark, _ options: IndexBuildOptions) throws
        -> IndexStep
    {
        // Another process may have made the index not unique.
        guard catalog.isUnique(id) else { return IndexStep(indexes: [(id, nil)], isTransition: true) }
        let found = try UniqueIndex.check(
            access, catalog, place, table(id), from: mark.key, count: options.rows)
        guard found.violation == nil, let last = found.last else {
            return IndexStep(indexes: [(id, nil)], count: found.count, violation: found.violation, isTransition: true)
        }
        var mark = mark
        (mark.key, mark.count) = (last, mark.count + found.count)
        return IndexStep(indexes: [(id, mark)], count: found.count, isTransition: false)
    }
}

extension Catalog {
    /// Returns the entity that declares an index, and its field if it is the index of one.
    ///
    /// The result is nil if there is no such index, or if it is the index of an entity's members.
    func place(ofIndex id: UInt32) -> NewIndex? {
        for entity in entities {
            if let field = entity.fields.first(where: { $0.index == id }), declares(entity, field.id) {
                return NewIndex(entity: entity.id, field: field.id, index: id)
            }
            guard entity.indexes.contains(where: { $0.id == id }) else { continue }
            if declares(entity, index: id) { return NewIndex(entity: entity.id, field: nil, index: id) }
        }
        return nil
    }

    func isUnique(_ index: UInt32) -> Bool {
        entities.contains { entity in
            entity.fields.contains { $0.index == index && $0.isUnique }
                || entity.indexes.contains { $0.id == index && $0.isUnique }
        }
    }

    /// Returns the name of an index: that of its field, or its own.
    func name(ofIndex id: UInt32) -> String {
        for entity in entities {
            if let field = entity.fields.first(where: { $0.index == id }) { return field.name }
            if let index = entity.indexes.first(where: { $0.id == id }) { return index.name }
        }
        return "index \(id)"
    }

    /// Returns the catalog after an index turned out not to be unique.
    ///
    /// A new index is removed. One that existed before stays, but is not unique.
    func takingBack(_ id: UInt32, isNew: Bool) -> Catalog {
        var result = self
        for e in result.entities.indices {
            for f in result.entities[e].fields.indices where result.entities[e].fields[f].index == id {
                result.entities[e].fields[f].unique = nil
                if isNew { result.entities[e].fields[f].index = nil }
            }
            for i in result.entities[e].indexes.indices where result.entities[e].indexes[i].id == id {
                result.entities[e].indexes[i].isUnique = false
            }
            if isNew { result.entities[e].indexes.removeAll { $0.id == id } }
        }
        return result
    }
}
