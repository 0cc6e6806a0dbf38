// What is kept of a response: not its body, but the keys of the records that it lists, its validators and its metadata.

internal import LMDB

/// What identifies a stored response.
public struct RequestKey: Sendable, Hashable {
    public var method: String
    /// Normalised, independent of the address that really answers.
    public var url: String
    /// The endpoint's name and a digest of its mapping: a changed mapping is another request.
    public var endpoint: String
    /// Who asked, as a keyed hash; empty for nobody in particular.
    public var authScope: String
    /// What distinguishes it from other answers to the same request that were selected by the request's fields; empty if there is one only.
    public var variant: String

    public init(method: String = "GET", url: String, endpoint: String, authScope: String = "", variant: String = "") {
        self.method = method
        self.url = url
        self.endpoint = endpoint
        self.authScope = authScope
        self.variant = variant
    }

    /// By which a store finds the entry: ``RequestDigest``.
    package var digest: RequestDigest {
        var text = ByteWriter(capacity: 512)
        for (number, part) in [method, url, endpoint, authScope, variant].enumerated() where number < 4 || !part.isEmpty {
            if number > 0 { text.append(UInt8(ascii: "\n")) }
            text.append(part)
        }
        return RequestDigest(of: text.bytes)
    }
}

/// What stands for a request in a table: where its entry lies, and a digest.
///
/// Requests that differ in numbers only, such as the pages of a list or records by id, lie side by side in the order of the sum of their
/// numbers: by a digest alone each of them would change another page of the file, and an import of small answers would write ten times as much.
package struct RequestDigest: Sendable, Hashable {
    /// Eight bytes of the place, then SHA-256.
    package let bytes: [UInt8]

    /// - Parameter text: the parts of a request key, with a line feed between two of them.
    package init(of text: Bytes) {
        // FNV-1a of everything but digits, and the sum of what these are; both wrap.
        var hash: UInt32 = 0x811C_9DC5, sum: UInt32 = 0, number: UInt32 = 0
        for byte in text {
            if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                number = number &* 10 &+ UInt32(byte - UInt8(ascii: "0"))
            } else {
                sum = sum &+ number
                number = 0
                hash = (hash ^ UInt32(byte)) &* 0x0100_0193
            }
        }
        sum = sum &+ number
        bytes = withUnsafeBytes(of: (hash.bigEndian, sum.bigEndian)) { Array($0) } + SHA256.digest(text)
    }

    /// The key in the table of requests.
    ///
    /// - Parameter format: of the store; from 2 on the place is part of it.
    func withKey<Result>(format: Int, _ body: (Bytes) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(format >= 2 ? $0.slice(0..<32) : $0.slice(8..<40)) }
    }
}

/// A record that a response lists.
public struct ListedRecord: Sendable, Hashable {
    /// The root entity's id.
    public var entity: UInt16
    public var storageKey: [UInt8]

    public init(entity: UInt16, storageKey: [UInt8]) {
        self.entity = entity
        self.storageKey = storageKey
    }
}

extension ListedRecord {
    /// The order of the table of members.
    static func precedes(_ a: ListedRecord, _ b: ListedRecord) -> Bool {
        guard a.entity == b.entity else { return a.entity < b.entity }
        return a.storageKey.withUnsafeBytes { x in b.storageKey.withUnsafeBytes { Bytes.compare(x, $0) < 0 } }
    }
}

/// Where a page is in its list.
public struct ListPosition: Sendable, Hashable {
    /// From 1.
    public var page: Int
    /// How many records the pages before it list.
    public var recordsBefore: Int

    /// A page by its number.
    public init(page: Int, recordsBefore: Int) {
        self.page = page
        self.recordsBefore = recordsBefore
    }

    /// Nil if the row says nothing, or what no page can have.
    init?(_ row: RowView) {
        guard let page = row.number(ResponseEntry.ID.pageNumber),
            let recordsBefore = row.number(ResponseEntry.ID.recordsBefore),
            (1...Int(Int32.max)).contains(page), (0...1 << 53).contains(recordsBefore)
        else { return nil }
        self.init(page: page, recordsBefore: recordsBefore)
    }
}

