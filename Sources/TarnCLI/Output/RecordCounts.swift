// How many records a store has, by entity: a kind is counted in the entity that it is a kind of, and not once more.

struct RecordCounts {
    /// The records of an entity, those of its kinds included.
    struct Entity {
        var name: String
        var count: Int
        /// The entity that it is a kind of; nil for none.
        var parent: String?
    }

    var entities: [Entity] = []

    /// Every record once.
    var total: Int { entities.reduce(0) { $0 + ($1.parent == nil ? $1.count : 0) } }

    /// `117 Ticket (30 Bug), 12 User`
    var text: String {
        var left = Set(entities.indices)
        return text(of: nil, &left)
    }

    /// Each entity once, also where a damaged catalog has one name twice.
    private func text(of parent: String?, _ left: inout Set<Int>) -> String {
        var parts: [String] = []
        for (index, entity) in entities.enumerated() where entity.parent == parent && left.remove(index) != nil {
            let kinds = text(of: entity.name, &left)
            parts.append("\(entity.count) \(entity.name)" + (kinds.isEmpty ? "" : " (\(kinds))"))
        }
        return parts.joined(separator: ", ")
    }
}
