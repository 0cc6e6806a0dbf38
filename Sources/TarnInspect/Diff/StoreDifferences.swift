/// The summary of a comparison of two stores.
public struct StoreDifferences: Sendable, Hashable {
    /// The numbers of records of one concrete entity.
    public struct Entity: Sendable, Hashable {
        /// The name of the entity.
        public var name: String
        /// The number of records with equal content in both stores.
        public var same = 0
        /// The number of records that only the second store has.
        public var added = 0
        /// The number of records that only the first store has.
        public var removed = 0
        /// The number of records with different content.
        public var changed = 0
        /// The number of records that could not be compared, because a row is damaged.
        public var unreadable = 0
    }

    /// The numbers by concrete entity, in the order of the first store, then of the second one.
    ///
    /// A changed record counts for its entity in the second store; if that one is not compared, for
    /// its entity in the first store.
    public var entities: [Entity]
    /// The parts of the schema that differ.
    public var schema: [SchemaDifference]
    /// Whether all pages and rows of both stores were readable.
    ///
    /// If not, records in the damaged part of one store seem to be missing there.
    public var isComplete: Bool
    /// The reasons why no read transaction held the state of the first and of the second store; nil
    /// if one did.
    public var aloneBecause: [String?]
    /// Whether tables of other programs were compared: ``entities`` are tables, records are
    /// entries.
    package var isOfTables = false

    /// The number of records that differ.
    public var differing: Int { entities.reduce(0) { $0 + $1.added + $1.removed + $1.changed } }

    /// Whether all records and the schemas are equal. Versions and ids are not compared.
    public var isEqual: Bool { isComplete && schema.isEmpty && differing == 0 }

    /// The summary for people: differences of the schema, then a line for each entity that
    /// differs.
    public var lines: [String] {
        var lines = schema.map(\.line)
        for entity in entities where entity.added + entity.removed + entity.changed + entity.unreadable > 0 {
            var parts = ["\(entity.added) added", "\(entity.removed) removed", "\(entity.changed) changed"]
            if entity.unreadable > 0 { parts.append("\(entity.unreadable) not compared") }
            lines.append("\(entity.name): " + parts.joined(separator: ", ") + ", \(entity.same) equal")
        }
        let same = entities.reduce(0) { $0 + $1.same }
        let noun = isOfTables ? (same == 1 ? "entry" : "entries") : (same == 1 ? "record" : "records")
        if isEqual { lines.append("equal: \(same) \(noun)") }
        return lines
    }

    /// The summary as a JSON object, without a line break.
    public var json: String {
        var text =
            "{\"summary\":{\"equal\":\(isEqual),\"complete\":\(isComplete),\"schema\":\(schema.count),"
            + "\"\(isOfTables ? "tables" : "entities")\":{"
        for (index, entity) in entities.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(entity.name)
            text += ":{\"same\":\(entity.same),\"added\":\(entity.added),\"removed\":\(entity.removed)"
            text += ",\"changed\":\(entity.changed),\"unreadable\":\(entity.unreadable)}"
        }
        return text + "}}}"
    }
}
