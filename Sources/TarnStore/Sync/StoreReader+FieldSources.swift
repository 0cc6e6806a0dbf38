// The sources of fields by the last sync of a description, as a note in the store.

extension StoreReader {
    /// The note of the sources of fields; nil if no sync has made one.
    package var fieldSources: String? {
        get throws { try access.settings.fieldSources }
    }
}

extension StoreWriter {
    /// Replaces ``StoreReader/fieldSources``. Observers are not notified.
    package mutating func note(fieldSources text: String) throws { try access.settings.setFieldSources(text) }
}
