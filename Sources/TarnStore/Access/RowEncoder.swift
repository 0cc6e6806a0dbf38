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

/// What a record is encoded in, kept from one record to the next. For one encoder at a time: its writer's.
final class RowBuffers {
    @exclusivity(unchecked) var values = ValueEncoder()
    @exclusivity(unchecked) var places: [Range<Int>?] = []
    @exclusivity(unchecked) var body = BodyBuilder()
    @exclusivity(unchecked) var encoded = ByteWriter(capacity: 2048)
    @exclusivity(unchecked) var storageKey = ByteWriter(capacity: 256)

    func removeAll(fields: Int) {
        values.writer.removeAll()
        body.removeAll()
        encoded.removeAll()
        storageKey.removeAll()
        places.removeAll(keepingCapacity: true)
        for _ in 0..<fields { places.append(nil) }
    }
}

/// Takes the fields of a record.
///
/// What does not fit the catalog is remembered, and thrown by the `put` or `patch` that asked for the fields.
public struct RowEncoder<Record: StoredRecord>: ~Copyable {
    private let buffers: RowBuffers
    private let plan: RowPlan
    private let access: StoreAccess
    private var problem: StoreError?

    init(_ access: StoreAccess, _ buffers: RowBuffers) throws(StoreError) {
        self.access = access
        self.buffers = buffers
        plan = try access.plan(Record.self).takeUnretainedValue()
        buffers.removeAll(fields: plan.fields.count)
    }

    /// Forgets the fields, for the next record.
    mutating func removeAll() {
        buffers.removeAll(fields: plan.fields.count)
        problem = nil
    }

    /// What storing the record has to keep up.
    var rules: EntityRules { plan.rules }

    /// Sets a field. An optional that is nil makes it null. Of a field that is set twice, the last value counts.
    public mutating func set<Value: StoredValue>(_ field: Record.Field, _ value: Value) {
        let slot = field.rawValue
        precondition(buffers.places.indices.contains(slot), "a field is one of its type's cases")
        let start = buffers.values.writer.count
        buffers.values.textTag = plan.tags[slot].text
        value.encode(into: &buffers.values)
        let place = start..<buffers.values.writer.count
        let encoded = EncodedValue(buffers.values.writer.bytes(place))
        do throws(StoreError) {
            if encoded.tag != plan.tags[slot].sufficient {
                try access.check(encoded, fits: plan.fields[slot], of: plan.entity)
            }
            buffers.places[slot] = place
        } catch {
            problem = problem ?? error
        }
    }

    /// Sets a field to null.
    public mutating func clear(_ field: Record.Field) { set(field, Null()) }

    private func complete(_ body: inout BodyBuilder) {
        for slot in plan.ascending {
            guard let place = buffers.places[slot] else { continue }
            body.field(plan.slots[slot].id, EncodedValue(buffers.values.writer.bytes(place)))
        }
    }

    /// The same with the attributes of the key, which a change of a record does not say.
    ///
    /// - Throws: `StoreError.wrongKey` if the fields say another key.
    private func complete(_ body: inout BodyBuilder, with key: RecordKey) throws(StoreError) {
        let said = plan.entity.keyValues(key)
        var scratch = ByteWriter(capacity: 256)
        func add(_ id: UInt16, _ value: Value) {
            body.field(id) { $0.appendValue(value) }
        }
        var pending = said.keys.sorted()[...]
        for slot in plan.ascending {
            guard let place = buffers.places[slot] else { continue }
            let id = plan.fields[slot].id
            while let next = pending.first, next < id {
                pending.removeFirst()
                if let value = said[next] { add(next, value) }
            }
            let value = EncodedValue(buffers.values.writer.bytes(place))
            if let known = said[id] {
                pending = pending.drop { $0 == id }
                scratch.removeAll()
                scratch.appendValue(known)
                guard Bytes.equal(scratch.bytes, value.bytes) else {
                    throw .wrongKey(
                        entity: plan.entity.name, expected: "the key of the record, \(key), which cannot be changed",
                        found: value.typeName)
                }
            }
            body.field(id, value)
        }
        for id in pending { if let value = said[id] { add(id, value) } }
    }

    /// Lends the fields as a body of a row, and the storage key: of the key that is given, else of the one the fields say.
    ///
    /// - Throws: the first problem of a field; `StoreError.wrongKey` if the fields do not say the whole key.
    func finish<Result>(
        key: RecordKey?, _ body: (Bytes, RowBody, _ isComplete: Bool) throws -> Result
    ) throws -> Result {
        if let problem { throw problem }
        if let key { try complete(&buffers.body, with: key) } else { complete(&buffers.body) }
        let isWide = buffers.body.isWide
        buffers.body.finish(into: &buffers.encoded)
        guard let row = RowBody(buffers.encoded.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: plan.entity.name, key: key?.description ?? "")
        }
        if key == nil, let id = plan.intKey, let value = row.value(of: id)?.int {
            // The most frequent key, without a list of components.
            buffers.storageKey.appendTuple(value)
            return try body(buffers.storageKey.bytes, row, plan.isComplete)
        }
        guard let key = try key ?? access.wholeKey(plan.entity, row) else {
            throw StoreError.wrongKey(
                entity: plan.entity.name, expected: plan.entity.keyForm, found: "one that is not set completely")
        }
        key.appendStorageKey(to: &buffers.storageKey)
        guard WholeKey.isKept(plan.entity, buffers.storageKey.bytes) else {
            return try body(buffers.storageKey.bytes, row, plan.isComplete)
        }
        buffers.body.removeAll()
        buffers.body.wholeKey(plan.entity, buffers.storageKey.bytes) { key.tuple }
        for index in 0..<row.count {
            if let value = row.value(at: index) { buffers.body.field(row.id(at: index), value) }
        }
        var complete = ByteWriter(capacity: buffers.encoded.count + 512)
        let isCompleteWide = buffers.body.isWide
        buffers.body.finish(into: &complete)
        guard let row = RowBody(complete.bytes, isWide: isCompleteWide) else {
            throw StoreError.damagedRow(entity: plan.entity.name, key: key.description)
        }
        return try body(buffers.storageKey.bytes, row, plan.isComplete)
    }

    /// Lends the fields that were set as a body of a row that has no others.
    ///
    /// - Returns: what the closure returns, and whether the body is wide.
    /// - Throws: the first problem of a field.
    consuming func finishChange<Result>(_ body: (RowBody) throws -> Result) throws -> (Result, isWide: Bool) {
        if let problem { throw problem }
        complete(&buffers.body)
        let isWide = buffers.body.isWide
        buffers.body.finish(into: &buffers.encoded)
        guard let row = RowBody(buffers.encoded.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: plan.entity.name, key: "")
        }
        return (try body(row), isWide)
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
