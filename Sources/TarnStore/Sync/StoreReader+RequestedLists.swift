// The lists that endpoints request by the last sync of a description, as a note in the store.

extension StoreReader {
    /// The note of the requested lists; nil if no sync has made one.
    package var requestedLists: String? {
        get throws { try access.settings.requestedLists }
    }
}

extension StoreWriter {
    /// Replaces ``StoreReader/requestedLists``. Observers are not notified.
    package mutating func note(requestedLists text: String) throws { try access.settings.setRequestedLists(text) }
}
