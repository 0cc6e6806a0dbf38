// The removal of responses that another mapping has imported.

extension StoreWriter {
    /// Removes the responses of a mirror to a request that another mapping has imported.
    ///
    /// The store has the values of the present mapping by now: a 304 would confirm them for the
    /// other one.
    package mutating func removeResponses(ofOtherMappingsThan request: RequestKey) throws {
        let name = RequestKey.name(ofEndpoint: request.endpoint)
        var others: [UInt64] = []
        try access.responses.forEach(to: request.url, scope: request.authScope) { view in
            let endpoint = view.endpoint
            if endpoint != request.endpoint, !view.isCaches, view.scan != nil, view.method == request.method,
                RequestKey.name(ofEndpoint: endpoint) == name
            {
                others.append(view.id)
            }
            return true
        }
        for id in others { try removeResponse(id: id) }
    }
}
