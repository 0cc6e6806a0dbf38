import TarnStore

/// An entity as the check of its rows needs it, prepared once.
final class CheckedEntity {
    let entity: Catalog.Entity
    let rules: EntityRules
    let fields: [Catalog.Field]
    private let ids: [UInt16]
    /// For each field the tag that fits it; nil if more than the tag decides.
    private let tags: [UInt8?]
    /// The field of a key that is one integer; nil for other keys.
    let integerKey: UInt16?
    /// The number of readable rows.
    var count = 0

    init(_ entity: Catalog.Entity, _ rules: EntityRules) {
        (self.entity, self.rules) = (entity, rules)
        var fields: [Catalog.Field] = []
        // Only a damaged catalog has two fields of one id: the first one counts.
        for field in entity.fields where !fields.contains(where: { $0.id == field.id }) { fields.append(field) }
        self.fields = fields
        ids = fields.map(\.id)
        tags = fields.map(\.fittingTag)
        integerKey = entity.key.count == 1 && entity.keyTypes == [.int] ? entity.key[0] : nil
    }

    /// Returns the index of a field; nil if the catalog does not know it.
    ///
    /// - Parameter guess: The index behind the last field: rows have the order of the catalog.
    func index(of id: UInt16, guess: Int) -> Int? {
        guess < ids.count && ids[guess] == id ? guess : ids.firstIndex(of: id)
    }

    /// Returns whether the tag alone shows that a value fits a field.
    func fits(_ value: EncodedValue, at index: Int) -> Bool { tags[index] == value.tag }
}
