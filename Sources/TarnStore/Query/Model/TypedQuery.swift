// Typed queries: built from a struct's fields, kept as a value, answered with structs or borrowed
// rows.

/// A query of one entity's records, as a value.
///
/// It can be stored, sent to another thread, observed, and repeated.
///
/// ```swift
/// let open = Issue
///     .where { $0[.state] == State.open && $0.through(.author, User.self)[.login] == "ada" }
///     .sorted(by: .updatedAt, .descending)
///     .prefix(20)
/// let issues = try store.read { r in try r.fetch(open) }
/// ```
///
/// For the meaning of comparisons see ``Condition``. A value of the wrong type is found when the
/// query is used: the error is `StoreError.wrongType`.
public struct TypedQuery<Record: StoredRecord>: Sendable, Hashable {
    /// The query without the type.
    ///
    /// - Precondition: its entity stays that of the struct.
    public var query: Query {
        didSet {
            // Ids of fields are those of an entity: rows of others would be read and written as
            // if they had these fields.
            precondition(
                query.entity == Record.entity,
                "a query of \(Record.self) is for \(Record.entity), and cannot be for \(query.entity)")
        }
    }

    /// Creates a query of the records that meet a condition; by default, of all.
    public init(_ condition: Condition = .all) {
        query = Query(Record.entity, where: condition)
    }

    /// The direction of an order: the least or the greatest value first.
    public enum Direction: Sendable, Hashable {
        case ascending, descending
    }

    /// Returns the query with an additional condition.
    public func filter(_ condition: (QueryFields<Record>) -> Condition) -> TypedQuery {
        with {
            $0.condition =
                query.condition == .all ? condition(QueryFields()) : query.condition && condition(QueryFields())
        }
    }

    /// Returns the query sorted by a field. The first of several calls takes precedence.
    public func sorted(by field: Record.Field, _ direction: Direction = .ascending) -> TypedQuery {
        with { $0.order.append(Query.Order(FieldPath([FieldNames.name(field)]), descending: direction == .descending)) }
    }

    /// Returns the query sorted by a field that may be behind relationships or ignore case.
    public func sorted(by field: (QueryFields<Record>) -> QueryField, _ direction: Direction = .ascending) -> TypedQuery
    {
        with { $0.order.append(Query.Order(field(QueryFields()).path, descending: direction == .descending)) }
    }

    /// Returns the query with a limit.
    public func prefix(_ count: Int) -> TypedQuery {
        precondition(count >= 0, "the limit must not be negative")
        return with { $0.limit = min(count, $0.limit ?? count) }
    }

    /// Returns the query with a greater offset: that many more records are skipped.
    ///
    /// - Precondition: the query has no `prefix` yet, since records are skipped before the limit
    ///   counts.
    public func dropFirst(_ count: Int = 1) -> TypedQuery {
        precondition(count >= 0, "the offset must not be negative")
        precondition(
            query.limit == nil, "dropFirst must come before prefix: a query skips records before it counts them")
        return with { query in
            let (sum, overflows) = query.offset.addingReportingOverflow(count)
            query.offset = overflows ? .max : sum
        }
    }

    /// Returns the query of the next page, from the token of an earlier one.
    public func after(_ token: ContinuationToken?) -> TypedQuery { with { $0.after = token } }

    /// Returns the query with a treatment of partial records.
    public func partials(_ partials: Query.Partials) -> TypedQuery { with { $0.partials = partials } }

    private func with(_ change: (inout Query) -> Void) -> TypedQuery {
        var result = self
        change(&result.query)
        return result
    }
}

extension StoredRecord {
    /// Returns a query of the records that meet a condition.
    public static func `where`(_ condition: (QueryFields<Self>) -> Condition) -> TypedQuery<Self> {
        TypedQuery(condition(QueryFields()))
    }

    /// A query of every record of the entity.
    public static var all: TypedQuery<Self> { TypedQuery() }
}

extension Condition {
    /// The length of a list up to which it is continued.
    ///
    /// Each continuation copies the list, which would take long for thousands.
    private static let longestContinued = 256

    /// Returns the condition that both hold. Several in a row become one list, or few lists.
    public static func && (a: Condition, b: Condition) -> Condition {
        if case .and(let parts) = a, parts.count < longestContinued { .and(parts + [b]) } else { .and([a, b]) }
    }

    /// Returns the condition that at least one holds. Several in a row become one list, or few.
    public static func || (a: Condition, b: Condition) -> Condition {
        if case .or(let parts) = a, parts.count < longestContinued { .or(parts + [b]) } else { .or([a, b]) }
    }

    /// Returns the negated condition.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Value {
    /// Encodes a value of the program as a row does. A reference becomes its key, of any length.
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

/// A value that refers to a record.
private protocol KeyReference {
    var recordKey: RecordKey { get }
}

extension Reference: KeyReference {
    fileprivate var recordKey: RecordKey { key.recordKey }
}
