/// The fields of a row that differ from its previous content.
struct ChangedFields {
    /// The previous body; nil for a new record.
    let old: RowBody?
    let new: RowBody
    /// The long lists of the change. The row itself only contains references to them.
    let lists: [EdgeListChanges.Change]
    /// The ids of the fields that the record no longer has, ascending. Their new value is null.
    let lost: [UInt16]

    private func forEach(_ body: (UInt16, EncodedValue) -> Void) {
        var lost = lost[...]
        withUnsafeBytes(of: ValueTag.null) { null in
            forEachPresent { id, value in
                while let first = lost.first, first < id {
                    body(first, EncodedValue(null))
                    lost.removeFirst()
                }
                body(id, value)
            }
            for id in lost { body(id, EncodedValue(null)) }
        }
    }

    private func forEachPresent(_ body: (UInt16, EncodedValue) -> Void) {
        var known = 0
        for index in 0..<new.count {
            let id = new.id(at: index)
            guard let value = new.value(at: index) else { continue }
            if let old {
                while known < old.count, old.id(at: known) < id { known += 1 }
                if known < old.count, old.id(at: known) == id, let before = old.value(at: known),
                    Bytes.equal(before.bytes, value.bytes)
                {
                    continue
                }
            }
            if value.tag == ValueTag.edges, let list = lists.first(where: { $0.field == id })?.after {
                body(id, list)
            } else {
                body(id, value)
            }
        }
    }

    /// Appends the flags and the body. Sizes are counted first, so that nothing is buffered.
    func append(to writer: inout ByteWriter, isPartial: Bool) {
        var count = 0, size = 0
        forEach { _, value in
            count += 1
            size += value.bytes.count
        }
        let isWide = size > RowFormat.narrowLimit
        writer.reserve(3 + count * 6 + size)
        writer.append((isPartial ? RowFormat.partial : 0) | (isWide ? RowFormat.wide : 0))
        writer.appendLittleEndian(UInt16(count))
        var end = 0
        forEach { id, value in
            end += value.bytes.count
            writer.appendLittleEndian(id)
            if isWide { writer.appendLittleEndian(UInt32(end)) } else { writer.appendLittleEndian(UInt16(end)) }
        }
        forEach { _, value in writer.append(value.bytes) }
    }
}
