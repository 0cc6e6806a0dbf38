/// The entry of a response: its request, its validation and the records that it lists.
public struct ResponseEntry: Sendable, Hashable {
    /// The key of the request.
    public var request: RequestKey
    /// The status and the validators, with the times at which they were true.
    public var validation: Validation
    /// The records and the metadata of the response.
    package var listing: Listing
    /// The part for caches; nil if no cache has written the entry.
    package var caching: ResponseCaching?
    /// The body that the records come from; nil if it is not recognised when it comes again.
    package var imported: ImportedBody?
    /// A digest of the request's own header fields, without credentials, and of its hooks, which
    /// determine the values of the records; nil if it has none.
    package var valueVariant: String?
    /// A digest of the schema and the mapping by which the records were imported; nil if it is not
    /// known: an earlier version has stored the entry.
    package var mapping: String?
    /// A digest of the signs of further pages that were looked for in the response; nil if they are
    /// not known: an earlier version has stored the entry.
    package var signs: String?

    package init(request: RequestKey, validation: Validation, listing: Listing, caching: ResponseCaching? = nil) {
        self.request = request
        self.validation = validation
        self.listing = listing
        self.caching = caching
    }
}

extension ResponseEntry {
    /// Whether the entry answers no request, and has nothing but the version of its record, which
    /// need not be stored: its deletion may be queued.
    package var hasOnlyVersion: Bool {
        validation.isInvalidated && !validation.knownVersion.isEmpty && listing.listed.count == 1
    }

    /// Whether the entry may list a record that is not stored.
    ///
    /// A list of several responses keeps the place of a record that was deleted, and a response
    /// that answers no request the version of one whose deletion is queued.
    package var mayListMissing: Bool {
        hasOnlyVersion || listing.identity?.hasPrefix(Listing.listIdentity) ?? false
    }

    /// Whether the entry is of the same response as an earlier copy, and was not invalidated since.
    ///
    /// Confirmations by a 304 and notes of use do not change this. Only if it is true, a 304 to a
    /// request with the copy's validators is valid for the entry.
    package func isUnchanged(since copy: ResponseEntry) -> Bool {
        let own = listing, other = copy.listing
        return validation.isUnchanged(since: copy.validation) && own.count == other.count
            && own.skipped == other.skipped && own.metadata == other.metadata && own.listed == other.listed
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
        for record in Set(listing.listed) {
            record.memberKey(id, into: &key)
            try body(.members, key.bytes, .empty)
        }
    }
}
