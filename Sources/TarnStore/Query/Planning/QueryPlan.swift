// Query plans for people: the access path of a query and its cost.

/// The plan of a query, returned by ``StoreReader/explain(_:)``.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// The access paths, one line each, such as `index updatedAt of Issue`.
    var access: [String]
    /// The condition that is checked on each row found; nil if the access decides everything.
    var filter: String?
    /// The source of the order.
    var sort: Sort
    /// The estimated number of records read.
    var estimatedRows: Int
    /// The number of records of the entity.
    var totalRows: Int
    /// A change that would make the query cheaper; nil if none is obvious.
    var advice: String?

    /// The source of a result's order.
    enum Sort: String, Sendable, Hashable, CaseIterable {
        /// The access path returns the records in the query's order.
        case byIndex = "by index"
        /// The records are sorted in memory.
        case inMemory = "in memory"
        /// The query has no order; the records are in the order of their keys.
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
