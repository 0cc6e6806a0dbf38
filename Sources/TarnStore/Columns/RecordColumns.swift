/// The columns of a record type: a computed property for each field.
///
/// A property is a ``Column``, a ``ToOneColumn`` or a ``ToManyColumn``, made from the path of the
/// record and the name of the field.
public protocol RecordColumns: Sendable {
    /// Creates the columns of a record at a path, which each of them starts with.
    init(path: ColumnPath)
}

/// The names of to-one relationships that lead from the record of a query to another one.
public struct ColumnPath: Sendable, Hashable {
    /// The names, outermost first; empty for the record of the query.
    let names: [String]

    init(names: [String] = []) { self.names = names }

    /// The path of the target of a relationship.
    init(_ path: ColumnPath, _ relationship: String) { names = path.names + [relationship] }

    /// Returns the path of a field of the record.
    func field(_ name: String) -> QueryField { QueryField(FieldPath(names + [name])) }
}
