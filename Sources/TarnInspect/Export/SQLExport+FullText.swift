// The full-text index of an exported table, as a table of SQLite's module FTS5.

import TarnStore

extension SQLExport {
    /// Returns the statements that index the texts of a table; none if it has no texts.
    ///
    /// The index refers to the rows of the table and has no copy of the texts (`content`), the form
    /// in which datasette finds it by itself.
    static func fullText(
        of table: ExportLayout.RecordTable, _ names: inout UniqueNames
    ) -> (name: String, statements: [String])? {
        let columns = table.texts.filter { !reservedColumns.contains($0.lowercased()) }
        let taken = Set(table.columns.map { $0.name.lowercased() })
        // A column may hide one of the names of a row's number, but not all.
        guard !columns.isEmpty, let row = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) else {
            return nil
        }
        // FTS5 has a hidden column with the name of its table.
        let name = names.name("\(table.name)_fts", endings: ownTables) { !taken.contains($0.lowercased()) }
        let quoted = ExportCell.identifier(name)
        let arguments =
            columns.map { ExportCell.identifier($0) }
            + ["content=\(ExportCell.identifier(table.name))", "content_rowid=\(ExportCell.identifier(row))"]
        return (
            name,
            [
                "CREATE VIRTUAL TABLE \(quoted) USING fts5(\(arguments.joined(separator: ",")));",
                "INSERT INTO \(quoted) (\(quoted)) VALUES ('rebuild');",
            ]
        )
    }

    /// The names that FTS5 has for columns of its own.
    private static let reservedColumns: Set<String> = ["rank", "rowid"]
    /// The endings of the tables in which FTS5 keeps an index.
    private static let ownTables = ["_data", "_idx", "_content", "_docsize", "_config"]
}

extension ExportLayout.RecordTable {
    /// The names of the columns with texts and lists of texts.
    fileprivate var texts: [String] {
        fields.compactMap { field, place in
            guard case .columns(let range) = place, range.count == 1, case .attribute(let type) = field.kind else {
                return nil
            }
            return switch type {
            case .string, .array(.string): columns[range.lowerBound].name
            default: nil
            }
        }
    }
}
