// Index entries: their encoding from rows, and their decoding.
//
//   attribute:  the value as a tuple element ++ storage key
//   declared:   the values of the components as tuple elements ++ storage key
//   reference:  the target's storage key ++ position ++ storage key
//   members:    storage key
//
// Values of attributes and declared indexes have at most 270 bytes in an entry: longer ones are cut
// there, and FF follows. The position of a reference (u32, big-endian) is present only if the
// derived side is ordered.
//
// The value of an entry is empty. An absent or null attribute is the tuple's null. An absent
// reference has no entry. In a declared index a reference may be a component, too: its storage key
// is then a tuple element of bytes.

/// The encoding of index entries.
package enum IndexEntry {
    static let longestValue = 270

    /// Calls the closure with every entry of a record in an index.
    /// The number is the length of the entry's values if they must be unique, otherwise 0.
    static func forEach(
        _ index: CompiledIndex, _ row: RowBody, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes, Int) -> Void
    ) {
        guard let field = index.field else { return forEachDeclared(index, row, owner: owner, scratch: &scratch, body) }
        let value = row.value(of: field)
        let mustBeUnique = index.isUnique && !(value?.isNull ?? true)
        forEach(index.targets, value, owner: owner, scratch: &scratch) {
            body($0, mustBeUnique ? $0.count - owner.count : 0)
        }
    }

    private static func forEachDeclared(
        _ index: CompiledIndex, _ row: RowBody, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes, Int) -> Void
    ) {
        guard case .declared(let components, _) = index.source, index.admits(row, &scratch) else { return }
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

    /// The order of a reference's targets in its index.
    enum Targets: Sendable {
        case byKey, byPosition

        /// The order of a field's targets; nil if the field is an attribute.
        init?(_ field: Catalog.Field) {
            guard case .reference(let reference) = field.kind else { return nil }
            self.init(reference)
        }

        init(_ reference: Catalog.Reference) { self = reference.inverseIsOrdered ? .byPosition : .byKey }
    }

    /// Calls the closure with every entry that a value of a field has in the field's index.
    package static func forEach(
        _ field: Catalog.Field, _ value: EncodedValue?, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes) -> Void
    ) {
        forEach(Targets(field), value, owner: owner, scratch: &scratch, body)
    }

    /// Calls the closure with every entry of a value.
    ///
    /// - Parameter targets: the order of the targets; nil for an attribute.
    private static func forEach(
        _ targets: Targets?, _ value: EncodedValue?, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes) -> Void
    ) {
        guard let targets else {
            scratch.removeAll()
            appendValue(value, to: &scratch)
            scratch.append(owner)
            return body(scratch.bytes)
        }
        guard let value, !value.isNull else { return }
        func entry(_ target: Bytes) {
            scratch.removeAll()
            append(target, targets, position: value.position ?? 0, owner, to: &scratch)
            body(scratch.bytes)
        }
        if let target = value.reference { return entry(target) }
        value.forEachReference(entry)
    }

    /// Appends the index entry of a reference.
    static func append(
        _ target: Bytes, _ targets: Targets, position: UInt32 = 0, _ owner: Bytes, to writer: inout ByteWriter
    ) {
        writer.append(target)
        if targets == .byPosition { writer.appendBigEndian(position) }
        writer.append(owner)
    }

    /// Appends the value of a component of a declared index.
    static func append(
        _ value: EncodedValue?, _ component: CompiledIndex.Component, to writer: inout ByteWriter,
        limit: Int = longestValue
    ) {
        if component.isReference {
            guard let target = value?.reference else { return writer.appendTupleNull() }
            return writer.appendTuple(bytes: target)
        }
        guard component.foldsCase, let value, !value.isNull else {
            return appendValue(value, limit: limit, to: &writer)
        }
        // Folding shortens a text to a third at most, so bytes beyond four times the limit are cut
        // off in any case.
        var text = value.payload, end = min(text.count, limit.multipliedReportingOverflow(by: 4).partialValue)
        while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        text = text.slice(0..<max(0, end))
        var folded = ByteWriter()
        CaseFolding.append(text, to: &folded)
        writer.appendTuple(string: folded.bytes)
    }

    /// Appends the indexed form of an attribute's value, cut if it is too long.
    package static func appendValue(_ value: EncodedValue?, to writer: inout ByteWriter) {
        let start = writer.count
        appendValue(value, limit: longestValue, to: &writer)
        cut(&writer, from: start)
    }

    /// Appends a value of any length without cutting it. Its bytes sort as the values do.
    static func appendWholeValue(_ value: EncodedValue?, to writer: inout ByteWriter) {
        appendValue(value, limit: .max / 8, to: &writer)
    }

    private static func cut(_ writer: inout ByteWriter, from start: Int) {
        guard writer.count - start > longestValue else { return }
        writer.truncate(to: start + longestValue)
        writer.append(0xFF)
    }

    private static func appendValue(_ value: EncodedValue?, limit: Int, to writer: inout ByteWriter) {
        guard let value else { return writer.appendTupleNull() }
        switch value.form {
        case .bool: writer.appendTuple(value.tag == ValueTag.true)
        case .integer: writer.appendTuple(value.int ?? 0)
        case .largeInteger: writer.appendTuple(value.eightBytes ?? 0)
        case .double: writer.appendTuple(Double(bitPattern: value.eightBytes ?? 0))
        case .fixedInteger: writer.appendTuple(Int64(bitPattern: value.eightBytes ?? 0))
        case .decimal: if let decimal = ExactDecimal(ascii: value.payload) { writer.appendTuple(decimal) }
        // The caller cuts off everything beyond the limit.
        case .bytes: writer.appendTuple(bytes: value.payload.slice(0..<min(value.payload.count, limit)))
        case .text: writer.appendTuple(string: value.payload.slice(0..<min(value.payload.count, limit)))
        case .uuid where value.bytes.count == 17: writer.appendTuple(uuid: value.payload)
        default: writer.appendTupleNull()
        }
    }

    /// Returns whether an entry begins with exactly these values.
    /// 00 FF inside an encoded text is a NUL: the value of the entry is then longer. No storage key
    /// begins with FF.
    static func begins(_ entry: Bytes, with values: Bytes) -> Bool {
        entry.hasPrefix(values) && !(entry.count > values.count && entry[values.count] == 0xFF)
    }

    /// Returns the length of an entry's values, including the mark of a cut.
    ///
    /// - Returns: The length in bytes, and whether one of the values is null.
    package static func values(of entry: Bytes, components: Int) -> (length: Int, hasNull: Bool) {
        var reader = TupleReader(entry.slice(0..<min(entry.count, longestValue))), hasNull = false
        for _ in 0..<components {
            guard !reader.isAtEnd else { return (longestValue + 1, hasNull) }
            hasNull = hasNull || entry[reader.offset] == TupleCode.null
            guard reader.skip() else { return (longestValue + 1, hasNull) }
        }
        // A NUL that was cut in half looks like the end of a text.
        let isCut = reader.offset == longestValue && entry.count > longestValue && entry[longestValue] == 0xFF
        return (reader.offset + (isCut ? 1 : 0), hasNull)
    }

    /// Returns whether values were cut. Equal entries may then stand for different values.
    package static func isCut(_ values: Bytes) -> Bool { values.count == longestValue + 1 }

    /// Returns the storage key at the end of an entry with values of a known length.
    package static func owner(in entry: Bytes, afterValuesOf length: Int, positioned: Bool) -> Bytes? {
        let start = length + (positioned ? 4 : 0)
        guard start < entry.count else { return nil }
        return entry.slice(start..<entry.count)
    }
}
