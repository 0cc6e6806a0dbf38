import TarnStore

/// The statements of an export for SQLite. Each statement is one line.
struct SQLExport {
    private let layout: ExportLayout
    private let line: (String) throws -> Void
    /// The rows by table: those of records, then those of lists.
    private var rows: SQLRows
    /// The tables with full-text indexes; empty without them.
    private(set) var fullTextTables: [String] = []
    private let hasFullText: Bool

    /// - Parameter hasFullText: whether the texts of each table have an index.
    init(_ layout: ExportLayout, hasFullText: Bool, line: @escaping (String) throws -> Void) {
        (self.layout, self.hasFullText, self.line) = (layout, hasFullText, line)
        rows = SQLRows(layout.tables.map(\.name) + layout.joins.map(\.name), line: line)
    }

    private static func list(_ names: some Sequence<String>) -> String {
        names.map { ExportCell.identifier($0) }.joined(separator: ",")
    }

    // MARK: - Tables

    /// Writes the statements that create the tables.
    func begin() throws {
        // References may precede their records, and some lead to none. `~/.sqliterc` may have
        // turned on the check.
        try line("PRAGMA foreign_keys=OFF;")
        try line("BEGIN;")
        for table in layout.tables {
            var parts = table.columns.map { ExportCell.identifier($0.name) + ($0.type.isEmpty ? "" : " \($0.type)") }
            if !table.keys.isEmpty {
                parts.append("PRIMARY KEY (\(SQLExport.list(table.keys.map { table.columns[$0].name })))")
            }
            for (field, place) in table.fields {
                guard case .columns(let range) = place, case .reference(let reference) = field.kind else { continue }
                parts += foreignKey(range.map { table.columns[$0].name }, reference.destination)
            }
            try line("CREATE TABLE \(ExportCell.identifier(table.name)) (\(parts.joined(separator: ", ")));")
        }
        for join in layout.joins {
            var parts = join.columns.map { ExportCell.identifier($0.name) + ($0.type.isEmpty ? "" : " \($0.type)") }
            let owner = join.owner.map { join.columns[$0].name }
            parts.append("PRIMARY KEY (\(SQLExport.list(owner + ["position"])))")
            parts += foreignKey(owner, layout.tables[join.ownerTable].root.id)
            parts += foreignKey(join.target.map { join.columns[$0].name }, join.destination)
            // The key is the table: nothing refers to a row by its number.
            try line(
                "CREATE TABLE \(ExportCell.identifier(join.name)) (\(parts.joined(separator: ", "))) WITHOUT ROWID;")
        }
    }

    private func foreignKey(_ columns: [String], _ destination: UInt16) -> [String] {
        guard let target = layout.table(of: destination), !columns.isEmpty, target.keys.count == columns.count else {
            return []
        }
        let keys = SQLExport.list(target.keys.map { target.columns[$0].name })
        return [
            "FOREIGN KEY (\(SQLExport.list(columns))) REFERENCES \(ExportCell.identifier(target.name)) (\(keys))"
        ]
    }

    // MARK: - Rows

    /// Adds a record; its statement may be written later.
    mutating func add(_ row: ExportRow, table: Int) throws {
        try rows.add(row.cells, table)
        for (join, cells) in row.joins { try rows.add(cells, layout.tables.count + join) }
    }

    // MARK: - Indexes and views

    /// Writes what is left: rows, indexes, a view for each entity with a parent, and full-text
    /// indexes.
    mutating func end() throws {
        try rows.flush()
        var names = UniqueNames()
        for name in layout.tables.map(\.name) + layout.joins.map(\.name) { _ = names.name(name) }
        for table in layout.tables { try indexes(of: table, &names) }
        for join in layout.joins {
            let columns = SQLExport.list(join.target.map { join.columns[$0].name })
            guard !columns.isEmpty else { continue }
            let name = ExportCell.identifier(names.name("\(join.name)_target"))
            try line("CREATE INDEX \(name) ON \(ExportCell.identifier(join.name)) (\(columns));")
        }
        try views(&names)
        if hasFullText { try fullText(&names) }
        try line("COMMIT;")
    }

