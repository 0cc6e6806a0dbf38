// The encoding of structs as rows: values are appended as they are set, then sorted by field id.

/// The destination of a record's fields.
///
/// The first value that does not fit the catalog is recorded. The `put` or `patch` that started the
/// encoding throws it.
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

    /// Clears the fields for the next record.
    @usableFromInline
    mutating func removeAll() { buffers.removeAll(fields: plan.fields.count) }

    /// The rules for storing the record.
    var rules: EntityRules { plan.rules }

    /// Sets a field; a nil optional sets it to null.
    ///
    /// If a field is set twice, the last value is stored. Fields that are set in the order of the
    /// entity's declarations need no sorting.
    @inlinable
    public mutating func set<Value: StoredValue>(_ field: Record.Field, _ value: Value) {
        let slot = field.rawValue, start = buffers.begin(slot, plan)
        value.encode(into: &buffers.values)
        buffers.end(slot, from: start, plan)
    }

    /// Sets a field to null.
    ///
    /// The `put` or `patch` throws `StoreError.wrongType` if a record requires the field and it has
    /// no default: the record could no longer be read as a struct.
    public mutating func clear(_ field: Record.Field) {
        let cleared = plan.fields[field.rawValue]
        if !cleared.isOptional, cleared.defaultValue == nil {
            buffers.refuse(
                .wrongType(
                    entity: plan.entity.name, field: cleared.name, expected: "a value, since records require it",
                    found: "a null; declare it as an optional to clear it"))
        }
        set(field, Null())
    }

    /// Calls a closure with the row body of the fields and the storage key, borrowed.
    ///
    /// - Parameter key: the key of the record; nil to take it from the fields.
    /// - Throws: the first problem of a field; `StoreError.wrongKey` if the fields do not have the
    ///   whole key.
    func finish<Result>(
        key: RecordKey?, _ body: (Bytes, RowBody, _ isComplete: Bool) throws -> Result
    ) throws -> Result {
        let row = try buffers.finish(plan, access, key: key)
        return try body(buffers.storageKey.bytes, row, plan.isComplete)
    }

    /// Calls a closure as ``finish(key:_:)`` does, once more, with a key that has replaced the
    /// fields' own.
    func finish<Result>(
        replacingKeyBy key: RecordKey, _ body: (Bytes, RowBody, _ isComplete: Bool) throws -> Result
    ) throws -> Result {
        let row = try buffers.finish(plan, access, replacingKeyBy: key)
        return try body(buffers.storageKey.bytes, row, plan.isComplete)
    }

    /// Calls a closure with a row body that has only the fields that were set, borrowed.
    ///
    /// - Returns: the result of the closure, and whether the body is wide.
    /// - Throws: the first problem of a field.
    consuming func finishChange<Result>(_ body: (RowBody) throws -> Result) throws -> (Result, isWide: Bool) {
        let row = try buffers.finishChange(plan)
        return (try body(row), row.isWide)
    }

    /// The null value.
    private struct Null: StoredValue {
        init() {}
        init?(_ value: ValueView) { if !value.isNull { return nil } }
        func encode(into value: inout ValueEncoder) { value.null() }
    }
}

extension Catalog.Field {
    /// The tag that alone proves that a value fits; nil if the value itself has to be checked.
    var sufficientTag: UInt8? {
        switch kind {
        // Texts are checked to be JSON.
        case .attribute(.json), .reference: nil
        case .attribute(let type): type.tag
        }
    }

    /// The tag of texts in the field, or in its elements.
    var textTag: UInt8 {
        guard case .attribute(var type) = kind else { return ValueTag.string }
        if case .array(let element) = type { type = element }
        guard let tag = type.tag, ValueTag.form(of: tag) == .text else { return ValueTag.string }
        return tag
    }
}
