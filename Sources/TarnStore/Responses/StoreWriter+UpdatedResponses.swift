// Stored responses whose records another mapping has changed.

extension StoreWriter {
    /// Begins to collect the responses that list a record that this transaction updates.
    ///
    /// Nothing is collected, and no update costs more, if no response can be of interest.
    ///
    /// - Parameters:
    ///   - mapping: the digest of the present schema and mapping.
    ///   - withMirrors: whether responses of mirrors are of interest, too.
    package mutating func beginCollectingResponses(butOf mapping: String, withMirrors: Bool) throws {
        let responses = access.responses
        try responses.countMappingsOfEarlierVersions()
        let areOfInterest = try responses.hasCaches(butOf: mapping) || withMirrors && responses.hasMirrors
        updatedResponses = areOfInterest ? [] : nil
    }

    /// Collects the responses that list an updated record, if that has begun.
    mutating func collectResponses(listing root: UInt16, _ key: Bytes) throws {
        guard updatedResponses != nil else { return }
        try access.responses.forEachID(listing: root, key) { id in
            updatedResponses?.insert(id)
            return true
        }
    }

    /// The collected responses, in the order of their ids; behind
    /// ``outdateCollectedResponses(butOf:withMirrors:)`` only those of mirrors.
    package var collectedResponses: [UInt64] { updatedResponses.map { $0.sorted() } ?? [] }

    /// Outdates the collected responses of caches that another mapping has imported, and ends the
    /// collection.
    ///
    /// The store has the values of the present mapping: neither freshness nor a 304 may confirm
    /// them for the other one. Responses of mirrors are left to the caller.
    ///
    /// - Parameters:
    ///   - mapping: the digest of the present schema and mapping.
    ///   - withMirrors: whether the responses of mirrors stay collected.
    package mutating func outdateCollectedResponses(butOf mapping: String, withMirrors: Bool) throws {
        let collected = collectedResponses
        var mirrors: Set<UInt64> = []
        updatedResponses = nil
        for id in collected {
            guard let view = try access.responses.view(id: id) else { continue }
            if view.isMirrors { mirrors.insert(id) }
            guard !view.isMirrors, !view.isList, view.mapping != mapping, var entry = view.entry else { continue }
            let known = entry.validation
            entry.validation.outdate()
            if entry.validation != known { try putResponse(entry) }
        }
        if withMirrors, !mirrors.isEmpty { updatedResponses = mirrors }
    }
}
