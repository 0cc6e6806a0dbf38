// The fields of structs as values, for changes that are queued.

extension StoreAccess {
    /// Returns the key of a struct, and its fields in the order of their ids.
    ///
    /// - Throws: as `StoreWriter.put` does.
    package func fields<R: StoredRecord>(of record: R) throws -> (key: RecordKey, fields: [Record.Field]) {
        var encoder = try RowEncoder<R>(self, RowBuffers())
        record.encode(into: &encoder)
        let entity = encoder.rules.entity
        return try encoder.finish(key: nil) { storageKey, body, _ in
            guard let key = try wholeKey(entity, body) ?? RecordKey(storageKey: storageKey) else {
                throw StoreError.wrongKey(entity: entity.name, expected: entity.keyForm, found: "an incomplete key")
            }
            var fields: [Record.Field] = []
            for index in 0..<body.count {
                guard let field = entity.field(id: body.id(at: index)), let value = body.value(at: index)?.decoded()
                else { continue }
                fields.append(Record.Field(field.name, value))
            }
            return (key, fields)
        }
    }
}
