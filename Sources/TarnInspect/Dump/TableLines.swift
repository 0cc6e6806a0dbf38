// The lines of a table's dump: those of `mdb_dump`, or JSON.

import LMDBPages
import TarnStore

/// The form of keys and values in the dump of a table.
package enum TableDumpForm: Sendable, Hashable {
    /// Hexadecimal digits: `format=bytevalue` of `mdb_dump`.
    case hex
    /// Printable ASCII and escapes: `format=print` of `mdb_dump -p`.
    case text
    /// One object a line.
    case json
}

/// The lines of one table.
struct TableLines {
    let form: TableDumpForm
    /// The name; nil for the table without one.
    let name: String?
    let record: TableRecord

    /// The lines before the entries, in the order of mdb_dump.c.
    ///
    /// - Parameter readers: The number of reader slots of the environment.
    func head(_ meta: MetaPage, readers: Int) -> [String] {
        guard form != .json else { return [jsonHead] }
        var lines = ["VERSION=3", form == .hex ? "format=bytevalue" : "format=print"]
        if let name { lines.append("database=\(name)") }
        // liblmdb maps at least the used pages (mdb.c, `mdb_env_open2`).
        let (used, isTooLarge) = meta.lastPage.addingReportingOverflow(1)
        let (bytes, overflows) = used.multipliedReportingOverflow(by: UInt64(meta.pageSize))
        let mapSize = isTooLarge || overflows ? meta.mapSize : max(meta.mapSize, bytes)
        lines += ["type=btree", "mapsize=\(mapSize)"]
        if meta.address != 0 { lines.append("mapaddr=0x\(String(meta.address, radix: 16))") }
        lines.append("maxreaders=\(readers)")
        if record.hasDuplicates { lines.append("duplicates=1") }
        lines += record.optionNames.map { "\($0)=1" }
        return lines + ["db_pagesize=\(meta.pageSize)", "HEADER=END"]
    }

    /// The lines of an entry.
    func entry(_ key: Bytes, _ value: Bytes) -> [String] {
        switch form {
        case .hex: return [TableLines.hexadecimal(key), TableLines.hexadecimal(value)]
        case .text: return [TableLines.printable(key), TableLines.printable(value)]
        case .json:
            var text = jsonStart + ",\"key\":"
            TableLines.append(key, isInteger: record.hasIntegerKeys, to: &text)
            text += ",\"value\":"
            TableLines.append(value, isInteger: record.hasIntegerValues, to: &text)
            return [text + "}"]
        }
    }

    /// The lines after the entries.
    var end: [String] { form == .json ? [] : ["DATA=END"] }

    // MARK: - JSON

    private var jsonStart: String {
        var text = "{\"table\":"
        if let name { text.appendJSONString(name) } else { text += "null" }
        return text
    }

    private var jsonHead: String {
        let options = record.optionNames.map { "\"\($0)\"" }.joined(separator: ",")
        return jsonStart + ",\"options\":[\(options)],\"entries\":\(record.entries)}"
    }

    /// Appends bytes: a number in a table of integers, else a string if they are a text, else an
    /// object with their digits.
    static func append(_ bytes: Bytes, isInteger: Bool, to text: inout String) {
        if let number = number(bytes, isInteger: isInteger) {
            text += number
        } else if let string = string(bytes) {
            text.appendJSONString(string)
        } else {
            text += "{\"hex\":\"" + StoreInspector.hexadecimal(bytes) + "\"}"
        }
    }

    /// Returns bytes as a text for people: a number, the text, or digits behind `0x`.
    static func text(_ bytes: Bytes, isInteger: Bool) -> String {
        number(bytes, isInteger: isInteger) ?? string(bytes) ?? "0x" + StoreInspector.hexadecimal(bytes)
    }

    /// Returns the number or the text of bytes; parts that are not UTF-8 become U+FFFD.
    static func decoded(_ bytes: Bytes, isInteger: Bool) -> String {
        number(bytes, isInteger: isInteger) ?? String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the integer of a table of integers; nil for other bytes.
    static func number(_ bytes: Bytes, isInteger: Bool) -> String? {
        guard isInteger else { return nil }
        return bytes.count == 4
            ? "\(bytes.load(0, UInt32.self))" : bytes.count == 8 ? "\(bytes.load(0, UInt64.self))" : nil
    }

    /// Returns the text of bytes; nil if they are not UTF-8, or have control characters besides
    /// tabs and line breaks.
    static func string(_ bytes: Bytes) -> String? {
        let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        return isPlain ? String(validating: bytes, as: UTF8.self) : nil
    }

    // MARK: - Lines of mdb_dump

    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns a blank and the digits of bytes.
    private static func hexadecimal(_ bytes: Bytes) -> String { " " + StoreInspector.hexadecimal(bytes) }

    /// Returns a blank and the escaped text of bytes.
    private static func printable(_ bytes: Bytes) -> String { " " + escaped(bytes) }

    /// Returns bytes as `mdb_dump -p` writes them since liblmdb 0.9.25.
    ///
    /// Up to 0.9.24 it leaves backslashes as they are, and `mdb_load` cannot read that (ITS#9068).
    static func escaped(_ bytes: Bytes) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            // `isprint` of the C locale.
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "\\"))
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
