// References to the records that a step deletes, one after the other.

/// References to deleted records by relationships with the rule `nullify`, which the end of a step
/// removes.
///
/// A long list that loses many members in a step is then written once. Until then the references
/// lead to nothing.
package struct DeletedReferences: ~Copyable {
    /// The largest number of places that wait, in order not to fill the memory.
    static let mostPlaces = 10_000

    /// The deleted records.
    fileprivate(set) var gone = RecordSet()
    /// The fields with references to them, in the order in which they were found.
    fileprivate(set) var places: [StoreWriter.Referrer] = []
    private var known: Set<StoreWriter.Referrer> = []
    /// The records of the places.
    private var owners: Set<ListedRecord> = []

    package init() {}

    var isEmpty: Bool { places.isEmpty }

    /// Whether a record has references that are to be removed.
    package func has(_ record: ListedRecord) -> Bool { owners.contains(record) }

    fileprivate mutating func add(_ place: StoreWriter.Referrer, root: UInt16) {
        guard known.insert(place).inserted else { return }
        places.append(place)
        owners.insert(ListedRecord(entity: root, storageKey: place.key))
    }

    fileprivate mutating func addGone(_ member: RecordSet.Member, _ key: Bytes) {
        gone.add(member.root, key, entity: member.entity, origin: 0, version: member.version)
    }
}

extension StoreWriter {
    /// Deletes a record by storage key, unless more than `limit` records would be deleted with it.
    /// The references to it are left to the end of the step.
    ///
    /// - Returns: The number of deleted records. Nil if it would exceed the limit; nothing is
    ///   deleted then.
    package mutating func delete(
        _ entity: Catalog.Entity, _ listed: ListedRecord, upTo limit: Int, _ references: inout DeletedReferences
    ) throws -> Int? {
        let mark = access.rowMark
        defer { access.release(to: mark) }
        return try listed.storageKey.withUnsafeBytes { storageKey in
            guard let row = try access.records.row(entity, storageKey) else { return 0 }
            guard !access.state.deleteRules[row.entity].isEmpty else {
                try remove(storageKey, row)
                return 1
            }
            try applyIndexChanges()
            let cascade = try Cascade(access, entity, storageKey, row)
            if try exceeds(limit, cascade) { return nil }
            return try delete(cascade, &references)
        }
    }

    /// Calls the closure with the other records that a deletion deletes or changes, until it
    /// returns false.
    ///
    /// - Throws: `StoreWriteError.deleteDenied`, and the errors of the closure.
    package mutating func forEachAffected(
        byDeleting listed: ListedRecord, _ body: (ListedRecord) throws -> Bool
    ) throws {
        guard let entity = access.catalog.entity(id: listed.entity) else { return }
        try applyIndexChanges()
        try access.lending {
            try listed.storageKey.withUnsafeBytes { storageKey in
                guard let row = try access.records.row(entity, storageKey),
                    !access.state.deleteRules[row.entity].isEmpty
                else { return }
                let cascade = try Cascade(access, entity, storageKey, row)
                for position in 1..<max(1, cascade.end) {
                    let key = Array(cascade.records.key(at: position))
                    guard try body(ListedRecord(entity: cascade.records[position].root, storageKey: key)) else {
                        return
                    }
                }
                for place in try referrersToChange(cascade, 0..<cascade.end, except: []) {
                    guard let owner = access.catalog.entity(id: place.entity) else { continue }
                    guard try body(ListedRecord(entity: owner.root, storageKey: place.key)) else { return }
                }
            }
        }
    }

    /// Deletes the records of a cascade, and notes the references to them.
    ///
    /// Records with queued operations stay, and so do references that these change.
    mutating func delete(_ cascade: Cascade, _ references: inout DeletedReferences) throws -> Int {
        let range = 0..<cascade.end, others = try queued(cascade, range)
        for place in try referrersToChange(cascade, range, except: others) where try !isQueued(place) {
            guard let owner = access.catalog.entity(id: place.entity) else { continue }
            references.add(place, root: owner.root)
        }
        if !references.isEmpty {
            for position in range where !others.contains(position) {
                references.addGone(cascade.records[position], cascade.records.key(at: position))
            }
        }
        let count = try remove(cascade, range, except: others)
        if references.places.count >= DeletedReferences.mostPlaces { try letGo(&references) }
        return count
    }

    /// Removes the noted references: each list is written once.
    package mutating func letGo(_ references: inout DeletedReferences) throws {
        guard !references.isEmpty else { return }
        for place in references.places { try letGo(place) { references.gone.find($0, $1) != nil } }
        references = DeletedReferences()
    }
}
