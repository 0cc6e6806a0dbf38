// Rows: a header, a directory of fields, the values. All integers are little-endian.
//
//   header (20 bytes)
//      0  u8   format: 1
//      1  u8   flags: 1 = partial, 2 = wide directory
//      2  u8   compression: 0 = none, 1 = zstd (RFC 8878; one frame with its content size, and with the dictionary),
//              2 = the same of the long values only (`DividedBody`)
//      3  u8   reserved: 0
//      4  u16  dictionary id: 0 without compression
//      6  u16  concrete entity id
//      8  u32  CRC-32C over: u32 table id, storage key, header bytes 0–7, header bytes 12–19, body as stored
//     12  u64  version: the commit sequence in which the content changed last
//   body (as it is, or the frame that it is compressed into)
//      0  u16  number of fields
//      2  directory: for each field, in ascending order of id: u16 field id, u16 end offset (u32 if wide)
//         values: the first begins behind the directory, each ends at its end offset, counted from there
//
// A value is a tag byte and a payload (`ValueTag`). A field that is not in the directory is absent; one that is null has a
// value of one byte, `ValueTag.null`.


package enum RowFormat {
    package static let version: UInt8 = 1
    package static let headerSize = 20
    package static let partial: UInt8 = 1
    package static let wide: UInt8 = 2
    package static let uncompressed: UInt8 = 0
    package static let zstd: UInt8 = 1
    package static let zstdLongValues: UInt8 = 2
    package static let allFlags: UInt8 = 3
    /// The largest value area whose offsets fit 16 bits.
    package static let narrowLimit = 0xFFFF
    /// Values up to this length, with their tag, are not compressed in a divided body: numbers, dates, UUIDs, most references and names.
    static let longestShortValue = 17

    /// Whether a body is compressed divided: most of it is in long values. Otherwise too much of it would stay as it is.
    static func isDivided(longValues: Int, of body: Int) -> Bool { longValues * 2 >= body }
}

/// The first byte of a value.
@usableFromInline
package enum ValueTag {
    @inlinable package static var null: UInt8 { 0 }
    package static let `false`: UInt8 = 1
    package static let `true`: UInt8 = 2
    /// 1, 2, 4 or 8 bytes, two's complement.
    @inlinable package static var int: UInt8 { 3 }
    /// 8 bytes; only for values above `Int64.max`.
    package static let uint: UInt8 = 4
    /// 8 bytes, IEEE 754.
    package static let double: UInt8 = 5
    /// A decimal in its canonical text (`ExactDecimal.description`), ASCII.
    package static let decimal: UInt8 = 6
    /// UTF-8; enumerations as well.
    package static let string: UInt8 = 7
    /// As they are.
    package static let bytes: UInt8 = 8
    /// 8 bytes: microseconds since 1970, two's complement.
    package static let date: UInt8 = 9
    /// 16 bytes.
    package static let uuid: UInt8 = 10
    /// UTF-8.
    package static let url: UInt8 = 11
    /// Compact JSON text, UTF-8.
    package static let json: UInt8 = 12
    /// For each element: u32 length, value (a tag and a payload).
    package static let array: UInt8 = 13
    /// A storage key.
    package static let reference: UInt8 = 14
    /// A u32 position among the referrers of the same target, a storage key.
    package static let positionedReference: UInt8 = 15
    /// For each: u8 length, storage key.
    package static let references: UInt8 = 16
    /// References in a table of their own: u64 list id, u32 count, 16 bytes of a digest (`EdgeList`).
    package static let edges: UInt8 = 17
}

