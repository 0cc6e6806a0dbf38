/// The progress of a sync, reported before every request, after every committed page, and at the
/// end of every endpoint.
///
/// The counts are those of this sync: pages that an interrupted sync has committed are apart.
public struct SyncProgress: Sendable {
    /// The event that is reported.
    package enum Event: Sendable {
        /// A request is about to be sent.
        case request
        /// A page is committed.
        case page(Page)
        /// The scan of the endpoint is over, complete or not.
        case end
    }

    /// A committed page.
    package struct Page: Sendable {
        /// The URL of the page, without secrets.
        package var url: String
        /// Whether the server has answered 304.
        package var isNotModified: Bool
        /// The records that the page lists.
        package var listed: Int
        /// The size of the body; 0 for a 304.
        package var bytes: Int
        /// The metadata that the endpoint declares, as JSON, by name.
        package var metadata: [String: String]
    }

    /// The name of the endpoint.
    public var endpoint: String
    /// The event that is reported.
    package var event = Event.request
    /// Committed pages of this endpoint so far.
    public var pages: Int
    /// Committed pages of this endpoint that were answered with 304.
    public var notModified: Int
    /// Records that the committed pages of this endpoint list.
    public var listed: Int
    /// Records that the pages answered with 304 list: they are unchanged.
    package var confirmed = 0
    /// Records that were new to the store, nested ones included.
    public var created = 0
    /// Records whose content has changed, nested ones included.
    public var updated = 0
    /// Records that the responses repeat without a change, nested ones included.
    public var unchanged = 0
    /// Records that were deleted.
    public var deleted = 0
    /// The size of the received bodies.
    package var bytes = 0
    /// Pages and records that the interrupted sync has committed, which this one continues.
    package var resumedPages = 0, resumedRecords = 0
    /// The pages of the list as the server reports them; nil if it does not.
    public var expectedPages: Int?
    /// The records of the list as the server reports them; nil if it does not.
    ///
    /// Of several lists in a response, they are those of the first one.
    public var expectedRecords: Int?
    /// The part of ``listed`` that the server's total counts, from 0 to 1: the records of the first
    /// one of several lists in a response.
    package var countedPart = 1.0
    /// The number of lists that are done, and of all; 1 without `for_each`.
    package var listsDone = 0, lists = 1
    /// The number of lists that the interrupted sync had completed or passed by.
    package var resumedLists = 0
    /// The number of failures so far.
    package var failures = 0
    /// The URL that is being requested; nil after a page is committed.
    package var requesting: String?

    init(endpoint: String, pages: Int, notModified: Int, listed: Int, requesting: String?) {
        self.endpoint = endpoint
        self.pages = pages
        self.notModified = notModified
        self.listed = listed
        self.requesting = requesting
    }
}

extension SyncProgress {
    /// The progress with the counts of earlier rounds of the same endpoint.
    func following(_ earlier: SyncProgress?) -> SyncProgress {
        guard let earlier else { return self }
        var sum = self
        sum.pages += earlier.pages
        sum.notModified += earlier.notModified
        sum.listed += earlier.listed
        sum.confirmed += earlier.confirmed
        sum.created += earlier.created
        sum.updated += earlier.updated
        sum.unchanged += earlier.unchanged
        sum.deleted += earlier.deleted
        sum.bytes += earlier.bytes
        sum.resumedPages += earlier.resumedPages
        sum.resumedRecords += earlier.resumedRecords
        sum.resumedLists += earlier.resumedLists
        sum.lists += earlier.lists
        sum.listsDone += earlier.listsDone
        sum.failures += earlier.failures
        // The size of the last list is not that of all.
        (sum.expectedPages, sum.expectedRecords) = (nil, nil)
        return sum
    }
}

extension SyncProgress {
    /// The part of the work that is done, from 0 to 1; nil if the server does not report the total.
    public var fraction: Double? {
        if lists > 1 { return Double(listsDone) / Double(lists) }
        return part(counted(listed), counted(resumedRecords), of: expectedRecords)
            ?? part(Double(pages), Double(resumedPages), of: expectedPages)
    }

    /// The part that an interrupted sync has done; nil as ``fraction``.
    package var resumedFraction: Double? {
        if lists > 1 { return min(1, Double(resumedLists) / Double(lists)) }
        return part(0, counted(resumedRecords), of: expectedRecords) ?? part(0, Double(resumedPages), of: expectedPages)
    }

    private func counted(_ records: Int) -> Double { Double(records) * countedPart }

    private func part(_ done: Double, _ resumed: Double, of total: Int?) -> Double? {
        guard let total, total > 0 else { return nil }
        return min(1, (done + resumed) / Double(total))
    }
}
