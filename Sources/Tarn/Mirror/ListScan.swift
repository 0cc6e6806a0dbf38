import TarnHTTP
import TarnStore

/// The scan of one list that is under way: its position, its progress, and its request.
final class ListScan {
    var pages: PageSequence
    var target: ScanTarget
    /// The request for the current page; nil between two pages.
    var fetch: PageFetch?
    /// The prefetch of the next page, under way while the current one is imported.
    var ahead: PageFetch?
    /// The doubt about the end of the last page itself; nil without.
    var doubt: EndDoubt?
    /// Whether the scan has requested the first value of a change feed.
    var hasFirstValue = false
    /// Whether the scan has completed a window, and another one follows.
    var hasFurtherWindow = false
    /// The different records of the pages so far. Without a declared total, those of pages before
    /// an interruption are missing.
    private var different: DifferentRecords

    init(pages: PageSequence, target: ScanTarget, different: DifferentRecords) {
        self.pages = pages
        self.target = target
        self.different = different
    }

    /// The index of the list among those of all parents.
    var index: Int { target.index }

    /// Begins again as another scan of the same list.
    func begin(as other: ListScan) {
        cancel()
        (fetch, ahead, doubt) = (nil, nil, nil)
        (pages, target, different) = (other.pages, other.target, other.different)
        hasFirstValue = other.hasFirstValue
    }

    /// The facts about a page from which the next one is found.
    func facts(of entry: ResponseEntry) -> PageFacts {
        var facts = entry.pageFacts
        let isCounted = pages.countsRecords
        // The detail of a record is no list.
        guard isCounted || entry.listing.listed.count > 1 else { return facts }
        if pages.pagesSinceRestart == 0 { different.restart() }
        different.add(entry.listing)
        if isCounted { facts.differentRecords = different.count }
        return facts
    }

    /// Takes back the records of a page, all of which the page before has.
    func takeBack(_ entry: ResponseEntry) {
        guard pages.countsRecords || entry.listing.listed.count > 1 else { return }
        different.takeBack(entry.listing)
    }

    /// The records that came again; nil if there are few of them.
    var repeated: RepeatedRecords? { different.repeated }

    /// Ends the transfers.
    func cancel() {
        fetch?.cancel()
        ahead?.cancel()
    }
}

extension Endpoint {
    /// Whether the lines of a response may have been cut off between two of them.
    func hasOpenEnd(_ response: TransportResponse) -> Bool {
        response.hasUnknownEnd && more != .ignore && format.isLines(response.headers)
    }
}
