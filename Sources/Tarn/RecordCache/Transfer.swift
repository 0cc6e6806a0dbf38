import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// What a transfer has brought.
struct Transfer: Sendable {
    var source: CachedAnswer.Source
    /// What the answer says about the page after it.
    var page: PageEnd
    var listed: [ListedRecord]
    var metadata: [String: String]
    var report: ImportReport?
    var isStored = true
    /// Copies, if they are not in the store.
    var records: [Record]?
    /// Whether another process has made it.
    var isAnothers = false

    init(_ entry: ResponseEntry, _ source: CachedAnswer.Source, report: ImportReport? = nil) {
        self.source = source
        page = PageEnd(facts: entry.pageFacts, answeredBy: entry.answeredBy, position: entry.position)
        listed = entry.listed
        metadata = PageMetadata.read(entry.metadata).kept
        self.report = report
    }
}
