// The key of the rows of a table within the record that has the table.

import Tarn

/// The columns that tell the rows of each table apart.
struct RowKey {
    let fields: [String]
    /// The reason for the choice.
    let reason: String
    /// The reason why rows may share the key; nil if it is certain enough.
    let doubt: String?

    /// Chooses the columns for the rows of several tables; nil if none do.
    init?(of tables: [[JSONValue]]) {
        let rows = tables.flatMap(\.self)
        guard let first = rows.first, case .object(let members) = first else { return nil }
        let usable = members.map(\.key).filter { name in
            FieldNames.canBeComposed(name) && rows.allSatisfy { $0[name]?.scalarText.map { !$0.isEmpty } ?? false }
        }
        func areUnique(_ fields: [String]) -> Bool {
            tables.allSatisfy { rows in
                let keys = rows.map { row in fields.map { ExactText(row[$0]?.scalarText ?? "") } }
                return Set(keys).count == keys.count
            }
        }
        if let id = usable.first(where: { ["id", "uuid", "_id"].contains($0) }), areUnique([id]) {
            (fields, reason, doubt) = ([id], "", nil)
            return
        }
        guard let time = usable.first(where: RowKey.isTime) else { return nil }
        let shown = "`\(YAMLText.comment(time, limit: 40))`"
        if areUnique([time]) {
            let other = usable.first { name in
                name != time
                    && rows.contains { if case .string(let text)? = $0[name] { Double(text) == nil } else { false } }
            }
            let further = other.map { EnglishName.field($0) } ?? "a column that tells them apart"
            (fields, reason) = ([time], "the time is unique within each record")
            doubt =
                "\(shown) differs in the rows of each sample: if several rows have one time, the store has one record for them; then add \(further) to the key"
            return
        }
        // Rows of one time, such as lines of a log.
        let texts = usable.filter { name in
            name != time && rows.allSatisfy { if case .string? = $0[name] { true } else { false } }
        }
        guard let other = texts.first(where: { areUnique([time, $0]) }) else { return nil }
        (fields, reason) = ([time, other], "several rows have one time")
        doubt =
            "\(shown) and `\(YAMLText.comment(other, limit: 40))` together differ in the rows of each sample: if two rows are equal in both, the store has one record for them"
    }

    /// Whether a column has times, by its name.
    private static func isTime(_ name: String) -> Bool {
        EnglishName.words(of: name).last.map(KeyChoice.timeNames.contains) ?? false
    }
}