/// The entry of one response.
public struct ResponseEntry: Sendable, Hashable {
    public var request: RequestKey
    public var status: Int
    /// Header fields that are needed later, in order, as a flat list: name, value, name, value, …
    public var headers: [String]
    /// When the response was made or last confirmed by a 304.
    public var validatedAt: Timestamp
    public var fetchedAt: Timestamp
    /// The scan that it belongs to.
    public var scan: UInt64
    /// How many elements its list had, records that were skipped included.
    public var count: Int
    /// The records that it lists, in its order.
    public var listed: [ListedRecord]
    /// Metadata by key path, as JSON text.
    public var metadata: String?
    /// What distinguishes the walk over pages that it belongs to from others; nil if it belongs to none.
    public var walk: String?
    /// How many elements of its list are not among the listed records though the server meant one: they have no usable key.
    public var skipped: Int
    /// What a cache needs beside; nil if none has written it.
    public var caching: ResponseCaching?
    /// Whether it may not be used without asking the server: an unsafe method may have changed what it is about.
    public var isInvalidated: Bool
    /// The URL of the API that answered, if redirects led to it: the base of relative links. Nil
    /// for the URL of the request.
    public var answeredBy: String?
    /// Where the page is in its list; nil if that is not known, and for the first page.
    public var position: ListPosition?

    public init(
        request: RequestKey, status: Int, headers: [String], fetchedAt: Timestamp, validatedAt: Timestamp, scan: UInt64,
        count: Int, listed: [ListedRecord], metadata: String? = nil, walk: String? = nil, skipped: Int = 0, caching: ResponseCaching? = nil,
        isInvalidated: Bool = false
    ) {
        self.caching = caching
        self.isInvalidated = isInvalidated
        self.walk = walk
        self.skipped = skipped
        self.request = request
        self.status = status
        self.headers = headers
        self.fetchedAt = fetchedAt
        self.validatedAt = validatedAt
        self.scan = scan
        self.count = count
        self.listed = listed
        self.metadata = metadata
    }

    enum ID {
        static let method: UInt16 = 1, url: UInt16 = 2, endpoint: UInt16 = 3, authScope: UInt16 = 4, status: UInt16 = 5
        static let headers: UInt16 = 6, fetchedAt: UInt16 = 7, validatedAt: UInt16 = 8, scan: UInt16 = 9
        static let listed: UInt16 = 10, metadata: UInt16 = 11, count: UInt16 = 12
        static let walk: UInt16 = 13, skipped: UInt16 = 14
        static let requestedAt: UInt16 = 15, selecting: UInt16 = 16, usedAt: UInt16 = 17, bodySize: UInt16 = 18
        static let isInvalidated: UInt16 = 19, variant: UInt16 = 20
        static let wholeLength: UInt16 = 21, parts: UInt16 = 22
        static let answeredBy: UInt16 = 30, pageNumber: UInt16 = 31, recordsBefore: UInt16 = 32
    }

    package init?(_ row: RowView) {
        guard let method = row.text(ID.method), let url = row.text(ID.url), let endpoint = row.text(ID.endpoint),
            let status = row.number(ID.status), let fetchedAt = row.date(ID.fetchedAt),
            let validatedAt = row.date(ID.validatedAt), let scan = row.unsigned(ID.scan)
        else { return nil }
        func texts(_ id: UInt16) -> [String] {
            var texts: [String] = []
            row.body.value(of: id)?.forEachElement { texts.append(String(decoding: $0.payload, as: UTF8.self)) }
            return texts
        }
        var listed: [ListedRecord] = []
        if let bytes = row.rawBytes(ID.listed) {
            ResponseEntry.forEachListed(in: bytes) {
                listed.append(ListedRecord(entity: $0, storageKey: Array($1)))
                return true
            }
        }
        let headers = texts(ID.headers)
        let caching = row.date(ID.requestedAt).map {
            ResponseCaching(
                requestedAt: $0, selecting: texts(ID.selecting), usedAt: row.date(ID.usedAt) ?? validatedAt, bodySize: row.number(ID.bodySize),
                parts: ResponseEntry.parts(row))
        }
        self.init(
            request: RequestKey(
                method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? "", variant: row.text(ID.variant) ?? ""),
            status: status, headers: headers, fetchedAt: fetchedAt, validatedAt: validatedAt, scan: scan,
            count: row.number(ID.count) ?? listed.count, listed: listed,
            metadata: row.text(ID.metadata), walk: row.text(ID.walk), skipped: row.number(ID.skipped) ?? 0,
            caching: caching, isInvalidated: row.number(ID.isInvalidated) == 1)
        answeredBy = row.text(ID.answeredBy)
        position = ListPosition(row)
    }

    /// The parts that the body of a row's response consists of; nil for a whole one, and for parts that cannot be read.
    static func parts(_ row: RowView) -> BodyParts? {
        guard let length = row.number(ID.wholeLength), let bytes = row.rawBytes(ID.parts), let parts = BodyParts(bytes, length: length),
            parts.size == row.number(ID.bodySize)
        else { return nil }
        return parts
    }

    /// Whose entry a row is, without the records that it lists.
    static func origin(_ row: RowView) -> (walk: String?, request: RequestKey)? {
        guard let method = row.text(ID.method), let url = row.text(ID.url), let endpoint = row.text(ID.endpoint) else { return nil }
        return (row.text(ID.walk), RequestKey(method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? ""))
    }

