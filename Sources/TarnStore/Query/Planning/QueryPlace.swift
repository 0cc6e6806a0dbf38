// Places: paths of a query, resolved against the catalog once.

/// The place of a value: a field of the record, or of one behind to-one relationships.
struct QueryPlace {
    enum Source {
        /// A field of the row.
        case stored(UInt16)
        /// A derived or joined relationship, which is followed.
        case followed(Catalog.Relationship)
    }

    enum Kind {
        case attribute(AttributeType)
        indirect case toOne(Catalog.Entity)
        indirect case toMany(Catalog.Entity)
    }

    /// The names of the entity and the field, for messages.
    let owner: String, name: String
    /// 0 for the record itself, else the index of the last step plus 1.
    let origin: Int
    let source: Source
    let kind: Kind
    let isFolded: Bool
    /// The field's position in the directory of a row that has every field.
    let rank: Int

    var field: UInt16? { if case .stored(let field) = source { field } else { nil } }

    var order: ValueOrder {
        switch kind {
        case .attribute(let type): ValueOrder(type, folded: isFolded)
        case .toOne, .toMany: .reference
        }
    }
}
