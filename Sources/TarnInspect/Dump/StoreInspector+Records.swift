// The records of a store as one JSON object a line; only the store itself is needed.

import TarnStore

extension StoreInspector {
    /// Calls `line` with every record, entity by entity, in key order, as of one snapshot.
    ///
    ///     {"entity":"Issue","key":7,"version":3,"fields":{"id":7,"title":"…"}}
    ///
    /// A partial record has `"partial":true` after its version. Versions count commits: without
    /// them, two stores with equal records have equal lines, independent of their history.
    ///
    /// Unreadable rows, rows with a wrong checksum and unreadable pages are reported to `damaged`,
    /// and the dump continues.
    ///
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The error of `line`; `StoreError.unknownEntity`; `StoreOpenError`: `.noSuchStore`,
    ///   `.notAStore`, `.newerFormat`, `.store` with `.damagedCatalog`, and with `.lmdb` without
    ///   permission; at the end `StoreMaintenanceError.changedMeanwhile` if no transaction held the
    ///   file and the output may mix several commits.
    @discardableResult
    public func dumpRecords(
        of name: String? = nil, withVersions: Bool = true, line: (String) throws -> Void, damaged: (Damage) -> Void
    ) throws -> String? {
        try writeRecords(
            of: name, withVersions: withVersions, line: { try line(String(decoding: $0, as: UTF8.self)) },
            damaged: damaged)
    }

    /// Calls `line` with the bytes of every line of ``dumpRecords(of:withVersions:line:damaged:)``,
    /// which are valid until it returns.
    @discardableResult
    package func writeRecords(
        of name: String? = nil, withVersions: Bool = true, line: (Bytes) throws -> Void, damaged: (Damage) -> Void
    ) throws -> String? {
        try open { file in
            try checkIsReadable(file)
            let all = file.catalog.entities
            if let name, file.catalog.entity(name) == nil {
                throw StoreError.unknownEntity(name: name, known: all.map(\.name))
            }
            for entity in name.map({ name in all.filter { $0.name == name } }) ?? all.filter({ $0.root == $0.id }) {
                let lines = RecordLines(file, entity, withVersions: withVersions)
                try file.forEachRow(of: entity, damaged: damaged) { key, row in
                    try file.withDecoded(row, key, entity, damaged: damaged) { decoded in
                        if try lines.write(key, decoded, line) { return }
                        damaged(file.damage(key, entity, "undecodable value"))
                    }
                }
            }
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    /// Checks that the file is a store with a readable catalog.
    func checkIsReadable(_ file: StoreFile) throws(StoreOpenError) {
        guard let problem = file.formatProblem else { return }
        switch problem.code {
        case .newerFormat: throw file.newerFormat(path)
        case .catalog: throw .store(.damagedCatalog(path: path, detail: problem.detail))
        default:
            guard file.snapshot.names.isEmpty, let finding = file.findings.list.first else {
                throw .notAStore(path: path, detail: problem.detail)
            }
            throw .notAStore(
                path: path,
                detail:
                    "its tables cannot be found (\(finding.place): \(finding.detail)); `tarn inspect salvage` copies "
                    + "what is readable"
            )
        }
    }

    /// Calls the closure with every readable record of an entity, in key order.
    static func forEachRecord(
        of entity: Catalog.Entity, _ file: StoreFile, damaged: (Damage) -> Void, _ body: (Record) throws -> Void
    ) throws {
        // A table whose name is damaged would otherwise pass for an entity without records.
        let table = TableName.records(entity.root)
        guard file.snapshot.tables[table] != nil else {
            return damaged(Damage(place: table, reason: "the table of \(entity.name) is missing", isOfPages: true))
        }
        try file.forEach(in: table) { try read($0, $1, of: entity, file, damaged: damaged, body) }
    }

    /// Calls the closure with the record of an entry, if it is one of the entity and readable.
    ///
    /// - Parameter filter: A condition that the record has to meet.
    static func read(
        _ key: Bytes, _ value: Bytes, of entity: Catalog.Entity, _ file: StoreFile, where filter: RecordFilter? = nil,
        damaged: (Damage) -> Void, _ body: (Record) throws -> Void
    ) rethrows {
        func report(_ reason: String) {
            damaged(Damage(place: "\(entity.name) \(file.describe(key))", reason: reason))
        }
        // The table of a root entity contains the records of all its descendants.
        if entity.root != entity.id, value.count >= RowFormat.headerSize,
            !file.catalog.isKind(value.load(6), of: entity.id)
        {
            return
        }
        guard EncodedRow.hasValidChecksum(value, table: UInt32(entity.root), key: key) else {
            return report(value.count < RowFormat.headerSize ? "not a row" : "the checksum is wrong")
        }
        try file.lending {
            let row: EncodedRow
            do throws(RowDecoder.Failure) {
                row = try file.decoder.view(value)
            } catch .noDictionary(let id) {
                return report("its dictionary \(id) is missing or damaged")
            } catch {
                return report("not a row")
            }
            if let id = file.dictionaryOfInvalidJSON(row, stored: value) { return report(StoreFile.invalidJSON(id)) }
            if let filter {
                do {
                    guard try filter.admits(key, row) else { return }
                } catch {
                    return report("the condition cannot be evaluated: \((error as? StoreError)?.description ?? "")")
                }
            }
            guard let record = try? file.record(entity, key, row) else {
                return report("undecodable value")
            }
            try body(record)
        }
    }

    /// Returns the line of a record.
    static func json(_ record: Record, _ withVersions: Bool) -> String {
        var text = "{\"entity\":"
        text.appendJSONString(record.entity)
        text += ",\"key\":"
        record.key.appendJSON(to: &text)
        if withVersions { text += ",\"version\":\(record.version)" }
        if record.isPartial { text += ",\"partial\":true" }
        text += ",\"fields\":"
        record.appendFieldsJSON(to: &text)
        return text + "}"
    }
}

extension Finding.Code {
    /// Whether the finding concerns the file, its pages or LMDB's tables, not their content.
    public var isOfPages: Bool { ["file", "page", "free", "table"].contains(rawValue.prefix { $0 != "." }) }

    /// Whether the finding concerns the file as a whole: its length, or its meta pages.
    var isOfFile: Bool { rawValue.hasPrefix("file.") }

    /// Whether an answer may be incomplete because of the finding.
    ///
    /// Opening a file checks all settings of the store, and few answers depend on them.
    var concernsAnswers: Bool { !rawValue.hasPrefix("store.") }
}
