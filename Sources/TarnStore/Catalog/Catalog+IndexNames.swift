// Names of indexes for messages.

extension Catalog {
    /// Returns the full name of an index for messages.
    ///
    /// It is `Issue.author` for the index of a field or a declared one, `Push` for the index of an
    /// entity's members, and the id for an unknown one.
    package func fullName(ofIndex id: UInt32) -> String {
        // Parents have smaller ids than their descendants.
        for entity in entities.sorted(by: { $0.id < $1.id }) {
            if let field = entity.fields.first(where: { $0.index == id }) { return "\(entity.name).\(field.name)" }
            if let index = entity.indexes.first(where: { $0.id == id }) { return "\(entity.name).\(index.name)" }
            if entity.members == id { return entity.name }
        }
        return "\(id)"
    }
}
