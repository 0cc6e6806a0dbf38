// What an index is called in messages.

extension Catalog {
    /// `Issue.author` for the index of a field or a declared one, `Push` for that of an entity's members; its number if there is none.
    package func fullName(ofIndex id: UInt32) -> String {
        // Parents have smaller ids than what descends from them.
        for entity in entities.sorted(by: { $0.id < $1.id }) {
            if let field = entity.fields.first(where: { $0.index == id }) { return "\(entity.name).\(field.name)" }
            if let index = entity.indexes.first(where: { $0.id == id }) { return "\(entity.name).\(index.name)" }
            if entity.members == id { return entity.name }
        }
        return "\(id)"
    }
}
