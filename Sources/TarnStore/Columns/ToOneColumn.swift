/// A to-one relationship in a query.
///
/// It compares with the key of a target, and has the columns of the target: `$0.author.login`. If
/// the relationship has no target, these fields are missing.
@dynamicMemberLookup
public struct ToOneColumn<Target: StoredRecord>: Sendable {
    private let path: ColumnPath
    private let name: String

    /// Creates the column of a relationship of the record at a path.
    public init(_ path: ColumnPath, _ name: String) {
        self.path = path
        self.name = name
    }

    /// A column of the target.
    public subscript<Member>(dynamicMember member: KeyPath<Target.Columns, Member>) -> Member
    where Target: TypedRecord {
        Target.Columns(path: ColumnPath(path, name))[keyPath: member]
    }

    var field: QueryField { path.field(name) }

    /// The condition that the relationship is absent or null.
    public var isMissing: Condition { field.isMissing }

    /// Returns the condition that the target has one of these keys.
    public func isIn(_ keys: some Sequence<Target.Key>) -> Condition {
        field.isIn(keys.map { Reference<Target>($0) })
    }

    /// Returns the condition that the target has a key.
    public static func == (column: ToOneColumn, key: Target.Key) -> Condition {
        column.field == Reference<Target>(key)
    }

    /// Returns the condition that the target does not have a key, or that there is none.
    public static func != (column: ToOneColumn, key: Target.Key) -> Condition { !(column == key) }

    /// Returns the condition that the relationship has a reference; nil if it has none.
    public static func == (column: ToOneColumn, reference: Reference<Target>?) -> Condition {
        reference.map { column.field == $0 } ?? column.isMissing
    }

    /// Returns the condition that the relationship does not have a reference.
    public static func != (column: ToOneColumn, reference: Reference<Target>?) -> Condition {
        !(column == reference)
    }
}

extension ToOneColumn: RelationshipColumn {
    public var names: [String] { path.names + [name] }
    public static var isToMany: Bool { false }

    @inlinable
    public static func included(_ count: Int, _ target: (Int) -> Target) -> Target? { count > 0 ? target(0) : nil }
}
