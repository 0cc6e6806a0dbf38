// Some records of an entity at a time, for someone who leafs through them.

import TarnStore

/// Consecutive records of an entity.
package struct RecordPage: Sendable {
    /// The readable records, with their storage keys.
    package internal(set) var records: [(storageKey: [UInt8], record: Record)] = []
    /// The storage key of the last row that was read; nil after the last row of the entity.
    package internal(set) var last: [UInt8]?
    /// The number of rows that were read, also of those that were left out.
    package internal(set) var examined = 0
    /// The unreadable rows and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}

extension StoreInspector {
    /// Reads some records of an entity, as of one snapshot.
    ///
    /// - Parameters:
    ///   - name: The name of the entity.
    ///   - after: The storage key of the row before the first; nil for the beginning.
    ///   - reversed: Whether the order of keys is reversed.
    ///   - limit: The most records.
    ///   - most: The most rows that are read. With a condition that few records fulfil, the page
    ///     may have fewer records than the limit, or none, and still not be the last.
    ///   - isWanted: A condition for records.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func recordPage(
        of name: String, after: [UInt8]? = nil, reversed: Bool = false, limit: Int = 50, most: Int = 20_000,
        where isWanted: (Record) -> Bool = { _ in true }
    ) throws -> RecordPage {
        try open { file in
            try checkIsReadable(file)
            guard let entity = file.catalog.entity(name) else {
                throw StoreError.unknownEntity(name: name, known: file.catalog.entities.map(\.name))
            }
            var page = RecordPage()
            // Storage keys that continue the last one with a zero byte follow it.
            let interval = reversed ? KeyInterval(below: after) : KeyInterval(from: after.map { $0 + [0] })
            let cursor = TableCursor(file, TableName.records(entity.root), in: interval, reversed: reversed)
            while page.records.count < limit, page.examined < most {
                guard cursor.next() else {
                    page.last = nil
                    break
                }
                cursor.withEntry { key, row in
                    page.last = Array(key)
                    page.examined += 1
                    guard file.isWanted(row, of: entity) else { return }
                    if let problem = file.checkRow(row, key, entity) { return page.damages.append(problem) }
                    var damages: [Damage] = []
                    file.withDecoded(row, key, entity, damaged: { damages.append($0) }) { decoded in
                        guard let record = try? file.record(entity, key, decoded) else {
                            return damages.append(file.damage(key, entity, "undecodable value"))
                        }
                        if isWanted(record) { page.records.append((Array(key), record)) }
                    }
                    page.damages += damages
                }
            }
            file.reportPages { page.damages.append($0) }
            return page
        }
    }
}
