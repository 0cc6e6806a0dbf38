// The records of a relationship of one record.

import TarnStore

/// A record that a relationship leads to.
package struct RelatedRecord: Sendable {
    /// The key in words; of a missing record with a long key, its digest.
    package var key: String
    /// The record; nil if it is not stored.
    package var record: Record?
}

extension StoreInspector {
    /// Calls the closure with the records of a relationship, in its order, in either direction.
    ///
    /// Damaged rows are reported, and left out.
    ///
    /// - Parameters:
    ///   - name: The name of the record's entity.
    ///   - relationship: The name of a relationship, or of its inverse.
    ///   - key: A closure that gives the record's key, by the types that the entity's key has.
    ///   - limit: The most records.
    /// - Returns: Whether the record is stored.
    /// - Throws: The errors of the closures; `StoreError.unknownEntity`, `.unknownField`; otherwise
    ///   as ``dumpRecords(of:withVersions:line:damaged:)``.
    package func related(
        _ name: String, _ relationship: String, limit: Int = .max, key: (Catalog.Entity) throws -> RecordKey,
        damaged: (Damage) -> Void, visit: (RelatedRecord) throws -> Void
    ) throws -> Bool {
        try open { file in
            try checkIsReadable(file)
            guard let entity = try file.entities(named: name).first else { return false }
            guard let found = file.catalog.relationship(relationship, of: entity),
                let destination = file.catalog.entity(id: found.destination)
            else {
                throw StoreError.unknownField(
                    entity: name, name: relationship, known: file.catalog.relationships(of: entity).map(\.name))
            }
            let storageKey = try key(entity).storageKey
            var count = 0
            let isStored = try storageKey.withUnsafeBytes { key in
                guard try file.row(entity, key) != nil else { return false }
                try file.targets(of: key, found) { target in
                    guard count < limit else { return false }
                    count += 1
                    try StoreInspector.visit(target, destination, file, damaged, visit)
                    return true
                }
                return true
            }
            file.reportPages(to: damaged)
            return isStored
        }
    }

    private static func visit(
        _ target: Bytes, _ entity: Catalog.Entity, _ file: StoreFile, _ damaged: (Damage) -> Void,
        _ visit: (RelatedRecord) throws -> Void
    ) throws {
        guard let row = file.value(target, in: TableName.records(entity.root)) else {
            return try visit(RelatedRecord(key: file.describe(target), record: nil))
        }
        try row.withUnsafeBytes { row in
            try read(target, row, of: entity, file, damaged: damaged) { record in
                try visit(RelatedRecord(key: record.key.description, record: record))
            }
        }
    }
}
