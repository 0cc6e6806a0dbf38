// Reading ranges of keys in both directions, for records without a type.

extension StoreReader {
    /// Iterates over the records of an entity in a key range, until the closure returns false.
    ///
    /// - Parameter reversed: Iterates in descending order of keys.
    /// - Throws: The errors of the closure; `StoreError.unknownEntity`, `.wrongKey` if the range
    ///   does not have the form of the entity's keys, `.damagedRow`.
    public func forEach(
        _ entity: String, in range: KeyRange, reversed: Bool = false, _ body: (Record) throws -> Bool
    ) throws {
        let entity = try access.state.entity(entity)
        try access.records.scan(entity, in: range, reversed: reversed) { key, row in
            try body(access.record(entity, key, row))
        }
    }

    /// Returns the number of records in a key range. Iterates over them, except for `.all`.
    package func count(_ entity: String, in range: KeyRange) throws -> Int {
        let entity = try access.state.entity(entity)
        return try access.records.count(entity, in: range)
    }
}
