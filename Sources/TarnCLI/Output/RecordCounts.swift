// The number of records of a store by entity; the records of a subentity count once, in its root.

import Tarn

struct RecordCounts {
    /// The number of records of an entity, including its subentities.
    struct Entity {
        var name: String
        var count: Int
        /// The parent entity; nil for a root entity.
        var parent: String?
    }

    var entities: [Entity] = []

    init(entities: [Entity] = []) { self.entities = entities }

    /// Counts the records of a store.
    init(_ reader: borrowing StoreReader) throws {
        for entity in reader.catalog.entities {
            let parent = entity.parent.flatMap { reader.catalog.entity(id: $0)?.name }
            entities.append(Entity(name: entity.name, count: try reader.count(entity.name), parent: parent))
        }
    }

    /// The total, with every record counted once. A damaged file may state any numbers.
    var total: Int {
        entities.reduce(0) { total, entity in
            let (sum, isTooLarge) = total.addingReportingOverflow(entity.parent == nil ? entity.count : 0)
            return isTooLarge ? .max : sum
        }
    }

    /// The counts as text: `117 Ticket (30 Bug), 12 User`.
    var text: String {
        var left = Set(entities.indices)
        return text(of: nil, &left)
    }

    /// Formats each entity once, even if a damaged catalog has a name twice.
    private func text(of parent: String?, _ left: inout Set<Int>) -> String {
        var parts: [String] = []
        for (index, entity) in entities.enumerated() where entity.parent == parent && left.remove(index) != nil {
            let kinds = text(of: entity.name, &left)
            parts.append("\(entity.count) \(entity.name)" + (kinds.isEmpty ? "" : " (\(kinds))"))
        }
        return parts.joined(separator: ", ")
    }
}
