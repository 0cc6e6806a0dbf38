import LMDBPages
import TarnStore

/// An entry of a table that one of two files lacks, or whose value differs between them.
///
/// Each of several values of a key is an entry.
package struct EntryDifference {
    package var kind: RecordDifference.Kind
    /// The name of the table; nil for the table without a name.
    package var table: String?
    let entry: CopiedEntry
    /// The value in the second file if it differs.
    let other: CopiedEntry?
    let record: TableRecord

    /// The difference as a JSON object, without a line break.
    ///
    ///     {"change":"changed","table":"names","key":"a","from":"b","to":"c"}
    package var json: String {
        var text = "{\"change\":\"\(kind.rawValue)\",\"table\":"
        if let table { text.appendJSONString(table) } else { text += "null" }
        text += ",\"key\":"
        append(entry.key, record.hasIntegerKeys, to: &text)
        text += other == nil ? ",\"value\":" : ",\"from\":"
        append(entry.value, record.hasIntegerValues, to: &text)
        guard let other else { return text + "}" }
        text += ",\"to\":"
        append(other.value, record.hasIntegerValues, to: &text)
        return text + "}"
    }

    /// The difference as lines for people, the first with a `+`, `-` or `~`.
    package var lines: [String] {
        let sign = [.added: "+", .removed: "-", .changed: "~"][kind] ?? "~"
        func value(_ entry: CopiedEntry) -> String { text(entry.value, record.hasIntegerValues) }
        return [
            "\(sign) \(table ?? StoreInspector.mainTable) \(text(entry.key, record.hasIntegerKeys))",
            "    " + value(entry) + (other.map { " → " + value($0) } ?? ""),
        ]
    }

    private func append(_ bytes: [UInt8], _ isInteger: Bool, to text: inout String) {
        bytes.withUnsafeBytes { TableLines.append($0, isInteger: isInteger, to: &text) }
    }

    private func text(_ bytes: [UInt8], _ isInteger: Bool) -> String {
        bytes.withUnsafeBytes { TableLines.text($0, isInteger: isInteger) }
    }
}
