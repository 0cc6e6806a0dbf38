// Copying rows as records, from a transaction or from a file that liblmdb cannot read.

/// The data besides its bytes that copying a row as a record requires.
package protocol RecordSource {
    var catalog: Catalog { get }
    /// Returns the ids of fields that were removed from an entity.
    func removedFields(of entity: UInt16) throws -> Set<UInt16>
    /// Returns the whole key of a record that is stored under a digest. Nil if it is missing.
    func wholeKey(_ entity: Catalog.Entity, ofDigest digest: Bytes) throws -> RecordKey?
    /// Iterates over the storage keys of a reference list, until the closure returns false.
    /// The list is in the row or in the edge table.
    ///
    /// - Returns: False if the list is damaged.
    @discardableResult
    func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool
}

extension RecordSource {
    package func describe(_ key: Bytes) -> String { RecordKey.describe(storageKey: key) }

    /// Returns the whole key of a row. If the storage key is a digest, it comes from the fields.
    package func key(_ entity: Catalog.Entity, _ storageKey: Bytes, _ row: EncodedRow) -> RecordKey? {
        RecordKey(storageKey: storageKey) ?? row.body.key(of: entity)
    }

    /// Copies a row as a record.
    ///
    /// - Parameter names: the fields to copy, others are not decoded; nil for all.
    package func record(
        _ entity: Catalog.Entity, _ storageKey: Bytes, _ row: EncodedRow, only names: [String]? = nil
    ) throws -> Record {
        let entity = row.entity == entity.id ? entity : catalog.entity(id: row.entity) ?? entity
        guard let key = key(entity, storageKey, row) else {
            throw StoreError.damagedRow(entity: entity.name, key: describe(storageKey))
        }
        let copied = if let names { try fields(named: names, entity, row.body) } else { try fields(entity, row.body) }
        guard let fields = copied else {
            throw StoreError.damagedRow(entity: entity.name, key: describe(storageKey))
        }
        return Record(entity: entity.name, key: key, isPartial: row.isPartial, version: row.version, fields: fields)
    }

    /// Copies the fields of a row. Nil if one cannot be decoded.
    package func fields(_ entity: Catalog.Entity, _ body: RowBody) throws -> [Record.Field]? {
        // Every value is read: decompressed at once, each is found without a search.
        guard let body = body.undivided else { return nil }
        var fields: [Record.Field] = [], next = 0
        fields.reserveCapacity(body.count)
        for index in 0..<body.count {
            let id = body.id(at: index)
            if id == WholeKey.field { continue }
            // Both are in ascending order of ids.
            while next < entity.fields.count, entity.fields[next].id < id { next += 1 }
            let isKnown = next < entity.fields.count && entity.fields[next].id == id
            if !isKnown, try removedFields(of: entity.id).contains(id) { continue }
            guard let value = try body.value(at: index).flatMap({ try decoded($0, of: id, entity) }) else { return nil }
            fields.append(Record.Field(isKnown ? entity.fields[next].name : "#\(id)", value))
        }
        return fields
    }

    /// Copies those fields with the names that the row has. Nil if one cannot be decoded.
    private func fields(
        named names: [String], _ entity: Catalog.Entity, _ body: RowBody
    ) throws -> [Record.Field]? {
        var fields: [Record.Field] = []
        fields.reserveCapacity(names.count)
        for name in names {
            guard let place = entity.fields.firstIndex(where: { $0.name == name }) else { continue }
            let id = entity.fields[place].id
            guard let value = body.value(of: id) else { continue }
            guard let value = try decoded(value, of: id, entity) else { return nil }
            fields.append(Record.Field(name, value))
        }
        return fields
    }

    private func decoded(_ value: EncodedValue, of id: UInt16, _ entity: Catalog.Entity) throws -> Value? {
        try decoded(value) { try wholeKey(ofDigest: $0, in: entity.field(id: id)) }
    }

    /// Returns the whole key of a field's target that is stored under a digest, if it is there.
    func wholeKey(ofDigest digest: Bytes, in field: Catalog.Field?) throws -> RecordKey? {
        guard case .reference(let reference)? = field?.kind, let entity = catalog.entity(id: reference.destination)
        else { return nil }
        return try wholeKey(entity, ofDigest: digest)
    }

