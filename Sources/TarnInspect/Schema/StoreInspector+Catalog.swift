import TarnStore

extension StoreInspector {
    /// Returns the catalog of a store.
    ///
    /// - Throws: `StoreOpenError`: `.noSuchStore`, `.notAStore`, `.newerFormat`, `.store` with
    ///   `.damagedCatalog`.
    package func storedCatalog() throws -> Catalog {
        try open { file in
            try checkIsReadable(file)
            return file.catalog
        }
    }
}
