import TarnStore

/// The records of the stored answer to a request, over all of its pages.
struct StoredAnswer<Value: StoredRecord>: Sendable {
    /// The records, in the server's order.
    var records: [Value]
    /// Whether the store has the whole answer. If not, the records are those of the last one.
    var isStored: Bool
}

extension StoredAnswer {
    /// Observes the stored answer to a request.
    ///
    /// A result is delivered if the list of records changes, or a commit changes one of them. If
    /// the answer is removed, the records of the last list stay, as far as they are stored.
    static func observation(of first: PreparedRequest, in store: Store) -> StoreObservation<StoredAnswer> {
        StoreObservation(ofLists: store) {
            var listed: [ListedRecord] = [], versions: [UInt64?]?
            return { reader, isAlwaysWanted in
                let stored = try first.storedList(reader), keys = stored ?? listed
                let new = try reader.access.versions(of: keys)
                guard isAlwaysWanted || new != versions || keys != listed else { return nil }
                (listed, versions) = (keys, new)
                return StoredAnswer(records: try reader.records(Value.self, listed: keys), isStored: stored != nil)
            }
        }
    }
}

extension PreparedRequest {
    /// Returns the records that the stored responses list, from this page on.
    ///
    /// Responses of different times may list a record twice, since it has moved in between: it is
    /// where the newest of them has it.
    ///
    /// - Returns: the records in the server's order; nil if a page is not stored.
    func storedList(_ reader: StoreReader) throws -> [ListedRecord]? {
        var pages: [(keys: [ListedRecord], validatedAt: Timestamp)] = [], page = self
        while let view = try reader.access.responses.view(page.digest) {
            let keys = ListedResponse(view, reader).listed()
            pages.append((keys, view.validatedAt))
            guard let next = page.next(view.page(keys).end) else { return PreparedRequest.once(pages) }
            guard case .page(let pages)? = next.continuation else { return nil }
            page = PreparedRequest(
                page.request, at: pages, isPositioned: true, directives: page.directives, options: page.options)
        }
        return nil
    }

    /// The records of pages, each once: on the newest page that lists it, the last of equally old
    /// ones.
    private static func once(_ pages: [(keys: [ListedRecord], validatedAt: Timestamp)]) -> [ListedRecord] {
        var newest: [ListedRecord: Int] = [:]
        for (index, page) in pages.enumerated() {
            for key in page.keys {
                if let known = newest[key], pages[known].validatedAt > page.validatedAt { continue }
                newest[key] = index
            }
        }
        var records: [ListedRecord] = []
        for (index, page) in pages.enumerated() {
            // Also if a page lists a record twice.
            records += page.keys.filter { newest[$0] == index && newest.removeValue(forKey: $0) != nil }
        }
        return records
    }
}
