// The removal of entities, fields and indexes from a store.
//
// A schema that no longer names them does not remove them: another program may use them.

internal import LMDB

extension Store {
    /// Removes an index: a declared one, or that of an attribute, which then is not unique either.
    ///
    /// One short write empties its table without reading the entries. A program whose schema names
    /// the index may continue to read, and gets `.schemaChanged` when it writes. Opening the store
    /// with that schema builds the index again.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.unknownField` if there is no such index;
    ///   `StoreMaintenanceError.inUse` if a relationship needs it or if it belongs to a parent of
    ///   the entity; the errors of `write`.
    public func remove(index name: String, of entityName: String) throws {
        try changeCatalog { catalog, access in
            let entity = try access.state.entity(entityName)
            guard let id = entity.field(name)?.index ?? entity.index(name)?.id, let place = catalog.place(ofIndex: id)
            else {
                let known = entity.fields.filter { $0.index != nil }.map(\.name) + entity.indexes.map(\.name)
                throw StoreError.unknownField(entity: entityName, name: "index \(name)", known: known)
            }
            try catalog.checkDeclared(place.entity, entity, name)
            if let field = place.field.flatMap({ entity.field(id: $0) }) {
                if case .reference = field.kind {
                    throw StoreMaintenanceError.inUse(entity: entityName, name: name, by: "the relationship itself")
                }
                if let user = catalog.join(through: field.id, of: entity) {
                    throw StoreMaintenanceError.inUse(entity: entityName, name: name, by: user)
                }
            }
            catalog = catalog.takingBack(id, isNew: true)
            try access.indexes.removeAll(id)
        }
    }

