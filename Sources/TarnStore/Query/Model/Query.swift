// Which records of an entity, in which order, how many.

/// A question to the store, as a value: it can be kept, sent to another thread, observed, and asked again.
///
/// ```swift
/// let query = Query("Issue", where: .compare("state", .equal, .string("open")), sortedBy: [.descending("updatedAt")], limit: 50)
/// let records = try store.read { try $0.fetch(query) }
/// ```
public struct Query: Sendable, Hashable {
    /// The name of an entity. The records of entities that descend from it are its records too.
    public var entity: String
    /// What a record has to meet.
    public var condition: Condition
    /// The first counts before the second; records that are equal in all stand in the order of their keys. Empty: in the
    /// order of the keys.
    public var order: [Order]
    /// At most that many records; nil for all.
    public var limit: Int?
    /// How many records are passed over first; of no meaning if `after` says where to begin.
    public var offset: Int
    /// Where an earlier page of the same query ended: what came up to there is passed over, at no cost.
    public var after: ContinuationToken?
    /// Whether records are wanted that are known only in part.
    public var partials: Partials

    /// What becomes of records that are known only in part.
    public enum Partials: String, Sendable, Hashable, CaseIterable {
        case included, excluded, only
    }

    /// What records are sorted by. Missing values come before all others in ascending order.
    public struct Order: Sendable, Hashable {
        /// Where the value is. A list, and a relationship to several records, have no order.
        public var path: FieldPath
        /// Whether the greatest comes first, and what is missing last.
        public var isDescending: Bool

        public init(_ path: FieldPath, descending: Bool = false) {
            self.path = path
            self.isDescending = descending
        }

        /// The least first.
        public static func ascending(_ path: FieldPath) -> Order { Order(path) }
        /// The greatest first.
        public static func descending(_ path: FieldPath) -> Order { Order(path, descending: true) }
    }

    public init(
        _ entity: String, where condition: Condition = .all, sortedBy order: [Order] = [], limit: Int? = nil, offset: Int = 0,
        after: ContinuationToken? = nil, partials: Partials = .included
    ) {
        precondition(limit ?? 0 >= 0 && offset >= 0, "a limit and an offset are not negative")
        self.entity = entity
        self.condition = condition
        self.order = order
        self.limit = limit
        self.offset = offset
        self.after = after
        self.partials = partials
    }
}
