// Unique indexes: finding records with duplicate values, at the end of a write.

internal import LMDB

/// The search for records with duplicate values.
package enum UniqueIndex {
    /// Returns the storage keys of the records with given values in an index.
    /// The keys are grouped by equal values: if values are too long for the index, only the rows
    /// decide which of them are equal.
    static func holders(
        of values: Bytes, _ index: CompiledIndex, _ entity: Catalog.Entity, _ access: StoreAccess, _ table: Table
    ) throws -> [[[UInt8]]] {
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        // Many long values may be cut to the same ones.
        var groups: [[[UInt8]]] = [], places: [[UInt8]: Int] = [:]
        var entry = try cursor.seek(values)
        while let found = entry?.key, found.hasPrefix(values) {
            if IndexEntry.begins(found, with: values) {
                let owner = Array(found.slice(values.count..<found.count))
                let whole = IndexEntry.isCut(values) ? try wholeValues(index, entity, owner, access) : []
                if let place = places[whole] {
                    groups[place].append(owner)
                } else {
                    places[whole] = groups.count
                    groups.append([owner])
                }
            }
            entry = try cursor.next()
        }
        return groups
    }

    /// Returns the values of a record in an index, not cut.
    private static func wholeValues(
        _ index: CompiledIndex, _ entity: Catalog.Entity, _ owner: [UInt8], _ access: StoreAccess
    ) throws -> [UInt8] {
        try access.lending {
            try owner.withUnsafeBytes { key in
                guard let bytes = try access.raw.get(access.state.records(of: entity.root), key) else { return [] }
                let row = try access.records.view(bytes, entity, key)
                return wholeValues(of: row.body, index)
            }
        }
    }

    /// Returns the values of a row in an index, not cut.
    package static func wholeValues(of body: RowBody, _ index: CompiledIndex) -> [UInt8] {
        var writer = ByteWriter()
        switch index.source {
        case .field(let field): IndexEntry.appendWholeValue(body.value(of: field.id), to: &writer)
        case .declared(let components, _):
            for component in components {
                IndexEntry.append(body.value(of: component.field), component, to: &writer, limit: .max / 8)
            }
        }
        return Array(writer.bytes)
    }

    /// Checks some entries of an index that becomes unique, from a known entry on.
    ///
    /// - Returns: The number of checked entries; the last of them, or nil if the end is reached;
    ///   and `.notUnique` for the first duplicate values.
    static func check(
        _ access: StoreAccess, _ catalog: Catalog, _ place: Catalog.NewIndex, _ table: Table, from start: [UInt8],
        count most: Int
    ) throws -> (count: Int, last: [UInt8]?, violation: StoreWriteError?) {
        guard let entity = catalog.entity(id: place.entity) else { return (0, nil, nil) }
        let rules = EntityRules(entity, catalog)
        guard let index = rules.indexes.first(where: { $0.id == place.index }) else { return (0, nil, nil) }
        let components = if case .declared(let components, _) = index.source { components.count } else { 1 }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        func values(of key: Bytes) -> [UInt8]? {
            let (length, hasNull) = IndexEntry.values(of: key, components: components)
            return hasNull || length > key.count ? nil : Array(key.slice(0..<length))
        }
        // The start entry is read again, because the next one may have the same values. Values that
        // it shares with the one before were examined by the last step: many long ones may be cut
        // to the same, and all of their records are read.
        var previous: [UInt8] = [], examined: [UInt8]?, last: [UInt8] = [], seen = 0
        var entry = try cursor.seek(start)
        if !start.isEmpty, entry != nil {
            examined = try cursor.previous().flatMap { values(of: $0.key) }
            entry = try cursor.seek(start)
        }
        while let found = entry?.key {
            // At least two entries a step. Otherwise every step would read the same entry.
            if seen > max(1, most) { return (seen - 1, last, nil) }
            seen += 1
            last = Array(found)
            if let values = values(of: found) {
                if values == previous, values != examined {
                    examined = values
                    let groups = try values.withUnsafeBytes { try holders(of: $0, index, entity, access, table) }
                    if let group = groups.first(where: { $0.count > 1 }) {
                        return (seen, last, notUnique(index, entity, group))
                    }
                }
                previous = values
            }
            entry = try cursor.next()
        }
        return (seen, nil, nil)
    }

    static func notUnique(_ index: CompiledIndex, _ entity: Catalog.Entity, _ owners: [[UInt8]]) -> StoreWriteError {
        .notUnique(
            entity: entity.name, index: index.name,
            keys: owners.prefix(4).map { RecordKey.describe(storageKey: $0) })
    }
}

