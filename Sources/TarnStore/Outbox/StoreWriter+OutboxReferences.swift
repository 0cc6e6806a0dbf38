// References that callers write with keys that were replaced.

extension StoreWriter {
    /// Merges a body that a caller has passed into a record: references to temporary keys that were
    /// replaced get the present ones.
    mutating func mergeResolving(
        _ rules: EntityRules, _ key: Bytes, _ body: RowBody, isComplete: Bool
    ) throws -> Outcome {
        guard try operations.hasAliases() else { return try merge(rules, key, body, isComplete: isComplete) }
        let replaced = try access.presentReferences(in: body, of: rules.entity)
        guard !replaced.isEmpty else { return try merge(rules, key, body, isComplete: isComplete) }
        var builder = BodyBuilder(), bytes = ByteWriter()
        for index in 0..<body.count {
            let id = body.id(at: index)
            if let value = replaced[id] {
                builder.field(id) { $0.append(value) }
            } else if let value = body.value(at: index) {
                builder.field(id, value)
            }
        }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let present = RowBody(bytes.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: rules.entity.name, key: access.describe(key))
        }
        return try merge(rules, key, present, isComplete: isComplete)
    }

    /// Stores fields of a record as `put` does, with present references: see
    /// ``mergeResolving(_:_:_:isComplete:)``.
    mutating func putResolving(_ entity: String, _ key: RecordKey, _ values: [Record.Field]) throws {
        let access = access
        try StoreWriter.withBody(entity, key, values, access) { entity, storageKey, body in
            _ = try mergeResolving(access.state.rules(of: entity.id), storageKey, body, isComplete: true)
        }
    }
}

extension StoreAccess {
    /// The encoded values of references in a body whose targets' keys were replaced, with the
    /// present keys. Parts of the key are left out: they follow from it.
    fileprivate func presentReferences(in body: RowBody, of entity: Catalog.Entity) throws -> [UInt16: [UInt8]] {
        var result: [UInt16: [UInt8]] = [:]
        for index in 0..<body.count {
            let id = body.id(at: index)
            guard case .reference(let reference)? = entity.field(id: id)?.kind, !entity.key.contains(id),
                let root = catalog.entity(id: reference.destination)?.root, let value = body.value(at: index)
            else { continue }
            let given = Array(value.bytes)
            var present = given
            for target in given.referenceTarget.map({ [$0] }) ?? given.referenceList {
                guard let key = try target.withUnsafeBytes({ try outbox.replacement(root, $0) }) else { continue }
                present = present.replacing(target, by: key) ?? present
            }
            if present != given { result[id] = present }
        }
        return result
    }
}
