import TarnStore

/// A record as rows of an export: one of its entity's table, and those of its lists.
struct ExportRow {
    /// The cells of the record's table.
    var cells: [ExportCell]
    /// The rows of tables of relationships, in order.
    var joins: [(table: Int, cells: [ExportCell])] = []
    /// The fields that the catalog does not know, and that no column has.
    var unknown: [String] = []

    init(_ record: Record, _ table: ExportLayout.RecordTable, _ layout: ExportLayout) {
        cells = Array(repeating: .null, count: table.columns.count)
        let places = table.places[record.entity] ?? [:]
        for field in record.fields {
            switch places[field.name] {
            case .columns(let range): set(field.value, range)
            case .join(let number): add(field.value, record.key, number, layout)
            case nil: unknown.append(field.name)
            }
        }
        for (column, cell) in zip(table.keys, ExportCell.cells(record.key, count: table.keys.count)) {
            cells[column] = cell
        }
        if let column = table.entityColumn { cells[column] = .text(record.entity) }
        cells[table.partialColumn] = .integer(record.isPartial ? "1" : "0")
        cells[table.versionColumn] = .integer(String(record.version))
    }

    private mutating func set(_ value: Value, _ range: Range<Int>) {
        guard case .reference(let key) = value else {
            if range.count == 1 { cells[range.lowerBound] = ExportCell(value) }
            return
        }
        for (column, cell) in zip(range, ExportCell.cells(key, count: range.count)) { cells[column] = cell }
    }

    private mutating func add(_ value: Value, _ owner: RecordKey, _ number: Int, _ layout: ExportLayout) {
        guard case .references(let keys) = value else { return }
        let table = layout.joins[number], head = ExportCell.cells(owner, count: table.owner.count)
        for (position, key) in keys.enumerated() {
            joins.append(
                (number, head + [.integer(String(position))] + ExportCell.cells(key, count: table.target.count)))
        }
    }
}
