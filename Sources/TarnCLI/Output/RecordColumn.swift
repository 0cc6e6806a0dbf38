// A column of records: a field, a path through relationships, an included relationship, the kind.

import Tarn

enum RecordColumn {
    case field(String)
    /// Names of relationships, then of a field.
    case path(RecordPath)
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
        case .path(let path): path.names.joined(separator: ".")
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
            return try RecordPath([name], lastMany: relationship.isToMany ? 0 : nil).value(of: record, printer, reader)
        case .path(let path): return try path.value(of: record, printer, reader)
        }
    }
}
