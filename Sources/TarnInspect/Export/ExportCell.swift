import Foundation
import TarnStore

/// A value of a column, in one of the classes that SQLite has.
enum ExportCell {
    case null
    case integer(String)
    case real(Double)
    case text(String)
    case blob([UInt8])

    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool(let x): self = .integer(x ? "1" : "0")
        case .int(let x): self = .integer(String(x))
        case .uint(let x): self = Int64(exactly: x).map { .integer(String($0)) } ?? .text(String(x))
        case .double(let x): self = x.isNaN ? .null : .real(x)
        case .bytes(let x): self = .blob(x)
        case .decimal(let x): self = .text(x.description)
        case .string(let x), .url(let x), .json(let x): self = .text(x)
        case .date(let x): self = .text(x.description)
        case .uuid(let x): self = .text(x.uuidString.lowercased())
        case .array, .references: self = .text(value.jsonText)
        case .reference(let key):
            self = key.components.count == 1 ? ExportCell(key.components[0]) : .text(value.jsonText)
        }
    }

    init(_ component: KeyComponent) {
        switch component {
        case .int(let x): self = .integer(String(x))
        case .string(let x): self = .text(x)
        case .uuid(let x): self = .text(x.uuidString.lowercased())
        case .digest: self = .text(component.description)
        }
    }

    /// Returns the cells of a key for a number of columns.
    static func cells(_ key: RecordKey, count: Int) -> [ExportCell] {
        let cells = key.components.prefix(count).map { ExportCell($0) }
        return cells + Array(repeating: .null, count: count - cells.count)
    }

    // MARK: - SQL

    /// Appends the cell as a literal of SQLite, without a line break in it.
    func appendSQL(to sql: inout String) {
        switch self {
        case .null: sql += "NULL"
        case .integer(let text): sql += text
        case .real(let x): sql += x.isInfinite ? (x < 0 ? "-9e999" : "9e999") : ExportCell.literal(x)
        case .text(let text): ExportCell.appendSQL(text, to: &sql)
        case .blob(let bytes): sql += "x'" + bytes.withUnsafeBytes { StoreInspector.hexadecimal($0) } + "'"
        }
    }

    /// Returns a finite number as an expression that SQLite reads as the same number.
    ///
    /// SQLite rounds a literal twice: the shortest text of 98.528416, which is not the number
    /// itself, becomes 98.52841599999999. 17 digits are close enough to the number, and four behind
    /// the point are never in the middle of two. Of a number below 1e-280, SQLite is off by more.
    private static func literal(_ x: Double) -> String {
        func digits(_ x: Double) -> String { String(format: "%.16e", x) }
        let text = "\(x)", fraction = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst()
        if !text.utf8.contains(UInt8(ascii: "e")), fraction.count <= 4 { return text }
        return abs(x) < 1e-280 ? "(\(digits(x * 0x1p200))*\(digits(0x1p-200)))" : digits(x)
    }

    /// Appends a text literal.
    ///
    /// A literal cannot have a NUL, and the program `sqlite3` gives some lines a meaning of their
    /// own, so that a text with control characters is written as bytes.
    private static func appendSQL(_ text: String, to sql: inout String) {
        var text = text
        let hasControls = text.withUTF8 { $0.contains { $0 < 0x20 } }
        if hasControls {
            sql += "CAST(x'" + text.withUTF8 { StoreInspector.hexadecimal(Bytes($0)) } + "' AS TEXT)"
        } else {
            sql += "'"
            sql.append(&text, doubling: UInt8(ascii: "'"))
            sql += "'"
        }
    }

    /// Returns a name of a table or a column as an identifier of SQL.
    ///
    /// A file from elsewhere may have any names: `sqlite3` must not run a part of one.
    static func identifier(_ name: String) -> String {
        var name = String(name.map { $0.isNewline || $0 == "\0" ? "_" : $0 }), identifier = "\""
        identifier.append(&name, doubling: UInt8(ascii: "\""))
        return identifier + "\""
    }

    // MARK: - CSV

    /// Appends the cell as a field of CSV (RFC 4180): nothing for null, bytes in base64.
    ///
    /// - Parameter isSpreadsheetSafe: whether a text that a spreadsheet would run is marked.
    func appendCSV(isSpreadsheetSafe: Bool, to line: inout String) {
        func append(_ text: String) {
            let isMarked = isSpreadsheetSafe && !text.isSpreadsheetNumber
            ExportCell.appendCSV(isMarked ? text.markedForSpreadsheets : text, to: &line)
        }
        switch self {
        case .null: break
        case .integer(let text): line += text
        case .real(let x): line += "\(x)"
        case .text(let text): append(text)
        case .blob(let bytes): append(Data(bytes).base64EncodedString())
        }
    }

    /// Appends a text as a field of CSV; the empty text is quoted, to differ from null.
    static func appendCSV(_ text: String, to line: inout String) {
        var text = text
        let needsQuotes =
            text.isEmpty
            || text.withUTF8 { $0.contains { $0 < 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") } }
        guard needsQuotes else { return line += text }
        line += "\""
        line.append(&text, doubling: UInt8(ascii: "\""))
        line += "\""
    }
}

extension String {
    /// Appends a text with each occurrence of a character of ASCII twice, also if combining marks
    /// follow it.
    fileprivate mutating func append(_ text: inout String, doubling character: UInt8) {
        var bytes: [UInt8] = []
        text.withUTF8 { text in
            bytes.reserveCapacity(text.count + 8)
            for byte in text {
                bytes.append(byte)
                if byte == character { bytes.append(byte) }
            }
        }
        self += String(decoding: bytes, as: UTF8.self)
    }
}
