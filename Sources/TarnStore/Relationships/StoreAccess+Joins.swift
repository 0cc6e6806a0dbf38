// Relationships joined by attributes: from a record's value to the records with an equal value.

extension StoreAccess {
    /// Iterates over the records that a join leads to, until the closure returns false.
    /// The closure gets storage keys, in key order. Null and absent values lead nowhere, and only
    /// existing records are found.
    func joined(
        _ key: Bytes, _ relationship: Catalog.Relationship, _ join: Catalog.Join, _ body: (Bytes) throws -> Bool
    ) throws {
        // From the inverse side, the relationship leads to the entity that declares it.
        let isInverse = relationship.destination != join.destination
        guard let seen = catalog.entity(id: isInverse ? join.destination : relationship.owner),
            let destination = catalog.entity(id: relationship.destination)
        else { return }
        let mark = rowMark
        defer { release(to: mark) }
        guard let value = try records.row(seen, key)?.body.value(of: join.own), !value.isNull else { return }
        if destination.key == [join.theirs] { return try record(destination, withKey: value, join.theirs, body) }
        var values = ByteWriter(capacity: 512)
        IndexEntry.appendWholeValue(value, to: &values)
        guard let index = try state.rules(of: destination.id).index(of: join.theirs) else {
            // It was withdrawn, since records have equal values. A process without a schema goes
            // on reading.
            var found = ByteWriter(capacity: 512)
            return try records.scan(destination) { target, row in
                guard let theirs = row.body.value(of: join.theirs) else { return true }
                // Compared as in the index, where −0 equals 0.
                found.removeAll()
                IndexEntry.appendWholeValue(theirs, to: &found)
                return try Bytes.equal(found.bytes, values.bytes) ? body(target) : true
            }
        }
        try indexes.forEachRow(destination, index, beginningWith: values.bytes, components: 1) { found, _ in
            try body(found)
        }
    }

    /// Finds the record whose only key attribute has a value.
    private func record(
        _ entity: Catalog.Entity, withKey value: EncodedValue, _ field: UInt16, _ body: (Bytes) throws -> Bool
    ) throws {
        var key = ByteWriter()
        switch value.tag {
        case ValueTag.int: key.appendTuple(value.int ?? 0)
        case ValueTag.string: key.appendTuple(string: value.payload)
        case ValueTag.uuid where value.bytes.count == 17: key.appendTuple(uuid: value.payload)
        default: return
        }
        key.finishStorageKey(from: 0)
        if try lending({ try has(value, in: field, entity, key.bytes) }) { _ = try body(key.bytes) }
    }

    private func has(_ value: EncodedValue, in field: UInt16, _ entity: Catalog.Entity, _ key: Bytes) throws -> Bool {
        guard let found = try records.row(entity, key)?.body.value(of: field) else { return false }
        return Bytes.equal(found.bytes, value.bytes)
    }
}