/// A body: the directory and the values. Every access is bounds-checked; a malformed body has no fields.
package struct RowBody {
    /// The whole body; of one that is `lent` divided, what is stored of it.
    private let stored: Bytes
    /// Where the long values come from if they are still compressed.
    let lent: UnsafeMutablePointer<LentBody>?
    private let fields: UInt16
    package let isWide: Bool

    package var count: Int { Int(fields) }
    private var valuesStart: Int { 2 + count * (isWide ? 6 : 4) }

    /// Nil if the directory does not fit the bytes.
    package init?(_ bytes: Bytes, isWide: Bool) {
        self.init(bytes, isWide: isWide, lent: nil)
    }

    /// A divided body, whose long values are decompressed when the first of them is asked for.
    init?(_ bytes: Bytes, isWide: Bool, lent: UnsafeMutablePointer<LentBody>?) {
        guard bytes.count >= 2 else { return nil }
        let fields = bytes.load(0, UInt16.self)
        guard 2 + Int(fields) * (isWide ? 6 : 4) <= bytes.count else { return nil }
        stored = bytes
        self.fields = fields
        self.isWide = isWide
        self.lent = lent
    }

    /// A body that was one already, of a row with this header.
    init(checked stored: Bytes, _ header: UnsafeRawPointer, _ lent: UnsafeMutablePointer<LentBody>?) {
        self.stored = stored
        fields = stored.load(0, UInt16.self)
        isWide = header.load(fromByteOffset: 1, as: UInt8.self) & RowFormat.wide != 0
        self.lent = lent
    }

    /// The directory and the values. None if a divided body turns out to be damaged.
    package var bytes: Bytes { lent == nil ? stored : whole ?? Bytes(start: nil, count: 0) }

    /// The directory, in any case.
    var directory: Bytes { stored }

    var isDivided: Bool { lent != nil }

    /// Whether the long values of a divided body could not be decompressed when they were asked for. It then has none of them.
    var isDamaged: Bool { lent?.pointee.isDamaged ?? false }

    /// A divided body as a whole one. Nil if it is damaged.
    var undivided: RowBody? { lent == nil ? self : whole.flatMap { RowBody($0, isWide: isWide) } }

    private var whole: Bytes? { lent?.pointee.whole() }

    package func id(at index: Int) -> UInt16 { stored.load(2 + index * (isWide ? 6 : 4), UInt16.self) }

    private func end(at index: Int) -> Int {
        isWide ? Int(stored.load(2 + index * 6 + 2, UInt32.self)) : Int(stored.load(2 + index * 4 + 2, UInt16.self))
    }

    /// The value at a place of the directory. Nil if its offsets make no sense.
    package func value(at index: Int) -> EncodedValue? {
        let start = valuesStart + (index == 0 ? 0 : end(at: index - 1)), end = valuesStart + end(at: index)
        guard lent == nil else { return dividedValue(at: index, start..<max(start, end)) }
        guard start < end, end <= stored.count else { return nil }
        return EncodedValue(stored.slice(start..<end))
    }

    @inline(never)
    private func dividedValue(at index: Int, _ range: Range<Int>) -> EncodedValue? {
        guard !range.isEmpty else { return nil }
        guard range.count <= RowFormat.longestShortValue else {
            guard let whole, range.upperBound <= whole.count else { return nil }
            return EncodedValue(whole.slice(range))
        }
        guard let divided = DividedBody(stored, isWide: isWide) else { return nil }
        let start = valuesStart + divided.shortLength(before: index)
        guard start >= valuesStart, start + range.count <= stored.count else { return nil }
        return EncodedValue(stored.slice(start..<start + range.count))
    }

    /// The value of a field. Nil if it is absent.
    package func value(of id: UInt16) -> EncodedValue? {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            let found = self.id(at: middle)
            if found == id { return value(at: middle) }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Ids ascend, offsets ascend and end with the bytes, and every value is well-formed.
    package var isWellFormed: Bool {
        var previous = -1
        for index in 0..<count {
            guard Int(id(at: index)) > previous, let value = value(at: index), value.isWellFormed else { return false }
            previous = Int(id(at: index))
        }
        return valuesStart + (count == 0 ? 0 : end(at: count - 1)) == bytes.count
    }
}

/// A row as it stands in the store.
package struct RowView {
    package let bytes: Bytes
    package let body: RowBody

    /// Nil if it is not an uncompressed row of a format that can be read here.
    package init?(_ bytes: Bytes) {
        guard bytes.count >= RowFormat.headerSize, bytes[2] == RowFormat.uncompressed else { return nil }
        self.init(bytes, body: bytes.slice(RowFormat.headerSize..<bytes.count))
    }

    /// A row whose body was decompressed. Nil if it is not a row of a format that can be read here.
    init?(_ bytes: Bytes, body: Bytes, lent: UnsafeMutablePointer<LentBody>? = nil) {
        guard bytes.count >= RowFormat.headerSize + 2, bytes[0] == RowFormat.version,
            bytes[1] & ~RowFormat.allFlags == 0, let body = RowBody(body, isWide: bytes[1] & RowFormat.wide != 0, lent: lent)
        else { return nil }
        self.bytes = bytes
        self.body = body
    }

    /// The same row with a whole body. Nil if its body is divided and damaged.
    var undivided: RowView? { body.isDivided ? body.undivided.map { RowView(bytes, $0) } : self }

    private init(_ bytes: Bytes, _ body: RowBody) {
        self.bytes = bytes
        self.body = body
    }

    /// A row that was one already, of which only the header and the body are known.
    init(header: UnsafeRawPointer, _ body: RowBody) {
        self.init(Bytes(start: header, count: RowFormat.headerSize), body)
    }

    /// The dictionary that the stored bytes of a row name, if they are compressed.
    static func dictionary(of row: Bytes) -> UInt16? {
        guard row.count > RowFormat.headerSize, row[2] == RowFormat.zstd || row[2] == RowFormat.zstdLongValues else { return nil }
        return row.load(4)
    }

    package var isPartial: Bool { bytes[1] & RowFormat.partial != 0 }
    package var isWide: Bool { bytes[1] & RowFormat.wide != 0 }
    package var entity: UInt16 { bytes.load(6) }
    package var checksum: UInt32 { bytes.load(8) }
    package var version: UInt64 { bytes.load(12) }

    package func hasValidChecksum(table: UInt32, key: Bytes) -> Bool {
        RowView.hasValidChecksum(bytes, table: table, key: key)
    }

    /// The checksum is over the stored bytes: it can be checked without the dictionary.
    package static func hasValidChecksum(_ row: Bytes, table: UInt32, key: Bytes) -> Bool {
        row.count >= RowFormat.headerSize && row.load(8, UInt32.self) == checksum(of: row, table: table, key: key)
    }

    /// The checksum of complete row bytes; what stands in their checksum field does not matter.
    package static func checksum(of row: Bytes, table: UInt32, key: Bytes) -> UInt32 {
        CRC32C.ofRow(row, table: table, key: key)
    }

    package static func writeHeader(
        to row: UnsafeMutableRawBufferPointer, isPartial: Bool, isWide: Bool, entity: UInt16, version: UInt64,
        compression: (form: UInt8, dictionary: UInt16) = (RowFormat.uncompressed, 0)
    ) {
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