    /// Decodes a copy of a field's value, with the whole keys of its targets.
    ///
    /// Nil if it is malformed, or an edge list with missing references.
    package func decoded(_ value: EncodedValue, of field: Catalog.Field?) throws -> Value? {
        try decoded(value) { try wholeKey(ofDigest: $0, in: field) }
    }

    /// Returns whether an edge list has all of its references, and matches the digest in the row.
    package func isWhole(_ list: EdgeList, _ value: EncodedValue) throws -> Bool {
        var whole = ByteWriter()
        whole.append(ValueTag.references)
        let isThere = try forEachReference(value) { target in
            guard target.count > 0, target.count < 256 else { return false }
            whole.appendReferenceElement(target)
            return true
        }
        return isThere && EdgeList(id: list.id, of: EncodedValue(whole.bytes)) == list
    }

    /// Copies a row's fields with edge lists in the form of lists in the row.
    /// Nil if there are no edge lists.
    ///
    /// - Returns: The body, and whether all references were found.
    package func expandingLongLists(_ body: RowBody) throws -> (bytes: [UInt8], isWide: Bool, isWhole: Bool)? {
        guard (0..<body.count).contains(where: { body.value(at: $0)?.tag == ValueTag.edges }) else { return nil }
        var builder = BodyBuilder(), list = ByteWriter(), bytes = ByteWriter(), isWhole = true
        for index in 0..<body.count {
            guard var value = body.value(at: index) else { continue }
            if value.tag == ValueTag.edges {
                list.removeAll()
                list.append(ValueTag.references)
                let isThere = try forEachReference(value) { target in
                    guard target.count > 0, target.count < 256 else { return false }
                    list.appendReferenceElement(target)
                    return true
                }
                isWhole = isWhole && isThere
                value = EncodedValue(list.bytes)
            }
            builder.field(body.id(at: index), value)
        }
        builder.finish(into: &bytes)
        return (Array(bytes.bytes), builder.isWide, isWhole)
    }

    /// Calls the closure with every index entry of a row, each once.
    /// It gets the index, the entry, and the length of values that must be unique (0 if none).
    /// Entries of a damaged edge list are included up to the damage.
    package func forEachEntry(
        _ rules: EntityRules, _ key: Bytes, _ body: RowBody, _ entry: (UInt32, Bytes, Int) -> Void
    ) throws {
        for members in rules.members { entry(members, key, 0) }
        var scratch = ByteWriter()
        for index in rules.indexes {
            guard case .field(let field) = index.source, case .reference(let reference) = field.kind,
                let value = body.value(of: field.id), value.tag == ValueTag.edges || value.tag == ValueTag.references
            else {
                IndexEntry.forEach(index, body, owner: key, scratch: &scratch) { entry(index.id, $0, $1) }
                continue
            }
            // A target that occurs twice in a list has one entry.
            var seen: Set<[UInt8]> = []
            try forEachReference(value) { target in
                guard seen.insert(Array(target)).inserted else { return true }
                scratch.removeAll()
                IndexEntry.append(target, IndexEntry.Targets(reference), key, to: &scratch)
                entry(index.id, scratch.bytes, 0)
                return true
            }
        }
    }

    /// Decodes a copy of a value. Nil if it is malformed, or an edge list with missing references.
    func decoded(_ value: EncodedValue, digestKey: (Bytes) throws -> RecordKey?) throws -> Value? {
        guard value.tag == ValueTag.edges else { return try value.decoded(digestKey: digestKey) }
        var keys: [RecordKey] = []
        let isWhole = try forEachReference(value) { target in
            let key = try RecordKey(storageKey: target) ?? digestKey(target) ?? RecordKey(reference: target)
            guard let key else { return false }
            keys.append(key)
            return true
        }
        guard isWhole, let list = EdgeList(value), Int(list.count) == keys.count else { return nil }
        return .references(keys)
    }
}

extension StoreAccess: RecordSource {
    package func removedFields(of entity: UInt16) throws -> Set<UInt16> { try state.rules(of: entity).removed }

    @discardableResult
    package func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool {
        try edges.forEachReference(value, body)
    }

    /// - Throws: `.damagedRow` if the record cannot be read. It is not missing.
    package func wholeKey(_ entity: Catalog.Entity, ofDigest digest: Bytes) throws -> RecordKey? {
        guard let row = try records.row(entity, digest) else { return nil }
        return key(entity, digest, row)
    }
}
