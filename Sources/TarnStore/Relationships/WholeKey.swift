internal import LMDB

/// The field that holds the whole key where neither the storage key nor the other fields do: of a record whose key holds
/// another's, and is so long that it is stored under its digest. Its value is the tuple, as bytes.
package enum WholeKey {
    package static let field: UInt16 = 0

    /// Whether a row under that storage key has the field.
    package static func isKept(_ entity: Catalog.Entity, _ storageKey: Bytes) -> Bool {
        StorageKey.isDigest(storageKey) && entity.hasOwner
    }
}
