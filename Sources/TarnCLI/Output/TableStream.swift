// A table whose rows are written as they come: the first ones decide the widths of the columns.

struct TableStream {
    /// The number of rows, and the time after the first one, that decide the widths.
    private static let sample = 256
    private static let patience = Duration.milliseconds(250)

    private let header: [String]
    private let rightAligned: Set<Int>
    private let width: Int
    /// The column whose cells are cut in the middle; nil for none.
    private let named: Int?
    private var rows: [[String]] = []
    private var widths: [Int]?
    private var began: ContinuousClock.Instant?

    init(_ header: [String], rightAligned: Set<Int>, width: Int, named: Int?) {
        self.header = header.map(VisibleText.cell)
        self.rightAligned = rightAligned
        self.width = width
        self.named = named
    }

    mutating func add(_ cells: [String]) {
        let row = cells.map(VisibleText.cell)
        if let widths { return emit(row, widths) }
        rows.append(row)
        let now = ContinuousClock.now, began = began ?? now
        self.began = began
        if rows.count >= TableStream.sample || now - began > TableStream.patience {
            decide(isWhole: false)
        }
    }

    mutating func end() {
        if widths == nil { decide(isWhole: true) }
    }

    private mutating func decide(isWhole: Bool) {
        var widths = Table.widths([header] + rows, width: width)
        // Later rows may be longer: the last column takes the rest of the line.
        if !isWhole, let last = widths.indices.last, !rightAligned.contains(last) {
            widths[last] = max(widths[last], width - widths.dropLast().reduce(0) { $0 + $1 + 2 })
        }
        self.widths = widths
        emit(header, widths)
        for row in rows { emit(row, widths) }
        rows = []
    }

    private func emit(_ row: [String], _ widths: [Int]) {
        var row = row
        if let named { row[named] = VisibleText.cutInside(row[named], columns: widths[named]) }
        Output.line(Table.line(row, widths, rightAligned), limit: .max)
    }
}
