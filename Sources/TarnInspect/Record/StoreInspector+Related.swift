// The records of a relationship of one record.

import TarnStore

/// A record that a relationship leads to.
package struct RelatedRecord: Sendable {
    /// The key; of a missing record with a long key, its digest.
    package var key: RecordKey
    /// The record; nil if it is not stored.
    package var record: Record?
}

extension StoreInspector {
    /// Calls the closure with the records of a relationship, in its order, in either direction.
    ///
    /// Damaged rows, and rows on damaged pages, are reported and left out.
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
                if case .unreadable = file.lookUp(key, in: TableName.records(entity.root)) {
                    damaged(file.damage(key, entity, StoreInspector.unreachable))
                    return true
                }
                guard try file.row(entity, key) != nil else { return false }
                try file.targets(of: key, found) { target in
                    guard count < limit else { return false }
                    count += 1
                    try StoreInspector.visit(target, destination, file, damaged, visit)
                    return true
                }
                return true
            }
            file.reportFindings(to: damaged)
            return isStored
        }
    }

    private static func visit(
        _ target: Bytes, _ entity: Catalog.Entity, _ file: StoreFile, _ damaged: (Damage) -> Void,
        _ visit: (RelatedRecord) throws -> Void
    ) throws {
        switch file.lookUp(target, in: TableName.records(entity.root)) {
        case .found(let row):
            try row.withUnsafeBytes { row in
                try read(target, row, of: entity, file, damaged: damaged) { record in
                    try visit(RelatedRecord(key: record.key, record: record))
                }
            }
        case .absent:
            guard let key = RecordKey(reference: target) else {
                return damaged(file.damage(target, entity, "a reference with an unreadable key"))
            }
            try visit(RelatedRecord(key: key, record: nil))
        case .unreadable: damaged(file.damage(target, entity, unreachable))
        }
    }

    /// The reason why a row is unreadable; the page itself is a finding.
    static let unreachable = "a page on the way to it is damaged"
}
