// Validators and known versions: what a 304 may confirm, and what the next write requires.

extension ResponseWriter {
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
        let root = try table.state.entity(entity).root
        var newest: Timestamp?
        for id in try table.ids(listing: ListedRecord(entity: root, storageKey: key.storageKey)) {
            guard let view = try table.view(id: id) else { continue }
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
        for id in try table.ids(listing: record) {
            if let isKept = stripped[id], keepingVersion || !isKept { continue }
            if let view = try table.view(id: id) {
                try removeValidators(of: view, keepingVersion: keepingVersion)
            }
        }
    }

    /// Removes the validators of an entry, if it exists.
    package mutating func removeValidators(ofResponse id: UInt64) throws {
        if let view = try table.view(id: id) { try removeValidators(of: view) }
    }

    private mutating func removeValidators(of view: ResponseView, keepingVersion: Bool = false) throws {
        stripped[view.id] = keepingVersion
        let hasValidators = !ResponseEntry.Validation.validators(of: view.headers).isEmpty
        guard hasValidators || !keepingVersion && !view.knownVersion.isEmpty, var entry = view.entry else { return }
        entry.validation.removeValidators(keepingVersion: keepingVersion)
        _ = try table.put(entry, sequence: sequence)
    }

    /// Notes that the store still has the versions of records that responses have not changed: they
    /// were left out of the import, and would hide versions that are only kept for writes.
    ///
    /// - Parameters:
    ///   - records: the records that keep all of their values.
    ///   - responses: the stored responses.
    package mutating func keepVersions(of records: Set<ListedRecord>, besides responses: [ResponseEntry]) throws {
        guard !records.isEmpty else { return }
        let table = table
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
                _ = try table.put(entry, sequence: sequence)
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
        try table.forEach(to: url, scope: scope) { view in
            if view.status == 200, !view.isList, let entry = view.entry, entry.listing.listed == [record] {
                entries.append((view.id, entry))
            }
            return true
        }
        for (id, known) in entries {
            var entry = known
            // A deletion that reaches the server in this transaction may remove the version.
            stripped[id] = true
            entry.validation.removeValidators()
            (entry.validation.knownVersion, entry.validation.versionAt) = (fields, time)
            _ = try table.put(entry, sequence: sequence)
        }
    }
}
