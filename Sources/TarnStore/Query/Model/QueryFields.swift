/// The fields of a record, in the closure of ``StoredRecord/where(_:)``.
public struct QueryFields<Record: StoredRecord>: Sendable {
    private let names: [String]

    init(_ names: [String] = []) { self.names = names }

    /// Returns a field of the record.
    public subscript(field: Record.Field) -> QueryField { QueryField(FieldPath(names + [FieldNames.name(field)])) }

    /// Returns a field or a relationship that the struct does not have.
    public subscript(field: String) -> QueryField { QueryField(FieldPath(names + [field])) }

    /// Returns the fields of the target of a to-one relationship.
    ///
    /// If the relationship has no target, the fields are missing.
    public func through<Target: StoredRecord>(_ relationship: Record.Field, _ target: Target.Type) -> QueryFields<
        Target
    > {
        QueryFields<Target>(names + [FieldNames.name(relationship)])
    }

    /// Returns the fields of the target of a relationship by name.
    ///
    /// The struct need not have the relationship: it may be a derived one, for example.
    public func through<Target: StoredRecord>(_ relationship: String, _ target: Target.Type) -> QueryFields<Target> {
        QueryFields<Target>(names + [relationship])
    }
}
