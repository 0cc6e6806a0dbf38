// Aligned columns for a terminal.

struct Table {
    private let header: [String]
    private var rows: [[String]] = []
    private let rightAligned: Set<Int>
    /// The column whose cells are cut in the middle; nil for none.
    private let named: Int?

    /// - Parameter named: the column with the names of the rows: a cut leaves their beginnings and
    ///   their ends, by which they differ.
    init(_ header: [String], rightAligned: Set<Int> = [], named: Int? = nil) {
        self.header = header.map(VisibleText.cell)
        self.rightAligned = rightAligned
        self.named = named
    }

    mutating func add(_ row: [String]) {
        rows.append(row.map(VisibleText.cell))
    }

    /// Returns the lines, cut to a width: columns shrink, the widest first.
    func lines(width: Int) -> [String] {
        let all = [header] + rows, widths = Table.widths(all, width: width)
        return all.map { row in
            var row = row
            if let named { row[named] = VisibleText.cutInside(row[named], columns: widths[named]) }
            return Table.line(row, widths, rightAligned)
        }
    }

    /// Returns the lines with a bar behind each row, unless the bars would make names unreadable.
    ///
    /// - Parameter bars: the bar of each row, from 0 to 1.
    func lines(width: Int, bars: [Double]) -> [String] {
        let rest = width - 2 - Table.leastBarColumns, all = [header] + rows
        let isReadable = zip(Table.widths(all, width: .max), Table.widths(all, width: rest)).allSatisfy { whole, cut in
            cut >= min(whole, Table.readableColumns)
        }
        guard isReadable else { return lines(width: width) }
        let lines = lines(width: rest), columns = lines.map { VisibleText.columns(of: $0) }
        let start = 2 + (columns.max() ?? 0), room = min(Table.mostBarColumns, width - start)
        return lines.indices.map { row in
            let bar = row > 0 && row <= bars.count ? Table.bar(bars[row - 1], columns: room) : ""
            return bar.isEmpty ? lines[row] : lines[row] + String(repeating: " ", count: start - columns[row]) + bar
        }
    }

    private static let leastBarColumns = 6
    private static let readableColumns = 12
    private static let mostBarColumns = 20

    /// Returns a bar in eighths of a column; anything above 0 has one.
    private static func bar(_ part: Double, columns: Int) -> String {
        guard part > 0 else { return "" }
        let eighths = max(1, Int((min(part, 1) * Double(columns * 8)).rounded()))
        let rest = eighths % 8 == 0 ? "" : ["▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8 - 1]
        return String(repeating: "█", count: eighths / 8) + rest
    }

    /// The least columns of a cell that is cut.
    private static let leastColumns = 4
    /// The same in a table that does not fit either way.
    private static let usualColumns = 8

    /// Returns the widths of the columns of rows that fit a width.
    static func widths(_ rows: [[String]], width: Int) -> [Int] {
        var widths = (rows.first ?? []).indices.map { column in
            rows.map { VisibleText.columns(of: $0[column]) }.max() ?? 0
        }
        let room = width - 2 * (widths.count - 1)
        // Narrow cells are worth it only if the table fits then.
        let least = widths.reduce(0) { $0 + min($1, leastColumns) } <= room ? leastColumns : usualColumns
        while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > least
        {
            widths[widest] -= 1
        }
        return widths
    }

    /// Returns a row with its cells padded or cut to widths.
    static func line(_ row: [String], _ widths: [Int], _ rightAligned: Set<Int>) -> String {
        var line = ""
        for (column, cell) in row.enumerated() where column < widths.count {
            if column > 0 { line += "  " }
            let (text, columns) = VisibleText.fitted(cell, columns: widths[column])
            let padding = max(0, widths[column] - columns)
            if rightAligned.contains(column) { line.append(spaces: padding) }
            line += text
            // The end of the line needs none.
            if !rightAligned.contains(column), column < row.count - 1 { line.append(spaces: padding) }
        }
        while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
        return line
    }
}

extension String {
    fileprivate mutating func append(spaces count: Int) {
        self += String(repeating: " ", count: count)
    }
}
