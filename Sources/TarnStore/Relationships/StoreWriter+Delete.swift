// Deleting a record by the delete rules of its relationships, at once or in steps.

extension StoreWriter {
    /// Deletes a record by its delete rules, without a check of its version.
    ///
    /// Records of the cascade with operations in the outbox stay.
    ///
    /// - Returns: Whether the record existed.
    @discardableResult
    package mutating func delete(_ entity: String, _ key: RecordKey) throws -> Bool {
        try deleteCascading(entity, key) > 0
    }

    /// Deletes a record by its delete rules, and counts.
    ///
    /// - Returns: The number of deleted records.
    mutating func deleteCascading(_ entity: String, _ key: RecordKey) throws -> Int {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        let mark = access.rowMark
        defer { access.release(to: mark) }
        return try key.withStorageKey { storageKey in
            guard let row = try access.rowOfKey(entity, storageKey, key) else { return 0 }
            guard !access.state.deleteRules[row.entity].isEmpty else {
                try remove(storageKey, row)
                return 1
            }
            // Cascades follow relationships through the indexes.
            try applyIndexChanges()
            let cascade = try Cascade(access, entity, storageKey, row)
            return try delete(cascade, 0..<cascade.end, except: [], sparesQueued: true)
        }
    }

    /// The records of a cascade that stay, because operations are queued for them: the server
    /// decides what becomes of these, and of the local changes.
    func queued(_ cascade: Cascade, _ range: Range<Int>) throws -> Set<Int> {
        guard try access.localChanges.hasMarks else { return [] }
        return try Set(
            range.filter {
                try $0 > 0
                    && access.outbox.hasOperations(cascade.records[$0].root, cascade.records.key(at: $0), own: true)
            })
    }

    /// Whether more records of a cascade would be deleted than a step deletes.
    ///
    /// Records that stay for their queued operations do not count: steps do not make them fewer.
    func exceeds(_ limit: Int, _ cascade: Cascade) throws -> Bool {
        try cascade.records.count > limit
            && cascade.records.count - queued(cascade, 0..<cascade.end).count > limit
    }

    /// Deletes the last records of a cascade that was found in an earlier transaction.
    /// Records that no longer exist, or no longer belong to the cascade, are skipped.
    ///
    /// - Returns: The number of deleted records.
    mutating func deleteStep(_ cascade: Cascade, count: Int) throws -> Int {
        let range = max(1, cascade.end - count)..<cascade.end
        var others: Set<Int> = []
        for position in range {
            let isLed = try access.lending {
                guard let row = try access.row(cascade, position) else { return false }
                return try cascade.isStillLed(access, position, row)
            }
            if isLed { try cascade.checkDenied(access, position) } else { others.insert(position) }
        }
        return try delete(cascade, range, except: others, sparesQueued: true)
    }

    /// Deletes records of a cascade, starting with the last.
    /// References to them by relationships with the rule `nullify` are removed first.
    ///
    /// - Parameter sparesQueued: whether records with queued operations stay, and references that
    ///   these change.
    mutating func delete(
        _ cascade: Cascade, _ range: Range<Int>, except others: Set<Int>, sparesQueued: Bool = false
    ) throws -> Int {
        let others = try sparesQueued ? others.union(queued(cascade, range)) : others
        func goes(_ root: UInt16, _ key: Bytes) -> Bool {
            cascade.records.find(root, key).map { range.contains($0) && !others.contains($0) } ?? false
        }
        for place in try referrersToChange(cascade, range, except: others)
        where try !sparesQueued || !isQueued(place) {
            try letGo(place, of: goes)
        }
        return try remove(cascade, range, except: others)
    }

    /// Removes the rows of records of a cascade, starting with the last.
    mutating func remove(_ cascade: Cascade, _ range: Range<Int>, except others: Set<Int>) throws -> Int {
        var count = 0
        for position in range.reversed() where !others.contains(position) {
            let mark = access.rowMark
            defer { access.release(to: mark) }
            guard let row = try access.row(cascade, position) else { continue }
            try remove(cascade.records.key(at: position), row)
            count += 1
        }
        return count
    }

