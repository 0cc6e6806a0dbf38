// The position at which an interrupted scan goes on, if the server no longer accepts it, or if it
// may be behind the end of the list.

import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Whether a refusal is one of the page with which an interrupted scan goes on: its cursor may
    /// have expired, or the list may have become shorter.
    ///
    /// Refused credentials and passing refusals say nothing about the page.
    func refusesPosition(_ response: TransportResponse, _ list: ListScan) -> Bool {
        let begun = list.target.beginning, status = response.status
        guard begun.pages > 0, list.target.checkpoint.pages == begun.pages, (400..<500).contains(status) else {
            return false
        }
        return ![401, 407, 408, 425, 429].contains(status)
            && !RetryPolicy.isPassing(.answer(status: status, headers: response.headers))
    }

    /// Returns the way out for a server that goes on refusing the page with which an interrupted
    /// scan goes on: an expired cursor may have any status.
    ///
    /// - Returns: nil for other pages, refused credentials and rate limits.
    func hint(forContinued list: ListScan, _ status: Int) -> String? {
        let begun = list.target.beginning
        guard begun.pages > 0, list.target.checkpoint.pages == begun.pages, ![401, 407, 429].contains(status) else {
            return nil
        }
        return "an earlier sync ended before this page: if it is refused again, tarn sync --restart "
            + "begins the list anew"
    }

    /// Begins an interrupted scan again with the first page, as a further scan.
    func giveUpPosition(_ list: ListScan) async throws {
        let given = list.target.beginning
        var request = list.target.request
        (request.since, request.until) = (nil, nil)
        guard let other = try await self.list(request, list.index, isRepeated: true, isAnew: true) else { return }
        list.begin(as: other)
        measured.resumedPages = max(0, measured.resumedPages - given.pages)
        measured.resumedRecords = max(0, measured.resumedRecords - given.records)
        report.skippedBefore = max(0, report.skippedBefore - given.skipped)
        if !endpoint.hasSeveralLists { report.isResumed = false }
    }

    // MARK: Repeated pages

    /// Returns a digest of the listed elements as the server sent them, if records of equal
    /// elements differ by their positions in the list; nil otherwise.
    ///
    /// The rest of the answer may differ from page to page: it may repeat the requested number.
    func contentDigest(of body: [UInt8], _ pages: PageSequence) -> UInt64? {
        guard comparesContent(pages) else { return nil }
        return importer.listDigest(of: body, records: endpoint.records, entity: endpoint.entity)
    }

    /// Whether pages of the list are compared by a digest of their elements.
    func comparesContent(_ pages: PageSequence) -> Bool {
        // The positions in an envelope begin anew with each answer.
        endpoint.envelope.isEmpty && !pages.hasOnePage && importer.digestsLists(of: endpoint.entity)
    }

    /// Returns whether the first page of a continued scan repeats the page before the interruption.
    ///
    /// Either the list has ended there, or records have moved to this page since.
    ///
    /// - Parameter digest: the digest of its elements, if positions are in the keys of records.
    func repeatsPageBeforeInterruption(_ digest: UInt64?, _ list: ListScan) -> Bool {
        let begun = list.target.beginning
        guard let digest, begun.pages > 0, list.target.checkpoint.pages == begun.pages else { return false }
        return begun.lastContent == digest && list.pages.endsAtRepeatedPage
    }
}

extension ResponseEntry {
    /// Whether the next page cannot be compared with the stored one: not all of its elements are
    /// listed, and the entry has no digest of them. The page itself has them.
    var hasUnknownElements: Bool { listing.skipped == 0 && listing.count > 0 && pageFacts.digest == nil }
}
