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

/// The fields of a record, in the closure of ``StoredRecord/where(_:)``.
public struct QueryFields<Record: StoredRecord>: Sendable {
    private let names: [String]

    init(_ names: [String] = []) { self.names = names }

    /// A field of the record.
    public subscript(field: Record.Field) -> QueryField { QueryField(FieldPath(names + [FieldNames.name(field)])) }

    /// A field, or a relationship, that the struct does not have.
    public subscript(field: String) -> QueryField { QueryField(FieldPath(names + [field])) }

    /// The fields of the record that a to-one relationship leads to. They are missing where it leads to none.
    public func through<Target: StoredRecord>(_ relationship: Record.Field, _ target: Target.Type) -> QueryFields<Target> {
        QueryFields<Target>(names + [FieldNames.name(relationship)])
    }

    /// The same for a relationship that the struct does not have: a derived one, for example.
    public func through<Target: StoredRecord>(_ relationship: String, _ target: Target.Type) -> QueryFields<Target> {
        QueryFields<Target>(names + [relationship])
    }
}

/// A field in a condition. Compared with a value, it is one: `$0[.number] > 10`.
public struct QueryField: Sendable, Hashable {
    public var path: FieldPath

    public init(_ path: FieldPath) { self.path = path }

    /// The same field; texts that differ only in case are the same.
    public var ignoringCase: QueryField {
        var field = self
        field.path.ignoresCase = true
        return field
    }

    /// Absent or null.
    public var isMissing: Condition { .isMissing(path) }

    /// Equal to one of the values.
    public func isIn<Value: StoredValue>(_ values: some Sequence<Value>) -> Condition {
        .isIn(path, values.map { TarnStore.Value($0) })
    }

    /// Not less than the first value and not greater than the second.
    public func between<Value: StoredValue>(_ low: Value, _ high: Value) -> Condition {
        .between(path, TarnStore.Value(low), TarnStore.Value(high))
    }

    /// A text that begins with this one.
    public func hasPrefix(_ prefix: String) -> Condition { .hasPrefix(path, prefix) }

    /// A text in which this one stands; a list that has this element; a to-many relationship that leads to this key.
    public func contains<Value: StoredValue>(_ value: Value) -> Condition { .contains(path, TarnStore.Value(value)) }

    /// A text that is like a pattern: `%` stands for any characters, `_` for one, `\` takes the meaning of the next.
    public func like(_ pattern: String) -> Condition { .like(path, pattern) }

    // A comparison with a value is the condition of that name: see ``Condition``.

    public static func == <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.equal, value) }
    public static func != <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.notEqual, value) }
    public static func < <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.less, value) }
    public static func <= <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.lessOrEqual, value) }
    public static func > <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.greater, value) }
    public static func >= <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.greaterOrEqual, value)
    }

    /// `10...20 ~= $0[.number]`
    public static func ~= <Value: StoredValue>(range: ClosedRange<Value>, field: QueryField) -> Condition {
        field.between(range.lowerBound, range.upperBound)
    }

    /// `10..<20 ~= $0[.number]`
    public static func ~= <Value: StoredValue>(range: Range<Value>, field: QueryField) -> Condition {
        field >= range.lowerBound && field < range.upperBound
    }

    private func compared<Value: StoredValue>(_ comparison: Condition.Comparison, _ value: Value) -> Condition {
        .compare(path, comparison, TarnStore.Value(value))
    }
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
