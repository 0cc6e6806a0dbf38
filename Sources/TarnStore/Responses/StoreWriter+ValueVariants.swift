// Responses to one request with different header fields or hooks: they share their records.

extension StoreWriter {
    /// Outdates responses that list a record of a response that was just imported, and to whose
    /// request other header fields or hooks belong.
    ///
    /// The store has the values of the new response by now: neither freshness nor a 304 confirms
    /// those of the others. They remain, as responses that list their records.
    package mutating func outdateVariants(of entry: ResponseEntry) throws {
        let request = entry.request, records = Set(entry.listing.listed)
        guard !records.isEmpty else { return }
        var outdated: [ResponseEntry] = []
        try access.responses.forEach(to: request.url, scope: request.authScope) { view in
            guard view.endpoint != request.endpoint, view.method == request.method, !view.isList,
                view.valueVariant != entry.valueVariant
            else { return true }
            var isShared = false
            view.forEachListed { root, key in
                isShared = records.contains(ListedRecord(entity: root, storageKey: Array(key)))
                return !isShared
            }
            if isShared, var other = view.entry {
                other.validation.outdate()
                outdated.append(other)
            }
            return true
        }
        for other in outdated { try putResponse(other) }
    }
}
