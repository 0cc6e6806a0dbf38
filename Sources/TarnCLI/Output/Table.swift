// Aligned columns for a terminal.

struct Table {
    private let header: [String]
    private var rows: [[String]] = []
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = []) {
        self.header = header.map(VisibleText.cell)
        self.rightAligned = rightAligned
    }

    mutating func add(_ row: [String]) {
        rows.append(row.map(VisibleText.cell))
    }

    /// Returns the lines, cut to a width: columns shrink, the widest first.
    func lines(width: Int) -> [String] {
        let all = [header] + rows
        var widths = header.indices.map { column in all.map { VisibleText.columns(of: $0[column]) }.max() ?? 0 }
        let room = width - 2 * (header.count - 1)
        while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > 8
        {
            widths[widest] -= 1
        }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                if column > 0 { line += "  " }
                let text = VisibleText.cut(cell, columns: widths[column])
                let padding = String(repeating: " ", count: max(0, widths[column] - VisibleText.columns(of: text)))
                line += rightAligned.contains(column) ? padding + text : text + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