    /// A stored relationship of a remaining record, to be changed by `nullify`.
    struct Referrer: Hashable {
        var entity: UInt16
        var field: UInt16
        var key: [UInt8]
    }

    /// Whether a queued operation of its record changes a stored relationship.
    func isQueued(_ place: Referrer) throws -> Bool {
        guard try access.localChanges.hasMarks, let owner = access.catalog.entity(id: place.entity) else {
            return false
        }
        return try place.key.withUnsafeBytes { key in
            guard let mark = try access.localChanges.mark(owner.root, key), mark.covers(place.field) else {
                return false
            }
            return try access.outbox.hasOperations(owner.root, key, own: true)
        }
    }

    func referrersToChange(
        _ cascade: Cascade, _ range: Range<Int>, except others: Set<Int>
    ) throws -> [Referrer] {
        var result: [Referrer] = [], known: Set<Referrer> = []
        for position in range where !others.contains(position) {
            for relationship in access.state.deleteRules[cascade.records[position].entity]
            where relationship.deleteRule == .nullify && !relationship.isStored {
                guard let owner = access.catalog.entity(id: relationship.owner) else { continue }
                try access.targets(of: cascade.records.key(at: position), relationship) { referrer in
                    guard cascade.records.find(owner.root, referrer) == nil else { return true }
                    let place = Referrer(entity: owner.id, field: relationship.field, key: Array(referrer))
                    if known.insert(place).inserted { result.append(place) }
                    return true
                }
            }
        }
        return result
    }

    /// Removes the references to deleted records from a field.
    /// A to-one reference becomes null, a list loses elements.
    ///
    /// The responses that list the record are requested without a condition the next time: they
    /// have told the reference, and the target may exist again by then.
    mutating func letGo(_ place: Referrer, of goes: (UInt16, Bytes) -> Bool) throws {
        let mark = access.rowMark
        defer { access.release(to: mark) }
        guard let owner = access.catalog.entity(id: place.entity), let field = owner.field(id: place.field),
            case .reference(let reference) = field.kind,
            let root = access.catalog.entity(id: reference.destination)?.root
        else { return }
        try place.key.withUnsafeBytes { key in
            guard let row = try access.records.row(owner, key), let value = row.body.value(of: field.id) else { return }
            var changed = ByteWriter()
            if let target = value.reference {
                guard goes(root, target) else { return }
                changed.appendValueNull()
            } else {
                changed.append(ValueTag.references)
                try access.forEachReference(value) { target in
                    if !goes(root, target) { changed.appendReferenceElement(target) }
                    return true
                }
            }
            var builder = BodyBuilder(), bytes = ByteWriter(capacity: changed.count + 16)
            builder.field(field.id, EncodedValue(changed.bytes))
            let isWide = builder.isWide
            builder.finish(into: &bytes)
            guard let body = RowBody(bytes.bytes, isWide: isWide) else { return }
            _ = try merge(access.catalog.entity(id: row.entity) ?? owner, key, body, isComplete: false)
        }
        try responses.removeValidators(ofResponsesListing: ListedRecord(entity: owner.root, storageKey: place.key))
    }
}

extension StoreAccess {
    /// Returns the row of a record.
    /// Nil if the row belongs to another long key with the same digest.
    func rowOfKey(_ entity: Catalog.Entity, _ storageKey: Bytes, _ key: RecordKey) throws -> EncodedRow? {
        guard let row = try records.row(entity, storageKey) else { return nil }
        if StorageKey.isDigest(storageKey), self.key(entity, storageKey, row) != key { return nil }
        return row
    }

    fileprivate func row(_ cascade: Cascade, _ position: Int) throws -> EncodedRow? {
        guard let root = catalog.entity(id: cascade.records[position].root) else { return nil }
        return try records.row(root, cascade.records.key(at: position))
    }
}
