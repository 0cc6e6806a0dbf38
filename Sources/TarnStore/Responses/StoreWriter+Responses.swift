// The most frequent changes of responses: the others are those of `ResponseWriter`.

extension StoreWriter {
    /// Stores the entry of a response, and replaces the one of the same request.
    package mutating func putResponse(_ entry: ResponseEntry) throws { try responses.put(entry) }

    /// Stores a response with its body, whose size the entry must declare.
    package mutating func putResponse(_ entry: ResponseEntry, body: [UInt8]) throws {
        try responses.put(entry, body: body)
    }

    /// Removes an entry with its body.
    package mutating func removeResponse(id: UInt64) throws { try responses.remove(id: id) }
}
