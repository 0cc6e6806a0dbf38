// Stored responses whose records another mapping has changed.

extension ResponseWriter {
    /// Begins to collect the responses that list a record that this transaction updates.
    ///
    /// Nothing is collected, and no update costs more, if no response can be of interest.
    ///
    /// - Parameters:
    ///   - mapping: the digest of the present schema and mapping.
    ///   - withMirrors: whether responses of mirrors are of interest, too.
    package mutating func beginCollecting(butOf mapping: String, withMirrors: Bool) throws {
        try table.countMappingsOfEarlierVersions()
        let areOfInterest = try table.hasCaches(butOf: mapping) || withMirrors && table.hasMirrors
        updated = areOfInterest ? [] : nil
    }

    /// Collects the responses that list an updated record, if that has begun.
    mutating func collect(listing root: UInt16, _ key: Bytes) throws {
        guard updated != nil else { return }
        try table.forEachID(listing: root, key) { id in
            updated?.insert(id)
            return true
        }
    }

    /// The collected responses, in the order of their ids; behind
    /// ``outdateCollected(butOf:withMirrors:)`` only those of mirrors.
    package var collected: [UInt64] { updated.map { $0.sorted() } ?? [] }

    /// Outdates the collected responses of caches that another mapping has imported, and ends the
    /// collection.
    ///
    /// The store has the values of the present mapping: neither freshness nor a 304 may confirm
    /// them for the other one. Responses of mirrors are left to the caller.
    ///
    /// - Parameters:
    ///   - mapping: the digest of the present schema and mapping.
    ///   - withMirrors: whether the responses of mirrors stay collected.
    package mutating func outdateCollected(butOf mapping: String, withMirrors: Bool) throws {
        let collected = collected
        var mirrors: Set<UInt64> = []
        updated = nil
        for id in collected {
            guard let view = try table.view(id: id) else { continue }
            if view.isMirrors { mirrors.insert(id) }
            guard !view.isMirrors, !view.isList, view.mapping != mapping, var entry = view.entry else { continue }
            let known = entry.validation
            entry.validation.outdate()
            if entry.validation != known { try put(entry) }
        }
        if withMirrors, !mirrors.isEmpty { updated = mirrors }
    }
}
