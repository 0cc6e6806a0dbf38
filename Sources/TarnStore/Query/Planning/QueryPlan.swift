// What the store does to answer a query, and what it would cost, for people.

/// How a query is answered: what ``StoreReader/explain(_:)`` gives.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// What the records are found by: `Issue by key`, `index updatedAt`, `all rows of Issue`, one line for each of several.
    public var access: [String]
    /// What is checked on the row of each record that is found; nil if the access settles everything.
    public var filter: String?
    /// How the order comes about.
    public var sort: Sort
    /// How many records are expected to be looked at, and how many the entity has.
    public var estimatedRows: Int
    public var totalRows: Int
    /// What would make the query cheaper; nil if nothing obvious would.
    public var advice: String?

    /// How a result gets its order.
    public enum Sort: String, Sendable, Hashable, CaseIterable {
        /// The records come in the order that is wanted.
        case byIndex = "by index"
        case inMemory = "in memory"
        /// The query has no order, and the records come in that of their keys.
        case none
    }

    public var description: String {
        var lines = access.enumerated().map { ($0.offset == 0 ? "access: " : "    or: ") + $0.element }
        lines.append("filter: " + (filter ?? "none"))
        lines.append("sort:   " + sort.rawValue)
        lines.append("rows:   about \(estimatedRows) of \(totalRows)")
        if let advice { lines.append("advice: " + advice) }
        return lines.joined(separator: "\n")
    }
}

extension StoreReader {
    /// How a query would be answered. Reads no records.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func explain(_ query: Query) throws -> QueryPlan {
        let compiled = try CompiledQuery(query, access.state)
        return try QueryPlanner(access, compiled).explanation()
    }
}
