// What a walk has fetched and not yet committed: it becomes one change.

import TarnImport
import TarnStore

/// Pages that wait to be committed together, with their entries, their progress and the members of their scans. Their records wait in the
/// importer.
struct Batch {
    struct Page {
        var entry: ResponseEntry
        /// The stored entry that a 304 has confirmed; nil if the page was imported.
        var asked: ResponseEntry?
        /// The walk of the endpoint's walks that the page is of.
        var target: Int
        /// Under which its listed records are noted; nil if no orphans are looked for.
        var members: String?

        var isImported: Bool { asked == nil }
    }

    /// A walk that is complete with this batch, and whose orphans are to be looked at when it is committed.
    struct Completed {
        var walk: WalkIdentity
        var parent: RecordKey?
        var checkpointName: String
        var scan: UInt64
    }

    private(set) var pages: [Page] = []
    /// The last one of each name counts.
    private(set) var checkpoints: [String: Checkpoint] = [:]
    var completed: [Completed] = []

    var isEmpty: Bool { pages.isEmpty && checkpoints.isEmpty }

    mutating func add(_ page: Page, _ checkpoint: Checkpoint, _ name: String) {
        pages.append(page)
        checkpoints[name] = checkpoint
    }

    /// Adds what another walk has fetched.
    mutating func append(_ other: Batch) {
        pages += other.pages
        checkpoints.merge(other.checkpoints) { $1 }
        completed += other.completed
    }

    /// Progress without a page.
    mutating func add(_ checkpoint: Checkpoint, _ name: String) { checkpoints[name] = checkpoint }
}
