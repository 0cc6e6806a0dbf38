import TarnHTTP
import TarnStore

/// The facts about a scan that only its progress shows.
struct ScanMeasure {
    /// The size of the received bodies.
    var bytes = 0
    /// Pages and records that an interrupted sync has committed.
    var resumedPages = 0, resumedRecords = 0
    /// The size of the list as the server reports it.
    var totals = PageTotals()
    /// The lists of all parents, and those that were scanned.
    var lists = 1, listsDone = 0

    /// Counts a committed page.
    mutating func count(_ page: Batch.Page) {
        bytes += page.byteCount
        if lists == 1 { totals.add(page.entry.pageFacts) }
    }

    func add(to progress: inout SyncProgress) {
        progress.bytes = bytes
        progress.resumedPages = resumedPages
        progress.resumedRecords = resumedRecords
        progress.lists = lists
        progress.listsDone = listsDone
        // Each list of a `for_each` has a size of its own.
        guard lists == 1 else { return }
        progress.expectedPages = totals.pages
        progress.expectedRecords = totals.records
    }
}
