// The stored form of a response entry: a row of entity 0.

internal import LMDB

extension ResponseEntry {
    enum ID {
        static let method: UInt16 = 1, url: UInt16 = 2, endpoint: UInt16 = 3, authScope: UInt16 = 4, status: UInt16 = 5
        static let headers: UInt16 = 6, fetchedAt: UInt16 = 7, validatedAt: UInt16 = 8, scan: UInt16 = 9
        static let listed: UInt16 = 10, metadata: UInt16 = 11, count: UInt16 = 12
        static let identity: UInt16 = 13, skipped: UInt16 = 14
        static let requestedAt: UInt16 = 15, selecting: UInt16 = 16, usedAt: UInt16 = 17, bodySize: UInt16 = 18
        static let isInvalidated: UInt16 = 19, variant: UInt16 = 20
        static let wholeLength: UInt16 = 21, parts: UInt16 = 22
        static let answeredBy: UInt16 = 30, pageNumber: UInt16 = 31, recordsBefore: UInt16 = 32
        static let digest: UInt16 = 33, sequence: UInt16 = 34, nested: UInt16 = 35, elements: UInt16 = 36
        static let lengths: UInt16 = 37, valueVariant: UInt16 = 38, mapping: UInt16 = 39
        static let knownVersion: UInt16 = 40, versionAt: UInt16 = 41, signs: UInt16 = 42
    }

    package init?(_ row: EncodedRow) {
        guard let method = row.text(ID.method), let url = row.text(ID.url), let endpoint = row.text(ID.endpoint),
            let status = row.number(ID.status), let fetchedAt = row.date(ID.fetchedAt),
            let validatedAt = row.date(ID.validatedAt), let scan = row.unsigned(ID.scan)
        else { return nil }
        let bodySize = row.number(ID.bodySize)
        guard (0...ResponseBody.longest).contains(bodySize ?? 0) else { return nil }
        var listed: [ListedRecord] = []
        if let bytes = row.rawBytes(ID.listed) {
            ResponseEntry.forEachListed(in: bytes) {
                listed.append(ListedRecord(entity: $0, storageKey: Array($1)))
                return true
            }
        }
        let headers = row.texts(ID.headers)
        let caching = row.date(ID.requestedAt).map {
            ResponseCaching(
                requestedAt: $0, selecting: row.texts(ID.selecting), usedAt: row.date(ID.usedAt) ?? validatedAt,
                bodySize: bodySize,
                parts: ResponseEntry.parts(row))
        }
        self.init(
            request: RequestKey(
                method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? "",
                variant: row.text(ID.variant) ?? ""),
            validation: Validation(
                status: status, headers: headers, fetchedAt: fetchedAt, validatedAt: validatedAt,
                isInvalidated: row.number(ID.isInvalidated) == 1, answeredBy: row.text(ID.answeredBy)),
            listing: Listing(
                listed, count: row.number(ID.count) ?? listed.count, skipped: row.number(ID.skipped) ?? 0,
                metadata: row.text(ID.metadata), scan: scan, identity: row.text(ID.identity)),
            caching: caching)
        listing.position = ListPosition(row)
        valueVariant = row.text(ID.valueVariant)
        mapping = row.text(ID.mapping)
        signs = row.text(ID.signs)
        validation.knownVersion = row.texts(ID.knownVersion)
        validation.versionAt = row.date(ID.versionAt)
        imported = ResponseEntry.importedBody(row).map {
            ImportedBody(
                digest: Array($0.digest), sequence: $0.sequence, nested: Array($0.nested), elements: Array($0.elements),
                lengths: Array(row.rawBytes(ID.lengths) ?? .empty))
        }
    }

    /// The body that a row's records come from; nil if the entry does not know it.
    static func importedBody(_ row: EncodedRow) -> (digest: Bytes, sequence: UInt64, nested: Bytes, elements: Bytes)? {
        guard let digest = row.rawBytes(ID.digest), let sequence = row.unsigned(ID.sequence),
            let nested = row.rawBytes(ID.nested), digest.count == KeyedDigest.length
        else { return nil }
        return (digest, sequence, nested, row.rawBytes(ID.elements) ?? .empty)
    }

