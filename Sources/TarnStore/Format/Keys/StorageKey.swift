/// The length and the self-delimiting form of storage keys.
///
/// An LMDB key has at most 511 bytes, and an index key contains two storage keys. If the encoding
/// of a primary key is longer than 207 bytes, the storage key is therefore its first 207 bytes, FF,
/// and the SHA-256 of the whole encoding: 240 bytes. The row stores the whole key, which is
/// compared.
///
/// A storage key is self-delimiting: either its components end within 207 bytes, or byte 207 is FF
/// and a digest follows. An index entry can therefore be split without reading a row.
package enum StorageKey {
    package static let longest = 207
    package static let digestLength = 240

    /// Returns the length of the storage key at the beginning of the bytes. Nil if there is none.
    ///
    /// - Parameter components: The number of components of the primary key.
    package static func length(in bytes: Bytes, components: Int) -> Int? {
        var reader = TupleReader(bytes.count > longest ? bytes.slice(0..<longest) : bytes)
        let mayBeDigest = bytes.count >= digestLength && bytes[longest] == 0xFF
        for _ in 0..<components where !reader.skip() { return mayBeDigest ? digestLength : nil }
        // No element begins with FF. If a 00 precedes it, that 00 is half of an escaped NUL that
        // was cut.
        return mayBeDigest && reader.offset == longest ? digestLength : reader.offset
    }

    package static func isDigest(_ key: Bytes) -> Bool { key.count == digestLength }
}
