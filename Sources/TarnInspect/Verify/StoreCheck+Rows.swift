// The check of rows: checksum, form, entity, key, every value, and the long lists they refer to.

import TarnStore

extension StoreCheck {
    func checkRows() throws {
        for root in catalog.entities where root.root == root.id {
            let table = TableName.records(root.id)
            guard file.snapshot.tables[table] != nil else {
                findings.add(.tableMissing, table, "missing table of the entity \(root.name)")
                incompleteRoots.insert(root.id)
                continue
            }
            let isWhole = try file.forEach(in: table) { key, value in
                if try !checkRow(root, key, value) { incompleteRoots.insert(root.id) }
            }
            if !isWhole { incompleteRoots.insert(root.id) }
        }
    }

    /// Checks a row.
    ///
    /// - Returns: Whether the row is readable.
    private func checkRow(_ root: Catalog.Entity, _ key: Bytes, _ value: Bytes) throws -> Bool {
        func place(_ entity: Catalog.Entity? = nil) -> String {
            "\((entity ?? root).name) \(RecordKey.describe(storageKey: key))"
        }
        guard EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key) else {
            let isShort = value.count < RowFormat.headerSize
            findings.add(isShort ? .rowForm : .rowChecksum, place(), isShort ? "not a row" : "the checksum is wrong")
            return false
        }
        return try file.decoder.lending {
            let row: EncodedRow
            do throws(RowDecoder.Failure) {
                row = try file.decoder.view(value)
            } catch .noDictionary(let id) {
                findings.add(.rowDictionary, place(), "its dictionary \(id) is missing or damaged")
                return false
            } catch {
                findings.add(.rowForm, place(), "not a row")
                return false
            }
            guard let known = checkedEntity(row.entity, root.id) else {
                findings.add(.rowEntity, place(), "the entity \(row.entity) has no rows in this table")
                return false
            }
            guard row.body.isWellFormed else {
                findings.add(.rowForm, place(known.entity), "its fields are inconsistent")
                return false
            }
            checkKey(known, key, row, place(known.entity))
            try checkValues(known, row, place(known.entity))
            highestVersion = max(highestVersion, row.version)
            if row.version > trimmedChanges { versions.add(root.id, key, row.version) }
            known.count += 1
            try file.forEachEntry(known.rules, key, row.body) { index, entry, _ in
                expected.add(entry, to: index)
            }
            return true
        }
    }

    /// Returns an entity of a table; nil if the table cannot contain such rows.
    private func checkedEntity(_ id: UInt16, _ root: UInt16) -> CheckedEntity? {
        if let lastEntity, lastEntity.entity.id == id, lastEntity.entity.root == root { return lastEntity }
        guard let entity = catalog.entity(id: id), entity.root == root, let rules = file.rules[id] else { return nil }
        let known = checkedEntities[id] ?? CheckedEntity(entity, rules)
        checkedEntities[id] = known
        lastEntity = known
        return known
    }

    /// Checks that the storage key matches the key fields of the row.
    private func checkKey(_ known: CheckedEntity, _ key: Bytes, _ row: EncodedRow, _ place: @autoclosure () -> String) {
        if let field = known.integerKey, row.body.hasIntegerKey(field, key) { return }
        let entity = known.entity
        guard StorageKey.length(in: key, components: entity.keyTypes.count) == key.count else {
            return findings.add(.rowKey, place(), "its storage key does not have the form of the entity's keys")
        }
        // A row that references an owner with a long key does not contain the whole key.
        guard let said = row.body.key(of: entity) else {
            if !entity.hasOwner { findings.add(.rowKey, place(), "a key field is missing") }
            return
        }
        guard said.storageKey.withUnsafeBytes({ Bytes.equal($0, key) }) else {
            return findings.add(.rowKey, place(), "its fields give the key \(said)")
        }
    }

    private func checkValues(_ known: CheckedEntity, _ row: EncodedRow, _ place: @autoclosure () -> String) throws {
        var next = 0
        for position in 0..<row.body.count {
            guard let value = row.body.value(at: position) else { continue }
            // Fields that the catalog does not know are kept as they are.
            guard let index = known.index(of: row.body.id(at: position), guess: next) else { continue }
            next = index + 1
            if known.fits(value, at: index) { continue }
            let field = known.fields[index]
            if let list = EdgeList(value) {
                try checkList(list, value, field, place())
                continue
            }
            do throws(StoreError) {
                try catalog.check(value, fits: field, of: known.entity, isStored: true)
            } catch {
                if case .wrongType(_, _, let expected, let found) = error {
                    findings.add(.rowValue, "\(place()).\(field.name)", "expected \(expected), found \(found)")
                }
            }
        }
    }

    private func checkList(
        _ list: EdgeList, _ value: EncodedValue, _ field: Catalog.Field, _ place: @autoclosure () -> String
    ) throws {
        highestList = max(highestList, list.id)
        if lists.updateValue(list.count, forKey: list.id) != nil {
            findings.add(.list, "\(place()).\(field.name)", "the list \(list.id) belongs to another record as well")
        }
        if try !file.isWhole(list, value) {
            findings.add(
                .list, "\(place()).\(field.name)",
                "its \(list.count) references are incomplete, or do not match the digest in the row")
        }
    }

    /// Checks that every entry of the table of long lists belongs to a list.
    func checkLists() {
        let isWhole = incompleteRoots.isEmpty
        file.forEach(in: TableName.edges) { key, _ in
            guard key.count == 12 else {
                return findings.add(.listExtra, TableName.edges, "an entry that belongs to no list")
            }
            let id = key.loadBigEndian(0, UInt64.self)
            let position = key.loadBigEndian(8, UInt32.self)
            guard isWhole, position >= lists[id] ?? 0 else { return }
            findings.add(
                .listExtra, "list \(id)",
                lists[id] == nil ? "belongs to no record" : "position \(position) is beyond its end")
        }
        if !isWhole, !lists.isEmpty { notCompared.append("the owners of long lists: some rows are unreadable") }
    }
}
