// Attributes that the store has no value of, after a sync that brought none.

import TarnImport
import TarnStore

extension [AbsentAttribute] {
    /// Records of each entity that are looked through. A value in a later one is not found: the attribute is rare, then.
    private static let sampleSize = 10_000

    /// The attributes of which no stored record has a value either.
    ///
    /// A sync of a few changed records may well have no value of an optional attribute; earlier ones had.
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
