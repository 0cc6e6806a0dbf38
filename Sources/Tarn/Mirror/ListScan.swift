import TarnHTTP

/// The scan of one list that is under way: its position, its progress, and its request.
struct ListScan {
    /// The index of the list among those of all parents.
    let index: Int
    var pages: PageSequence
    var target: ScanTarget
    /// The request for the current page; nil between two pages.
    var fetch: PageFetch?
    /// The prefetch of the next page, under way while the current one is imported.
    var ahead: PageFetch?

    /// Ends the transfers.
    func cancel() {
        fetch?.cancel()
        ahead?.cancel()
    }
}
