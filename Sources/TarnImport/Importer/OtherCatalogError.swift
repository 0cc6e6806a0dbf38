/// The error of a unit that is committed to another store than that of the importer's catalog.
package struct OtherCatalogError: Error, Hashable, CustomStringConvertible {
    /// The name of an entity that has another id in the store, or of which a field has.
    package var entity: String

    package init(entity: String) { self.entity = entity }

    package var description: String {
        "the importer has the catalog of another store, in which \(entity) or a field of it has another id; make one "
            + "with the catalog of this store"
    }
}
