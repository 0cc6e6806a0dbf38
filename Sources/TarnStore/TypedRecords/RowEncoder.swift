// How a struct becomes a row: values are written one after the other and then put in the order of the catalog's ids.

internal import LMDB

/// Takes the fields of a record.
///
/// What does not fit the catalog is remembered, and thrown by the `put` or `patch` that asked for the fields.
public struct RowEncoder<Record: StoredRecord>: ~Copyable {
    @usableFromInline let buffers: RowBuffers
    @usableFromInline let plan: RowPlan
    private let access: StoreAccess

    init(_ access: StoreAccess, _ buffers: RowBuffers) throws(StoreError) {
        self.access = access
        self.buffers = buffers
        plan = try access.plan(Record.self).takeUnretainedValue()
        buffers.removeAll(fields: plan.fields.count)
    }

    /// Forgets the fields, for the next record.
    @usableFromInline
    mutating func removeAll() { buffers.removeAll(fields: plan.fields.count) }

    /// What storing the record has to keep up.
    var rules: EntityRules { plan.rules }

    /// Sets a field. An optional that is nil makes it null. Of a field that is set twice, the last value counts.
    ///
    /// Fields that are set in the order in which the entity's were declared are stored as they come.
    @inlinable
    public mutating func set<Value: StoredValue>(_ field: Record.Field, _ value: Value) {
        let slot = field.rawValue, start = buffers.begin(slot, plan)
        value.encode(into: &buffers.values)
        buffers.end(slot, from: start, plan)
    }

    /// Sets a field to null.
    public mutating func clear(_ field: Record.Field) { set(field, Null()) }

    /// Lends the fields as a body of a row, and the storage key: of the key that is given, else of the one the fields say.
    ///
    /// - Throws: the first problem of a field; `StoreError.wrongKey` if the fields do not say the whole key.
    func finish<Result>(
        key: RecordKey?, _ body: (Bytes, RowBody, _ isComplete: Bool) throws -> Result
    ) throws -> Result {
        let row = try buffers.finish(plan, access, key: key)
        return try body(buffers.storageKey.bytes, row, plan.isComplete)
    }

    /// Lends the fields that were set as a body of a row that has no others.
    ///
    /// - Returns: what the closure returns, and whether the body is wide.
    /// - Throws: the first problem of a field.
    consuming func finishChange<Result>(_ body: (RowBody) throws -> Result) throws -> (Result, isWide: Bool) {
        let row = try buffers.finishChange(plan)
        return (try body(row), row.isWide)
    }

    /// A null of no type.
    private struct Null: StoredValue {
        init() {}
        init?(_ value: LentValue) { if !value.isNull { return nil } }
        func encode(into value: inout ValueEncoder) { value.null() }
    }
}

extension Catalog.Field {
    /// The tag that alone says that a value fits; nil if more has to be looked at.
    var sufficientTag: UInt8? {
        guard case .attribute(let type) = kind else { return nil }
        return switch type {
        case .int: ValueTag.int
        case .double: ValueTag.double
        case .decimal: ValueTag.decimal
        case .string: ValueTag.string
        case .bytes: ValueTag.bytes
        case .date: ValueTag.date
        case .uuid: ValueTag.uuid
        case .url: ValueTag.url
        case .json: ValueTag.json
        case .bool, .uint, .enumeration, .array: nil
        }
    }

    var textTag: UInt8 {
        guard case .attribute(var type) = kind else { return ValueTag.string }
        if case .array(let element) = type { type = element }
        return switch type {
        case .url: ValueTag.url
        case .json: ValueTag.json
        default: ValueTag.string
        }
    }
}
