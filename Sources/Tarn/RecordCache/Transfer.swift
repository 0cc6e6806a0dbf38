import Foundation
import TarnImport
import TarnStore

/// The result of a transfer.
struct Transfer: Sendable {
    var source: CachedAnswer.Source
    /// The facts about the next page.
    var page: PageEnd
    var listed: [ListedRecord]
    var metadata: [String: String]
    var report: ImportReport?
    var isStored = true
    /// Copies of the records if they are not stored; nil otherwise.
    var records: [Record]?
    /// The records as the import has left them, if the options of the transfer read them.
    var read: ResponseReading.Records?
    /// The time before the request was sent; nil if it is unknown.
    let requestedAt: Timestamp?
    /// Whether another process has made the transfer.
    var isAnothers = false
    /// The status of the response, or of the stored one that a 304 has confirmed.
    var status: Int
    /// The number of elements whose records are unknown.
    var skipped: Int
    /// The error that the response has stated beside its records, which are not all; nil if none.
    var partialFailure: MirrorError?
    /// The numbers of imported records with a list that the server has cut off, by its flag.
    var cutLists: [String: Int] = [:]
    /// The rule by which the list ends before the response; nil if it does not.
    var ending: Ending?
    /// The body of the response, if the options ask for it.
    var body: [UInt8]?

    /// A rule for responses that ends a list.
    enum Ending: Sendable {
        /// The page before was the last one.
        case last
        /// The page before is full: the server may refuse deep pages.
        case inDoubt
        /// The response is passed over: what follows is unknown.
        case passedOver
    }

    init(_ entry: ResponseEntry, _ source: CachedAnswer.Source, report: ImportReport? = nil) {
        self.source = source
        page = PageEnd(
            facts: entry.pageFacts, answeredBy: entry.validation.answeredBy, position: entry.listing.position)
        listed = entry.listing.listed
        metadata = PageMetadata.read(entry.listing.metadata).kept
        self.report = report
        requestedAt = entry.caching?.requestedAt
        status = entry.validation.status
        skipped = entry.listing.skipped
    }
}