    /// For each: u16 entity, u8 length, storage key. Until the closure returns false.
    static func forEachListed(in bytes: Bytes, _ body: (UInt16, Bytes) throws -> Bool) rethrows {
        var offset = 0
        while offset + 3 < bytes.count {
            let end = offset + 3 + Int(bytes[offset + 2])
            guard end <= bytes.count, try body(bytes.load(offset, UInt16.self), bytes.slice(offset + 3..<end)) else { return }
            offset = end
        }
    }

    func store(_ raw: RawTransaction, _ table: Table, id: UInt64, sequence: UInt64) throws {
        var row = SystemRowBuilder()
        row.field(ID.method, request.method)
        row.field(ID.url, request.url)
        row.field(ID.endpoint, request.endpoint)
        row.field(ID.authScope, request.authScope.isEmpty ? nil : request.authScope)
        row.field(ID.status, status)
        row.field(ID.headers, .array(headers.map(Value.string)))
        row.field(ID.fetchedAt, fetchedAt)
        row.field(ID.validatedAt, validatedAt)
        row.field(ID.scan, scan)
        var bytes = ByteWriter(capacity: 4096)
        for record in listed {
            bytes.appendLittleEndian(record.entity)
            bytes.append(UInt8(record.storageKey.count))
            bytes.append(record.storageKey)
        }
        row.field(ID.listed, raw: bytes)
        row.field(ID.metadata, metadata)
        row.field(ID.count, count)
        row.field(ID.walk, walk)
        if skipped > 0 { row.field(ID.skipped, skipped) }
        if let caching {
            row.field(ID.requestedAt, caching.requestedAt)
            if !caching.selecting.isEmpty { row.field(ID.selecting, .array(caching.selecting.map(Value.string))) }
            row.field(ID.usedAt, caching.usedAt)
            row.field(ID.bodySize, caching.bodySize)
        }
        if isInvalidated { row.field(ID.isInvalidated, 1) }
        row.field(ID.variant, request.variant.isEmpty ? nil : request.variant)
        if let parts = caching?.parts {
            row.field(ID.wholeLength, parts.length)
            var bytes = ByteWriter(capacity: 16 * parts.ranges.count)
            parts.write(to: &bytes)
            row.field(ID.parts, raw: bytes)
        }
        row.field(ID.answeredBy, answeredBy)
        row.field(ID.pageNumber, position?.page)
        row.field(ID.recordsBefore, position?.recordsBefore)
        try withUnsafeBytes(of: id.bigEndian) { try row.store(raw, table, $0, sequence: sequence) }
    }
}

extension ResponseEntry {
    /// Whether the entry still stands for the answer of the server that an earlier copy of it stands for, and was not invalidated since.
    ///
    /// A confirmation by a 304 and a note of use change neither. A 304 to a request with the copy's validators counts only then.
    package func isUnchanged(since copy: ResponseEntry) -> Bool {
        fetchedAt == copy.fetchedAt && status == copy.status && count == copy.count && skipped == copy.skipped
            && (copy.isInvalidated || !isInvalidated) && metadata == copy.metadata && validators == copy.validators && listed == copy.listed
    }

    /// The values of ETag and Last-Modified.
    private var validators: [String] {
        stride(from: 0, to: headers.count - 1, by: 2).compactMap { index in
            let name = headers[index].lowercased()
            return name == "etag" || name == "last-modified" ? "\(name) \(headers[index + 1])" : nil
        }
    }
}

extension ListedRecord {
    /// The key in the table of members that says that a response lists the record.
    package func memberKey(_ id: UInt64, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.appendBigEndian(entity)
        writer.append(storageKey)
        writer.appendBigEndian(id)
    }
}

extension RequestKey {
    /// The key in the table of URLs under which a response is found.
    package func urlKey(_ id: UInt64, into writer: inout ByteWriter) {
        writer.removeAll()
        // A scope is a digest of fixed length or empty; 00 keeps one URL from being another's prefix.
        writer.append(authScope)
        writer.append(Array(url.utf8.prefix(400)))
        writer.append(0)
        writer.appendBigEndian(id)
    }
}

extension ResponseEntry {
    /// Where a response is found.
    package enum Place { case requests, urls, members }

    /// Calls the closure with every entry that other tables have for the response: table, key, value.
    ///
    /// - Parameter format: of the store.
    package func forEachPlace(_ id: UInt64, format: Int, _ body: (Place, Bytes, Bytes) throws -> Void) rethrows {
        var key = ByteWriter()
        try request.digest.withKey(format: format) { digest in
            try withUnsafeBytes(of: id.bigEndian) { try body(.requests, digest, $0) }
        }
        request.urlKey(id, into: &key)
        try body(.urls, key.bytes, .empty)
        for record in Set(listed) {
            record.memberKey(id, into: &key)
            try body(.members, key.bytes, .empty)
        }
    }
}

