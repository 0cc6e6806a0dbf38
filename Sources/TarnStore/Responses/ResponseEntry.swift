internal import LMDB

/// The entry of a response: its request, status, validators, times and listed records.
public struct ResponseEntry: Sendable, Hashable {
    /// The key of the request.
    public var request: RequestKey
    /// The HTTP status.
    public var status: Int
    /// The header fields that are needed later, in order, as a flat list: name, value, name, …
    public var headers: [String]
    /// The time when the response was fetched or last confirmed by a 304.
    public var validatedAt: Timestamp
    /// The time when the response was fetched.
    public var fetchedAt: Timestamp
    /// The number of the scan that the page belongs to.
    public var scan: UInt64
    /// The number of elements of the list, including skipped ones.
    public var count: Int
    /// The listed records, in the order of the response.
    public var listed: [ListedRecord]
    /// The metadata of the response, as JSON text.
    public var metadata: String?
    /// The identity of the scan that the page belongs to; nil if there is none.
    public var walk: String?
    /// The number of elements without a usable key: records that are not in `listed`.
    public var skipped: Int
    /// The part for caches; nil if no cache has written the entry.
    public var caching: ResponseCaching?
    /// Whether the server must be asked before use: an unsafe method may have changed the resource.
    public var isInvalidated: Bool
    /// The URL of the API that answered after redirects: the base of relative links.
    ///
    /// Nil if the URL of the request answered.
    public var answeredBy: String?
    /// The position of the page in its list; nil for the first page, and if it is unknown.
    public var position: ListPosition?

    /// Creates an entry.
    public init(
        request: RequestKey, status: Int, headers: [String], fetchedAt: Timestamp, validatedAt: Timestamp, scan: UInt64,
        count: Int, listed: [ListedRecord], metadata: String? = nil, walk: String? = nil, skipped: Int = 0,
        caching: ResponseCaching? = nil,
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

    package init?(_ row: EncodedRow) {
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
                requestedAt: $0, selecting: texts(ID.selecting), usedAt: row.date(ID.usedAt) ?? validatedAt,
                bodySize: row.number(ID.bodySize),
                parts: ResponseEntry.parts(row))
        }
        self.init(
            request: RequestKey(
                method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? "",
                variant: row.text(ID.variant) ?? ""),
            status: status, headers: headers, fetchedAt: fetchedAt, validatedAt: validatedAt, scan: scan,
            count: row.number(ID.count) ?? listed.count, listed: listed,
            metadata: row.text(ID.metadata), walk: row.text(ID.walk), skipped: row.number(ID.skipped) ?? 0,
            caching: caching, isInvalidated: row.number(ID.isInvalidated) == 1)
        answeredBy = row.text(ID.answeredBy)
        position = ListPosition(row)
    }

    /// The parts in the body of a row's response; nil for a whole response and unreadable parts.
    static func parts(_ row: EncodedRow) -> BodyParts? {
        guard let length = row.number(ID.wholeLength), let bytes = row.rawBytes(ID.parts),
            let parts = BodyParts(bytes, length: length),
            parts.size == row.number(ID.bodySize)
        else { return nil }
        return parts
    }

    /// The scan and the request of a row, without the listed records.
    static func origin(_ row: EncodedRow) -> (walk: String?, request: RequestKey)? {
        guard let method = row.text(ID.method), let url = row.text(ID.url), let endpoint = row.text(ID.endpoint) else {
            return nil
        }
        return (
            row.text(ID.walk),
            RequestKey(method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? "")
        )
    }

    /// Calls the closure with each listed record, until it returns false.
    ///
    /// Each is encoded as u16 entity, u8 length, storage key.
    static func forEachListed(in bytes: Bytes, _ body: (UInt16, Bytes) throws -> Bool) rethrows {
        var offset = 0
        while offset + 3 < bytes.count {
            let end = offset + 3 + Int(bytes[offset + 2])
            guard end <= bytes.count, try body(bytes.load(offset, UInt16.self), bytes.slice(offset + 3..<end)) else {
                return
            }
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
    /// Whether the entry is of the same response as an earlier copy, and was not invalidated since.
    ///
    /// Confirmations by a 304 and notes of use do not change this. Only if it is true, a 304 to a
    /// request with the copy's validators is valid for the entry.
    package func isUnchanged(since copy: ResponseEntry) -> Bool {
        fetchedAt == copy.fetchedAt && status == copy.status && count == copy.count && skipped == copy.skipped
            && (copy.isInvalidated || !isInvalidated) && metadata == copy.metadata && validators == copy.validators
            && listed == copy.listed
    }

    /// The values of ETag and Last-Modified.
    private var validators: [String] {
        stride(from: 0, to: headers.count - 1, by: 2).compactMap { index in
            let name = headers[index].lowercased()
            return name == "etag" || name == "last-modified" ? "\(name) \(headers[index + 1])" : nil
        }
    }
}

extension ResponseEntry {
    /// The tables that refer to a response.
    package enum Place { case requests, urls, members }

    /// Calls the closure with every entry of other tables for the response: table, key, value.
    ///
    /// - Parameters:
    ///   - id: the id of the response.
    ///   - format: the format of the store.
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
