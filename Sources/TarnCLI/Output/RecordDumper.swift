// The records of a dump in every format: their entity, key and version beside their fields.

import Tarn
import TarnInspect

struct RecordDumper {
    /// The formats of a dump; the other ones of `OutputFormat` show a selection of the columns.
    enum Format: String, CaseIterable {
        case ndjson, json, csv, yaml

        fileprivate var output: OutputFormat { OutputFormat(rawValue: rawValue) ?? .ndjson }
    }

    private let withVersions: Bool
    private let style: OutputStyle
    private let names: [String]
    private var rows: RowWriter?

    /// Creates a dumper of an entity's records; nil for those of all entities.
    ///
    /// - Parameter isSpreadsheetSafe: whether texts that a spreadsheet would run are marked in CSV.
    init(
        _ format: Format, _ entity: Catalog.Entity?, _ catalog: Catalog, fields: [String]?, withVersions: Bool,
        isSpreadsheetSafe: Bool = false
    ) throws {
        var style = OutputStyle(format.output)
        style.isSpreadsheetSafe = isSpreadsheetSafe
        self.style = style
        self.withVersions = withVersions
        var names = fields ?? entity?.fields.map(\.name) ?? []
        if format == .csv {
            let roots = catalog.entities.filter { $0.root == $0.id }
            guard let entity = entity ?? (roots.count == 1 ? roots[0] : nil) else {
                throw Failure(.usage, "--format csv needs --entity: each entity has columns of its own")
            }
            for kind in catalog.entities where fields == nil && catalog.isKind(kind.id, of: entity.id) {
                for field in kind.fields where !names.contains(field.name) { names.append(field.name) }
            }
        }
        self.names = names
        if format != .ndjson {
            let head = ["entity", "key"] + (withVersions ? ["version"] : []) + ["partial"]
            rows = RowWriter(head + RecordDumper.titles(names, besides: head), style)
        }
    }

    /// Returns the titles of columns: a name that another column has gets a number.
    ///
    /// Readers that look up a column by its name find one of two only.
    private static func titles(_ names: [String], besides others: [String]) -> [String] {
        var taken = Set(others + names)
        return names.map { name in
            guard others.contains(name) else { return name }
            var title = name, number = 2
            while !taken.insert(title).inserted { (title, number) = ("\(name)_\(number)", number + 1) }
            return title
        }
    }

    mutating func write(_ record: Record) {
        guard rows != nil else { return Output.json(StoreInspector.line(record, withVersion: withVersions)) }
        if style.format.isObjects {
            let members = members(record)
            rows?.add(members: members, cells: [])
        } else {
            let cells = cells(record)
            rows?.add(members: [], cells: cells)
        }
    }

    mutating func end() { rows?.end() }

    private func head(_ record: Record) -> [RowWriter.Member] {
        var key = ""
        record.key.appendJSON(to: &key)
        return [("entity", .text(record.entity)), ("key", .json(key))]
            + (withVersions ? [("version", .json("\(record.version)"))] : [])
    }

    private func members(_ record: Record) -> [RowWriter.Member] {
        var fields = ""
        record.appendFieldsJSON(to: &fields)
        return head(record) + (record.isPartial ? [("partial", .json("true"))] : []) + [("fields", .json(fields))]
    }

    private func cells(_ record: Record) -> [OutputValue] {
        var cells = head(record).map(\.value) + [record.isPartial ? .json("true") : .absent]
        var next = 0
        for name in names { cells.append(record.value(name, next: &next).map(OutputValue.value) ?? .absent) }
        return cells
    }
}
