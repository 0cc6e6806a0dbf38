/// The rows of an export for SQLite, which wait for statements of many of them.
struct SQLRows {
    private let line: (String) throws -> Void
    private let heads: [String]
    private var waiting: [String]

    /// The length of a statement with rows, in bytes; the last row may exceed it.
    private static let statementSize = 1 << 16

    /// - Parameter tables: The names of the tables.
    init(_ tables: [String], line: @escaping (String) throws -> Void) {
        self.line = line
        heads = tables.map { "INSERT INTO \(ExportCell.identifier($0)) VALUES" }
        waiting = Array(repeating: "", count: tables.count)
    }

    /// Adds a row to a table, by its index; the statement may be written later.
    mutating func add(_ cells: [ExportCell], _ number: Int) throws {
        waiting[number] += waiting[number].isEmpty ? heads[number] + "(" : ",("
        for (index, cell) in cells.enumerated() {
            if index > 0 { waiting[number] += "," }
            cell.appendSQL(to: &waiting[number])
        }
        waiting[number] += ")"
        if waiting[number].utf8.count >= SQLRows.statementSize { try flush(number) }
    }

    /// Writes the rows of a table that wait, and releases their memory: there may be many tables.
    mutating func end(_ number: Int) throws {
        try flush(number)
        waiting[number] = ""
    }

    /// Writes the rows that wait.
    mutating func flush() throws {
        for number in waiting.indices { try flush(number) }
    }

    private mutating func flush(_ number: Int) throws {
        guard !waiting[number].isEmpty else { return }
        waiting[number] += ";"
        try line(waiting[number])
        waiting[number].removeAll(keepingCapacity: true)
    }
}
