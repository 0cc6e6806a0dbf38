import LMDBPages
import TarnStore

/// An entry of a table of an LMDB file, of which only the bytes are known.
///
/// It is valid until the closure that it was given to returns. Its texts are made when they are
/// read: a value may be large.
package struct TableEntry {
    /// The name of the table; nil for the table without a name.
    package let table: String?
    let keyBytes: Bytes, valueBytes: Bytes
    let record: TableRecord

    init(_ key: Bytes, _ value: Bytes, table: String?, _ record: TableRecord) {
        (keyBytes, valueBytes, self.table, self.record) = (key, value, table, record)
    }

    /// The size of the value, in bytes.
    package var valueSize: Int { valueBytes.count }

    /// The key as JSON: a text is a string, an integer of a table of integers is a number, and
    /// other bytes are an object with their hexadecimal digits.
    package var key: String { TableEntry.json(keyBytes, record.hasIntegerKeys) }
    /// The value as JSON, as ``key``.
    package var value: String { TableEntry.json(valueBytes, record.hasIntegerValues) }
    /// The key as a text; other bytes are hexadecimal digits behind `0x`.
    package var keyText: String { TableLines.text(keyBytes, isInteger: record.hasIntegerKeys) }
    /// The value as a text, as ``keyText``.
    package var valueText: String { TableLines.text(valueBytes, isInteger: record.hasIntegerValues) }

    /// The entry as a JSON object, without a line break.
    package var json: String {
        TableLines(form: .json, name: table, record: record).entry(keyBytes, valueBytes).joined()
    }

    /// Returns whether a text names the key: it is ``keyText``, or has all bytes of the key as
    /// digits behind `0x`.
    package func hasKey(_ text: String) -> Bool {
        if keyText.utf8.elementsEqual(text.utf8) { return true }
        guard text.hasPrefix("0x"), text.utf8.count == 2 + 2 * keyBytes.count else { return false }
        return text.dropFirst(2).lowercased() == StoreInspector.hexadecimal(keyBytes)
    }

    /// Returns the first occurrence of a text in the key.
    func match(inKey pattern: TextPattern) -> TextMatch? {
        TableEntry.match(pattern, keyBytes, record.hasIntegerKeys, "key")
    }

    /// Returns the first occurrence of a text in the value.
    func match(inValue pattern: TextPattern) -> TextMatch? {
        TableEntry.match(pattern, valueBytes, record.hasIntegerValues, "value")
    }

    private static func json(_ bytes: Bytes, _ isInteger: Bool) -> String {
        var text = ""
        TableLines.append(bytes, isInteger: isInteger, to: &text)
        return text
    }

    /// Searches bytes that are no text as well: the forms of other programs have texts in them.
    private static func match(
        _ pattern: TextPattern, _ bytes: Bytes, _ isInteger: Bool, _ part: String
    ) -> TextMatch? {
        func match(_ text: String) -> TextMatch? {
            pattern.firstRange(in: text).map { TextMatch(part, text, $0, context: 40) }
        }
        if let found = match(TableLines.decoded(bytes, isInteger: isInteger)) { return found }
        return pattern.text.hasPrefix("0x") ? match(TableLines.text(bytes, isInteger: isInteger)) : nil
    }
}
