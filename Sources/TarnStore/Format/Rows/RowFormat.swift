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
