extension ResponseEntry {
    /// The records that a response lists, and its place among the pages of a scan.
    package struct Listing: Sendable, Hashable {
        /// The listed records, in the order of the response.
        package var listed: [ListedRecord]
        /// The number of elements of the list, including skipped ones.
        package var count: Int
        /// The number of elements without a usable key: records that are not in `listed`.
        package var skipped: Int
        /// The metadata of the response, as JSON text.
        package var metadata: String?
        /// The number of the scan that the page belongs to.
        package var scan: UInt64
        /// The identity of the scan that the page belongs to; nil if there is none.
        package var identity: String?
        /// The beginning of the identity of a scan whose responses a cache may evict.
        package static let cachedIdentity = "cache "
        /// The beginning of the identity of a list that several responses make up.
        ///
        /// It is no response: the deletion of a record that it lists leaves it as it is.
        package static let listIdentity = "list "
        /// Whether the response belongs to a cache, and not to a mirror.
        var isCaches: Bool { identity?.hasPrefix(ResponseEntry.Listing.cachedIdentity) ?? true }
        /// The position of the page in its list; nil for the first page, and if it is unknown.
        package var position: ListPosition?

        package init(
            _ listed: [ListedRecord] = [], count: Int, skipped: Int = 0, metadata: String? = nil, scan: UInt64 = 0,
            identity: String? = nil
        ) {
            self.listed = listed
            self.count = count
            self.skipped = skipped
            self.metadata = metadata
            self.scan = scan
            self.identity = identity
        }
    }
}
