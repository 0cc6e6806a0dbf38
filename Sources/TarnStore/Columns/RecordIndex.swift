/// An index of a typed record: of several columns, unique, of some records, or ignoring case.
///
/// ```swift
/// static var indexes: [RecordIndex<Issue>] {
///     [
///         RecordIndex(\.author, \.updatedAt, where: { $0.state == .open }),
///         RecordIndex(\.title.ignoringCase),
///     ]
/// }
/// ```
public struct RecordIndex<Record: TypedRecord>: Sendable {
    let definition: IndexDefinition

    /// Declares an index.
    ///
    /// - Parameters:
    ///   - columns: attributes and stored to-one relationships of the record, in order.
    ///   - name: the name; nil for one that is made of the names of the columns.
    ///   - isUnique: whether no two records may have the same values; nulls are distinct.
    ///   - condition: the condition of the records in a partial index: comparisons of attributes
    ///     with values, joined by `&&`; ranges are two of them.
    ///   - formerName: the former name of a renamed index; its entries stay.
    ///
    /// The columns are the record's own, and so are those of the condition. Otherwise opening a
    /// store with the record's schema fails.
    public init<each Indexed: IndexableColumn>(
        _ columns: repeat KeyPath<Record.Columns, each Indexed>, name: String? = nil, unique isUnique: Bool = false,
        where condition: (Record.Columns) -> Condition = { _ in .all }, renamedFrom formerName: String? = nil
    ) {
        var components: [IndexDefinition.Component] = [], problem: String?
        for column in repeat each columns {
            let path = Record.columns[keyPath: column].indexedPath
            if path.names.count != 1 { problem = "\(path) is a field of another record: index it there" }
            components.append(IndexDefinition.Component(path.names[0], ignoringCase: path.ignoresCase))
        }
        let made = components.map { $0.ignoresCase ? "\($0.field)IgnoringCase" : $0.field }.joined(separator: "_")
        let conditions = RecordIndex.conditions(condition(Record.columns), &problem)
        definition = IndexDefinition(
            name ?? made, on: components, unique: isUnique, where: conditions, renamedFrom: formerName,
            problem: problem)
    }

    /// Returns the definition, its conditions with values of the attributes' types in the store.
    func definition(of fields: [FieldDeclaration]) -> IndexDefinition {
        var definition = definition
        definition.conditions = definition.conditions.map { condition in
            let attribute = fields.first { $0.name == condition.attribute }?.attribute
            guard let attribute else { return condition }
            return IndexCondition(
                condition.attribute, condition.comparison, attribute.type.value(of: condition.value))
        }
        return definition
    }

    /// The parts of a condition as conditions of a partial index.
    private static func conditions(_ condition: Condition, _ problem: inout String?) -> [IndexCondition] {
        switch condition {
        case .all: return []
        case .and(let parts): return parts.flatMap { conditions($0, &problem) }
        case .compare(let path, let comparison, let value) where path.names.count == 1 && !path.ignoresCase:
            return [IndexCondition(path.names[0], comparison, value)]
        case .between(let path, let low, let high) where path.names.count == 1 && !path.ignoresCase:
            return [
                IndexCondition(path.names[0], .greaterOrEqual, low), IndexCondition(path.names[0], .lessOrEqual, high),
            ]
        case .isMissing(let path) where path.names.count == 1:
            return [IndexCondition(path.names[0], .equal, .null)]
        case .not(.isMissing(let path)) where path.names.count == 1:
            return [IndexCondition(path.names[0], .notEqual, .null)]
        case .not(.compare(let path, .equal, let value)) where path.names.count == 1 && !path.ignoresCase:
            return [IndexCondition(path.names[0], .notEqual, value)]
        default:
            problem =
                "a partial index compares attributes of its record with values, joined by &&: remove \(condition)"
            return []
        }
    }
}

/// A column that an index can have: an attribute or a to-one relationship.
public protocol IndexableColumn: Sendable {
    /// The path of the field.
    var indexedPath: FieldPath { get }
}

extension Column: IndexableColumn {
    public var indexedPath: FieldPath { field.path }
}

extension ToOneColumn: IndexableColumn {
    public var indexedPath: FieldPath { field.path }
}
