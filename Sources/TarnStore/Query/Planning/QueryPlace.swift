// Where a query looks for a value: paths of names, resolved against the catalog once.

/// A place of a value: a field of the record, or of one behind to-one relationships.
struct QueryPlace {
    enum Source {
        /// A field that stands in the row.
        case stored(UInt16)
        /// A relationship that is derived from an index, or joined: it is followed.
        case followed(Catalog.Relationship)
    }

    enum Kind {
        case attribute(AttributeType)
        indirect case toOne(Catalog.Entity)
        indirect case toMany(Catalog.Entity)
    }

    /// For messages.
    let owner: String, name: String
    /// 0 for the record itself, else one more than the step that leads there.
    let origin: Int
    let source: Source
    let kind: Kind
    let isFolded: Bool
    /// Where the field stands in the directory of a row that has every field.
    let rank: Int

    var field: UInt16? { if case .stored(let field) = source { field } else { nil } }

    var order: ValueOrder {
        switch kind {
        case .attribute(let type): ValueOrder(type, folded: isFolded)
        case .toOne, .toMany: .reference
        }
    }
}
