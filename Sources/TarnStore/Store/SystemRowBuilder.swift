internal import LMDB

/// Writes a system row. Fields are added in ascending order of ids; a nil value is left out.
struct SystemRowBuilder: ~Copyable {
    private var body = BodyBuilder()

    mutating func field(_ id: UInt16, _ value: Value?) {
        guard let value else { return }
        body.field(id) { $0.appendValue(value) }
    }

    mutating func field(_ id: UInt16, _ text: String?) { field(id, text.map(Value.string)) }
    mutating func field(_ id: UInt16, _ number: Int?) { field(id, number.map { .int(Int64($0)) }) }
    mutating func field(_ id: UInt16, _ date: Timestamp?) { field(id, date.map(Value.date)) }
    mutating func field(_ id: UInt16, _ number: UInt64?) { field(id, number.map(Value.uint)) }

    /// Adds bytes that only the reader of this entry understands.
    mutating func field(_ id: UInt16, raw: borrowing ByteWriter) {
        let bytes = raw.bytes
        body.field(id) { $0.appendValue(tag: ValueTag.bytes, bytes) }
    }

    mutating func field(_ id: UInt16, bytes: [UInt8]) {
        body.field(id) { writer in bytes.withUnsafeBytes { writer.appendValue(tag: ValueTag.bytes, $0) } }
    }

    mutating func store(_ raw: RawTransaction, _ table: Table, _ key: Bytes, sequence: UInt64) throws(LMDBError) {
        var row = ByteWriter(capacity: 1024)
        let header = row.appendUninitialized(RowFormat.headerSize)
        EncodedRow.writeHeader(to: header, isPartial: false, isWide: body.isWide, entity: 0, version: sequence)
        body.finish(into: &row)
        row.store(EncodedRow.checksum(of: row.bytes, table: 0, key: key), at: 8)
        try raw.willAdd()
        try raw.put(table, key, row.bytes)
    }
}
