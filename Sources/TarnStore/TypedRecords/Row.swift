// A row that is lent: its fields are read where they stand, and nothing of it leaves the transaction.

internal import LMDB

/// A record as it stands in the store, lent for as long as nothing changes it: to a closure, or until the end of `read`.
///
/// Reading one field touches no other. The compiler keeps a row, and text lent by it, from leaving the transaction, from being
/// captured by a task, and from being held across a change.
public struct Row<Record: StoredRecord>: ~Escapable {
    @usableFromInline let lent: LentRow

    @_lifetime(immortal)
    @usableFromInline
    init(_ lent: LentRow) { self.lent = lent }

    /// The value of a field.
    ///
    /// - Throws: `StoreError.missingValue` if the row does not have the field and `Value` is not optional;
    ///   `.wrongType` if it is of another type, or null and `Value` is not optional; `.damagedRow`.
    @inlinable
    @inline(__always)
    public func get<Value: StoredValue>(
        _ field: Record.Field, as type: Value.Type = Value.self
    ) throws(StoreError) -> Value {
        let slot = field.rawValue
        guard let bytes = try lent.value(slot) else {
            guard let absent = Value.ifAbsent else { throw lent.missingValue(slot) }
            return absent
        }
        guard let value = Value(LentValue(bytes, lent.context)) else { throw lent.wrongType(slot, bytes, "\(type)") }
        return value
    }

    /// The text of a field (a string, a URL, JSON), not copied. Nil if the field is null, or if the row does not have it.
    ///
    /// - Throws: `StoreError.wrongType`; `.damagedRow`, also for bytes that are not UTF-8.
    @_lifetime(copy self)
    public func text(_ field: Record.Field) throws(StoreError) -> UTF8Span? {
        let slot = field.rawValue
        guard let bytes = try lent.value(slot) else { return nil }
        let value = EncodedValue(bytes)
        if value.isNull { return nil }
        guard value.isText else { throw lent.wrongType(slot, bytes, "text") }
        let payload = value.payload
        let span = Span<UInt8>(_unsafeElements: UnsafeBufferPointer(
            start: payload.baseAddress?.assumingMemoryBound(to: UInt8.self), count: payload.count))
        let text: UTF8Span
        do { text = try UTF8Span(validating: span) } catch { throw lent.damaged }
        return _overrideLifetime(text, copying: self)
    }

    /// Whether the row has the field, and what is in it.
    public func state(of field: Record.Field) throws(StoreError) -> FieldState {
        guard let bytes = try lent.value(field.rawValue) else { return .absent }
        return EncodedValue(bytes).isNull ? .null : .value
    }

    /// The primary key, from the row's own fields.
    ///
    /// - Throws: `StoreError.damagedRow` if it is not there.
    public var key: Record.Key {
        get throws(StoreError) {
            guard let key = lent.recordKey.flatMap(Record.Key.init) else { throw lent.damaged }
            return key
        }
    }

    /// A copy.
    @inlinable
    public func copy() throws(StoreError) -> Record { try Record(Row(lent.whole())) }

    /// Whether the record is known only from partial nested objects so far.
    public var isPartial: Bool { lent.view.isPartial }

    /// The commit sequence in which its content changed last: what a compare-and-set compares.
    public var version: UInt64 { lent.view.version }
}

/// The three states of a field in a row.
public enum FieldState: Sendable, Hashable {
    case absent, null, value
}

/// A transaction and a plan: what values need beyond their bytes. Valid as long as the row's transaction.
@usableFromInline
struct LentContext {
    private let transaction: BareTransaction
    let plan: Unmanaged<RowPlan>
    private let rows: Unmanaged<RowContext>?

    @inline(__always)
    init(_ access: StoreAccess, _ plan: Unmanaged<RowPlan>) {
        transaction = access.raw.bare
        self.plan = plan
        rows = access.rows
    }

    var access: StoreAccess {
        plan._withUnsafeGuaranteedRef { StoreAccess(transaction.raw, $0.state, rows?.takeUnretainedValue()) }
    }

    /// The key that a storage key in a reference stands for. A long one stands in the row that it leads to.
    func key<Key: StoredKey>(_ storageKey: Bytes, of target: String) -> Key? {
        guard StorageKey.isDigest(storageKey) else { return Key(encodedKey: storageKey) }
        let access = access
        guard let entity = access.catalog.entity(target), let row = try? access.row(entity, storageKey) else { return nil }
        return access.key(entity, storageKey, row).flatMap(Key.init)
    }
}

