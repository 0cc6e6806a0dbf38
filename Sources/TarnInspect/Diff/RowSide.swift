import TarnStore

/// The table of a root entity in one of two files that are compared.
final class RowSide {
    /// The number of the store: 0 or 1.
    let number: Int
    let file: StoreFile
    let root: Catalog.Entity
    let cursor: TableCursor
    private(set) var hasEntry = false
    /// Whether rows of the table can have edge lists.
    let hasLists: Bool

    /// Creates a side before the first row; nil if the file has no such root entity.
    init?(_ number: Int, _ file: StoreFile, _ name: String) {
        guard let root = file.catalog.entity(name), root.root == root.id else { return nil }
        (self.number, self.file, self.root) = (number, file, root)
        cursor = TableCursor(file, TableName.records(root.id))
        hasLists = file.catalog.entities.contains { entity in
            entity.root == root.id
                && entity.fields.contains { if case .reference(let to) = $0.kind { to.isToMany } else { false } }
        }
    }

    func advance() { hasEntry = cursor.next() }

    /// The content of the table under names that do not depend on ids, as far as rows have ids.
    ///
    /// If it is equal on both sides, equal bytes are equal records.
    var coding: [UInt16: [String]] {
        var names: [UInt16: [String]] = [:]
        for entity in file.catalog.entities where entity.root == root.id {
            let removed = file.removedFields(of: entity.id).sorted().map { "removed \($0)" }
            names[entity.id] = [entity.name] + entity.fields.map { "\($0.id) \($0.name)" } + removed
        }
        return names
    }
}
