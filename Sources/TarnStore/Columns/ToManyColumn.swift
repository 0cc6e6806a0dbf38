/// A to-many relationship in a query.
public struct ToManyColumn<Target: StoredRecord>: Sendable {
    private let path: ColumnPath
    private let name: String

    /// Creates the column of a relationship of the record at a path.
    public init(_ path: ColumnPath, _ name: String) {
        self.path = path
        self.name = name
    }

    private var field: QueryField { path.field(name) }

    /// The condition that the relationship has no targets.
    public var isMissing: Condition { field.isMissing }

    /// Returns the condition that a record with a key is among the targets.
    public func contains(_ key: Target.Key) -> Condition { field.contains(Reference<Target>(key)) }

    /// Returns the condition that a record is among the targets.
    public func contains(_ reference: Reference<Target>) -> Condition { field.contains(reference) }
}

extension ToManyColumn: RelationshipColumn {
    public var names: [String] { path.names + [name] }
    public static var isToMany: Bool { true }

    @inlinable
    public static func included(_ count: Int, _ target: (Int) -> Target) -> [Target] { (0..<count).map(target) }
}
