// The records of a store as one JSON object a line; only the store itself is needed.

import TarnStore

/// A dump of the readable records of a store, which may be damaged in any way.
public struct StoreDump {
    private let path: String
    /// The reason why no read transaction holds the file; nil if one does.
    public let aloneBecause: String?

    /// Checks that the file is a store with a readable catalog.
    ///
    /// - Throws: `StoreOpenError`: `.noSuchStore`, `.notAStore`, `.newerFormat`, `.store` with
    ///   `.damagedCatalog`, and with `.lmdb` without permission;
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction holds the file and commits were
    ///   made meanwhile.
    public init(storeAt path: String) throws {
        self.path = path
        aloneBecause = try StoreFile.open(at: path) { file in
            try StoreDump.check(file, path)
            return file.aloneBecause
        }
    }

    private static func check(_ file: StoreFile, _ path: String) throws(StoreOpenError) {
        guard let problem = file.formatProblem else { return }
        switch problem.code {
        case .newerFormat:
            throw .newerFormat(path: path, found: file.format, known: Store.format)
        case .catalog: throw .store(.damagedCatalog(path: path, detail: problem.detail))
        default: throw .notAStore(path: path, detail: problem.detail)
        }
    }

    /// An unreadable record or page.
    public struct Damage: Sendable, Hashable, CustomStringConvertible {
        /// The location: a record, or a page of the file.
        public var place: String
        /// The reason why it is unreadable.
        public var reason: String
        /// Whether the damage concerns the file or its pages, not a single record.
        public var isOfPages = false
        public var description: String { "\(place): \(reason)" }
    }

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
    /// - Throws: The error of `line`; at the end `StoreMaintenanceError.changedMeanwhile` if
    ///   no transaction held the file and the output may mix several commits.
    public func records(
        of name: String? = nil, withVersions: Bool = true, line: (String) throws -> Void, damaged: (Damage) -> Void
    ) throws {
        try StoreFile.open(at: path) { file in
            try StoreDump.check(file, path)
            let all = file.catalog.entities
            if let name, file.catalog.entity(name) == nil {
                throw StoreError.unknownEntity(name: name, known: all.map(\.name))
            }
            for entity in name.map({ name in all.filter { $0.name == name } }) ?? all.filter({ $0.root == $0.id }) {
                try StoreDump.records(of: entity, file, withVersions, line, damaged)
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
        }
    }

    private static func records(
        of entity: Catalog.Entity, _ file: StoreFile, _ withVersions: Bool, _ line: (String) throws -> Void,
        _ damaged: (Damage) -> Void
    ) throws {
        // A table whose name is damaged would otherwise pass for an entity without records.
        let table = TableName.records(entity.root)
        guard file.snapshot.tables[table] != nil else {
            return damaged(Damage(place: table, reason: "the table of \(entity.name) is missing", isOfPages: true))
        }
        try file.forEach(in: table) { key, value in
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
            try file.decoder.lending {
                let row: EncodedRow
                do throws(RowDecoder.Failure) {
                    row = try file.decoder.view(value)
                } catch .noDictionary(let id) {
                    return report("its dictionary \(id) is missing or damaged")
                } catch {
                    return report("not a row")
                }
                guard let record = try? file.record(entity, key, row) else {
                    return report("undecodable value")
                }
                try line(json(record, withVersions))
            }
        }
    }

    private static func json(_ record: Record, _ withVersions: Bool) -> String {
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
}
