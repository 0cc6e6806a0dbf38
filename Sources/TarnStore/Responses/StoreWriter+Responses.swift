// Writing responses, within a write transaction.

internal import LMDB

extension StoreWriter {
    /// Stores the entry of a response, and replaces the one of the same request.
    package mutating func putResponse(_ entry: ResponseEntry) throws {
        let stored = try access.responses.put(entry, sequence: sequence)
        strippedResponses[stored.id] = nil
        hasNewList = hasNewList || stored.isNewList
    }

    /// Stores a response with its body, whose size the entry must declare.
    ///
    /// - Precondition: `entry.caching?.bodySize` is the number of bytes.
    package mutating func putResponse(_ entry: ResponseEntry, body: [UInt8]) throws {
        precondition(entry.caching?.bodySize == body.count, "the entry must declare the size of its body")
        let id = try access.responses.put(entry, sequence: sequence).id
        strippedResponses[id] = nil
        try access.responses.putBody(body, of: id)
    }

    /// Removes an entry with its body.
    package mutating func removeResponse(id: UInt64) throws { try access.responses.remove(id: id) }

    /// Removes the next responses that list records of a root entity.
    ///
    /// - Returns: the number of listed records that were handled; 0 if there are none.
    mutating func removeResponses(ofRoot root: UInt16, atMost count: Int) throws -> Int {
        for done in 0..<count {
            guard let key = try access.responses.firstMember(ofRoot: root) else { return done }
            if key.count > 8 {
                try removeResponse(id: key.withUnsafeBytes { $0.loadBigEndian(key.count - 8, UInt64.self) })
            }
            // Also in a damaged store, in which the response does not list the record.
            _ = try access.raw.delete(access.state.members, key)
        }
        return count
    }

    /// Appends a part of a response to the stored parts; the entry must declare the new size.
    ///
    /// - Parameter position: the size of the stored body; bytes beyond it are replaced.
    package mutating func appendResponse(_ entry: ResponseEntry, body: [UInt8], at position: Int) throws {
        precondition(entry.caching?.bodySize == position + body.count, "the entry must declare the size of its body")
        let id = try access.responses.put(entry, sequence: sequence, keepsBody: true).id
        strippedResponses[id] = nil
        try access.responses.appendBody(body, of: id, at: position)
    }

    /// Marks an entry as unusable until the server has confirmed it. No write requires its version.
    package mutating func invalidateResponse(id: UInt64) throws {
        // Each change of a listed record invalidates its list, which may be long.
        guard let view = try access.responses.view(id: id), !view.isInvalidated || !view.knownVersion.isEmpty,
            var entry = view.entry
        else { return }
        entry.validation.isInvalidated = true
        entry.validation.knownVersion = []
        _ = try access.responses.put(entry, sequence: sequence)
    }

    /// Marks the entries that list a record as unusable until the server has confirmed them.
    package mutating func invalidateResponses(listing entity: String, _ key: RecordKey) throws {
        let root = try access.state.entity(entity).root
        for id in try access.responses.ids(listing: ListedRecord(entity: root, storageKey: key.storageKey)) {
            try invalidateResponse(id: id)
        }
    }

    /// Removes the validators of the entries that list a record, because the record has changed.
    ///
    /// If the server's record changes back, a 304 would confirm a response that the store no longer
    /// has. The entries stay usable. No write requires the version that they name.
    ///
    /// - Parameter now: the present time. Entries of the future were fetched before, while the
    ///   clock was ahead.
    /// - Returns: the time when the newest of the others was fetched; nil if there is none.
    package mutating func removeValidators(
        ofResponsesListing entity: String, _ key: RecordKey, at now: Timestamp
    ) throws -> Timestamp? {
        let root = try access.state.entity(entity).root
        var newest: Timestamp?
        for id in try access.responses.ids(listing: ListedRecord(entity: root, storageKey: key.storageKey)) {
            guard let view = try access.responses.view(id: id) else { continue }
            if !view.fetchedAt.isAhead(of: now) { newest = max(newest ?? view.fetchedAt, view.fetchedAt) }
            try removeValidators(of: view)
        }
        return newest
    }

