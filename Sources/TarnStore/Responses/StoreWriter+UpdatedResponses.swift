// Stored responses of caches whose records another mapping has changed.

extension StoreWriter {
    /// Begins to collect the responses that list a record that this transaction updates.
    package mutating func beginCollectingResponses() { updatedResponses = [] }

    /// Collects the responses that list an updated record, if that has begun.
    mutating func collectResponses(listing root: UInt16, _ key: Bytes) throws {
        guard updatedResponses != nil else { return }
        try access.responses.forEachID(listing: root, key) { id in
            updatedResponses?.insert(id)
            return true
        }
    }

    /// Outdates the collected responses of caches that another mapping has imported, and ends the
    /// collection.
    ///
    /// The store has the values of the present mapping: neither freshness nor a 304 may confirm
    /// them for the other one. Responses of mirrors are left to the mirrors.
    ///
    /// - Parameter mapping: the digest of the present schema and mapping.
    package mutating func outdateCollectedResponses(butOf mapping: String) throws {
        let collected = updatedResponses ?? []
        updatedResponses = nil
        for id in collected.sorted() {
            guard let view = try access.responses.view(id: id), !view.isMirrors, !view.isList,
                view.mapping != mapping, var entry = view.entry
            else { continue }
            let known = entry.validation
            entry.validation.outdate()
            if entry.validation != known { try putResponse(entry) }
        }
    }
}
