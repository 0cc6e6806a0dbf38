// Queries on the records that a struct holds: built from its fields, kept as a value, answered with structs or lent rows.

/// A question about the records of one entity, as a value: it can be kept, sent to another thread, observed, and asked again.
///
/// ```swift
/// let open = Issue.where { $0[.state] == State.open && $0.through(.author, User.self)[.login] == "ada" }
///     .sorted(by: .updatedAt, .descending)
///     .prefix(20)
/// let issues = try store.read { r in try r.fetch(open) }
/// ```
///
/// What a comparison means is said at ``Condition``. A value that is not of its field's type is found when the query is
/// used: the error is `StoreError.wrongType`.
public struct TypedQuery<Record: StoredRecord>: Sendable, Hashable {
    /// The same without the type.
    public var query: Query

    /// The records that meet a condition, by default all of the entity.
    public init(_ condition: Condition = .all) {
        query = Query(Record.entity, where: condition)
    }

    /// Which end of an order comes first.
    public enum Direction: Sendable, Hashable {
        case ascending, descending
    }

    /// The same query, with a condition more.
    public func filter(_ condition: (QueryFields<Record>) -> Condition) -> TypedQuery {
        with { $0.condition = query.condition == .all ? condition(QueryFields()) : query.condition && condition(QueryFields()) }
    }

    /// The same query, sorted by a field. Of several calls the first counts most.
    public func sorted(by field: Record.Field, _ direction: Direction = .ascending) -> TypedQuery {
        with { $0.order.append(Query.Order(FieldPath([FieldNames.name(field)]), descending: direction == .descending)) }
    }

    /// The same query, sorted by a field that may be behind relationships, or whose case does not count.
    public func sorted(by field: (QueryFields<Record>) -> QueryField, _ direction: Direction = .ascending) -> TypedQuery {
        with { $0.order.append(Query.Order(field(QueryFields()).path, descending: direction == .descending)) }
    }

    /// The same query, for that many records at most.
    public func prefix(_ count: Int) -> TypedQuery {
        precondition(count >= 0, "a query asks for 0 records or more")
        return with { $0.limit = min(count, $0.limit ?? count) }
    }

    /// The same query; that many records more are passed over.
    ///
    /// - Precondition: there is no `prefix` yet. What is passed over is passed over first.
    public func dropFirst(_ count: Int = 1) -> TypedQuery {
        precondition(count >= 0, "a query passes over 0 records or more")
        precondition(query.limit == nil, "write dropFirst before prefix: a query passes records over first, and then counts")
        return with { $0.offset += count }
    }

    /// The same query, from where an earlier page of it ended.
    public func after(_ token: ContinuationToken?) -> TypedQuery { with { $0.after = token } }

    /// The same query, for records that are known in part as it says.
    public func partials(_ partials: Query.Partials) -> TypedQuery { with { $0.partials = partials } }

    private func with(_ change: (inout Query) -> Void) -> TypedQuery {
        var result = self
        change(&result.query)
        return result
    }
}

extension StoredRecord {
    /// The records that meet a condition.
    public static func `where`(_ condition: (QueryFields<Self>) -> Condition) -> TypedQuery<Self> {
        TypedQuery(condition(QueryFields()))
    }

    /// Every record of the entity.
    public static var all: TypedQuery<Self> { TypedQuery() }
}

extension Condition {
    /// Both. Of several in a row one list is made.
    public static func && (a: Condition, b: Condition) -> Condition {
        if case .and(let parts) = a { .and(parts + [b]) } else { .and([a, b]) }
    }

    /// At least one of both. Of several in a row one list is made.
    public static func || (a: Condition, b: Condition) -> Condition {
        if case .or(let parts) = a { .or(parts + [b]) } else { .or([a, b]) }
    }

    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Value {
    /// What a program's own value is in a row. A reference is its key, however long.
    init(_ value: some StoredValue) {
        if let reference = value as? any KeyReference {
            self = .reference(reference.recordKey)
            return
        }
        var encoder = ValueEncoder()
        value.encode(into: &encoder)
        self = EncodedValue(encoder.writer.bytes).decoded() ?? .null
    }
}

/// A value that stands for a record.
private protocol KeyReference {
    var recordKey: RecordKey { get }
}

extension Reference: KeyReference {
    fileprivate var recordKey: RecordKey { key.recordKey }
}
