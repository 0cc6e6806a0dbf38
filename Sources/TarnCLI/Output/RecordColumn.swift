// A column of records: a field, a path through relationships, an included relationship, the kind.

import Tarn

enum RecordColumn {
    case field(String)
    /// Names of relationships, then of a field.
    case path([String])
    /// The targets of a relationship, whole.
    case included(String)
    /// The name of the record's concrete entity.
    case kind

    /// The name of the kind in data, and in `--fields`.
    static let kindName = "_kind"

    /// The name of the column in data.
    var name: String {
        switch self {
        case .field(let name), .included(let name): name
        case .path(let names): names.joined(separator: ".")
        case .kind: RecordColumn.kindName
        }
    }

    /// The title of the column for people.
    var title: String { if case .kind = self { "kind" } else { name } }

    /// Returns the value of a record.
    func value(of record: Record, _ printer: RecordPrinter, _ reader: borrowing StoreReader) throws -> OutputValue {
        switch self {
        case .kind: return .text(record.entity)
        case .included(let name): return try printer.included(name, of: record, reader)
        case .field(let name):
            if let value = record[name] { return .value(value) }
            guard let relationship = printer.relationship(name, of: record.entity), !relationship.isStored else {
                return .absent
            }
            return try RecordColumn.values([name], of: record, printer, reader)
        case .path(let names): return try RecordColumn.values(names[...], of: record, printer, reader)
        }
    }

    /// Follows a path: one value if every relationship is to-one, else a list.
    private static func values(
        _ names: ArraySlice<String>, of record: Record, _ printer: RecordPrinter, _ reader: borrowing StoreReader
    ) throws -> OutputValue {
        var found: [Value] = [], isMany = false
        try collect(names, of: record, printer, reader, into: &found, &isMany)
        return .value(isMany ? .array(found) : found.first ?? .null)
    }

    private static func collect(
        _ names: ArraySlice<String>, of record: Record, _ printer: RecordPrinter, _ reader: borrowing StoreReader,
        into values: inout [Value], _ isMany: inout Bool
    ) throws {
        guard let name = names.first else { return }
        if names.count == 1, let value = record[name] { return values.append(value) }
        guard let relationship = printer.relationship(name, of: record.entity) else { return }
        isMany = isMany || relationship.isToMany
        var targets: [StoreReader.Target] = []
        // Only the last part of a path is a field.
        let read = names.count == 2 ? [names[names.startIndex + 1]] : []
        try reader.forEachRelated(record.entity, record.key, name, only: read) { target in
            targets.append(target)
            return true
        }
        for target in targets {
            if names.count == 1 {
                if let key = target.key { values.append(.reference(key)) }
            } else if let record = target.record {
                try collect(names.dropFirst(), of: record, printer, reader, into: &values, &isMany)
            }
        }
    }
}