    /// The parts in the body of a row's response; nil for a whole response and unreadable parts.
    static func parts(_ row: EncodedRow) -> BodyParts? {
        guard let length = row.number(ID.wholeLength), let bytes = row.rawBytes(ID.parts),
            let parts = BodyParts(bytes, length: length),
            parts.size == row.number(ID.bodySize)
        else { return nil }
        return parts
    }

    /// Calls the closure with each listed record, until it returns false.
    ///
    /// Each is encoded as u16 entity, u8 length, storage key.
    package static func forEachListed(in bytes: Bytes, _ body: (UInt16, Bytes) throws -> Bool) rethrows {
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
        row.field(ID.status, validation.status)
        row.field(ID.headers, .array(validation.headers.map(Value.string)))
        row.field(ID.fetchedAt, validation.fetchedAt)
        row.field(ID.validatedAt, validation.validatedAt)
        row.field(ID.scan, listing.scan)
        var bytes = ByteWriter(capacity: 4096)
        for record in listing.listed {
            record.storageKey.withUnsafeBytes { ListedRecord.append(record.entity, $0, to: &bytes) }
        }
        row.field(ID.listed, raw: bytes)
        row.field(ID.metadata, listing.metadata)
        row.field(ID.count, listing.count)
        row.field(ID.identity, listing.identity)
        if listing.skipped > 0 { row.field(ID.skipped, listing.skipped) }
        if let caching {
            row.field(ID.requestedAt, caching.requestedAt)
            if !caching.selecting.isEmpty { row.field(ID.selecting, .array(caching.selecting.map(Value.string))) }
            row.field(ID.usedAt, caching.usedAt)
            row.field(ID.bodySize, caching.bodySize)
        }
        if validation.isInvalidated { row.field(ID.isInvalidated, 1) }
        row.field(ID.variant, request.variant.isEmpty ? nil : request.variant)
        if let parts = caching?.parts {
            row.field(ID.wholeLength, parts.length)
            var bytes = ByteWriter(capacity: 16 * parts.ranges.count)
            parts.write(to: &bytes)
            row.field(ID.parts, raw: bytes)
        }
        row.field(ID.answeredBy, validation.answeredBy)
        row.field(ID.pageNumber, listing.position?.page)
        row.field(ID.recordsBefore, listing.position?.recordsBefore)
        if let imported {
            row.field(ID.digest, bytes: imported.digest)
            row.field(ID.sequence, imported.sequence)
            row.field(ID.nested, bytes: imported.nested)
            if !imported.elements.isEmpty { row.field(ID.elements, bytes: imported.elements) }
            if !imported.lengths.isEmpty { row.field(ID.lengths, bytes: imported.lengths) }
        }
        row.field(ID.valueVariant, valueVariant)
        row.field(ID.mapping, mapping)
        if !validation.knownVersion.isEmpty {
            row.field(ID.knownVersion, .array(validation.knownVersion.map(Value.string)))
            row.field(ID.versionAt, validation.versionAt)
        }
        row.field(ID.signs, signs)
        try withUnsafeBytes(of: id.bigEndian) { try row.store(raw, table, $0, sequence: sequence) }
    }
}

extension ResponseOrigin {
    /// Reads the origin of a row, without the listed records; nil if the row is damaged.
    init?(_ row: EncodedRow) {
        typealias ID = ResponseEntry.ID
        guard let method = row.text(ID.method), let url = row.text(ID.url), let endpoint = row.text(ID.endpoint) else {
            return nil
        }
        let validatedAt = row.date(ID.validatedAt) ?? Timestamp(microseconds: 0)
        self.init(
            request: RequestKey(method: method, url: url, endpoint: endpoint, authScope: row.text(ID.authScope) ?? ""),
            identity: row.text(ID.identity), scan: row.unsigned(ID.scan), validatedAt: validatedAt,
            usedAt: row.date(ID.usedAt) ?? validatedAt, valueVariant: row.text(ID.valueVariant))
    }
}
