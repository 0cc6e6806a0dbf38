// The differences between two stores, or between a store and its backup.

import TarnStore

extension StoreInspector {
    /// Compares the records and the schema with those of another store.
    ///
    /// Records are matched by root entity and primary key, fields by name: the ids of the two
    /// catalogs, the versions of the records and the compression may differ. Each store is read as
    /// of one snapshot. Memory does not grow with the number of records: the tables are merged in
    /// key order.
    ///
    /// Records whose row is damaged in one store are not compared. Damage is reported to `damaged`,
    /// with the number of the store, 0 or 1.
    ///
    /// - Parameters:
    ///   - name: The entity whose records are compared, with its sub-entities; nil for all.
    ///   - progress: A closure that is called with the pages read of both files.
    ///   - difference: A closure that is called with every record that differs, in the order of the
    ///     entities and their keys.
    /// - Throws: The error of `difference`; `StoreError.unknownEntity` if neither store has the
    ///   entity; otherwise as ``dumpRecords(of:withVersions:line:damaged:)``, for either store.
    public func differences(
        from other: StoreInspector, of name: String? = nil, progress: ((Progress) -> Void)? = nil,
        difference: (RecordDifference) throws -> Void, damaged: (_ store: Int, Damage) -> Void
    ) throws -> StoreDifferences {
        // The other store is the first one: it is what this store is compared with.
        try other.open { first in
            try other.checkIsReadable(first)
            return try open { second in
                try checkIsReadable(second)
                let comparison = StoreComparison(first, second)
                if let name, first.catalog.entity(name) == nil, second.catalog.entity(name) == nil {
                    let known = first.catalog.entities.map(\.name)
                    throw StoreError.unknownEntity(name: name, known: known)
                }
                return try comparison.run(of: name, progress: progress, difference: difference, damaged: damaged)
            }
        }
    }
}
