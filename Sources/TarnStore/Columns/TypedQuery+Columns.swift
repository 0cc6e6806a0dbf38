// Typed queries of records with columns.

extension TypedQuery where Record: TypedRecord {
    /// Returns the query sorted by a column: `order(by: \.author.login)`.
    ///
    /// The first of several calls takes precedence. A list has no order: using such a query throws
    /// `StoreError.wrongType`.
    public func order<Value>(
        by column: KeyPath<Record.Columns, Column<Value>>, _ direction: Direction = .ascending
    ) -> TypedQuery {
        sorted(by: { _ in Record.columns[keyPath: column].field }, direction)
    }

    /// Returns the query with a limit.
    ///
    /// - Precondition: the limit is not negative.
    public func limit(_ count: Int) -> TypedQuery { prefix(count) }

    /// Returns the query with the targets of relationships included.
    ///
    /// Each result is a tuple of the record and what is included: an optional record for a to-one
    /// relationship, a list for a to-many one. A path leads through to-one relationships.
    ///
    /// ```swift
    /// for (issue, author, labels) in try reader.fetch(open.include(\.author, \.labels)) {
    ///     print(issue.title, author?.login ?? "?", labels.map(\.name))
    /// }
    /// ```
    public func include<each Included: RelationshipColumn>(
        _ columns: repeat KeyPath<Record.Columns, each Included>
    ) -> IncludingQuery<Record, repeat each Included> {
        IncludingQuery(self, repeat Record.columns[keyPath: each columns])
    }
}

extension TypedRecord {
    /// Returns a query of every record, sorted by a column.
    public static func order<Value>(
        by column: KeyPath<Columns, Column<Value>>, _ direction: TypedQuery<Self>.Direction = .ascending
    ) -> TypedQuery<Self> {
        all.order(by: column, direction)
    }

    /// Returns a query of every record with the targets of relationships included.
    public static func include<each Included: RelationshipColumn>(
        _ columns: repeat KeyPath<Columns, each Included>
    ) -> IncludingQuery<Self, repeat each Included> {
        all.include(repeat each columns)
    }
}

extension Condition {
    /// Returns a condition if there is a value for it, else the one that every record meets.
    ///
    /// A filter that may be absent: `.ifPresent(state) { issue.state == $0 }`.
    public static func ifPresent<Value>(_ value: Value?, _ condition: (Value) -> Condition) -> Condition {
        value.map(condition) ?? .all
    }
}
