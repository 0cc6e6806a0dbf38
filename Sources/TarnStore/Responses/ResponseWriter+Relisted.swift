// The removal of responses to earlier requests for changes.

extension ResponseWriter {
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
    package mutating func remove(relistedBy newest: ResponseEntry, sparing base: UInt64?) throws {
        guard let identity = newest.listing.identity else { return }
        var candidates: Set<UInt64> = []
        for record in newest.listing.listed {
            candidates.formUnion(try table.ids(listing: record).suffix(ResponseWriter.mostExamined))
        }
        for id in candidates.sorted(by: >).prefix(ResponseWriter.mostExamined) {
            guard let view = try table.view(id: id), view.identity == identity, let scan = view.scan,
                scan < newest.listing.scan, scan != base, try isRelisted(view, after: scan, identity)
            else { continue }
            try table.remove(id: id)
        }
    }

    /// Whether each record of a response is listed by a response of a later scan of the list.
    private func isRelisted(_ view: ResponseView, after scan: UInt64, _ identity: String) throws -> Bool {
        var isRelisted = true
        try view.forEachListed { entity, key in
            let record = ListedRecord(entity: entity, storageKey: Array(key))
            isRelisted = try table.ids(listing: record).reversed().contains { id in
                guard let other = try table.view(id: id) else { return false }
                return other.identity == identity && other.scan.map { $0 > scan } ?? false
            }
            return isRelisted
        }
        return isRelisted
    }
}
