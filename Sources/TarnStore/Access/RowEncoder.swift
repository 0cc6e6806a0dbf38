// How a struct becomes a row: values are written one after the other and then put in the order of the catalog's ids.

internal import LMDB

/// Where the value of one field is written.
public struct ValueEncoder: ~Copyable {
    var writer = ByteWriter(capacity: 2048)
    /// How text is stored in the field that is being written: as a string, a URL or JSON.
    var textTag = ValueTag.string

    init() {}

    mutating func null() { writer.appendValueNull() }
}

/// Takes the fields of a record.
///
/// What does not fit the catalog is remembered, and thrown by the `put` or `patch` that asked for the fields.
public struct RowEncoder<Record: StoredRecord>: ~Copyable {
    private var values = ValueEncoder()
    private var places: [Range<Int>?]
    private let plan: RowPlan
    private let access: StoreAccess
    private var problem: StoreError?

    init(_ access: StoreAccess) throws(StoreError) {
        self.access = access
        plan = try access.plan(Record.self).takeUnretainedValue()
        places = Array(repeating: nil, count: plan.fields.count)
    }

    /// Sets a field. An optional that is nil makes it null. Of a field that is set twice, the last value counts.
    public mutating func set<Value: StoredValue>(_ field: Record.Field, _ value: Value) {
        let slot = field.rawValue
        precondition(places.indices.contains(slot), "a field is one of its type's cases")
        let start = values.writer.count
        values.textTag = plan.fields[slot].textTag
        value.encode(into: &values)
        let encoded = EncodedValue(values.writer.bytes(start..<values.writer.count))
        do throws(StoreError) {
            try access.check(encoded, fits: plan.fields[slot], of: plan.entity)
            places[slot] = start..<values.writer.count
        } catch {
            problem = problem ?? error
        }
    }

    /// Sets a field to null.
    public mutating func clear(_ field: Record.Field) { set(field, Null()) }

    /// Sets the attributes of the key, which a change of a record does not say.
    ///
    /// - Throws: `StoreError.wrongKey` if the fields say another key.
    private func completed(_ body: inout BodyBuilder, with key: RecordKey?) throws(StoreError) {
        var components: [UInt16: KeyComponent] = [:]
        if let key { for (id, component) in zip(plan.entity.key, key.components) { components[id] = component } }
        var scratch = ByteWriter(capacity: 256)
        func add(_ id: UInt16, _ component: KeyComponent) {
            body.field(id) { $0.appendValue(Value(component)) }
        }
        var pending = components.keys.sorted()[...]
        for slot in plan.ascending {
            guard let place = places[slot] else { continue }
            let id = plan.fields[slot].id
            while let next = pending.first, next < id {
                pending.removeFirst()
                if let component = components[next] { add(next, component) }
            }
            let value = EncodedValue(values.writer.bytes(place))
            if let component = components[id], let key {
                pending = pending.drop { $0 == id }
                scratch.removeAll()
                scratch.appendValue(Value(component))
                guard Bytes.equal(scratch.bytes, value.bytes) else {
                    throw .wrongKey(
                        entity: plan.entity.name, expected: "the key of the record, \(key), which cannot be changed",
                        found: value.typeName)
                }
            }
            body.field(id, value)
        }
        for id in pending { if let component = components[id] { add(id, component) } }
    }

    /// Lends the fields as a body of a row, and the storage key: of the key that is given, else of the one the fields say.
    ///
    /// - Throws: the first problem of a field; `StoreError.wrongKey` if the fields do not say the whole key.
    consuming func finish<Result>(
        key: RecordKey?, _ body: (Catalog.Entity, Bytes, RowBody, _ isComplete: Bool) throws -> Result
    ) throws -> Result {
        if let problem { throw problem }
        var builder = BodyBuilder(), encoded = ByteWriter(capacity: 2048), storageKey = ByteWriter(capacity: 256)
        try completed(&builder, with: key)
        let isWide = builder.isWide
        builder.finish(into: &encoded)
        guard let row = RowBody(encoded.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: plan.entity.name, key: key?.description ?? "")
        }
        guard let key = key ?? row.key(of: plan.entity) else {
            throw StoreError.wrongKey(
                entity: plan.entity.name, expected: plan.entity.keyForm, found: "one that is not set completely")
        }
        key.appendStorageKey(to: &storageKey)
        return try body(plan.entity, storageKey.bytes, row, plan.isComplete)
    }

    /// A null of no type.
    private struct Null: StoredValue {
        init() {}
        init?(_ value: LentValue) { if !value.isNull { return nil } }
        func encode(into value: inout ValueEncoder) { value.null() }
    }
}

extension Catalog.Field {
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
