// The tables of responses: entries, and the ways to find them by request, URL and listed record.

internal import LMDB

/// The tables of responses in a transaction: `responses`, `requests`, `urls`, `members`, `bodies`.
package struct ResponseTable {
    let raw: RawTransaction
    let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    package func entry(of request: RequestKey) throws -> ResponseEntry? {
        guard let id = try self.id(of: request.digest) else { return nil }
        return try entry(id: id)
    }

    func id(of request: RequestDigest) throws -> UInt64? {
        guard let value = try request.withKey(format: state.format, { try raw.get(state.requests, $0) }),
            value.count == 8
        else { return nil }
        return value.loadBigEndian(0, UInt64.self)
    }

    func entry(id: UInt64) throws -> ResponseEntry? {
        try withUnsafeBytes(of: id.bigEndian) { key in
            try raw.systemRow(of: key, in: state.responses, "responses").flatMap { ResponseEntry($0) }
        }
    }

    /// Stores an entry, and replaces the one of the same request.
    ///
    /// - Parameter keepsBody: whether the stored body stays although the entry declares another
    ///   size, since the caller appends to it.
    /// - Returns: the entry's id, and whether its list differs from that of the replaced one.
    @discardableResult
    func put(
        _ entry: ResponseEntry, sequence: UInt64, keepsBody: Bool = false
    ) throws -> (id: UInt64, isNewList: Bool) {
        var key = ByteWriter()
        let digest = entry.request.digest
        var id = try self.id(of: digest)
        let old = try id.flatMap { try replaced($0, by: entry) }
        // Two requests do not share a digest in practice. If they did, the newer one would replace
        // the older.
        if id == nil || old == nil {
            let next = try raw.nextNumber(state.meta, key: MetaKey.nextResponse)
            try raw.put(state.meta, key: MetaKey.nextResponse, number: next)
            id = next
            try digest.withKey(format: state.format) { digest in
                try withUnsafeBytes(of: next.bigEndian) { try raw.put(state.requests, digest, $0) }
            }
            entry.request.urlKey(next, into: &key)
            try raw.put(state.urls, key.bytes, .empty)
        }
        guard let id else { return (0, false) }
        try countMappings(old?.cachedMapping, entry.cachedMapping)
        try count(old?.cacheCost, entry.cacheCost)
        // A body of the same size is kept or overwritten.
        if !keepsBody, let size = old?.bodySize, size != entry.caching?.bodySize {
            try removeBody(of: id, size: size)
        }
        let isSameList = old != nil && old?.otherList == nil, before = Set(old?.otherList ?? [])
        if !before.isEmpty {
            for record in before.subtracting(entry.listing.listed) {
                record.memberKey(id, into: &key)
                _ = try raw.delete(state.members, key.bytes)
            }
        }
        let listed = isSameList ? [] : entry.listing.listed
        let added = before.isEmpty ? listed : listed.filter { !before.contains($0) }
        for record in added.sorted(by: ListedRecord.precedes) {
            record.memberKey(id, into: &key)
            try raw.put(state.members, key.bytes, .empty)
        }
        try entry.store(raw, state.responses, id: id, sequence: sequence)
        return (id, !isSameList)
    }

    /// The facts about a replaced entry that its successor needs.
    private struct Replaced {
        var cacheCost: Int?
        var cachedMapping: String?
        var bodySize: Int?
        /// The listed records; nil if the successor lists the same ones.
        var otherList: [ListedRecord]?
    }

    /// Returns the facts about an entry that is to be replaced; nil if it is unreadable.
    ///
    /// Entries of mirrors that are confirmed are not decoded: they list what they have listed.
    private func replaced(_ id: UInt64, by entry: ResponseEntry) throws -> Replaced? {
        guard let view = try view(id: id), view.isReadable else { return nil }
        if view.requestedAt == nil, view.lists(entry.listing.listed) { return Replaced() }
        return view.entry.map { old in
            Replaced(
                cacheCost: old.cacheCost, cachedMapping: old.cachedMapping, bodySize: old.caching?.bodySize,
                otherList: old.listing.listed == entry.listing.listed ? nil : old.listing.listed)
        }
    }

    func remove(id: UInt64) throws {
        guard let entry = try self.entry(id: id) else { return }
        try countMappings(entry.cachedMapping, nil)
        try count(entry.cacheCost, nil)
        if let size = entry.caching?.bodySize { try removeBody(of: id, size: size) }
        var key = ByteWriter()
        for record in entry.listing.listed {
            record.memberKey(id, into: &key)
            _ = try raw.delete(state.members, key.bytes)
        }
        entry.request.urlKey(id, into: &key)
        _ = try raw.delete(state.urls, key.bytes)
        _ = try entry.request.digest.withKey(format: state.format) { try raw.delete(state.requests, $0) }
        _ = try withUnsafeBytes(of: id.bigEndian) { try raw.delete(state.responses, $0) }
    }

    /// Removes the responses that list a record: without it they differ from the server's lists.
    ///
    /// - Parameter sequence: the commit that keeps the versions that the next write of the record
    ///   would require, in responses that answer no request; nil if none is kept.
    func removeAll(listing entity: UInt16, _ storageKey: Bytes, keepingVersions sequence: UInt64? = nil) throws {
        var ids: [UInt64] = []
        try forEachID(listing: entity, storageKey) {
            ids.append($0)
            return true
        }
        // Before any is removed: a later one hides a version.
        var kept: [UInt64: ResponseEntry] = [:]
        if sequence != nil {
            let listedAt = try ids.compactMap { try view(id: $0) }.filter(\.isList).map(\.validatedAt).max()
            for id in ids { kept[id] = try versionEntry(id, listedAt: listedAt) }
        }
        // A list of several responses keeps the place of a record that is deleted locally: a
        // rollback brings the record back.
        for id in ids where try !(view(id: id)?.isList ?? false) {
            if let sequence, let entry = kept[id] {
                try put(entry, sequence: sequence)
            } else {
                try remove(id: id)
            }
        }
    }

    /// The entry of a single record's response with nothing but the version that the next write of
    /// the record requires; nil if there is none.
    ///
    /// - Parameter listedAt: the time of the newest list that stays. So far, it has not hidden the
    ///   version.
    private func versionEntry(_ id: UInt64, listedAt: Timestamp?) throws -> ResponseEntry? {
        guard let view = try view(id: id), !view.isList, !view.isInvalidated || !view.knownVersion.isEmpty,
            try !ResponseEntry.Validation.validators(of: version(of: view)).isEmpty,
            var entry = view.entry, entry.listing.listed.count == 1, entry.caching?.bodySize == nil
        else { return nil }
        entry.validation.outdate(keepingVersion: true)
        if let listedAt, listedAt.isLater(than: view.versionAt, at: .now) { entry.validation.versionAt = listedAt }
        entry.imported = nil
        return entry
    }

    /// Calls the closure with the ids of the responses that list a record, until it returns false.
    func forEachID(listing entity: UInt16, _ storageKey: Bytes, _ body: (UInt64) throws -> Bool) throws {
        var prefix = ByteWriter()
        prefix.appendBigEndian(entity)
        prefix.append(storageKey)
        let cursor = try raw.cursor(state.members)
        defer { cursor.close() }
        var entry = try cursor.seek(prefix.bytes)
        while let (key, _) = entry, key.hasPrefix(prefix.bytes) {
            if key.count == prefix.count + 8 {
                let id = key.loadBigEndian(prefix.count, UInt64.self)
                guard try body(id) else { return }
            }
            entry = try cursor.next()
        }
    }

    /// Returns the first key of `members` that is of a root entity's record; nil if there is none.
    func firstMember(ofRoot root: UInt16) throws -> [UInt8]? {
        let prefix = withUnsafeBytes(of: root.bigEndian) { Array($0) }, cursor = try raw.cursor(state.members)
        defer { cursor.close() }
        guard let (key, _) = try cursor.seek(prefix), key.starts(with: prefix) else { return nil }
        return Array(key)
    }

    /// The origin of a response; nil if there is no such response, or if its entry is damaged.
    package func origin(id: UInt64) throws -> ResponseOrigin? {
        try withUnsafeBytes(of: id.bigEndian) { key in
            try raw.systemRow(of: key, in: state.responses, "responses").flatMap(ResponseOrigin.init)
        }
    }

    /// The number of responses with an entry.
    var count: Int {
        get throws { try raw.statistics(state.responses).entries }
    }
}
