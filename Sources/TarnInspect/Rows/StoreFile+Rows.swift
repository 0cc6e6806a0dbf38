// The stored rows of an entity, as far as they are readable.

import TarnStore

extension StoreFile {
    /// Returns the entity with a name, or without a name every root entity.
    ///
    /// - Throws: `StoreError.unknownEntity`.
    func entities(named name: String?) throws -> [Catalog.Entity] {
        guard let name else { return catalog.entities.filter { $0.root == $0.id } }
        guard let entity = catalog.entity(name) else {
            throw StoreError.unknownEntity(name: name, known: catalog.entities.map(\.name))
        }
        return [entity]
    }

    /// Visits the rows of an entity and of those below it, in key order. Only rows whose checksum
    /// is right are visited; the others are reported.
    func forEachRow(
        of entity: Catalog.Entity, damaged: (StoreInspector.Damage) -> Void,
        _ body: (_ key: Bytes, _ row: Bytes) throws -> Void
    ) rethrows {
        let table = TableName.records(entity.root)
        guard hasTable(of: entity, damaged: damaged) else { return }
        try forEach(in: table) { key, row in
            guard isWanted(row, of: entity) else { return }
            if let problem = checkRow(row, key, entity) { return damaged(problem) }
            try body(key, row)
        }
    }

    /// Returns whether the entity has a table; reports a damage if not.
    func hasTable(of entity: Catalog.Entity, damaged: (StoreInspector.Damage) -> Void) -> Bool {
        let table = TableName.records(entity.root)
        if snapshot.tables[table] != nil { return true }
        // A table whose name is damaged would otherwise pass for an entity without records.
        damaged(
            StoreInspector.Damage(place: table, reason: "the table of \(entity.name) is missing", isOfPages: true))
        return false
    }

    /// Returns whether a row is of an entity or of one below it; an inheritance tree has one table.
    func isWanted(_ row: Bytes, of entity: Catalog.Entity) -> Bool {
        entity.root == entity.id || row.count < RowFormat.headerSize || catalog.isKind(row.load(6), of: entity.id)
    }

    /// Returns the damage that the stored bytes of a row show; nil if there is none.
    func checkRow(_ row: Bytes, _ key: Bytes, _ entity: Catalog.Entity) -> StoreInspector.Damage? {
        guard !EncodedRow.hasValidChecksum(row, table: UInt32(entity.root), key: key) else { return nil }
        return damage(key, entity, row.count < RowFormat.headerSize ? "not a row" : "the checksum is wrong")
    }

    /// Calls the closure with a decoded row. A row that cannot be decoded is reported.
    func withDecoded(
        _ row: Bytes, _ key: Bytes, _ entity: Catalog.Entity, damaged: (StoreInspector.Damage) -> Void,
        _ body: (EncodedRow) throws -> Void
    ) rethrows {
        try decoder.lending {
            let decoded: EncodedRow
            do throws(RowDecoder.Failure) {
                decoded = try decoder.view(row)
            } catch .noDictionary(let id) {
                return damaged(damage(key, entity, "its dictionary \(id) is missing or damaged"))
            } catch {
                return damaged(damage(key, entity, "not a row"))
            }
            if let id = dictionaryOfInvalidJSON(decoded, stored: row) {
                return damaged(damage(key, entity, StoreFile.invalidJSON(id)))
            }
            try body(decoded)
        }
    }

    /// Returns the dictionary of a row whose JSON is invalid; nil if the row is sound.
    ///
    /// The checksum of a row covers its compressed bytes. Formats 1 and 2 have no checksum of the
    /// dictionary: with a damaged one, a row decompresses to other bytes.
    ///
    /// - Parameter row: The stored bytes of the row.
    func dictionaryOfInvalidJSON(_ decoded: EncodedRow, stored row: Bytes) -> UInt16? {
        guard format < ChecksummedTable.firstFormat, let dictionary = EncodedRow.dictionary(of: row) else { return nil }
        for index in 0..<decoded.body.count {
            guard let value = decoded.body.value(at: index) else { return dictionary }
            // The tag precedes the text.
            let text = value.bytes.slice(1..<value.bytes.count)
            if value.tag == ValueTag.json, !JSONForm.isValid(text) { return dictionary }
        }
        return nil
    }

    static func invalidJSON(_ dictionary: UInt16) -> String {
        "its JSON is invalid: its dictionary \(dictionary) is damaged"
    }

    func damage(_ key: Bytes, _ entity: Catalog.Entity, _ reason: String) -> StoreInspector.Damage {
        StoreInspector.Damage(place: "\(entity.name) \(describe(key))", reason: reason)
    }

    /// Reports what the question has met besides damaged rows: faults of the file and its pages,
    /// and damaged entries of other tables.
    func reportFindings(to damaged: (StoreInspector.Damage) -> Void) {
        for finding in findings.list where finding.code.concernsAnswers {
            damaged(
                StoreInspector.Damage(
                    place: finding.place, reason: finding.detail, isOfPages: finding.code.isOfPages))
        }
        for code in findings.counts.keys.sorted() where code.concernsAnswers {
            let more = findings.countBeyondList(code)
            guard more > 0 else { continue }
            damaged(
                StoreInspector.Damage(
                    place: code.rawValue, reason: "and \(more) more", isOfPages: code.isOfPages, count: more))
        }
    }
}
