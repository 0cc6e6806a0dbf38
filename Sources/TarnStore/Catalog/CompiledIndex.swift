/// An index in the form that writing needs. A class, so that passing it copies nothing.
package final class CompiledIndex: Sendable {
    package enum Source: Sendable {
        /// An index of an attribute's values or a reference's targets.
        case field(Catalog.Field)
        case declared([Component], [Condition])
    }

    package struct Component: Sendable {
        let field: UInt16
        let isReference: Bool
        let foldsCase: Bool
    }

    package struct Condition: Sendable {
        let field: UInt16
        let comparison: IndexCondition.Comparison
        /// The value in the encoding of indexes; nil for null.
        let value: [UInt8]?
    }

    package let id: UInt32
    package let name: String
    package let isUnique: Bool
    package let source: Source
    // Copies of values that every row needs: a read from `source` would retain all of its parts.
    /// The indexed field; nil for a declared index.
    let field: UInt16?
    /// The order of the targets of that field; nil for an attribute.
    let targets: IndexEntry.Targets?

    init(id: UInt32, name: String, isUnique: Bool, source: Source) {
        self.id = id
        self.name = name
        self.isUnique = isUnique
        self.source = source
        guard case .field(let field) = source else {
            (self.field, targets) = (nil, nil)
            return
        }
        self.field = field.id
        targets = IndexEntry.Targets(field)
    }

    convenience init(_ index: Catalog.Index, _ entity: Catalog.Entity) {
        let components = index.components.map { component -> Component in
            let isReference = if case .reference? = entity.field(id: component.field)?.kind { true } else { false }
            return Component(field: component.field, isReference: isReference, foldsCase: component.folding != nil)
        }
        let conditions = index.conditions.map { condition -> Condition in
            if case .null = condition.value {
                return Condition(field: condition.field, comparison: condition.comparison, value: nil)
            }
            var writer = ByteWriter()
            condition.value.withEncoded { IndexEntry.appendWholeValue($0, to: &writer) }
            return Condition(field: condition.field, comparison: condition.comparison, value: Array(writer.bytes))
        }
        self.init(id: index.id, name: index.name, isUnique: index.isUnique, source: .declared(components, conditions))
    }

    /// Returns whether a record belongs to the index, by the conditions of a partial index.
    func admits(_ row: RowBody, _ scratch: inout ByteWriter) -> Bool {
        guard case .declared(_, let conditions) = source else { return true }
        for condition in conditions {
            let value = row.value(of: condition.field)
            guard let wanted = condition.value else {
                let isNull = value?.isNull ?? true
                guard isNull == (condition.comparison == .equal) else { return false }
                continue
            }
            guard let value, !value.isNull else {
                guard condition.comparison == .notEqual else { return false }
                continue
            }
            scratch.removeAll()
            IndexEntry.appendWholeValue(value, to: &scratch)
            let order = wanted.withUnsafeBytes { Bytes.compare(scratch.bytes, $0) }
            let isMet =
                switch condition.comparison {
                case .equal: order == 0
                case .notEqual: order != 0
                case .less: order < 0
                case .lessOrEqual: order <= 0
                case .greater: order > 0
                case .greaterOrEqual: order >= 0
                }
            guard isMet else { return false }
        }
        return true
    }
}
