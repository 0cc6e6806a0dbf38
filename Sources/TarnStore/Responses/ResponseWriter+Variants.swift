// Responses to one request of other users, or with other header fields or hooks: they share their
// records.

extension ResponseWriter {
    /// Outdates the responses to the same URL, of other users, or with other header fields or
    /// hooks, that share a record with a response that was just imported.
    ///
    /// The store has the values of the new responses. The outdated ones still list their records,
    /// but neither freshness nor a 304 confirms them.
    package mutating func outdateVariants(of entries: [ResponseEntry]) throws {
        guard !entries.isEmpty else { return }
        let scopes = try table.scopes()
        for entry in entries { try outdateVariants(of: entry, scopes) }
    }

    private mutating func outdateVariants(of entry: ResponseEntry, _ scopes: Set<String>) throws {
        let request = entry.request, records = Set(entry.listing.listed)
        guard !records.isEmpty else { return }
        var outdated: [ResponseEntry] = []
        for scope in scopes {
            try table.forEach(to: request.url, scope: scope) { view in
                let isOthers = scope != request.authScope || view.variant != request.variant
                guard view.method == request.method, !view.isList,
                    isOthers || view.endpoint != request.endpoint && view.valueVariant != entry.valueVariant
                else { return true }
                var isShared = false
                view.forEachListed { root, key in
                    isShared = records.contains(ListedRecord(entity: root, storageKey: Array(key)))
                    return !isShared
                }
                if isShared, var other = view.entry {
                    let known = other.validation
                    other.validation.outdate()
                    if other.validation != known { outdated.append(other) }
                }
                return true
            }
        }
        for other in outdated { try put(other) }
    }
}
