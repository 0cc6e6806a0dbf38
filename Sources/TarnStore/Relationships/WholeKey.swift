/// The field for the whole key of a record, if neither the storage key nor other fields contain it.
/// This is the case if the key contains the key of another record, and is long enough to be stored
/// under a digest. The value is the encoded tuple as bytes.
package enum WholeKey {
    package static let field: UInt16 = 0

    /// Returns whether a row under that storage key stores the field.
    static func isKept(_ entity: Catalog.Entity, _ storageKey: Bytes) -> Bool {
        StorageKey.isDigest(storageKey) && entity.hasOwner
    }
}
