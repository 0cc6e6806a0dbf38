// Tables inside of the records of a list: `{"series": [{"tags": {…}, "columns": […], "values":
// [[…], …]}, …]}`.

import Tarn

/// A table in each record of a list, whose rows become records of their own.
///
/// It is one only if the keys of the records and of the rows are found: otherwise, the rows stay a
/// JSON value of the record.
struct NestedTable {
    /// The maximum number of records, and of rows of all of them, that are compared.
    private static let recordLimit = 2000, rowLimit = 20_000
    /// Keys of lists of rows without names.
    private static let pairNames: Set = ["values", "datapoints", "points", "pointlist", "samples", "data", "series"]

    /// Returns the tables in the records of lists.
    static func find(in json: JSONValue, _ lists: [FoundList]) -> [NamedColumns] {
        lists.compactMap { list in
            guard list.isList, !list.isMap, list.columns == nil, list.steps.last != .key("node") else { return nil }
            let records = ListFinder.objects(json, list)
            guard !records.isEmpty, records.count <= recordLimit else { return nil }
            let found = members(records).compactMap { table($0, in: records) }
            guard found.count == 1, let (name, names) = found.first else { return nil }
            let around = list.path.steps + [.each], path = JSONPath(.record, steps: around + [.key(name)])
            switch names {
            case .beside(let steps): return NamedColumns(path, names: JSONPath(.record, steps: around + steps))
            case .written(let names): return NamedColumns(path, written: names)
            }
        }
    }

    /// Returns the key by which the records of a list have a table; nil if it is none of them.
    static func key(of table: NamedColumns, below list: FoundList) -> String? {
        let around = list.path.steps + [.each]
        guard table.records.steps.count == around.count + 1, table.records.steps.starts(with: around),
            case .key(let name)? = table.records.steps.last
        else { return nil }
        return name
    }

    /// Whether the rows of a table in the records of a list are records, by the samples of all
    /// pages.
    static func isTaken(_ table: NamedColumns, below list: FoundList, _ shape: ObjectShape) -> Bool {
        key(of: table, below: list).map { shape.fields[$0]?.element?.object?.rowKey != nil } ?? false
    }

    /// Whether the elements of an array only have lists of tables, as the statements of a query do:
    /// returns the key of these.
    static func series(in elements: [JSONValue]) -> String? {
        var found: Set<String> = []
        for element in elements {
            for member in element.members where !ListFinder.isEnvelope(member.key) || !member.value.elements.isEmpty {
                if ListFinder.isCompanion(member.key) { continue }
                guard !member.value.elements.isEmpty, member.value.elements.allSatisfy(hasTable) else { return nil }
                found.insert(member.key)
            }
        }
        return found.count == 1 ? found.first : nil
    }

    /// Whether an object has the names of columns beside a list.
    private static func hasTable(_ object: JSONValue) -> Bool {
        guard let names = object["columns"]?.elements, !names.isEmpty, names.allSatisfy({ $0.scalarText != nil }) else {
            return false
        }
        return object.members.contains { member in
            if case .array = member.value { member.key != "columns" } else { false }
        }
    }

    private enum Names {
        case beside([JSONPath.Step]), written([String])
    }

    /// The keys of members that are lists of lists in some records.
    private static func members(_ records: [JSONValue]) -> [String] {
        var names: [String] = []
        for record in records {
            for member in record.members.prefix(100) where !names.contains(member.key) {
                if case .array? = member.value.elements.first { names.append(member.key) }
            }
        }
        return names
    }

    private static func table(_ name: String, in records: [JSONValue]) -> (String, Names)? {
        guard FieldNames.canBeWritten([name]) else { return nil }
        var tables: [(record: JSONValue, rows: [[JSONValue]])] = [], count = 0
        for record in records {
            guard let value = record[name], value != .null else { continue }
            guard case .array(let elements) = value else { return nil }
            let rows = elements.compactMap { element in
                if case .array(let values) = element { values } else { nil }
            }
            count += rows.count
            guard rows.count == elements.count, count <= rowLimit else { return nil }
            if !rows.isEmpty { tables.append((record, rows)) }
        }
        guard !tables.isEmpty, let (names, texts) = names(of: tables, named: name) else { return nil }
        // The rows of a record as objects, as the import makes them.
        let named = zip(tables, texts).map { table, names in
            table.rows.map { JSONValue.object(zip(names, $0).map { JSONValue.Member($0, $1) }) }
        }
        let isIdentified = hasKeys(records) || SeriesLabels(of: records)?.tellApart(records) ?? false
        guard isIdentified, RowKey(of: named) != nil else { return nil }
        return (name, names)
    }

    /// Whether all records have an id of their own.
    private static func hasKeys(_ records: [JSONValue]) -> Bool {
        let keys = records.compactMap { $0["id"]?.keyText }
        return keys.count == records.count && Set(keys).count == keys.count
    }

    /// Returns the names of the columns of tables: those beside each of them, or those of pairs of
    /// a time and a value.
    private static func names(
        of tables: [(record: JSONValue, rows: [[JSONValue]])], named key: String
    ) -> (Names, [[String]])? {
        if let first = tables.first,
            let steps = RowList.place(ofNamesIn: first.record.members, count: first.rows[0].count, depth: 0)
        {
            var texts: [[String]] = []
            for (record, rows) in tables {
                let width = rows[0].count
                guard rows.allSatisfy({ $0.count == width }),
                    RowList.place(ofNamesIn: record.members, count: width, depth: 0) == steps,
                    let names = RowList.names(in: record.members, count: width)
                else { return nil }
                texts.append(names)
            }
            return (.beside(steps), texts)
        }
        guard pairNames.contains(key.lowercased()), let names = pair(tables.flatMap(\.rows)) else { return nil }
        return (.written(names), tables.map { _ in names })
    }

    /// Returns the names of rows with a time and a value; nil for other rows.
    private static func pair(_ rows: [[JSONValue]]) -> [String]? {
        guard rows.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0 == .null || isScalar($0) } }) else { return nil }
        let times = [0, 1].filter { column in rows.allSatisfy { isTime($0[column]) } }
        guard times.count == 1 else { return nil }
        return times[0] == 0 ? ["time", "value"] : ["value", "time"]
    }

    private static func isScalar(_ value: JSONValue) -> Bool {
        if case .bool = value { true } else { value.scalarText != nil }
    }

    /// Whether a value is a time since 1970: in seconds, milliseconds, microseconds or nanoseconds,
    /// from 2001 to 2100.
    private static func isTime(_ value: JSONValue) -> Bool {
        guard let text = value.scalarText, let number = Double(text) else { return false }
        return [1.0, 1e3, 1e6, 1e9].contains { (1_000_000_000 * $0...4_102_444_800 * $0).contains(number) }
    }
}