extension StoreAccess {
    package func response(to request: RequestKey) throws -> ResponseEntry? {
        guard let id = try responseID(request.digest) else { return nil }
        return try response(id: id)
    }

    func responseID(_ request: RequestDigest) throws -> UInt64? {
        guard let value = try request.withKey(format: state.format, { try raw.get(state.requests, $0) }), value.count == 8
        else { return nil }
        return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }

    func response(id: UInt64) throws -> ResponseEntry? {
        try withUnsafeBytes(of: id.bigEndian) { key in
            try systemRow(of: key, in: state.responses, "responses").flatMap { ResponseEntry($0) }
        }
    }

    /// - Parameter keepsBody: whether the stored body stays although the entry declares another size: it is appended to.
    /// - Returns: the entry's id.
    @discardableResult
    func put(_ entry: ResponseEntry, sequence: UInt64, keepsBody: Bool = false) throws -> UInt64 {
        var key = ByteWriter()
        let digest = entry.request.digest
        var id = try responseID(digest)
        let old = try id.flatMap { try response(id: $0) }
        // A digest cannot stand for two requests in practice; if it did, the newer one replaces the older.
        if id == nil || old == nil {
            let next = try raw.number(state.meta, key: MetaKey.nextResponse) + 1
            try raw.put(state.meta, key: MetaKey.nextResponse, number: next)
            id = next
            try digest.withKey(format: state.format) { digest in
                try withUnsafeBytes(of: next.bigEndian) { try raw.put(state.requests, digest, $0) }
            }
            entry.request.urlKey(next, into: &key)
            try raw.put(state.urls, key.bytes, .empty)
        }
        guard let id else { return 0 }
        try count(old, entry)
        // One of the same size is kept, or written over.
        if !keepsBody, let size = old?.caching?.bodySize, size != entry.caching?.bodySize { try removeBody(of: id, size: size) }
        let before = Set(old?.listed ?? [])
        if !before.isEmpty {
            for record in before.subtracting(entry.listed) {
                record.memberKey(id, into: &key)
                _ = try raw.delete(state.members, key.bytes)
            }
        }
        let added = before.isEmpty ? entry.listed : entry.listed.filter { !before.contains($0) }
        for record in added.sorted(by: ListedRecord.precedes) {
            record.memberKey(id, into: &key)
            try raw.put(state.members, key.bytes, .empty)
        }
        try entry.store(raw, state.responses, id: id, sequence: sequence)
        return id
    }

    func remove(responseID id: UInt64) throws {
        guard let entry = try response(id: id) else { return }
        try count(entry, nil)
        if let size = entry.caching?.bodySize { try removeBody(of: id, size: size) }
        var key = ByteWriter()
        for record in entry.listed {
            record.memberKey(id, into: &key)
            _ = try raw.delete(state.members, key.bytes)
        }
        entry.request.urlKey(id, into: &key)
        _ = try raw.delete(state.urls, key.bytes)
        _ = try entry.request.digest.withKey(format: state.format) { try raw.delete(state.requests, $0) }
        _ = try withUnsafeBytes(of: id.bigEndian) { try raw.delete(state.responses, $0) }
    }

    /// A list without one of its records is no longer what the server said.
    func removeResponses(listing entity: UInt16, _ storageKey: Bytes) throws {
        var ids: [UInt64] = []
        try forEachResponse(listing: entity, storageKey) {
            ids.append($0)
            return true
        }
        for id in ids { try remove(responseID: id) }
    }

    /// The ids of the responses that list a record, until the closure returns false.
    func forEachResponse(listing entity: UInt16, _ storageKey: Bytes, _ body: (UInt64) throws -> Bool) throws {
        var prefix = ByteWriter()
        prefix.appendBigEndian(entity)
        prefix.append(storageKey)
        let cursor = try raw.cursor(state.members)
        defer { cursor.close() }
        var entry = try cursor.seek(prefix.bytes)
        while let (key, _) = entry, key.hasPrefix(prefix.bytes) {
            if key.count == prefix.count + 8 {
                let id = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: prefix.count, as: UInt64.self))
                guard try body(id) else { return }
            }
            entry = try cursor.next()
        }
    }
}

extension StoreWriter {
    /// Keeps what a response said beside its records. Replaces the entry of the same request.
    public mutating func putResponse(_ entry: ResponseEntry) throws {
        try access.put(entry, sequence: sequence)
    }
}
