/// The form of storage keys.
///
/// An LMDB key has at most 511 bytes, and an index key holds two storage keys. So a primary key whose encoding is longer than
/// 207 bytes becomes its first 207 bytes, FF, and the SHA-256 of the whole encoding: 240 bytes. The whole key stands in the
/// row, and is compared.
///
/// A storage key delimits itself: the encoding of a primary key ends within 207 bytes, or byte 207 is followed by FF and a
/// digest. So an entry of an index can be split without looking at a row.
package enum StorageKey {
    package static let longest = 207
    package static let digestLength = 240

    /// The length of the storage key at the beginning of these bytes, for a key of that many components; nil if there is
    /// none.
    package static func length(in bytes: Bytes, components: Int) -> Int? {
        var reader = TupleReader(bytes.count > longest ? bytes.slice(0..<longest) : bytes)
        let mayBeDigest = bytes.count >= digestLength && bytes[longest] == 0xFF
        for _ in 0..<components where !reader.skip() { return mayBeDigest ? digestLength : nil }
        // No element begins with FF, so a 00 just before it was the first half of an escaped NUL that was cut.
        return mayBeDigest && reader.offset == longest ? digestLength : reader.offset
    }

    package static func isDigest(_ key: Bytes) -> Bool { key.count == digestLength }
}
