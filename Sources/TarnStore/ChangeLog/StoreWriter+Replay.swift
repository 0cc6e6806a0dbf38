// The replay of another store's change log, by which a copy follows its original.

internal import LMDB

extension StoreWriter {
    /// Applies changes of another store's log, in their order.
    ///
    /// The log must contain their values (``Store/setChangeValues(_:)``). The copy has the same
    /// records, relationships and indexes under two conditions: it was empty when the log began, or
    /// is a copy of the other store, and it gets every change since then. Versions are equal, too,
    /// if each commit is applied as a whole in a write of its own, and there is no other writer of
    /// the copy. Each commit must be applied once: save the token of its page in the same write,
    /// see ``setChangePosition(_:_:)``. Entities and fields are matched by name.
    ///
    /// - Throws: `ChangeLogError.changeWithoutValues`, `.changeOfMissingRecord`;
    ///   `StoreError.unknownEntity`, `.unknownField`, `.wrongKey`, `.wrongType`, `.damagedRow`;
    ///   `StoreWriteError.keyCollision`. Some changes may be applied by then: let the error leave
    ///   the closure of `write`.
    public mutating func apply(_ changes: some Sequence<Change>) throws {
        for change in changes { try apply(change) }
    }

    /// Saves a consumer's position in the changes of another store, within this transaction.
    ///
    /// A position stays until it is removed.
    ///
    /// - Parameters:
    ///   - name: the consumer's name of the other store.
    ///   - token: the position; nil to remove it.
    public mutating func setChangePosition(_ name: String, _ token: ChangeToken?) throws {
        try access.settings.setChangePosition(name, token)
    }

    private mutating func apply(_ change: Change) throws {
        let entity = try access.state.entity(change.entity)
        try access.checkForm(of: change.key, entity)
        let storageKey = change.key.storageKey
        let mark = access.rowMark
        defer { access.release(to: mark) }
        try storageKey.withUnsafeBytes { key in
            guard change.operation == .deleted else { return try apply(change, entity, key) }
            guard let root = catalog.entity(id: entity.root), let row = try access.rowOfKey(root, key, change.key)
            else { return }
            try remove(key, row)
        }
    }

    private mutating func apply(_ change: Change, _ entity: Catalog.Entity, _ key: Bytes) throws {
        let table = try access.state.records(of: entity.root), rules = try access.state.rules(of: entity.id)
        // The log has the changes of the former owners, too.
        hasUnknownOwners = true
        let appending = try tail.isPast(key, entity.root, access.raw, table)
        let old = appending ? nil : try access.raw.get(table, key).map { try access.records.view($0, entity, key) }
        var said = ByteWriter()
        let isWide = try append(change, entity, key, to: &said)
        guard let said = RowBody(said.bytes, isWide: isWide) else { return }
        guard let old else {
            guard change.operation == .created else {
                throw ChangeLogError.changeOfMissingRecord(entity: entity.name, key: "\(change.key)")
            }
            let body = try edges.replacing(said, old: nil, rules, access)
            if remembersRecords, rules.hasUnique { try remember(key, rules.root, nil, .created) }
            try index(key, old: nil, rules, new: body, rules)
            try edges.index(rules.entity, rules.entity, key, access, into: &indexChanges)
            try log(.create, rules, key, old: nil, body, isPartial: change.isPartial)
            try put(table, rules, key, body, isPartial: change.isPartial, version: sequence, appending: appending)
            return try edges.store(access)
        }
        if StorageKey.isDigest(key), !access.saySameKey(entity, old.body, said) {
            throw StoreWriteError.keyCollision(entity: entity.name)
        }
        let body = try edges.replacing(said, old: old.body, rules, access)
        let oldRules = try access.state.rules(of: old.entity)
        // A created record has only the fields of the change.
        let dropped =
            change.operation == .created
            ? old.body.fields(notIn: body) : old.entity != entity.id ? rules.foreignFields(in: catalog) : []
        var merged = BodyBuilder(), bytes = ByteWriter(capacity: old.body.bytes.count + body.bytes.count)
        merged.merge(old: old.body, new: body, dropping: dropped)
        let mergedIsWide = merged.isWide
        merged.finish(into: &bytes)
        guard let new = RowBody(bytes.bytes, isWide: mergedIsWide) else { return }
        if oldRules === rules, old.isPartial == change.isPartial, Bytes.equal(old.body.bytes, new.bytes) { return }
        if remembersRecords, rules.hasUnique || oldRules.hasUnique { try remember(key, rules.root, old, .updated) }
        edges.drop(dropped, old.body)
        try index(key, old: old.body, oldRules, new: new, rules)
        try edges.index(oldRules.entity, rules.entity, key, access, into: &indexChanges)
        try log(.update, rules, key, old: old.body, new, isPartial: change.isPartial)
        try put(table, rules, key, new, isPartial: change.isPartial, version: sequence)
        try edges.store(access)
    }

    /// Appends a body with the values of a change, under the field ids of this store.
    ///
    /// - Returns: whether the body is wide.
    private func append(
        _ change: Change, _ entity: Catalog.Entity, _ key: Bytes, to writer: inout ByteWriter
    ) throws -> Bool {
        guard let values = change.values else {
            throw ChangeLogError.changeWithoutValues(entity: entity.name, key: "\(change.key)")
        }
        var builder = BodyBuilder()
        try values.bytes.withUnsafeBytes { bytes in
            guard let body = RowBody(bytes, isWide: values.isWide) else { return }
            var fields: [(id: UInt16, value: EncodedValue)] = []
            for index in 0..<body.count {
                let id = body.id(at: index)
                guard id != WholeKey.field, let value = body.value(at: index) else { continue }
                // A field that is unknown in the change's own catalog keeps its id.
                guard let name = change.source.field(id: id)?.name else {
                    fields.append((id, value))
                    continue
                }
                guard let field = entity.field(name) else {
                    throw StoreError.unknownField(entity: entity.name, name: name, known: entity.fields.map(\.name))
                }
                try access.catalog.check(value, fits: field, of: entity, isKnownJSON: true)
                fields.append((field.id, value))
            }
            if change.operation == .created { builder.wholeKey(entity, key) { change.key.tuple } }
            var last: UInt16?
            for (id, value) in fields.sorted(by: { $0.id < $1.id }) where id != last {
                builder.field(id, value)
                last = id
            }
        }
        let isWide = builder.isWide
        builder.finish(into: &writer)
        return isWide
    }
}
