// The records behind relationships, for conditions that follow them.

import TarnStore

extension StoreFile: QueryRecords {
    var keepsRowsInPlace: Bool { false }

    func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
        let count = lentRows.count
        defer { while lentRows.count > count { lentRows.removeLast().deallocate() } }
        return try decoder.lending(body)
    }

    func row(_ entity: Catalog.Entity, _ key: Bytes) throws -> EncodedRow? {
        let bytes: [UInt8]
        switch lookUp(key, in: TableName.records(entity.root)) {
        case .found(let row): bytes = row
        case .absent: return nil
        case .unreadable: throw StoreError.damagedRow(entity: entity.name, key: describe(key))
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 8)
        lentRows.append(memory)
        memory.copyBytes(from: bytes)
        let kept = Bytes(memory).slice(0..<bytes.count)
        guard EncodedRow.hasValidChecksum(kept, table: UInt32(entity.root), key: key), let row = try? decoder.view(kept)
        else { throw StoreError.damagedRow(entity: entity.name, key: describe(key)) }
        return catalog.isKind(row.entity, of: entity.id) ? row : nil
    }

    func targets(of key: Bytes, _ relationship: Catalog.Relationship, _ body: (Bytes) throws -> Bool) throws {
        if let join = relationship.join { return try joined(key, relationship, join, body) }
        guard let owner = catalog.entity(id: relationship.owner), let field = owner.field(id: relationship.field),
            case .reference(let reference) = field.kind, let index = field.index
        else { return }
        guard relationship.isStored else {
            return try forEachOwner(
                in: index, ofEntriesWith: Array(key), positioned: reference.inverseIsOrdered, body)
        }
        try lending {
            guard let value = try row(owner, key)?.body.value(of: field.id) else { return }
            if let target = value.reference {
                _ = try body(target)
                return
            }
            guard try forEachReference(value, body) else {
                throw StoreError.damagedRow(entity: owner.name, key: describe(key))
            }
        }
    }

    /// Iterates over the storage keys in the entries of an index with these values.
    private func forEachOwner(
        in index: UInt32, ofEntriesWith values: [UInt8], positioned: Bool, _ body: (Bytes) throws -> Bool
    ) throws {
        let cursor = TableCursor(self, TableName.index(index), in: KeyInterval(prefix: values))
        var isGoingOn = true
        while isGoingOn, cursor.next() {
            try cursor.withKey { entry in
                // 00 FF inside an encoded text is a NUL: the entry belongs to a longer value.
                guard !(entry.count > values.count && entry[values.count] == 0xFF) else { return }
                guard let owner = IndexEntry.owner(in: entry, afterValuesOf: values.count, positioned: positioned)
                else { return noteMalformed(entry, in: index) }
                isGoingOn = try body(owner)
            }
        }
    }

    /// Records that an entry of an index has no storage key behind its values.
    func noteMalformed(_ entry: Bytes, in index: UInt32) {
        note(
            .indexForm, "index \(catalog.fullName(ofIndex: index))",
            "malformed entry: \(RecordKey.describe(storageKey: entry))")
    }

    /// Iterates over the records whose attribute equals one of this record.
    private func joined(
        _ key: Bytes, _ relationship: Catalog.Relationship, _ join: Catalog.Join, _ body: (Bytes) throws -> Bool
    ) throws {
        // From the inverse side, the relationship leads to the entity that declares it.
        let isInverse = relationship.destination != join.destination
        guard let seen = catalog.entity(id: isInverse ? join.destination : relationship.owner),
            let destination = catalog.entity(id: relationship.destination)
        else { return }
        try lending {
            guard let value = try row(seen, key)?.body.value(of: join.own), !value.isNull else { return }
            func isEqual(_ found: Bytes) throws -> Bool {
                try lending {
                    try row(destination, found)?.body.value(of: join.theirs).map { Bytes.equal($0.bytes, value.bytes) }
                        ?? false
                }
            }
            guard destination.key != [join.theirs] else {
                guard let target = StoreFile.key(of: value)?.storageKey else { return }
                try target.withUnsafeBytes { if try isEqual($0) { _ = try body($0) } }
                return
            }
            guard let field = destination.field(id: join.theirs), let index = field.index, index > 0 else {
                // It was withdrawn, since records have equal values.
                return try forEachKey(of: destination) { try isEqual($0) ? body($0) : true }
            }
            try checkComplete(index, field.name, destination)
            var values = ByteWriter()
            IndexEntry.appendValue(value, to: &values)
            // Entries of cut values are equal for texts that begin alike: the rows decide.
            let isCut = IndexEntry.isCut(values.bytes)
            try forEachOwner(in: index, ofEntriesWith: Array(values.bytes), positioned: false) { found in
                if isCut, try !isEqual(found) { return true }
                return try body(found)
            }
        }
    }

    /// Iterates over the storage keys of the records in the table of an entity.
    private func forEachKey(of entity: Catalog.Entity, _ body: (Bytes) throws -> Bool) rethrows {
        let cursor = TableCursor(self, TableName.records(entity.root))
        var isGoingOn = true
        while isGoingOn, cursor.next() { try cursor.withKey { isGoingOn = try body($0) } }
    }

    /// Requires that an index is complete.
    ///
    /// - Throws: `.indexIncomplete`.
    private func checkComplete(_ index: UInt32, _ name: String, _ entity: Catalog.Entity) throws(StoreError) {
        guard let mark = marks[index], mark.phase == .building else { return }
        throw .indexIncomplete(
            entity: entity.name, index: name, done: mark.count,
            total: Int(clamping: snapshot.tables[TableName.records(entity.root)]?.entries ?? 0))
    }

    /// Returns the key with a value as its only component.
    private static func key(of value: EncodedValue) -> RecordKey? {
        switch value.decoded() {
        case .int(let x): RecordKey(x)
        case .string(let x): RecordKey(x)
        case .uuid(let x): RecordKey([.uuid(x)])
        default: nil
        }
    }
}
