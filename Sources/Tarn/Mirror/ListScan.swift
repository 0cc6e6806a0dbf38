import TarnHTTP

/// The scan of one list that is under way: its position, its progress, and its request.
final class ListScan {
    /// The index of the list among those of all parents.
    let index: Int
    var pages: PageSequence
    var target: ScanTarget
    /// The request for the current page; nil between two pages.
    var fetch: PageFetch?
    /// The prefetch of the next page, under way while the current one is imported.
    var ahead: PageFetch?

    init(index: Int, pages: PageSequence, target: ScanTarget) {
        self.index = index
        self.pages = pages
        self.target = target
    }

    /// Ends the transfers.
    func cancel() {
        fetch?.cancel()
        ahead?.cancel()
    }
}
