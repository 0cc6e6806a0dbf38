// Attributes without a value in the store, after a sync that brought none.

import TarnImport
import TarnStore

extension [AbsentAttribute] {
    /// The maximum number of records that are read per entity.
    ///
    /// A rare attribute of a later record is not found.
    private static let sampleSize = 10_000

    /// The attributes without a value in any stored record.
    ///
    /// A sync of few changed records may have no value of an optional attribute that earlier syncs
    /// had.
    func withoutStoredValues(in store: Store) throws -> [AbsentAttribute] {
        let byEntity = Dictionary(grouping: self, by: \.entity)
        return try store.read { reader in
            try byEntity.sorted { $0.key < $1.key }.flatMap { entity, attributes in
                var absent = attributes, seen = 0
                try reader.forEach(entity, in: .all) { record in
                    absent.removeAll { attribute in record[attribute.attribute].map { $0 != .null } ?? false }
                    seen += 1
                    return !absent.isEmpty && seen < Self.sampleSize
                }
                return absent
            }
        }
    }
}
