// Entries that are read without copying the listed records.

internal import LMDB

extension ResponseTable {
    /// The entry of a request, found by the digest of its key.
    package func view(_ request: RequestDigest) throws -> ResponseView? {
        guard let id = try self.id(of: request) else { return nil }
        return try view(id: id)
    }

    package func view(id: UInt64) throws -> ResponseView? {
        try withUnsafeBytes(of: id.bigEndian) { key in
            try raw.systemRow(of: key, in: state.responses, "responses").map { ResponseView(id, $0) }
        }
    }

    /// Returns header fields with the ETag and Last-Modified that the next write of the record at a
    /// response's URL requires.
    ///
    /// A version that is only kept for writes counts as long as no later response lists a record of
    /// this one: it may have brought another version. One of the future is no later one if this one
    /// is not: it was validated while the clock was ahead.
    ///
    /// - Parameter ignored: the ids of responses that have not brought another version.
    package func version(
        of view: ResponseView, at now: Timestamp = .now, ignoring ignored: Set<UInt64> = []
    ) throws -> [String] {
        let headers = view.headers, known = view.knownVersion, moment = view.versionAt
        guard !known.isEmpty, ResponseEntry.Validation.validators(of: headers).isEmpty else { return headers }
        var isNewest = true
        try view.forEachListed { root, key in
            try forEachID(listing: root, key) { id in
                if !ignored.contains(id), let other = try self.view(id: id), other.validatedAt > moment,
                    moment.isAhead(of: now) || !other.validatedAt.isAhead(of: now)
                {
                    isNewest = false
                }
                return isNewest
            }
            return isNewest
        }
        return isNewest ? known : headers
    }

    /// Calls the closure with the entries of a URL in a scope, until it returns false.
    ///
    /// Entries of longer URLs are not examined.
    package func forEach(to url: String, scope: String, _ body: (ResponseView) throws -> Bool) throws {
        // The table has only the first 400 bytes of a URL.
        try forEachID(withPrefix: url, scope: scope, isWhole: true) { id in
            guard let view = try self.view(id: id) else { return true }
            return view.url == url ? try body(view) : true
        }
    }

    /// Calls the closure with the whole responses to a URL, of all scopes, until it returns false.
    package func forEachWhole(to url: String, _ body: (ResponseView) throws -> Bool) throws {
        try forEachID(withPrefix: url + "#", scope: "") { id in
            guard let view = try self.view(id: id) else { return true }
            return view.requestURL == url ? try body(view) : true
        }
    }

    /// Calls the closure with the ids of entries by prefix of their URL, until it returns false.
    ///
    /// The table of URLs has only the first 400 bytes of a URL.
    ///
    /// - Parameter isWhole: whether the prefix is the whole URL.
    package func forEachID(
        withPrefix prefix: String, scope: String, isWhole: Bool = false, _ body: (UInt64) throws -> Bool
    ) throws {
        var start = ByteWriter()
        start.append(scope)
        start.append(Array(prefix.utf8.prefix(400)))
        if isWhole { start.append(0) }
        let cursor = try raw.cursor(state.urls)
        defer { cursor.close() }
        var entry = try cursor.seek(start.bytes)
        while let (key, _) = entry, key.hasPrefix(start.bytes) {
            if key.count >= 9,
                try !body(key.loadBigEndian(key.count - 8, UInt64.self))
            {
                return
            }
            entry = try cursor.next()
        }
    }

    /// Calls the closure with entries in the order of their ids, until it returns false.
    package func forEach(from id: UInt64 = 0, _ body: (ResponseView) throws -> Bool) throws {
        let cursor = try raw.cursor(state.responses)
        defer { cursor.close() }
        var entry = try withUnsafeBytes(of: id.bigEndian) { try cursor.seek($0) }
        while let (key, value) = entry {
            guard key.count == 8 else {
                throw StoreError.damagedEntry(table: "responses", key: RecordKey.describe(storageKey: key))
            }
            let view = ResponseView(
                key.loadBigEndian(0, UInt64.self), try raw.systemRow(value, "responses", key))
            if try !body(view) { return }
            entry = try cursor.next()
        }
    }

    /// Calls the closure with the entries of a scan. The work is that for all entries.
    package func forEach(of identity: String, scan: UInt64, _ body: (ResponseEntry) throws -> Void) throws {
        try forEach { view in
            guard view.identity == identity, view.scan == scan, let entry = view.entry else { return true }
            try body(entry)
            return true
        }
    }

    /// The auth scopes that have entries.
    package func scopes() throws -> Set<String> {
        var scopes: Set<String> = []
        let cursor = try raw.cursor(state.urls)
        defer { cursor.close() }
        var entry = try cursor.first(), start = ByteWriter()
        while let (key, _) = entry {
            // A scope is a digest, and a URL begins with http: the first entry of a scope is
            // enough.
            let end = (0..<max(0, key.count - 3)).first {
                key[$0] == 0x68 && key[$0 + 1] == 0x74 && key[$0 + 2] == 0x74 && key[$0 + 3] == 0x70
            }
            guard let end else {
                entry = try cursor.next()
                continue
            }
            scopes.insert(String(decoding: key[..<end], as: UTF8.self))
            start.removeAll()
            start.append(key.slice(0..<end + 4))
            start.append(0xFF)
            entry = try cursor.seek(start.bytes)
        }
        return scopes
    }

    /// The highest id that an entry may have.
    var lastID: UInt64 {
        get throws { try raw.number(state.meta, key: MetaKey.nextResponse) }
    }

    /// The ids of the responses that list a record.
    package func ids(listing record: ListedRecord) throws -> [UInt64] {
        var ids: [UInt64] = []
        try record.storageKey.withUnsafeBytes { key in
            try forEachID(listing: record.entity, key) {
                ids.append($0)
                return true
            }
        }
        return ids
    }
}
