// A borrowed view of a response's entry: a cache hit reads it without copying the listed records.

internal import LMDB

/// An entry that is borrowed for the duration of a transaction.
package struct ResponseView {
    package let id: UInt64
    package let row: EncodedRow

    fileprivate init(_ id: UInt64, _ row: EncodedRow) {
        self.id = id
        self.row = row
    }

    private typealias ID = ResponseEntry.ID

    package var status: Int { row.number(ID.status) ?? 0 }
    package var method: String { row.text(ID.method) ?? "" }
    package var url: String { row.text(ID.url) ?? "" }
    package var endpoint: String { row.text(ID.endpoint) ?? "" }
    package var authScope: String { row.text(ID.authScope) ?? "" }
    package var validatedAt: Timestamp { row.date(ID.validatedAt) ?? Timestamp(microseconds: 0) }
    package var requestedAt: Timestamp? { row.date(ID.requestedAt) }
    package var usedAt: Timestamp { row.date(ID.usedAt) ?? validatedAt }
    package var bodySize: Int? { row.number(ID.bodySize) }
    package var parts: BodyParts? { ResponseEntry.parts(row) }
    package var isInvalidated: Bool { row.number(ID.isInvalidated) == 1 }
    package var metadata: String? { row.text(ID.metadata) }
    package var walk: String? { row.text(ID.walk) }
    package var headers: [String] { texts(ID.headers) }
    package var selecting: [String] { texts(ID.selecting) }
    package var skipped: Int { row.number(ID.skipped) ?? 0 }
    package var answeredBy: String? { row.text(ID.answeredBy) }
    package var position: ListPosition? { ListPosition(row) }
    package var isCaches: Bool { requestedAt != nil && walk == nil }

    /// The requested URL.
    ///
    /// In entries of whole responses the scope follows it, after a `#`, which no URL of a request
    /// has.
    package var requestURL: String {
        let url = url
        guard endpoint.hasPrefix("*"), let mark = url.utf8.lastIndex(of: UInt8(ascii: "#")) else { return url }
        return String(url[..<mark])
    }

    private func texts(_ id: UInt16) -> [String] {
        var texts: [String] = []
        row.body.value(of: id)?.forEachElement { texts.append(String(decoding: $0.payload, as: UTF8.self)) }
        return texts
    }

    /// Calls the closure with root entity and storage key of each listed record, in order.
    package func forEachListed(_ body: (UInt16, Bytes) throws -> Bool) rethrows {
        guard let bytes = row.rawBytes(ID.listed) else { return }
        try ResponseEntry.forEachListed(in: bytes, body)
    }

    /// The number of elements of the list.
    package var count: Int { row.number(ID.count) ?? 0 }

    /// A copy of the whole entry.
    package var entry: ResponseEntry? { ResponseEntry(row) }
}

extension StoreAccess {
    /// The entry of a request, found by the digest of its key.
    package func responseView(_ request: RequestDigest) throws -> ResponseView? {
        guard let id = try responseID(request) else { return nil }
        return try responseView(id: id)
    }

    package func responseView(id: UInt64) throws -> ResponseView? {
        try withUnsafeBytes(of: id.bigEndian) { key in
            try systemRow(of: key, in: state.responses, "responses").map { ResponseView(id, $0) }
        }
    }

    /// Calls the closure with the entries of a URL in a scope, until it returns false.
    ///
    /// Entries of longer URLs are not examined.
    package func forEachResponse(to url: String, scope: String, _ body: (ResponseView) throws -> Bool) throws {
        // The table has only the first 400 bytes of a URL.
        try forEachResponseID(withPrefix: url, scope: scope, isWhole: true) { id in
            guard let view = try responseView(id: id) else { return true }
            return view.url == url ? try body(view) : true
        }
    }

    /// Calls the closure with the whole responses to a URL, of all scopes, until it returns false.
    package func forEachWholeResponse(to url: String, _ body: (ResponseView) throws -> Bool) throws {
        try forEachResponseID(withPrefix: url + "#", scope: "") { id in
            guard let view = try responseView(id: id) else { return true }
            return view.requestURL == url ? try body(view) : true
        }
    }

    /// Calls the closure with the ids of entries by prefix of their URL, until it returns false.
    ///
    /// The table of URLs has only the first 400 bytes of a URL.
    ///
    /// - Parameter isWhole: whether the prefix is the whole URL.
    package func forEachResponseID(
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
                try !body(UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self)))
            {
                return
            }
            entry = try cursor.next()
        }
    }

    /// Calls the closure with entries in the order of their ids, until it returns false.
    package func forEachResponse(from id: UInt64 = 0, _ body: (ResponseView) throws -> Bool) throws {
        let cursor = try raw.cursor(state.responses)
        defer { cursor.close() }
        var entry = try withUnsafeBytes(of: id.bigEndian) { try cursor.seek($0) }
        while let (key, value) = entry {
            guard key.count == 8 else { throw StoreError.damagedEntry(table: "responses", key: describe(key)) }
            let view = ResponseView(
                UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)), try systemRow(value, "responses", key))
            if try !body(view) { return }
            entry = try cursor.next()
        }
    }

    /// The auth scopes that have entries.
    package func responseScopes() throws -> Set<String> {
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
    package var lastResponseID: UInt64 {
        get throws { try raw.number(state.meta, key: MetaKey.nextResponse) }
    }

    /// The ids of the responses that list a record.
    package func responseIDs(listing record: ListedRecord) throws -> [UInt64] {
        var ids: [UInt64] = []
        try record.storageKey.withUnsafeBytes { key in
            try forEachResponse(listing: record.entity, key) {
                ids.append($0)
                return true
            }
        }
        return ids
    }
}

extension StoreWriter {
    /// Removes an entry with its body.
    package mutating func removeResponse(id: UInt64) throws { try access.remove(responseID: id) }

    /// Appends a part of a response to the stored parts; the entry must declare the new size.
    ///
    /// - Parameter position: the size of the stored body; bytes beyond it are replaced.
    package mutating func appendResponse(_ entry: ResponseEntry, body: [UInt8], at position: Int) throws {
        precondition(entry.caching?.bodySize == position + body.count, "the entry must declare the size of its body")
        let id = try access.put(entry, sequence: sequence, keepsBody: true)
        try access.appendBody(body, of: id, at: position)
    }

    /// Marks an entry as unusable until the server has confirmed it.
    package mutating func invalidateResponse(id: UInt64) throws {
        guard var entry = try access.response(id: id), !entry.isInvalidated else { return }
        entry.isInvalidated = true
        _ = try access.put(entry, sequence: sequence)
    }

    /// Stores the times when entries of a cache were last used.
    package mutating func noteUses(_ uses: [UInt64: Timestamp]) throws {
        for (id, moment) in uses.sorted(by: { $0.key < $1.key }) {
            guard var entry = try access.response(id: id), var caching = entry.caching, caching.usedAt < moment else {
                continue
            }
            caching.usedAt = moment
            entry.caching = caching
            try entry.store(access.raw, access.state.responses, id: id, sequence: sequence)
        }
    }
}
