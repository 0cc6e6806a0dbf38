// Borrowed rows: fields are read in place, and nothing of a row leaves its transaction.

/// A borrowed record of the store, valid until the next change or the end of `read`.
///
/// In a closure that gets a row, the row is valid until the closure returns.
///
/// A read of one field touches no other. The compiler prevents a row, and text borrowed from it,
/// from leaving the transaction, from being captured by a task, and from being used after a change.
public struct Row<Record: StoredRecord>: ~Escapable {
    @usableFromInline let lent: RowView

    @_lifetime(immortal)
    @usableFromInline
    init(_ lent: RowView) { self.lent = lent }

    /// Returns the value of a field.
    ///
    /// - Throws: `StoreError.missingValue` if the row does not have the field and `Value` is not
    ///   optional; `.unreadableValue` if `Value` cannot be read from it, since it is of another
    ///   type for example, or null; `.damagedRow`.
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
        guard let value = Value(ValueView(bytes, lent.context)) else { throw lent.unreadable(slot, bytes, as: type) }
        return value
    }

    /// Returns the value of a field, or another value if the row does not have it.
    ///
    /// If `Value` is not optional, a null counts as absent.
    ///
    /// - Throws: `StoreError.unreadableValue`, `.damagedRow` as ``get(_:as:)``.
    @inlinable
    @inline(__always)
    public func get<Value: StoredValue>(
        _ field: Record.Field, default value: Value
    ) throws(StoreError) -> Value {
        guard let bytes = try lent.value(field.rawValue) else { return value }
        if ValueView(bytes, lent.context).isNull, Value.ifAbsent == nil { return value }
        return try get(field)
    }

    /// Returns the text of a field (a string, a URL, JSON) without copying it.
    ///
    /// - Returns: the text; nil if the field is null or absent.
    /// - Throws: `StoreError.unreadableValue`; `.damagedRow`, also for bytes that are not UTF-8.
    @_lifetime(copy self)
    public func text(_ field: Record.Field) throws(StoreError) -> UTF8Span? {
        let slot = field.rawValue
        guard let bytes = try lent.value(slot) else { return nil }
        let value = EncodedValue(bytes)
        if value.isNull { return nil }
        guard value.isText else { throw lent.unreadable(slot, bytes, as: String?.self) }
        let payload = value.payload
        let span = Span<UInt8>(
            _unsafeElements: UnsafeBufferPointer(
                start: payload.baseAddress?.assumingMemoryBound(to: UInt8.self), count: payload.count))
        let text: UTF8Span
        do { text = try UTF8Span(validating: span) } catch { throw lent.damaged }
        return _overrideLifetime(text, copying: self)
    }

    /// Returns the state of a field: absent, null, or a value.
    public func state(of field: Record.Field) throws(StoreError) -> FieldState {
        guard let bytes = try lent.value(field.rawValue) else { return .absent }
        return EncodedValue(bytes).isNull ? .null : .value
    }

    /// The primary key, from the row's own fields.
    ///
    /// - Throws: `StoreError.damagedRow` if the row lacks a part of it.
    public var key: Record.Key {
        get throws(StoreError) {
            guard let key = lent.recordKey.flatMap(Record.Key.init) else { throw lent.damaged }
            return key
        }
    }

    /// Returns a copy of the record.
    @inlinable
    public func copy() throws(StoreError) -> Record { try Record(Row(lent.whole())) }

    /// Whether the record is known only from partial nested objects.
    public var isPartial: Bool { lent.view.isPartial }

    /// The commit sequence of the last change of the content, for a compare-and-set.
    public var version: UInt64 { lent.view.version }
}
