// What a sync did, endpoint by endpoint, and how it tells while it is under way.

import TarnHTTP
import TarnImport
import TarnStore

public struct SyncReport: Sendable {
    public struct Endpoint: Sendable {
        public var name: String
        /// Pages that were answered, of them how many with 304.
        public var pages = 0
        public var notModified = 0
        /// Records that the pages list, those of pages answered 304 included.
        public var listed = 0
        /// Whether it went on where an interrupted sync had stopped.
        public var isResumed = false
        /// Whether the interrupted sync that this one has continued had completed it: nothing was
        /// requested.
        public var wasFinished = false
        /// Parents of a `for_each` for which the interrupted sync had completed the walk, or passed
        /// it by: nothing was requested for them.
        public var finishedParents = 0
        public var report = ImportReport()
        /// Records of its `for_each` that lack a value which the path or the body needs: nothing was requested for them.
        public var skippedParents: [SkippedParents] = []
        /// Requests that were passed over, by a rule for their answers.
        public var ignored = 0
        /// What `paginate: auto` has chosen, and why.
        public var pagination: AutomaticPagination.Choice?
        /// What was found about records that complete walks did not list; nil if that is not asked for, or no walk came to its end.
        public var orphans: OrphanReport?
        public var failures: [MirrorError] = []
        public var seconds = 0.0

        public init(name: String) { self.name = name }

        mutating func add(_ report: OrphanReport) {
            var sum = orphans ?? OrphanReport()
            sum.add(report)
            orphans = sum
        }
    }

    public var endpoints: [Endpoint] = []
    /// When the interrupted sync began that this one has continued; nil if this one is new.
    public var resumed: Timestamp?

    /// Attributes of listed records for which no response of this sync had a value, and of which the store has none either (of the
    /// entity's first 10,000 records): check their JSON paths.
    public var absentAttributes: [AbsentAttribute] = []

    public init() {}

    public var pages: Int { endpoints.reduce(0) { $0 + $1.pages } }
    public var notModified: Int { endpoints.reduce(0) { $0 + $1.notModified } }
    public var listed: Int { endpoints.reduce(0) { $0 + $1.listed } }
    public var skippedParents: [SkippedParents] { endpoints.flatMap(\.skippedParents) }
    public var failures: [MirrorError] { endpoints.flatMap(\.failures) }

    /// The reports of all imports as one.
    public var report: ImportReport {
        var sum = ImportReport()
        for endpoint in endpoints { sum.add(endpoint.report) }
        return sum
    }
}

extension SyncReport {
    /// What was found about records that complete walks did not list, of all endpoints as one.
    public var orphans: OrphanReport? {
        endpoints.compactMap(\.orphans).reduce(nil) { sum, next in
            var sum = sum ?? OrphanReport()
            sum.add(next)
            return sum
        }
    }
}
