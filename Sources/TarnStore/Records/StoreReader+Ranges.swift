// Several records, ranges of keys and both directions, for records without a type.

extension StoreReader {
    /// Records in the order of the keys; nil for each that is not there.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`, `.damagedRow`.
    public func records(_ entity: String, _ keys: some Sequence<RecordKey>) throws -> [Record?] {
        let entity = try access.state.entity(entity)
        return try keys.map { key in
            try access.checkForm(of: key, entity)
            return try access.record(entity, key)
        }
    }

    /// Every record of an entity whose key is in a range, in key order or against it, until the closure returns false.
    ///
    /// - Throws: what the closure throws; `StoreError.unknownEntity`, `.wrongKey` if the range is of another form, `.damagedRow`.
    public func forEach(
        _ entity: String, in range: KeyRange, reversed: Bool = false, _ body: (Record) throws -> Bool
    ) throws {
        let entity = try access.state.entity(entity)
        try access.scan(entity, in: range, reversed: reversed) { key, row in
            try body(access.record(entity, key, row))
        }
    }

    /// The number of records of an entity whose key is in a range. Walks over them, except for `.all`.
    public func count(_ entity: String, in range: KeyRange) throws -> Int {
        let entity = try access.state.entity(entity)
        return try access.count(entity, in: range)
    }
}
