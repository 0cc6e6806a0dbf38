// A path of a column: names of relationships, then of a field.

import Tarn

/// A path from a record.
///
/// Each target has its place in the values, also if it is missing or lacks the field: the values of
/// two paths through the same relationship correspond. Through several to-many relationships, the
/// values are one list, not lists in a list.
struct RecordPath {
    let names: [String]
    /// The position of the last name that leads to several values; nil if there is one value.
    private let lastMany: Int?

    init(_ names: [String], lastMany: Int?) {
        self.names = names
        self.lastMany = lastMany
    }

    /// Follows the path: one value if every relationship is to-one, else a list.
    func value(of record: Record, _ printer: RecordPrinter, _ reader: borrowing StoreReader) throws -> OutputValue {
        var found: [Value] = []
        try collect(0, of: record, printer, reader, into: &found)
        return .value(lastMany == nil ? found.first ?? .null : .array(found))
    }

    /// Appends the values that the names from a position on lead to.
    private func collect(
        _ index: Int, of record: Record, _ printer: RecordPrinter, _ reader: borrowing StoreReader,
        into values: inout [Value]
    ) throws {
        let name = names[index], isLast = index == names.count - 1
        if isLast, let value = record[name] {
            // The keys of several lists are one list, wherever the lists are stored.
            guard lastMany == index, case .references(let keys) = value else { return values.append(value) }
            return values += keys.map(Value.reference)
        }
        guard printer.relationship(name, of: record.entity) != nil else { return appendNothing(index, to: &values) }
        var targets: [StoreReader.Target] = []
        // Only the last part of a path is a field.
        let read = index == names.count - 2 ? [names[index + 1]] : []
        try reader.forEachRelated(record.entity, record.key, name, only: read) { target in
            targets.append(target)
            return true
        }
        if targets.isEmpty { appendNothing(index, to: &values) }
        for target in targets {
            if isLast {
                values.append(target.key.map(Value.reference) ?? .null)
            } else if let record = target.record {
                try collect(index + 1, of: record, printer, reader, into: &values)
            } else {
                appendNothing(index + 1, to: &values)
            }
        }
    }

    /// Appends what the names from a position on have without a target: no value of a list, else
    /// null.
    private func appendNothing(_ index: Int, to values: inout [Value]) {
        if let lastMany, lastMany >= index { return }
        values.append(.null)
    }
}
