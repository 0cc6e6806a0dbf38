// Row format: a header, a directory of fields, values. All integers are little-endian.
//
//   header (20 bytes)
//      0  u8   format: 1
//      1  u8   flags: 1 = partial, 2 = wide directory
//      2  u8   compression: 0 = none,
//              1 = zstd (RFC 8878; one frame with content size, compressed with the dictionary),
//              2 = zstd of the long values only (`DividedBody`)
//              3 = the same, with a packed directory (`PackedDirectory`)
//      3  u8   reserved: 0
//      4  u16  dictionary id: 0 without compression
//      6  u16  concrete entity id
//      8  u32  CRC-32C over: u32 table id, storage key, header bytes 0–7, header bytes 12–19,
//              body as stored
//     12  u64  version: the commit sequence of the last change of content
//   body (uncompressed, or the compressed form)
//      0  u16  number of fields
//      2  directory, in ascending order of field id: u16 field id, u16 end offset (u32 if wide)
//         values: the first follows the directory; end offsets count from its beginning
//
// A value is a tag byte and a payload (`ValueTag`). A field that is missing from the directory is
// absent. A null field has a value of one byte, `ValueTag.null`.

/// The constants of the row format.
package enum RowFormat {
    package static let version: UInt8 = 1
    package static let headerSize = 20
    static let partial: UInt8 = 1
    static let wide: UInt8 = 2
    package static let uncompressed: UInt8 = 0
    package static let zstd: UInt8 = 1
    package static let zstdLongValues: UInt8 = 2
    package static let packedLongValues: UInt8 = 3
    static let allFlags: UInt8 = 3
    /// The largest total length of values whose offsets fit in 16 bits.
    static let narrowLimit = 0xFFFF
    /// The longest value, with its tag, that stays uncompressed in a divided body.
    /// Numbers, dates, UUIDs, most references and most names are short.
    static let longestShortValue = 17

    /// Returns whether rows of this form are divided, their directory packed or not.
    package static func isDivided(form: UInt8) -> Bool { form == zstdLongValues || form == packedLongValues }

    /// Returns whether a body is divided when it is compressed.
    /// At least half of it must be in long values. Otherwise too much would stay uncompressed.
    static func isDivided(longValues: Int, of body: Int) -> Bool { longValues * 2 >= body }
}
