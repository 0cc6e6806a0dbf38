/// The fields of a record, in the closure of ``StoredRecord/where(_:)``.
///
/// If the record is a ``TypedRecord``, its columns are members: `$0.number > 10`.
@dynamicMemberLookup
public struct QueryFields<Record: StoredRecord>: Sendable {
    private let names: [String]

    /// The path of the record.
    var path: ColumnPath { ColumnPath(names: names) }

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

extension QueryFields where Record: TypedRecord {
    /// A column of the record.
    public subscript<Member>(dynamicMember member: KeyPath<Record.Columns, Member>) -> Member {
        Record.Columns(path: path)[keyPath: member]
    }
}
