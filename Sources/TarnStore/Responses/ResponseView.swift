// A borrowed view of a response's entry: a cache hit reads it without copying the listed records.

/// An entry that is borrowed for the duration of a transaction.
package struct ResponseView {
    package let id: UInt64
    let row: EncodedRow

    init(_ id: UInt64, _ row: EncodedRow) {
        self.id = id
        self.row = row
    }

    private typealias ID = ResponseEntry.ID

    package var status: Int { row.number(ID.status) ?? 0 }
    package var method: String { row.text(ID.method) ?? "" }
    package var url: String { row.text(ID.url) ?? "" }
    package var endpoint: String { row.text(ID.endpoint) ?? "" }
    package var validatedAt: Timestamp { row.date(ID.validatedAt) ?? Timestamp(microseconds: 0) }
    var fetchedAt: Timestamp { row.date(ID.fetchedAt) ?? Timestamp(microseconds: 0) }
    package var requestedAt: Timestamp? { row.date(ID.requestedAt) }
    package var usedAt: Timestamp { row.date(ID.usedAt) ?? validatedAt }
    package var bodySize: Int? { row.number(ID.bodySize) }
    package var parts: BodyParts? { ResponseEntry.parts(row) }
    package var isInvalidated: Bool { row.number(ID.isInvalidated) == 1 }
    package var metadata: String? { row.text(ID.metadata) }
    package var identity: String? { row.text(ID.identity) }
    package var scan: UInt64? { row.unsigned(ID.scan) }
    package var headers: [String] { row.texts(ID.headers) }
    /// The header fields of ``ResponseEntry/Validation/knownVersion``.
    package var knownVersion: [String] { row.texts(ID.knownVersion) }
    /// The time when ``knownVersion`` was last known to be the store's version.
    package var versionAt: Timestamp { row.date(ID.versionAt) ?? validatedAt }
    package var selecting: [String] { row.texts(ID.selecting) }
    package var skipped: Int { row.number(ID.skipped) ?? 0 }
    package var answeredBy: String? { row.text(ID.answeredBy) }
    package var position: ListPosition? { ListPosition(row) }
    package var valueVariant: String? { row.text(ID.valueVariant) }
    var variant: String { row.text(ID.variant) ?? "" }
    var mapping: String? { row.text(ID.mapping) }
    var isList: Bool { identity?.hasPrefix(Listing.listIdentity) ?? false }
    package var isCaches: Bool { requestedAt != nil && (identity?.hasPrefix(Listing.cachedIdentity) ?? true) }
    /// Whether a mirror keeps it: a cache has requested no response of the list, and no loader has
    /// made it of several ones.
    package var isMirrors: Bool {
        scan != nil && !isList && !isCaches && identity?.hasPrefix(Listing.cachedIdentity) != true
    }
    private typealias Listing = ResponseEntry.Listing

    /// The requested URL.
    ///
    /// In entries of whole responses the scope follows it, after a `#`, which no URL of a request
    /// has.
    package var requestURL: String {
        let url = url
        guard endpoint.hasPrefix("*"), let mark = url.utf8.lastIndex(of: UInt8(ascii: "#")) else { return url }
        return String(url[..<mark])
    }

    /// Calls the closure with root entity and storage key of each listed record, in order.
    package func forEachListed(_ body: (UInt16, Bytes) throws -> Bool) rethrows {
        guard let bytes = row.rawBytes(ID.listed) else { return }
        try ResponseEntry.forEachListed(in: bytes, body)
    }

    /// Whether the entry can be decoded: see ``entry``.
    var isReadable: Bool {
        row.body.value(of: ID.method) != nil && row.body.value(of: ID.url) != nil
            && row.body.value(of: ID.endpoint) != nil && row.number(ID.status) != nil && row.date(ID.fetchedAt) != nil
            && row.date(ID.validatedAt) != nil && row.unsigned(ID.scan) != nil
    }

    /// Returns whether the entry lists these records, in this order.
    func lists(_ listed: [ListedRecord]) -> Bool {
        var position = 0, isSame = true
        forEachListed { entity, key in
            isSame =
                position < listed.count && listed[position].entity == entity
                && listed[position].storageKey.withUnsafeBytes { $0.elementsEqual(key) }
            position += 1
            return isSame
        }
        return isSame && position == listed.count
    }

    /// Returns whether the entry is of the same response as an earlier copy, and was not
    /// invalidated since: see ``ResponseEntry/isUnchanged(since:)``.
    package func isUnchanged(since copy: ResponseEntry) -> Bool {
        let validation = copy.validation, listing = copy.listing
        guard isReadable, row.date(ID.fetchedAt) == validation.fetchedAt, status == validation.status,
            validation.isInvalidated || !isInvalidated, skipped == listing.skipped, metadata == listing.metadata,
            lists(listing.listed), (row.number(ID.count) ?? listing.listed.count) == listing.count
        else { return false }
        return ResponseEntry.Validation.validators(of: headers) == validation.validators
    }

    /// The number of elements of the list.
    package var count: Int { row.number(ID.count) ?? 0 }

    /// A copy of the whole entry.
    package var entry: ResponseEntry? { ResponseEntry(row) }
}
