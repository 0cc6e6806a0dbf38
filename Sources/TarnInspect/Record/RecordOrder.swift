import TarnStore

/// An order of an entity's records: by key, or by an attribute that an index sorts.
///
/// Values that an index cuts (texts of more than 270 bytes) are in the order of their beginnings;
/// equal values are in the order of keys. An index without regard to case orders folded texts.
package struct RecordOrder: Sendable {
    /// The index; nil for the order of keys.
    let index: UInt32?
    /// The number of values in an entry of the index.
    let components: Int

    /// The order of keys.
    package static let key = RecordOrder(index: nil, components: 0)

    private init(index: UInt32?, components: Int) { (self.index, self.components) = (index, components) }

    /// Creates the order by an attribute; nil if no index of all records sorts it.
    init?(by name: String, of entity: Catalog.Entity) {
        guard let field = entity.field(name), case .attribute = field.kind else { return nil }
        if let index = field.index, index > 0 {
            self.init(index: index, components: 1)
            return
        }
        let declared = entity.indexes.first { $0.conditions.isEmpty && $0.components.first?.field == field.id }
        guard let declared else { return nil }
        self.init(index: declared.id, components: declared.components.count)
    }

    /// Returns the names of the attributes that an index sorts.
    package static func fields(of entity: Catalog.Entity) -> [String] {
        entity.fields.map(\.name).filter { RecordOrder(by: $0, of: entity) != nil }
    }

    /// The table whose keys have the order.
    func table(of entity: Catalog.Entity) -> String {
        index.map(TableName.index) ?? TableName.records(entity.root)
    }

    /// Returns the storage key of the record that an entry of the table belongs to.
    func owner(of entry: Bytes) -> Bytes? {
        guard index != nil else { return entry }
        let length = IndexEntry.values(of: entry, components: components).length
        return IndexEntry.owner(in: entry, afterValuesOf: length, positioned: false)
    }
}
