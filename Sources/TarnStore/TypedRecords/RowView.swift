/// The untyped content of a `Row`. Every access is bounds-checked in every build.
///
/// The pointers are raw: a field is read in a few nanoseconds. `slotCount` bounds the slots, and
/// `bodyCount` the values; the directory was checked when the view of the row was created.
@usableFromInline
struct RowView {
    @usableFromInline let context: RowViewContext
    // The fields are small, and none follows from others: rows are copied, and many fit in the CPU
    // caches.
    private let header: UnsafeRawPointer
    private let lent: UnsafeMutablePointer<DecompressedBody>?
    /// The directory and the values. If the body is divided, only the directory is valid.
    @usableFromInline let body: UnsafeRawPointer
    @usableFromInline let slots: UnsafePointer<RowPlan.Slot>
    @usableFromInline let bodyCount: UInt32
    /// The number of fields if the values are at the directory's 16-bit offsets, else 0.
    @usableFromInline let plainFields: UInt16
    @usableFromInline let slotCount: UInt16

    @inline(__always)
    init?(_ view: EncodedRow, _ context: RowViewContext) {
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

    /// The row as a view of its header and its body.
    var view: EncodedRow {
        EncodedRow(header: header, RowBody(checked: Bytes(start: body, count: Int(bodyCount)), header, lent))
    }

    /// Returns the row in a form for reading most of it.
    ///
    /// A divided row is assembled at once, so that it is not searched for each field.
    @inlinable
    @inline(__always)
    func whole() throws(StoreError) -> RowView { plainFields > 0 ? self : try undivided() }

    @usableFromInline
    func undivided() throws(StoreError) -> RowView {
        // Few short fields are found faster in the divided row.
        guard view.body.isDivided, slotCount > RowView.fewFields else { return self }
        guard let view = view.undivided, let whole = RowView(view, context) else { throw damaged }
        return whole
    }

    private static let fewFields = 8

    /// Returns the bytes of a field, a tag and a payload; nil if the row does not have it.
    @inlinable
    @inline(__always)
    func value(_ slot: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
        precondition(slot >= 0 && slot < slotCount, "the field must be a case of its type")
        let slot = slots[slot]
        let place = Int(slot.rank), fields = Int(plainFields)
        // If the row has every field up to this one, its position is known. The directory is inside
        // the body.
        guard place < fields, directory(2 + place * 4) == slot.id else { return try search(slot) }
        let valuesStart = 2 + fields * 4
        let start = valuesStart + (place == 0 ? 0 : Int(directory(place * 4)))
        let end = valuesStart + Int(directory(4 + place * 4))
        guard start < end, end <= Int(bodyCount) else { throw damaged }
        return UnsafeRawBufferPointer(start: body + start, count: end - start)
    }

    @inlinable
    @inline(__always)
    func directory(_ offset: Int) -> UInt16 {
        UInt16(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    @usableFromInline
    func search(_ slot: RowPlan.Slot) throws(StoreError) -> UnsafeRawBufferPointer? {
        let body = view.body
        guard let place = body.place(of: slot.id, tryingFirst: Int(slot.rank)) else { return nil }
        guard let value = body.value(at: place) else { throw damaged }
        return value.bytes
    }

    var recordKey: RecordKey? {
        // The storage key is not needed: the row has the key's attributes.
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

    /// Returns the error of a value that cannot be read as one of a type: with the record, the
    /// value and the way out.
    @usableFromInline
    func unreadable<Value: StoredValue>(
        _ slot: Int, _ bytes: UnsafeRawBufferPointer, as type: Value.Type
    ) -> StoreError {
        let value = EncodedValue(bytes)
        // Malformed bytes of the right type are damage.
        guard value.isWellFormed else { return damaged }
        let field = context.plan._withUnsafeGuaranteedRef { $0.fields[slot] }
        return .unreadableValue(
            entity: place.entity, key: place.key, field: field.name, expected: TypeName.written(type),
            found: value.shown,
            wayOut: Value.wayOut(ValueView(bytes, context)) ?? TypeName.wayOut(field, isNull: value.isNull, type))
    }

    private func name(_ slot: Int) -> String { context.plan._withUnsafeGuaranteedRef { $0.fields[slot].name } }
}
