// The removal of responses that another mapping has imported.

extension ResponseWriter {
    /// Removes the responses of a mirror to a request that another mapping has imported.
    ///
    /// The store has the values of the present mapping by now: a 304 would confirm them for the
    /// other one. An endpoint that the description does not have may come back.
    ///
    /// - Parameter isDeclared: whether the description has an endpoint of this name.
    /// - Returns: the names of endpoints without a declaration that had such responses.
    package mutating func remove(
        ofOtherMappingsThan request: RequestKey, isDeclared: (Substring) -> Bool
    ) throws -> Set<String> {
        let name = RequestKey.name(ofEndpoint: request.endpoint)
        var others: [UInt64] = [], gone: Set<String> = []
        try table.forEach(to: request.url, scope: request.authScope) { view in
            let endpoint = view.endpoint
            guard endpoint != request.endpoint, !view.isCaches, view.scan != nil, view.method == request.method else {
                return true
            }
            let other = RequestKey.name(ofEndpoint: endpoint)
            if other != name {
                let isSameMapping = endpoint.dropFirst(other.count) == request.endpoint.dropFirst(name.count)
                if isSameMapping || isDeclared(other) { return true }
                gone.insert(String(other))
            }
            others.append(view.id)
            return true
        }
        for id in others { try remove(id: id) }
        return gone
    }
}
