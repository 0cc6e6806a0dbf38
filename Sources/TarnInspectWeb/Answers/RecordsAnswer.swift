import TarnInspect
import TarnStore

/// Consecutive records of an entity.
struct RecordsAnswer: Encodable {
    struct Row: Encodable { var entity: String, key: String, id: String, isPartial: Bool, fields: [FieldText] }

    /// The longest text of a value in a list, in characters.
    private static let longest = 200
    /// The most targets of a relationship in a list.
    static let targets = 3

    var records: [Row]
    /// The place after which the next page begins; nil after the last record.
    var next: String?
    var examined: Int
    /// The attributes by which the records can be sorted.
    var sortable: [String]
    /// The field that is the whole key; nil if the key has several fields.
    var keyField: String?
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int

    init(_ page: RecordPage, of entity: String, _ catalog: Catalog) {
        records = page.records.map { id, record in
            let entity = catalog.entity(record.entity)
            return Row(
                entity: record.entity, key: record.key.description, id: Hexadecimal.text(id),
                isPartial: record.isPartial,
                fields: record.fields.map {
                    FieldText($0, entity, catalog, longest: Self.longest, most: Self.targets, page.targets)
                })
        }
        next = page.last.map(Hexadecimal.text)
        examined = page.examined
        if let entity = catalog.entity(entity), entity.key.count == 1 {
            keyField = entity.fields.first { $0.id == entity.key[0] }?.name
        }
        sortable = catalog.entity(entity).map(RecordOrder.fields) ?? []
        let found = DamageTexts(page.damages)
        (damages, moreDamages) = (found.texts, found.more)
    }
}
