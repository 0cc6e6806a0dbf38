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
                let new = try reader.versions(of: keys)
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
    /// - Returns: the records in the server's order; nil if a page is not stored.
    func storedList(_ reader: StoreReader) throws -> [ListedRecord]? {
        var listed: [ListedRecord] = [], page = self
        while let view = try reader.access.responses.view(page.digest) {
            let keys = ListedResponse(view, reader).listed()
            listed += keys
            guard let next = page.next(view.page(keys).end) else { return listed }
            guard case .page(let pages)? = next.continuation else { return nil }
            page = PreparedRequest(
                page.request, at: pages, isPositioned: true, directives: page.directives, options: page.options)
        }
        return nil
    }
}
