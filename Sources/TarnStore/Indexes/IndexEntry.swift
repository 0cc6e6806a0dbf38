// Entries of indexes: what a row contributes to each, and how an entry is split again.
//
//   attribute:  the value as a tuple element (at most 270 bytes; a longer one is cut there and FF follows) ++ storage key
//   declared:   the values of its components as tuple elements, one after the other, cut likewise ++ storage key
//   reference:  the target's storage key ++ (position, u32 big-endian, if the derived side is ordered) ++ storage key
//   members:    storage key
//
// The value of an entry is empty. Absent and null attributes stand as the tuple's null; an absent reference has no entry. In
// a declared index a reference is a component as well: its storage key as a tuple's bytes.

internal import LMDB

package enum IndexEntry {
    static let longestValue = 270

    /// Calls the closure with every entry that a record contributes to an index, and with how many bytes of it have to be
    /// unique: 0 if none have.
    package static func forEach(
        _ index: CompiledIndex, _ row: RowBody, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes, Int) -> Void
    ) {
        switch index.source {
        case .field(let field):
            let value = row.value(of: field.id)
            let mustBeUnique = index.isUnique && !(value?.isNull ?? true)
            forEach(field, value, owner: owner, scratch: &scratch) {
                body($0, mustBeUnique ? $0.count - owner.count : 0)
            }
        case .declared(let components, _):
            guard index.admits(row, &scratch) else { return }
            scratch.removeAll()
            var hasNull = false
            for component in components {
                let value = row.value(of: component.field)
                hasNull = hasNull || (value?.isNull ?? true)
                append(value, component, to: &scratch)
            }
            cut(&scratch, from: 0)
            let length = scratch.count
            scratch.append(owner)
            body(scratch.bytes, index.isUnique && !hasNull ? length : 0)
        }
    }

    /// Calls the closure with every entry that a value of a field contributes for a record.
    package static func forEach(
        _ field: Catalog.Field, _ value: EncodedValue?, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes) -> Void
    ) {
        switch field.kind {
        case .attribute:
            scratch.removeAll()
            appendValue(value, to: &scratch)
            scratch.append(owner)
            body(scratch.bytes)
        case .reference(let reference):
            guard let value, !value.isNull else { return }
            func entry(_ target: Bytes) {
                scratch.removeAll()
                append(target, reference, position: value.position ?? 0, owner, to: &scratch)
                body(scratch.bytes)
            }
            if let target = value.reference { return entry(target) }
            value.forEachReference(entry)
        }
    }

    /// Appends the entry of a reference.
    package static func append(
        _ target: Bytes, _ reference: Catalog.Reference, position: UInt32 = 0, _ owner: Bytes, to writer: inout ByteWriter
    ) {
        writer.append(target)
        if reference.inverseIsOrdered { writer.appendBigEndian(position) }
        writer.append(owner)
    }

    /// Appends a component of a declared index.
    static func append(
        _ value: EncodedValue?, _ component: CompiledIndex.Component, to writer: inout ByteWriter,
        limit: Int = longestValue
    ) {
        if component.isReference {
            guard let target = value?.reference else { return writer.appendTupleNull() }
            return writer.appendTuple(bytes: target)
        }
        guard component.foldsCase, let value, !value.isNull else { return appendValue(value, limit: limit, to: &writer) }
        // Folding may make a text three times shorter: what is beyond four times the limit is cut off again.
        var text = value.payload, end = min(text.count, limit.multipliedReportingOverflow(by: 4).partialValue)
        while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        text = text.slice(0..<max(0, end))
        var folded = ByteWriter()
        CaseFolding.append(text, to: &folded)
        writer.appendTuple(string: folded.bytes)
    }

    /// Appends the indexed form of an attribute's value.
    package static func appendValue(_ value: EncodedValue?, to writer: inout ByteWriter) {
        let start = writer.count
        appendValue(value, limit: longestValue, to: &writer)
        cut(&writer, from: start)
    }

    /// Appends the whole value, however long: its order is that of the values.
    static func appendWholeValue(_ value: EncodedValue?, to writer: inout ByteWriter) {
        appendValue(value, limit: .max / 8, to: &writer)
    }

    private static func cut(_ writer: inout ByteWriter, from start: Int) {
        guard writer.count - start > longestValue else { return }
        writer.truncate(to: start + longestValue)
        writer.append(0xFF)
    }

    private static func appendValue(_ value: EncodedValue?, limit: Int, to writer: inout ByteWriter) {
        switch value?.tag {
        case ValueTag.false: writer.appendTuple(false)
        case ValueTag.true: writer.appendTuple(true)
        case ValueTag.int: writer.appendTuple(value?.int ?? 0)
        case ValueTag.uint: writer.appendTuple(value?.eightBytes ?? 0)
        case ValueTag.double: writer.appendTuple(Double(bitPattern: value?.eightBytes ?? 0))
        case ValueTag.date: writer.appendTuple(Int64(bitPattern: value?.eightBytes ?? 0))
        case ValueTag.decimal:
            if let decimal = value.flatMap({ ExactDecimal(ascii: $0.payload) }) { writer.appendTuple(decimal) }
        case ValueTag.bytes:
            if let payload = value?.payload {
                writer.appendTuple(bytes: payload.slice(0..<min(payload.count, limit)))
            }
        case ValueTag.string, ValueTag.url, ValueTag.json:
            if let payload = value?.payload {
                // What is beyond the limit would be cut off again.
                writer.appendTuple(string: payload.slice(0..<min(payload.count, limit)))
            }
        case ValueTag.uuid where value?.bytes.count == 17:
            if let payload = value?.payload { writer.appendTuple(uuid: payload) }
        default: writer.appendTupleNull()
        }
    }

    /// Whether the values at the beginning of an entry are these. 00 FF inside an encoded text is a NUL: then the entry's value
    /// is longer. No storage key begins with FF.
    package static func begins(_ entry: Bytes, with values: Bytes) -> Bool {
        entry.hasPrefix(values) && !(entry.count > values.count && entry[values.count] == 0xFF)
    }

    /// How long the values at the beginning of an entry are, the mark of a cut included, and whether one of them is null.
    package static func values(of entry: Bytes, components: Int) -> (length: Int, hasNull: Bool) {
        var reader = TupleReader(entry.slice(0..<min(entry.count, longestValue))), hasNull = false
        for _ in 0..<components {
            guard !reader.isAtEnd else { return (longestValue + 1, hasNull) }
            hasNull = hasNull || entry[reader.offset] == TupleCode.null
            guard reader.skip() else { return (longestValue + 1, hasNull) }
        }
        // A NUL whose second half was cut away looks like the end of a text.
        let isCut = reader.offset == longestValue && entry.count > longestValue && entry[longestValue] == 0xFF
        return (reader.offset + (isCut ? 1 : 0), hasNull)
    }

    /// Whether values were too long for an index: then entries that look alike may be of different values.
    package static func isCut(_ values: Bytes) -> Bool { values.count == longestValue + 1 }

    /// The storage key at the end of an entry whose values are that long.
    package static func owner(in entry: Bytes, afterValuesOf length: Int, positioned: Bool) -> Bytes? {
        let start = length + (positioned ? 4 : 0)
        guard start < entry.count else { return nil }
        return entry.slice(start..<entry.count)
    }
}
