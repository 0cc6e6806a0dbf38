// Aligned columns for a terminal.

struct Table {
    private let header: [String]
    private var rows: [[String]] = []
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = []) {
        self.header = header
        self.rightAligned = rightAligned
    }

    mutating func add(_ row: [String]) {
        rows.append(row.map { cell in String(cell.map { $0.isNewline || $0 == "\t" ? " " : $0 }) })
    }

    /// The lines, cut to a width: wide columns give way, the widest first.
    func lines(width: Int) -> [String] {
        let all = [header] + rows
        var widths = header.indices.map { column in all.map { Table.columns(of: $0[column]) }.max() ?? 0 }
        let room = width - 2 * (header.count - 1)
        while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 {
            widths[widest] -= 1
        }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                if column > 0 { line += "  " }
                let text = Table.cut(cell, widths[column])
                let padding = String(repeating: " ", count: max(0, widths[column] - Table.columns(of: text)))
                line += rightAligned.contains(column) ? padding + text : text + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func cut(_ text: String, _ width: Int) -> String {
        guard columns(of: text) > width else { return text }
        var result = "", used = 0
        for character in text {
            let columns = columns(of: character)
            if used + columns > width - 1 { break }
            result.append(character)
            used += columns
        }
        return result + "…"
    }

    private static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    /// East Asian wide characters and emoji take two columns (Unicode UAX #11, the common ranges).
    private static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD: return 2
        default: return scalar.properties.isDefaultIgnorableCodePoint ? 0 : 1
        }
    }
}
