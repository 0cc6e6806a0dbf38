/// The checksum that follows a stored value.
package enum ValueChecksum {
    package static let size = 4

    static func of(_ content: Bytes, table: StaticString, key: Bytes) -> UInt32 {
        var crc = CRC32C()
        crc.update(Bytes(table))
        crc.update(key)
        crc.update(content)
        return crc.value
    }

    /// Returns the content of a stored value. Nil if the checksum is missing or wrong.
    package static func content(_ stored: Bytes, table: StaticString, key: Bytes) -> Bytes? {
        guard stored.count >= size else { return nil }
        let content = stored.slice(0..<stored.count - size)
        return stored.load(content.count, UInt32.self) == of(content, table: table, key: key) ? content : nil
    }
}
