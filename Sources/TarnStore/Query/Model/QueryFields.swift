/// The fields of a record, in the closure of ``StoredRecord/where(_:)``.
public struct QueryFields<Record: StoredRecord>: Sendable {
    private let names: [String]

    init(_ names: [String] = []) { self.names = names }

    /// A field of the record.
    public subscript(field: Record.Field) -> QueryField { QueryField(FieldPath(names + [FieldNames.name(field)])) }

    /// A field, or a relationship, that the struct does not have.
    public subscript(field: String) -> QueryField { QueryField(FieldPath(names + [field])) }

    /// The fields of the record that a to-one relationship leads to. They are missing where it leads to none.
    public func through<Target: StoredRecord>(_ relationship: Record.Field, _ target: Target.Type) -> QueryFields<Target> {
        QueryFields<Target>(names + [FieldNames.name(relationship)])
    }

    /// The same for a relationship that the struct does not have: a derived one, for example.
    public func through<Target: StoredRecord>(_ relationship: String, _ target: Target.Type) -> QueryFields<Target> {
        QueryFields<Target>(names + [relationship])
    }
}
