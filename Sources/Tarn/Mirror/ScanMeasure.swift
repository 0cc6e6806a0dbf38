import TarnHTTP
import TarnStore

/// The facts about a scan that only its progress shows.
struct ScanMeasure {
    /// The size of the received bodies.
    var bytes = 0
    /// Pages and records that an interrupted sync has committed.
    var resumedPages = 0, resumedRecords = 0
    /// Pages of the list that this sync has committed.
    private var pages = 0
    /// The size of the list as the server reports it.
    var totals = PageTotals()
    /// The records of further lists in the pages, which no total counts.
    var otherRecords = 0
    /// The lists of all parents, and those that were scanned.
    var lists = 1, listsDone = 0

    /// Counts a committed page.
    mutating func count(_ page: Batch.Page) {
        bytes += page.byteCount
        guard lists == 1 else { return }
        let facts = page.entry.pageFacts
        pages += 1
        totals.add(facts, ordinal: resumedPages + pages)
        otherRecords += facts.otherRecords
    }

    func add(to progress: inout SyncProgress) {
        progress.bytes = bytes
        progress.resumedPages = resumedPages
        progress.resumedRecords = resumedRecords
        progress.lists = lists
        progress.listsDone = listsDone
        // Each list of a `for_each` has a size of its own.
        guard lists == 1 else { return }
        if otherRecords > 0, progress.listed > 0 {
            progress.countedPart = max(0, 1 - Double(otherRecords) / Double(progress.listed))
        }
        // A number below that of the list so far is no total of it.
        let records = Double(progress.listed + resumedRecords) * progress.countedPart
        progress.expectedPages = totals.pages.flatMap { $0 < progress.pages + resumedPages ? nil : $0 }
        progress.expectedRecords = totals.records.flatMap { Double($0) < records.rounded() ? nil : $0 }
    }
}