/// What a `Row` is inside, without its type. The bounds of every access are checked in every build.
@usableFromInline
struct LentRow {
    @usableFromInline let context: LentContext
    // Small numbers, and nothing that follows from the rest: rows are copied, and the processor's caches hold many of them.
    private let header: UnsafeRawPointer
    private let lent: UnsafeMutablePointer<LentBody>?
    /// The directory and the values. Of a divided body only the directory is as it says.
    @usableFromInline let body: UnsafeRawPointer
    @usableFromInline let slots: UnsafePointer<RowPlan.Slot>
    @usableFromInline let bodyCount: UInt32
    /// How many fields there are if the values stand as the offsets say, which are of 16 bits; else 0.
    @usableFromInline let plainFields: UInt16
    @usableFromInline let slotCount: UInt16

    @inline(__always)
    init?(_ view: RowView, _ context: LentContext) {
        let (slots, count) = context.plan._withUnsafeGuaranteedRef { ($0.slots.baseAddress, $0.slots.count) }
        guard let slots, let header = view.bytes.baseAddress, let body = view.body.directory.baseAddress,
            let bodyCount = UInt32(exactly: view.body.directory.count), let slotCount = UInt16(exactly: count)
        else { return nil }
        self.context = context
        self.header = header
        lent = view.body.lent
        self.body = body
        self.bodyCount = bodyCount
        plainFields = view.isWide || view.body.isDivided ? 0 : UInt16(truncatingIfNeeded: view.body.count)
        self.slots = UnsafePointer(slots)
        self.slotCount = slotCount
    }

    /// The row without what stands behind its header, and its body.
    var view: RowView { RowView(header: header, RowBody(checked: Bytes(start: body, count: Int(bodyCount)), header, lent)) }

    /// The row for whoever is about to read most of it: a divided one is put together at once, and not looked through for each field.
    @inlinable
    @inline(__always)
    func whole() throws(StoreError) -> LentRow { plainFields > 0 ? self : try undivided() }

    @usableFromInline
    func undivided() throws(StoreError) -> LentRow {
        // A few short fields are found faster where they are.
        guard view.body.isDivided, slotCount > LentRow.fewFields else { return self }
        guard let view = view.undivided, let whole = LentRow(view, context) else { throw damaged }
        return whole
    }

    private static let fewFields = 8

    /// The bytes of a field, a tag and a payload. Nil if the row does not have it.
    @inlinable
    @inline(__always)
    func value(_ slot: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
        precondition(slot >= 0 && slot < slotCount, "a field is one of its type's cases")
        let slot = slots[slot]
        let place = Int(slot.rank), fields = Int(plainFields)
        // In a row that has every field up to this one, its place is known. The directory is inside the body.
        guard place < fields, directory(2 + place * 4) == slot.id else { return try search(slot.id) }
        let valuesStart = 2 + fields * 4
        let start = valuesStart + (place == 0 ? 0 : Int(directory(place * 4)))
        let end = valuesStart + Int(directory(4 + place * 4))
        guard start < end, end <= Int(bodyCount) else { throw damaged }
        return UnsafeRawBufferPointer(start: body + start, count: end - start)
    }

    @inlinable
    @inline(__always)
    func directory(_ offset: Int) -> UInt16 { UInt16(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }

    @usableFromInline
    func search(_ id: UInt16) throws(StoreError) -> UnsafeRawBufferPointer? {
        let body = view.body
        guard let place = body.place(of: id) else { return nil }
        guard let value = body.value(at: place) else { throw damaged }
        return value.bytes
    }

    var recordKey: RecordKey? {
        // The storage key does not matter: the row holds the key's attributes.
        context.plan._withUnsafeGuaranteedRef { view.body.key(of: $0.entity) }
    }

    private var place: (entity: String, key: String) {
        let name = context.plan._withUnsafeGuaranteedRef { $0.entity.name }
        return (name, recordKey?.description ?? "with an unreadable key")
    }

    @usableFromInline
    var damaged: StoreError { .damagedRow(entity: place.entity, key: place.key) }

    @usableFromInline
    func missingValue(_ slot: Int) -> StoreError {
        .missingValue(entity: place.entity, key: place.key, field: name(slot), isPartial: view.isPartial)
    }

    @usableFromInline
    func wrongType(_ slot: Int, _ value: UnsafeRawBufferPointer, _ wanted: String) -> StoreError {
        // Bytes of the right type that make no value are damage.
        guard EncodedValue(value).isWellFormed else { return damaged }
        return .wrongType(
            entity: place.entity, field: name(slot), expected: wanted, found: EncodedValue(value).typeName)
    }

    private func name(_ slot: Int) -> String { context.plan._withUnsafeGuaranteedRef { $0.fields[slot].name } }
}

extension RowBody {
    /// The place of a field in the directory. Nil if it is absent.
    func place(of id: UInt16) -> Int? {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            let found = self.id(at: middle)
            if found == id { return middle }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
