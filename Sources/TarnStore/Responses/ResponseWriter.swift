// Writing responses, within a write transaction.

internal import LMDB

/// The responses in a write transaction, with what it has to know about its changes of them.
package struct ResponseWriter: ~Copyable {
    let table: ResponseTable
    let sequence: UInt64
    /// Whether a response was stored whose list differs from the one before.
    private(set) var hasNewList = false
    /// The responses that list a record that is updated; nil if they are not collected.
    var updated: Set<UInt64>?
    /// The last commit before the first request of the answers that are imported; nil if it is not
    /// known: see ``noteCrossing(_:_:_:_:)``.
    package var requestedAfter: UInt64?
    /// The records of which the answers replace values that are newer than their requests.
    var crossed: Set<ListedRecord> = []
    /// The responses whose validators this transaction has removed, and that it has not stored
    /// anew since, with whether writes still require the version that these have named.
    var stripped: [UInt64: Bool] = [:]

    init(_ table: ResponseTable, sequence: UInt64) {
        self.table = table
        self.sequence = sequence
    }

    /// Stores the entry of a response, and replaces the one of the same request.
    package mutating func put(_ entry: ResponseEntry) throws {
        let stored = try table.put(entry, sequence: sequence)
        stripped[stored.id] = nil
        hasNewList = hasNewList || stored.isNewList
    }

    /// Stores a response with its body, whose size the entry must declare.
    ///
    /// - Precondition: `entry.caching?.bodySize` is the number of bytes.
    package mutating func put(_ entry: ResponseEntry, body: [UInt8]) throws {
        precondition(entry.caching?.bodySize == body.count, "the entry must declare the size of its body")
        let id = try table.put(entry, sequence: sequence).id
        stripped[id] = nil
        try table.putBody(body, of: id)
    }

    /// Removes an entry with its body.
    package mutating func remove(id: UInt64) throws { try table.remove(id: id) }

    /// Removes the next responses that list records of a root entity.
    ///
    /// - Returns: the number of listed records that were handled; 0 if there are none.
    mutating func remove(ofRoot root: UInt16, atMost count: Int) throws -> Int {
        for done in 0..<count {
            guard let key = try table.firstMember(ofRoot: root) else { return done }
            if key.count > 8 {
                try remove(id: key.withUnsafeBytes { $0.loadBigEndian(key.count - 8, UInt64.self) })
            }
            // Also in a damaged store, in which the response does not list the record.
            _ = try table.raw.delete(table.state.members, key)
        }
        return count
    }

    /// Appends a part of a response to the stored parts; the entry must declare the new size.
    ///
    /// - Parameter position: the size of the stored body; bytes beyond it are replaced.
    package mutating func append(_ entry: ResponseEntry, body: [UInt8], at position: Int) throws {
        precondition(entry.caching?.bodySize == position + body.count, "the entry must declare the size of its body")
        let id = try table.put(entry, sequence: sequence, keepsBody: true).id
        stripped[id] = nil
        try table.appendBody(body, of: id, at: position)
    }

    /// Marks an entry as unusable until the server has confirmed it. No write requires its version.
    package mutating func invalidate(id: UInt64) throws {
        // Each change of a listed record invalidates its list, which may be long.
        guard let view = try table.view(id: id), !view.isInvalidated || !view.knownVersion.isEmpty,
            var entry = view.entry
        else { return }
        entry.validation.isInvalidated = true
        entry.validation.knownVersion = []
        _ = try table.put(entry, sequence: sequence)
    }

    /// Marks the entries that list a record as unusable until the server has confirmed them.
    package mutating func invalidate(listing entity: String, _ key: RecordKey) throws {
        let root = try table.state.entity(entity).root
        for id in try table.ids(listing: ListedRecord(entity: root, storageKey: key.storageKey)) {
            try invalidate(id: id)
        }
    }

    /// Stores the times when entries of a cache were last used.
    package mutating func noteUses(_ uses: [UInt64: Timestamp]) throws {
        for (id, moment) in uses.sorted(by: { $0.key < $1.key }) {
            guard var entry = try table.entry(id: id), var caching = entry.caching,
                caching.usedAt < moment || caching.usedAt.isFarAhead(of: moment)
            else {
                continue
            }
            caching.usedAt = moment
            entry.caching = caching
            try entry.store(table.raw, table.state.responses, id: id, sequence: sequence)
        }
    }
}