    /// Removes the validators of the entries that list a record, because the store no longer has
    /// what they have told of it, although the server may still tell the same.
    ///
    /// The entries stay usable. Each is read once in a transaction: one response may list all of
    /// the very many records that an operation or a delete rule changes.
    ///
    /// - Parameter keepingVersion: whether the next write of the record at the response's URL still
    ///   requires the version that they name. Only after a change that has reached the server, its
    ///   record is another version there.
    package mutating func removeValidators(
        ofResponsesListing record: ListedRecord, keepingVersion: Bool = true
    ) throws {
        for id in try access.responses.ids(listing: record) {
            if let isKept = strippedResponses[id], keepingVersion || !isKept { continue }
            if let view = try access.responses.view(id: id) {
                try removeValidators(of: view, keepingVersion: keepingVersion)
            }
        }
    }

    /// Removes the validators of an entry, if it exists.
    package mutating func removeValidators(ofResponse id: UInt64) throws {
        if let view = try access.responses.view(id: id) { try removeValidators(of: view) }
    }

    private mutating func removeValidators(of view: ResponseView, keepingVersion: Bool = false) throws {
        strippedResponses[view.id] = keepingVersion
        let hasValidators = !ResponseEntry.Validation.validators(of: view.headers).isEmpty
        guard hasValidators || !keepingVersion && !view.knownVersion.isEmpty, var entry = view.entry else { return }
        entry.validation.removeValidators(keepingVersion: keepingVersion)
        _ = try access.responses.put(entry, sequence: sequence)
    }

    /// Notes that the store still has the versions of records that responses have not changed: they
    /// were left out of the import, and would hide versions that are only kept for writes.
    ///
    /// - Parameters:
    ///   - records: the records that keep all of their values.
    ///   - responses: the stored responses.
    package mutating func keepVersions(of records: Set<ListedRecord>, besides responses: [ResponseEntry]) throws {
        guard !records.isEmpty else { return }
        let table = access.responses
        let ids = Set(try responses.compactMap { try table.view($0.request.digest)?.id })
        guard let now = responses.map(\.validation.validatedAt).max() else { return }
        for record in records {
            for id in try table.ids(listing: record) where !ids.contains(id) {
                guard let view = try table.view(id: id), !view.knownVersion.isEmpty,
                    try table.version(of: view, at: now, ignoring: ids) == view.knownVersion,
                    var entry = view.entry, entry.listing.listed.count == 1
                else { continue }
                entry.validation.versionAt = now
                // The write ends the life of the view.
                _ = try access.responses.put(entry, sequence: sequence)
            }
        }
    }

    /// Notes the version of a record that the answer to a change has named: the next write of the
    /// record requires it, in other processes, too.
    ///
    /// The responses to the record's URL that list it alone keep it. They have no validators: their
    /// body is of the version before.
    ///
    /// - Parameters:
    ///   - fields: the fields ETag and Last-Modified: name, value, …
    ///   - time: the time of the answer.
    package mutating func noteVersion(
        _ fields: [String], of record: ListedRecord, at url: String, scope: String, time: Timestamp
    ) throws {
        var entries: [(id: UInt64, entry: ResponseEntry)] = []
        try access.responses.forEach(to: url, scope: scope) { view in
            if view.status == 200, !view.isList, let entry = view.entry, entry.listing.listed == [record] {
                entries.append((view.id, entry))
            }
            return true
        }
        for (id, known) in entries {
            var entry = known
            // A deletion that reaches the server in this transaction may remove the version.
            strippedResponses[id] = true
            entry.validation.removeValidators()
            (entry.validation.knownVersion, entry.validation.versionAt) = (fields, time)
            _ = try access.responses.put(entry, sequence: sequence)
        }
    }

    /// Stores the times when entries of a cache were last used.
    package mutating func noteUses(_ uses: [UInt64: Timestamp]) throws {
        for (id, moment) in uses.sorted(by: { $0.key < $1.key }) {
            guard var entry = try access.responses.entry(id: id), var caching = entry.caching,
                caching.usedAt < moment || caching.usedAt.isFarAhead(of: moment)
            else {
                continue
            }
            caching.usedAt = moment
            entry.caching = caching
            try entry.store(access.raw, access.state.responses, id: id, sequence: sequence)
        }
    }
}
