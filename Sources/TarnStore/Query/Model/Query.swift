// Queries: the entity, condition, order and range of the records wanted.

/// A query of the store, as a value.
///
/// It can be stored, sent to another thread, observed, and repeated.
///
/// ```swift
/// let query = Query(
///     "Issue", where: .compare("state", .equal, .string("open")),
///     sortedBy: [.descending("updatedAt")], limit: 50)
/// let records = try store.read { try $0.fetch(query) }
/// ```
public struct Query: Sendable, Hashable {
    /// The name of an entity. The records of its descendant entities are included.
    public var entity: String
    /// The condition that the records meet.
    public var condition: Condition
    /// The sort order; the first part takes precedence.
    ///
    /// Records that are equal in all parts, and all records if there is no part, are in the order
    /// of their keys.
    public var order: [Order]
    /// The largest number of records; nil for all.
    public var limit: Int?
    /// The number of records skipped first; ignored if `after` is set.
    public var offset: Int
    /// The token of an earlier page of the same query.
    ///
    /// The records up to its position are skipped at no cost.
    public var after: ContinuationToken?
    /// The treatment of partial records.
    public var partials: Partials

    /// The treatment of partial records: included (the default), excluded, or exclusively returned.
    public enum Partials: String, Sendable, Hashable, CaseIterable {
        case included, excluded, only
    }

    /// One part of a sort order. In ascending order missing values come before all others.
    public struct Order: Sendable, Hashable {
        /// The path of the value. Lists and to-many relationships have no order.
        package var path: FieldPath
        /// Whether the greatest value comes first, and missing values last.
        package var isDescending: Bool

        /// Creates a part of a sort order, ascending by default.
        package init(_ path: FieldPath, descending: Bool = false) {
            self.path = path
            self.isDescending = descending
        }

        /// Returns an order in which the least value comes first.
        public static func ascending(_ path: FieldPath) -> Order { Order(path) }
        /// Returns an order in which the greatest value comes first.
        public static func descending(_ path: FieldPath) -> Order { Order(path, descending: true) }
    }

    /// Creates a query.
    ///
    /// - Precondition: the limit and the offset are not negative.
    public init(
        _ entity: String, where condition: Condition = .all, sortedBy order: [Order] = [], limit: Int? = nil,
        offset: Int = 0,
        after: ContinuationToken? = nil, partials: Partials = .included
    ) {
        precondition(limit ?? 0 >= 0 && offset >= 0, "limit and offset must not be negative")
        self.entity = entity
        self.condition = condition
        self.order = order
        self.limit = limit
        self.offset = offset
        self.after = after
        self.partials = partials
    }
}