    /// Removes an attribute or a stored relationship with all its values.
    ///
    /// First the values are removed from the records, in steps of one write each. These are
    /// updates, and are in the change log. Then the field is removed from the catalog; its id is
    /// never reused. If the removal is interrupted, even by a kill, the same call continues it.
    /// Values that other programs write to the field meanwhile may stay in rows, but cannot be
    /// read.
    ///
    /// If there are values, the next syncs request all lists as a whole and without conditions: a
    /// schema may declare the field anew, and any response may have told of the records.
    ///
    /// A program whose schema names the field may continue to read, and gets `.schemaChanged` when
    /// it writes. Opening the store with that schema creates a new, empty field.
    ///
    /// - Parameter step: the largest number of records that a step reads.
    /// - Returns: the number of records that had a value.
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`; `StoreMaintenanceError.inUse` if the
    ///   key, an index, a joined relationship, or an unsent operation of the outbox needs the
    ///   field, or if it belongs to a parent of the entity; the errors of `write`.
    @discardableResult
    public func remove(field name: String, of entityName: String, step: Int = 1000) throws -> Int {
        precondition(step > 0, "a step must check at least one record")
        let id: UInt16 = try read { reader in
            let entity = try reader.access.state.entity(entityName)
            guard let field = entity.field(name) else {
                throw StoreError.unknownField(entity: entityName, name: name, known: entity.fields.map(\.name))
            }
            try reader.catalog.checkUnused(field, of: entity)
            try reader.access.outbox.checkUnused(field, of: entity)
            return field.id
        }
        // Before the values go: it is done if the removal is interrupted. And behind them: a sync
        // may have confirmed responses meanwhile.
        let hasValues = try read { reader in
            try reader.catalog.entity(entityName).map { try reader.access.records.hasValues(of: id, $0) } ?? false
        }
        if hasValues { try forgetConfirmations(step: step) }
        var count = 0, next: [UInt8]? = []
        while let start = next {
            let step = try write(alone: true) { writer in try writer.clear(entityName, id, from: start, count: step) }
            count += step.cleared
            next = step.next
        }
        if count > 0 { try forgetConfirmations(step: step) }
        try changeCatalog { catalog, access in
            // Another process may have removed the field, or added a part that needs it.
            guard let entity = catalog.entity(entityName), let field = entity.field(id: id) else { return }
            try catalog.checkUnused(field, of: entity)
            try access.outbox.checkUnused(field, of: entity)
            if let index = field.index { try access.indexes.removeAll(index) }
            for e in catalog.entities.indices where catalog.entities[e].root == entity.root {
                catalog.entities[e].fields.removeAll { $0.id == id }
            }
            if let root = catalog.entities.firstIndex(where: { $0.id == entity.root }) {
                catalog.entities[root].removed = (catalog.entities[root].removed ?? []) + [id]
            }
        }
        return count
    }

    /// Removes an entity with all its records.
    ///
    /// The records are deleted in steps of one write each, without regard to delete rules. The
    /// deletions are in the change log. Then the entity is removed from the catalog; its id is
    /// never reused. If the removal is interrupted, the same call continues it.
    ///
    /// - Parameter step: the largest number of records that a step deletes.
    /// - Returns: the number of records deleted.
    /// - Throws: `StoreError.unknownEntity`; `StoreMaintenanceError.inUse` while a relationship of
    ///   another entity leads to it, another entity has it as its parent, or the outbox has unsent
    ///   operations of its records; the errors of `write`.
    @discardableResult
    public func remove(entity name: String, step: Int = 1000) throws -> Int {
        precondition(step > 0, "a step must delete at least one record")
        let id: UInt16 = try read { reader in
            let entity = try reader.access.state.entity(name)
            try reader.catalog.checkUnused(entity)
            try reader.access.outbox.checkUnused(nil, of: entity)
            return entity.id
        }
        var count = 0, isGone = false
        while !isGone {
            while case let deleted = try write(alone: true, { try $0.deleteAll(id, count: step) }), deleted > 0 {
                count += deleted
            }
            var next: [UInt8]? = []
            while let start = next {
                next = try write(alone: true) {
                    try $0.access.scans.removeAll(ofRoot: id, from: start, atMost: max(step, 10_000))
                }
            }
            // Those that may list deleted records.
            while try write(alone: true, { try $0.responses.remove(ofRoot: id, atMost: step) }) > 0 {}
            try changeCatalog { catalog, access in
                guard let entity = catalog.entity(id: id) else { return isGone = true }
                try catalog.checkUnused(entity)
                try access.outbox.checkUnused(nil, of: entity)
                // Another process may have added a record since.
                guard try access.records.count(entity) == 0, try access.responses.firstMember(ofRoot: id) == nil else {
                    return
                }
                let inherited = entity.parent.flatMap { catalog.entity(id: $0) }
                let own =
                    entity.fields.compactMap(\.index) + entity.indexes.map(\.id) + [entity.members].compactMap(\.self)
                let others = (inherited?.fields.compactMap(\.index) ?? []) + (inherited?.indexes.map(\.id) ?? [])
                for index in Set(own).subtracting(others) { try access.indexes.removeAll(index) }
                try access.localChanges.removeAll(of: entity)
                if entity.root == entity.id {
                    for dictionary in try RowDictionary.ids(access.raw, access.state.meta, of: id) {
                        _ = try access.raw.delete(access.state.meta, RowDictionary.key(dictionary))
                    }
                    _ = try access.raw.delete(access.state.meta, RewriteMark.metaKey(id))
                }
                catalog.entities.removeAll { $0.id == id }
                isGone = true
            }
        }
        return count
    }

    /// Removes the validators of all responses, and the values of all incremental lists.
    ///
    /// A response may contain a record without listing it.
    private func forgetConfirmations(step: Int) throws {
        var ids = try read { reader in
            var ids: [UInt64] = []
            try reader.access.responses.forEach { view in
                ids.append(view.id)
                return true
            }
            return ids
        }[...]
        try write(alone: true) { writer in
            // A first scan under way may not have a value yet. The checkpoint of a sync, with
            // `*` before its name, is of no list.
            try writer.replaceCheckpoints(withPrefix: "") { name, list in
                name.hasPrefix("*") ? nil : list.outdated
            }
        }
        while !ids.isEmpty {
            let part = Array(ids.prefix(step))
            ids = ids.dropFirst(part.count)
            try write(alone: true) { writer in
                for id in part { try writer.responses.removeValidators(ofResponse: id) }
            }
        }
    }

    /// Changes the catalog in a write of its own; every process then reloads it.
    private func changeCatalog(_ body: (inout Catalog, StoreAccess) throws -> Void) throws {
        try write(alone: true) { writer in
            let access = writer.access, raw = access.raw, meta = access.state.meta
            var catalog = access.catalog
            try body(&catalog, access)
            guard catalog != access.catalog else { return }
            catalog.resolve()
            try raw.put(meta, key: MetaKey.catalog, text: try StoredCatalog.text(of: catalog))
            try raw.advanceGeneration(meta)
        }
        try reload()
    }
}

extension StoreWriter {
    /// Sets a field to null in those of the next records that have it.
    ///
    /// - Returns: the number of records that had it, and the key of the next step; nil at the end.
    fileprivate mutating func clear(
        _ name: String, _ id: UInt16, from start: [UInt8], count: Int
    ) throws -> (cleared: Int, next: [UInt8]?) {
        guard let entity = catalog.entity(name), entity.field(id: id) != nil else { return (0, nil) }
        var found: [[UInt8]] = [], seen = 0, next: [UInt8]?
        try access.records.scan(entity, from: start) { key, row in
            guard seen < count else {
                next = Array(key)
                return false
            }
            seen += 1
            if let value = row.body.value(of: id), !value.isNull { found.append(Array(key)) }
            return true
        }
        var builder = BodyBuilder(), bytes = ByteWriter()
        builder.field(id) { $0.appendValue(.null) }
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: false) else { return (0, nil) }
        for key in found { _ = try key.withUnsafeBytes { try merge(entity, $0, body, isComplete: false) } }
        return (found.count, next)
    }

    /// Deletes records of an entity.
    ///
    /// - Returns: the number of records deleted; 0 if there were none.
    fileprivate mutating func deleteAll(_ id: UInt16, count: Int) throws -> Int {
        guard let entity = catalog.entity(id: id) else { return 0 }
        var found: [[UInt8]] = []
        try access.records.scan(entity) { key, _ in
            found.append(Array(key))
            return found.count < count
        }
        for key in found {
            let mark = access.rowMark
            defer { access.release(to: mark) }
            try key.withUnsafeBytes { key in
                if let row = try access.records.row(entity, key) { try remove(key, row) }
            }
        }
        return found.count
    }
}

extension Catalog {
    /// Checks that the entity itself declares one of its parts.
    ///
    /// - Throws: `.inUse` if an ancestor declares it.
    fileprivate func checkDeclared(_ owner: UInt16, _ entity: Entity, _ name: String) throws(StoreMaintenanceError) {
        guard owner != entity.id else { return }
        let parent = self.entity(id: owner)?.name ?? ""
        throw .inUse(entity: entity.name, name: name, by: "\(parent), which declares it")
    }

    fileprivate func checkUnused(_ field: Field, of entity: Entity) throws(StoreMaintenanceError) {
        if entity.key.contains(field.id) { throw .inUse(entity: entity.name, name: field.name, by: "the key") }
        guard declares(entity, field.id) else {
            let owner = ancestors(of: entity.id).last { self.entity(id: $0)?.field(id: field.id) != nil }
            return try checkDeclared(owner ?? entity.root, entity, field.name)
        }
        if let user = join(through: field.id, of: entity) {
            throw .inUse(entity: entity.name, name: field.name, by: user)
        }
        for kind in entities where isKind(kind.id, of: entity.id) {
            for index in kind.indexes
            where index.components.contains(where: { $0.field == field.id })
                || index.conditions.contains(where: { $0.field == field.id })
            {
                throw .inUse(entity: entity.name, name: field.name, by: "the index \(kind.name).\(index.name)")
            }
        }
    }

    fileprivate func checkUnused(_ entity: Entity) throws(StoreMaintenanceError) {
        for other in entities where other.id != entity.id {
            if other.parent == entity.id {
                throw .inUse(entity: entity.name, name: nil, by: "\(other.name), a descendant of it")
            }
            for field in other.fields {
                guard case .reference(let reference) = field.kind, reference.destination == entity.id else { continue }
                throw .inUse(entity: entity.name, name: nil, by: "\(other.name).\(field.name)")
            }
            for join in other.joins where join.destination == entity.id {
                throw .inUse(entity: entity.name, name: nil, by: "\(other.name).\(join.name)")
            }
        }
    }

    /// Returns the name of a relationship that is joined by an attribute of an entity.
    fileprivate func join(through field: UInt16, of entity: Entity) -> String? {
        for other in entities {
            for join in other.joins {
                let isOwn = join.own == field && isKind(other.id, of: entity.id)
                let isTheirs = join.theirs == field && isKind(join.destination, of: entity.id)
                if isOwn || isTheirs { return "\(other.name).\(join.name)" }
            }
        }
        return nil
    }
}
