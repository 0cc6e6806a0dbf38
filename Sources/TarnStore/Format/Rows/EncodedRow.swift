/// A row in its stored form, read in place.
///
/// The size of the header is checked when the view is created.
package struct EncodedRow {
    let bytes: Bytes
    package let body: RowBody

    /// Creates a view of an uncompressed row. Nil for a compressed row or an unknown format.
    package init?(_ bytes: Bytes) {
        guard bytes.count >= RowFormat.headerSize, bytes[2] == RowFormat.uncompressed else { return nil }
        self.init(bytes, body: bytes.slice(RowFormat.headerSize..<bytes.count))
    }

    /// Creates a view of a row with a decompressed body. Nil for an unknown format.
    init?(_ bytes: Bytes, body: Bytes, lent: UnsafeMutablePointer<DecompressedBody>? = nil) {
        guard bytes.count >= RowFormat.headerSize + 2, bytes[0] == RowFormat.version,
            bytes[1] & ~RowFormat.allFlags == 0,
            let body = RowBody(
                body, isWide: bytes[1] & RowFormat.wide != 0,
                isPacked: lent != nil && bytes[2] == RowFormat.packedLongValues, lent: lent)
        else { return nil }
        self.bytes = bytes
        self.body = body
    }

    /// The row with a whole body. Nil if the body is divided and damaged.
    var undivided: EncodedRow? { body.isDivided ? body.undivided.map { EncodedRow(bytes, $0) } : self }

    private init(_ bytes: Bytes, _ body: RowBody) {
        self.bytes = bytes
        self.body = body
    }

    /// Recreates a view that was checked before. Only the header and the body are known.
    init(header: UnsafeRawPointer, _ body: RowBody) {
        self.init(Bytes(start: header, count: RowFormat.headerSize), body)
    }

    /// Returns the dictionary id in the header of a stored row. Nil if the row is uncompressed.
    package static func dictionary(of row: Bytes) -> UInt16? {
        guard row.count > RowFormat.headerSize, row[2] == RowFormat.zstd || RowFormat.isDivided(form: row[2]) else {
            return nil
        }
        return row.load(4)
    }

    package var isPartial: Bool { bytes[1] & RowFormat.partial != 0 }
    package var isWide: Bool { bytes[1] & RowFormat.wide != 0 }
    package var entity: UInt16 { bytes.uncheckedLoad(6) }
    package var version: UInt64 { bytes.uncheckedLoad(12) }

    package func hasValidChecksum(table: UInt32, key: Bytes) -> Bool {
        EncodedRow.hasValidChecksum(bytes, table: table, key: key)
    }

    /// Checks the checksum. It covers the stored bytes, so no dictionary is needed.
    package static func hasValidChecksum(_ row: Bytes, table: UInt32, key: Bytes) -> Bool {
        row.count >= RowFormat.headerSize && row.load(8, UInt32.self) == checksum(of: row, table: table, key: key)
    }

    /// Computes the checksum of a complete row. The header's checksum field is ignored.
    static func checksum(of row: Bytes, table: UInt32, key: Bytes) -> UInt32 {
        CRC32C.ofRow(row, table: table, key: key)
    }

    static func writeHeader(
        to row: UnsafeMutableRawBufferPointer, isPartial: Bool, isWide: Bool, entity: UInt16, version: UInt64,
        compression: (form: UInt8, dictionary: UInt16) = (RowFormat.uncompressed, 0)
    ) {
        precondition(row.count >= RowFormat.headerSize, "no room for the header")
        let flags = (isPartial ? RowFormat.partial : 0) | (isWide ? RowFormat.wide : 0)
        row.storeBytes(of: RowFormat.version, toByteOffset: 0, as: UInt8.self)
        row.storeBytes(of: flags, toByteOffset: 1, as: UInt8.self)
        row.storeBytes(of: compression.form, toByteOffset: 2, as: UInt8.self)
        row.storeBytes(of: 0, toByteOffset: 3, as: UInt8.self)
        row.storeBytes(of: compression.dictionary.littleEndian, toByteOffset: 4, as: UInt16.self)
        row.storeBytes(of: entity.littleEndian, toByteOffset: 6, as: UInt16.self)
        row.storeBytes(of: 0, toByteOffset: 8, as: UInt32.self)
        row.storeBytes(of: version.littleEndian, toByteOffset: 12, as: UInt64.self)
    }
}
