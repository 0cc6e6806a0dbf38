extension Catalog {
    /// Returns the name of an entity in another catalog whose rows this one would take for other
    /// values; nil if there is none.
    ///
    /// There is none in an earlier catalog of the same store: ids stay when something is renamed,
    /// and are not used again when it is removed. One that this store has not used yet is that of
    /// something that it may get later.
    package func misreadEntity(of other: Catalog) -> String? {
        guard self != other else { return nil }
        return other.entities.first { entity in
            guard let own = self.entity(id: entity.id) else { return entity.id >= nextEntity }
            let nextField = (self.entity(id: own.root) ?? own).nextField
            return !Catalog.hasNamed(own.name, own.was, entity.name)
                || entity.fields.contains { field in
                    own.field(id: field.id).map { !Catalog.hasNamed($0.name, $0.was, field.name) }
                        ?? (field.id >= nextField)
                }
        }?.name
    }

    private static func hasNamed(_ name: String, _ former: [String]?, _ other: String) -> Bool {
        name == other || former?.contains(other) == true
    }
}
