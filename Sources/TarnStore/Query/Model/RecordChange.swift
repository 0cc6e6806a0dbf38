// The per-record change of an update query: field values, validated and encoded once.

/// One change for many records of an entity.
final class RecordChange: @unchecked Sendable {
    // `@unchecked Sendable`: one thread creates it, then it is only read. Field ids are never
    // reused, so it may outlive its catalog.
    private let body: [UInt8]
    private let isWide: Bool
    /// The values if some are references: see ``renewed(_:_:)``.
    private let values: [String: Value]?

    /// Encodes values by field name. Values of other types are converted as in a condition, and a
    /// temporary key that was replaced leads to the record as it does there.
    ///
    /// - Throws: `.unknownField`; `.wrongType`; `.wrongKey` if a field is part of the key.
    init(_ values: [String: Value], _ entity: Catalog.Entity, _ access: StoreAccess) throws {
        var byID: [UInt16: Value] = [:], hasReferences = false
        for (name, value) in values {
            guard let field = entity.field(name) else {
                throw StoreError.unknownField(entity: entity.name, name: name, known: entity.fields.map(\.name))
            }
            try RecordChange.check(field, entity)
            let fitting = try access.fitting(value, field, entity)
            byID[field.id] = fitting
            guard case .reference = field.kind else { continue }
            hasReferences = true
            if try access.outbox.counters.aliases > 0 { byID[field.id] = try access.resolving(fitting, field) }
        }
        self.values = hasReferences ? values : nil
        var builder = BodyBuilder(), body = ByteWriter()
        for (id, value) in byID.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.appendValue(value) } }
        isWide = builder.isWide
        builder.finish(into: &body)
        self.body = Array(body.bytes)
    }

    /// Encodes the fields that a closure sets, as ``StoreWriter/patch(_:_:ifVersion:_:)`` does.
    init<Record: StoredRecord>(
        _ access: StoreAccess, _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws {
        let entity = try access.state.entity(Record.entity)
        var encoder = try RowEncoder<Record>(access, RowBuffers())
        try change(&encoder)
        (body, isWide) = try encoder.finishChange { row in
            for index in 0..<row.count {
                if let field = entity.field(id: row.id(at: index)) { try RecordChange.check(field, entity) }
            }
            return Array(row.bytes)
        }
        values = nil
    }

    /// Returns the change with the keys that its references have in a later transaction.
    func renewed(_ entity: Catalog.Entity, _ access: StoreAccess) throws -> RecordChange {
        guard let values else { return self }
        return try RecordChange(values, entity, access)
    }

    private static func check(_ field: Catalog.Field, _ entity: Catalog.Entity) throws(StoreError) {
        guard entity.key.contains(field.id) else { return }
        throw .wrongKey(
            entity: entity.name, expected: "no change of a key field",
            found: "a new value of \(field.name)")
    }

    /// Calls a closure with the ids of the fields set.
    func withFields<Result>(_ body: ([UInt16]) throws -> Result) rethrows -> Result? {
        try withBody { row in try body((0..<row.count).map { row.id(at: $0) }) }
    }

    /// Calls a closure with the change as a row body that has only these fields, borrowed.
    func withBody<Result>(_ body: (RowBody) throws -> Result) rethrows -> Result? {
        try self.body.withUnsafeBytes { bytes in try RowBody(bytes, isWide: isWide).map(body) }
    }
}

extension StoreAccess {
    /// Checks the values that a query's records are to get, as their update does.
    ///
    /// - Throws: `.unknownEntity`, `.unknownField`, `.wrongType`, `.wrongKey`.
    package func checkChange(_ values: [String: Value], of entity: String) throws {
        _ = try RecordChange(values, state.entity(entity), self)
    }

    /// Returns a value in the type of a field.
    ///
    /// - Throws: `.wrongType`.
    package func fitting(_ value: Value, _ field: Catalog.Field, _ entity: Catalog.Entity) throws(StoreError)
        -> Value
    {
        var result: Value? = value
        switch field.kind {
        case _ where value == .null: return .null
        case .attribute(.array(let element)):
            if case .array(let values) = value {
                let converted = values.compactMap { element.converting($0) }
                result = converted.count == values.count ? .array(converted) : nil
            }
        case .attribute(let type): result = type.converting(value)
        case .reference(let reference):
            guard let destination = catalog.entity(id: reference.destination) else { break }
            switch value {
            case .references: break
            case .array(let values) where reference.isToMany:
                let keys = values.compactMap { RecordKey($0, of: destination) }
                result = keys.count == values.count ? .references(keys) : nil
            default: result = reference.isToMany ? nil : RecordKey(value, of: destination).map(Value.reference)
            }
        }
        // If the value cannot be converted, the check below fails and reports it.
        let fitting = result ?? value
        var problem: StoreError?
        fitting.withEncoded { encoded in
            do throws(StoreError) { try catalog.check(encoded, fits: field, of: entity) } catch { problem = error }
        }
        if let problem { throw problem }
        return fitting
    }
}