    private mutating func fullText(_ names: inout UniqueNames) throws {
        for table in layout.tables {
            guard let index = SQLExport.fullText(of: table, &names) else { continue }
            fullTextTables.append(index.name)
            try index.statements.forEach(line)
        }
    }

    private func indexes(of table: ExportLayout.RecordTable, _ names: inout UniqueNames) throws {
        func create(_ name: String, _ columns: [String], isUnique: Bool, where condition: String = "") throws {
            let name = ExportCell.identifier(names.name("\(table.name)_\(name)"))
            try line(
                "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(ExportCell.identifier(table.name)) "
                    + "(\(columns.joined(separator: ",")))\(condition);")
        }
        for (field, place) in table.fields where field.index ?? 0 > 0 {
            guard case .columns(let range) = place, !range.isEmpty else { continue }
            let columns = range.map { ExportCell.identifier(table.columns[$0].name) }
            // Two texts of one number, or two NaNs, are other values in SQLite.
            try create(field.name, columns, isUnique: field.isUnique)
        }
        // Parents have smaller ids than their descendants: the first one with an index declares it.
        let tree = layout.catalog.entities.filter { $0.root == table.root.id }.sorted { $0.id < $1.id }
        var seen: Set<UInt32> = []
        for index in tree.flatMap(\.indexes) where seen.insert(index.id).inserted {
            var columns: [String] = []
            for component in index.components {
                guard case .columns(let range)? = table.fields.first(where: { $0.field.id == component.field })?.place
                else { continue }
                columns += range.map {
                    ExportCell.identifier(table.columns[$0].name) + (component.folding == nil ? "" : " COLLATE NOCASE")
                }
            }
            var conditions = index.conditions.compactMap { condition($0, table) }
            guard !columns.isEmpty, conditions.count == index.conditions.count else { continue }
            // NOCASE compares texts up to a NUL: different ones may be equal in SQLite.
            let comparesAlike =
                index.conditions.allSatisfy(isExact) && index.components.allSatisfy { $0.folding == nil }
            let isUnique = index.isUnique && comparesAlike
            // Other records of the table may have the values.
            if isUnique, let owner = tree.first(where: { $0.indexes.contains { $0.id == index.id } }),
                owner.id != owner.root, let column = table.entityColumn
            {
                conditions.append(condition(of: owner, table.columns[column].name))
            }
            try create(
                index.name, columns, isUnique: isUnique,
                where: conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
        }
    }

    private func condition(_ condition: Catalog.Index.Condition, _ table: ExportLayout.RecordTable) -> String? {
        guard case .columns(let range)? = table.fields.first(where: { $0.field.id == condition.field })?.place,
            range.count == 1
        else { return nil }
        let column = ExportCell.identifier(table.columns[range.lowerBound].name)
        if case .null = condition.value {
            return column + (condition.comparison == .equal ? " IS NULL" : " IS NOT NULL")
        }
        var literal = ""
        ExportCell(condition.value).appendSQL(to: &literal)
        return "\(column) \(condition.comparison.rawValue) \(literal)"
    }

    /// Whether SQLite finds the same rows by the condition.
    ///
    /// Decimals, dates and large numbers are texts there, whose order is another one.
    private func isExact(_ condition: Catalog.Index.Condition) -> Bool {
        if condition.comparison == .equal { return true }
        return switch condition.value {
        case .decimal, .date, .uint: false
        default: true
        }
    }

    private func views(_ names: inout UniqueNames) throws {
        for entity in layout.catalog.entities where entity.root != entity.id {
            guard let table = layout.table(of: entity.id), let column = table.entityColumn else { continue }
            let name = ExportCell.identifier(names.name(entity.name))
            try line(
                "CREATE VIEW \(name) AS SELECT * FROM \(ExportCell.identifier(table.name)) "
                    + "WHERE \(condition(of: entity, table.columns[column].name));")
        }
    }

    /// Returns the condition of the records of an entity and of those below it.
    private func condition(of entity: Catalog.Entity, _ column: String) -> String {
        let kinds = layout.catalog.entities.filter { layout.catalog.isKind($0.id, of: entity.id) }.map { kind in
            var literal = ""
            ExportCell.text(kind.name).appendSQL(to: &literal)
            return literal
        }
        return "\(ExportCell.identifier(column)) IN (\(kinds.joined(separator: ",")))"
    }
}
