// The removal of responses to earlier requests for changes.

extension StoreWriter {
    /// The maximum number of responses that are examined for one new response.
    private static let mostExamined = 256

    /// Removes responses of earlier scans whose records are all listed by later ones.
    ///
    /// Each request for changes has another URL, so that its response is never replaced. A removed
    /// response takes nothing away: whether the list has a record is still known.
    ///
    /// - Parameters:
    ///   - newest: a stored response of the list.
    ///   - base: the number of the last scan of the whole list, whose responses stay.
    package mutating func removeResponses(relistedBy newest: ResponseEntry, sparing base: UInt64?) throws {
        guard let identity = newest.listing.identity else { return }
        let responses = access.responses
        var candidates: Set<UInt64> = []
        for record in newest.listing.listed {
            candidates.formUnion(try responses.ids(listing: record).suffix(StoreWriter.mostExamined))
        }
        for id in candidates.sorted(by: >).prefix(StoreWriter.mostExamined) {
            guard let view = try responses.view(id: id), view.identity == identity, let scan = view.scan,
                scan < newest.listing.scan, scan != base, try isRelisted(view, after: scan, identity)
            else { continue }
            try responses.remove(id: id)
        }
    }

    /// Whether each record of a response is listed by a response of a later scan of the list.
    private func isRelisted(_ view: ResponseView, after scan: UInt64, _ identity: String) throws -> Bool {
        var isRelisted = true
        try view.forEachListed { entity, key in
            let record = ListedRecord(entity: entity, storageKey: Array(key))
            isRelisted = try access.responses.ids(listing: record).reversed().contains { id in
                guard let other = try access.responses.view(id: id) else { return false }
                return other.identity == identity && other.scan.map { $0 > scan } ?? false
            }
            return isRelisted
        }
        return isRelisted
    }
}

extension StoreWriter {
    /// Removes the responses of a mirror to a request that another mapping has imported.
    ///
    /// The store has the values of the present mapping by now: a 304 would confirm them for the
    /// other one.
    package mutating func removeResponses(ofOtherMappingsThan request: RequestKey) throws {
        func name(_ endpoint: String) -> Substring { endpoint.prefix { $0 != " " } }
        var others: [UInt64] = []
        try access.responses.forEach(to: request.url, scope: request.authScope) { view in
            let endpoint = view.endpoint
            if endpoint != request.endpoint, !view.isCaches, view.scan != nil, view.method == request.method,
                name(endpoint) == name(request.endpoint)
            {
                others.append(view.id)
            }
            return true
        }
        for id in others { try access.responses.remove(id: id) }
    }
}
