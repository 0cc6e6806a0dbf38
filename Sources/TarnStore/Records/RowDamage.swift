/// Why a row cannot be read.
///
/// It is trivial: the catching function names the entity and the key, so that the way of sound rows
/// counts no references.
enum RowDamage: Error {
    case row
    /// The dictionary with the id is missing or damaged.
    case dictionary(UInt16)

    func storeError(_ entity: String, _ key: Bytes) -> StoreError {
        let key = RecordKey.describe(storageKey: key)
        return switch self {
        case .row: .damagedRow(entity: entity, key: key)
        case .dictionary(let id): .damagedDictionary(entity: entity, key: key, dictionary: id)
        }
    }
}
