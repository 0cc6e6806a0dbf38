// The keys of an entity, in their order.

import TarnStore

/// A selection of keys of an entity.
package struct KeySelection: Sendable {
    /// Whether the greatest key is first.
    var isReversed = false
    /// The most keys to visit.
    package var limit = Int.max

    package init(isReversed: Bool = false, limit: Int = .max) {
        (self.isReversed, self.limit) = (isReversed, limit)
    }
}

extension StoreInspector {
    /// Calls `visit` with the keys of an entity and of those below it, as of one snapshot.
    ///
    /// The order is that of the table: integers by value, texts by their UTF-8 bytes; keys of more
    /// than 207 bytes by their beginning. Keys of damaged rows are reported, and left out.
    ///
    /// - Parameter bounds: A closure that gives the bounds, by the types that the entity's key has.
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The errors of the closures; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    @discardableResult
    package func keys(
        of name: String, _ selection: KeySelection = KeySelection(),
        within bounds: (Catalog.Entity) throws -> KeySpan = { _ in KeySpan() },
        damaged: (Damage) -> Void, visit: (RecordKey) throws -> Void
    ) throws -> String? {
        try open { file in
            try checkIsReadable(file)
            guard let entity = try file.entities(named: name).first else { return file.aloneBecause }
            let bounds = try bounds(entity)
            guard file.hasTable(of: entity, damaged: damaged) else { return file.aloneBecause }
            let cursor = TableCursor(
                file, TableName.records(entity.root), in: bounds.interval, reversed: selection.isReversed)
            var count = 0
            while count < selection.limit, cursor.next() {
                try cursor.withEntry { key, row in
                    guard file.isWanted(row, of: entity) else { return }
                    if let problem = file.checkRow(row, key, entity) { return damaged(problem) }
                    guard let found = StoreInspector.key(key, row, entity, file) else {
                        return damaged(file.damage(key, entity, "undecodable key"))
                    }
                    guard bounds.contains(found) else { return }
                    count += 1
                    try visit(found)
                }
            }
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    /// Returns the key of a row; nil if it cannot be decoded.
    private static func key(
        _ key: Bytes, _ row: Bytes, _ entity: Catalog.Entity, _ file: StoreFile
    ) -> RecordKey? {
        if let key = RecordKey(storageKey: key) { return key }
        let concrete = file.catalog.entity(id: row.load(6)) ?? entity
        return file.decoder.lending {
            (try? file.decoder.view(row)).flatMap { file.key(concrete, key, $0) }
        }
    }
}