extension StoreWriter {
    /// Finds the duplicate values that exist now. They are errors if the write ends here.
    private func violations() throws -> [(index: CompiledIndex, entity: Catalog.Entity, owners: [[UInt8]])] {
        var result: [(CompiledIndex, Catalog.Entity, [[UInt8]])] = []
        // In an order that is the same in every process: it decides what is reported.
        let doubles = doubles.sorted { a, b in
            a.index != b.index ? a.index < b.index : a.values.lexicographicallyPrecedes(b.values)
        }
        for double in doubles {
            guard let (rules, index) = access.state.rules(forIndex: double.index) else { continue }
            let table = try access.state.index(double.index)
            let groups = try double.values.withUnsafeBytes {
                try UniqueIndex.holders(of: $0, index, rules.entity, access, table)
            }
            for owners in groups where owners.count > 1 { result.append((index, rules.entity, owners)) }
        }
        return result
    }

    /// Applies the index changes and checks the unique indexes.
    ///
    /// - Throws: `.notUnique` if there are duplicate values.
    package mutating func checkUnique() throws {
        try applyIndexChanges()
        guard !doubles.isEmpty, let first = try violations().first else { return }
        throw UniqueIndex.notUnique(first.index, first.entity, first.owners)
    }

    /// Undoes records of this transaction that have duplicate values, until no duplicates are left.
    /// Among several new records the first one stays. Requires that `remembersRecords` was set
    /// before the first of them was written.
    ///
    /// - Returns: The undone records. The store contains no trace of them.
    package mutating func dropDuplicates() throws -> [DroppedRecord] {
        try applyIndexChanges()
        var dropped: [DroppedRecord] = []
        while !doubles.isEmpty {
            let before = dropped.count
            try dropDuplicates(violations().map(OwnerGroup.init), &dropped)
            guard dropped.count > before else { break }
            try applyIndexChanges()
        }
        return dropped
    }

    /// Records with equal values in a unique index.
    private struct OwnerGroup {
        let index: CompiledIndex
        let places: [RememberedKey]

        init(_ violation: (index: CompiledIndex, entity: Catalog.Entity, owners: [[UInt8]])) {
            index = violation.index
            places = violation.owners.map { RememberedKey(root: violation.entity.root, key: $0) }
        }
    }

    /// Undoes the records of groups with equal values that were written after the first of a group.
    ///
    /// All groups are looked at in the order in which the records were written. A record that was
    /// undone for the values of one index does not hold its values in another one.
    private mutating func dropDuplicates(_ groups: [OwnerGroup], _ dropped: inout [DroppedRecord]) throws {
        var holders: [RememberedKey?] = [], keepers: Set<Int> = []
        var written: [(order: Int, group: Int, place: RememberedKey)] = []
        for (number, group) in groups.enumerated() {
            var holder = group.places.first { remembered[$0] == nil }
            for place in group.places {
                guard let order = remembered[place]?.order else { continue }
                // Values that a record has had all along are its own in any case.
                if try holder == nil && hadValues(place, group.index) {
                    holder = place
                } else {
                    written.append((order, number, place))
                }
            }
            if holder != nil { keepers.insert(number) }
            holders.append(holder)
        }
        written.sort { ($0.order, $0.group) < ($1.order, $1.group) }
        var undone: Set<RememberedKey> = []
        for (_, group, place) in written where !undone.contains(place) {
            // A record that had the values before has them also after it was undone.
            guard let holder = holders[group], keepers.contains(group) || !undone.contains(holder) else {
                holders[group] = place
                continue
            }
            guard let outcome = try restore(place) else { continue }
            undone.insert(place)
            dropped.append(
                DroppedRecord(
                    entity: place.root, storageKey: place.key, index: groups[group].index.name, holder: holder.key,
                    outcome: outcome))
        }
    }

    /// Whether a record had its values in an index before this transaction.
    private func hadValues(_ place: RememberedKey, _ index: CompiledIndex) throws -> Bool {
        let access = access
        guard let old = remembered[place]?.old, let root = catalog.entity(id: place.root),
            try access.state.rules(of: old.entity).indexes.contains(where: { $0.id == index.id })
        else { return false }
        return try access.lending {
            try place.key.withUnsafeBytes { key in
                guard let now = try access.records.row(root, key) else { return false }
                return old.body.withUnsafeBytes { bytes in
                    var scratch = ByteWriter()
                    guard let before = RowBody(bytes, isWide: old.isWide), index.admits(before, &scratch) else {
                        return false
                    }
                    return UniqueIndex.wholeValues(of: before, index) == UniqueIndex.wholeValues(of: now.body, index)
                }
            }
        }
    }
}
