import LMDBPages
import TarnStore

/// An entry of a table of an LMDB file, of which only the bytes are known.
package struct TableEntry: Sendable, Hashable {
    /// The name of the table; nil for the table without a name.
    package var table: String?
    /// The key and the value as JSON: texts are strings, integers of tables with integers are
    /// numbers, and other bytes are objects with their hexadecimal digits.
    package var key: String, value: String
    /// The key and the value as texts; other bytes are hexadecimal digits behind `0x`.
    package var keyText: String, valueText: String
    /// The sizes of the key and of the value, in bytes.
    package var keySize: Int, valueSize: Int

    init(_ key: Bytes, _ value: Bytes, table: String?, _ record: TableRecord) {
        self.table = table
        (keySize, valueSize) = (key.count, value.count)
        keyText = TableLines.text(key, isInteger: record.hasIntegerKeys)
        valueText = TableLines.text(value, isInteger: record.hasIntegerValues)
        (self.key, self.value) = ("", "")
        TableLines.append(key, isInteger: record.hasIntegerKeys, to: &self.key)
        TableLines.append(value, isInteger: record.hasIntegerValues, to: &self.value)
    }
}
