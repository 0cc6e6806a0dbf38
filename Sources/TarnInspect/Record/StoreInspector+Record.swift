// One record with everything that concerns it.

import TarnStore

extension StoreInspector {
    /// Looks up a record, its index entries, its referrers, the responses that list it and its last
    /// changes, as of one snapshot.
    ///
    /// A record that is not stored has referrers and changes, too: it may be missing, or deleted.
    ///
    /// - Parameters:
    ///   - name: The name of the record's entity, or of an ancestor of it.
    ///   - key: A closure that gives the primary key, by the types that the entity's key has.
    ///   - limit: The most referrers of each relationship, responses, changes and operations that
    ///     are kept. Referrers are counted beyond it.
    ///   - most: The most entries that are read of each relationship's index and of the change log.
    ///     If it ends a count, the count is marked.
    ///   - waits: The most entries that are read to find what an operation waits for.
    ///   - targets: The most targets of each relationship that are looked up.
    /// - Throws: The error of `key`; `StoreError.unknownEntity`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    package func record(
        _ name: String, limit: Int = 10, most: Int = .max, waits: Int = .max, targets: Int = .max,
        key: (Catalog.Entity) throws -> RecordKey
    ) throws -> RecordInspection {
        try open { file in
            try checkIsReadable(file)
            guard let entity = file.catalog.entity(name) else {
                throw StoreError.unknownEntity(name: name, known: file.catalog.entities.map(\.name))
            }
            let wanted = try key(entity)
            let lookup = RecordLookup(
                file, entity, wanted, limit: limit, most: most, waits: waits, targets: targets)
            return lookup.run()
        }
    }

    /// Looks up a record by its key, as ``record(_:limit:key:)`` does.
    public func record(_ name: String, _ key: RecordKey, limit: Int = 10) throws -> RecordInspection {
        try record(name, limit: limit) { _ in key }
    }
}
