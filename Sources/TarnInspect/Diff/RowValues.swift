import TarnStore

/// The encoded values of a row by the names of their fields. Valid as long as the row.
struct RowValues {
    private struct Entry {
        let field: Catalog.Field?
        let value: EncodedValue
    }

    private let file: StoreFile
    private var names: [String] = []
    private var entries: [String: Entry] = [:]

    /// Reads the directory of a row; nil if a value exceeds it.
    init?(_ file: StoreFile, _ entity: Catalog.Entity, _ body: RowBody) {
        self.file = file
        let removed = file.removedFields(of: entity.id)
        for index in 0..<body.count {
            let id = body.id(at: index), field = entity.field(id: id)
            if id == WholeKey.field || (field == nil && removed.contains(id)) { continue }
            guard let value = body.value(at: index) else { return nil }
            let name = field?.name ?? "#\(id)"
            // Only a damaged catalog has two fields of one name.
            guard entries.updateValue(Entry(field: field, value: value), forKey: name) == nil else { return nil }
            names.append(name)
        }
    }

    /// A value that cannot be decoded.
    struct Unreadable: Error {
        let field: String
        /// Whether the other row has the value.
        let isOfOther: Bool
    }

    /// Returns the fields that differ, in the order of this row, then of the other one.
    func differences(to other: RowValues) throws(Unreadable) -> [RecordDifference.Field] {
        var fields: [RecordDifference.Field] = []
        for name in names + other.names.filter({ entries[$0] == nil }) {
            let mine = entries[name], theirs = other.entries[name]
            if let mine, let theirs, mine.value.tag != ValueTag.edges,
                mine.value.isContained(in: theirs.value), theirs.value.isContained(in: mine.value)
            {
                continue
            }
            let from = try value(mine, name, isOfOther: false), to = try other.value(theirs, name, isOfOther: true)
            let difference = RecordDifference.Field(
                name: name, from: from, to: to, positionFrom: mine?.value.position, positionTo: theirs?.value.position)
            if let from, let to, Value.haveSameBytes(from, to), difference.positionFrom == difference.positionTo {
                continue
            }
            fields.append(difference)
        }
        return fields
    }

    private func value(_ entry: Entry?, _ name: String, isOfOther: Bool) throws(Unreadable) -> Value? {
        guard let entry else { return nil }
        guard entry.value.isWellFormed, let value = (try? file.decoded(entry.value, of: entry.field)) ?? nil else {
            throw Unreadable(field: name, isOfOther: isOfOther)
        }
        return value
    }
}
