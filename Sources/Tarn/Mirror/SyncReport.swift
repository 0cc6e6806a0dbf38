// The result of a sync, endpoint by endpoint.

import TarnHTTP
import TarnImport
import TarnStore

/// The result of a sync: counts, diagnostics and failures of each endpoint.
public struct SyncReport: Sendable {
    /// The result of one endpoint.
    public struct Endpoint: Sendable {
        /// The name of the endpoint; empty if the failure belongs to no endpoint.
        public var name: String
        /// The name of the API, if the description has several ones.
        package internal(set) var api: String?
        /// Pages that were answered, including those with 304.
        public var pages = 0
        /// Pages that were answered with 304.
        public var notModified = 0
        /// Records that the pages list, including those of pages answered with 304.
        public var listed = 0
        /// Records that the pages answered with 304 list: they are unchanged.
        ///
        /// Each record of a page counts once, and elements without a record do not count.
        package var confirmed: Int { confirmedEntities.values.reduce(0, +) }
        /// The numbers of ``confirmed`` records by root entity.
        var confirmedEntities: [String: Int] = [:]
        /// The value with which an incremental scan began; nil if it listed everything.
        ///
        /// With several lists it is that of one of them.
        public var since: String?
        /// Whether a list ended at the limit of the sync, or in a dry run before its end.
        ///
        /// The next sync continues it.
        package var wasLimited = false
        /// Lists that were not begun because of the limit of the sync, or in a dry run.
        package var leftOut = 0
        /// Whether the scan was stopped because another endpoint has failed for all.
        ///
        /// The committed pages stay, and the next sync continues behind them.
        public var wasStopped = false
        /// Whether the scan has continued an interrupted one.
        package var isResumed = false
        /// Whether the interrupted sync that this one continues had completed the endpoint.
        ///
        /// Nothing was requested then.
        package var wasFinished = false
        /// Parents of a `for_each` that the interrupted sync had completed or passed by.
        ///
        /// Nothing was requested for them.
        package var finishedParents = 0
        /// Parents of a `for_each` that have not changed since the last scan of their lists.
        ///
        /// Nothing was requested for them (`only: changed`).
        package var unchangedParents = 0
        /// The report of the endpoint's imports.
        public var report = ImportReport()
        /// Elements of the pages whose records are unknown, also those of confirmed pages.
        package var skipped = 0
        /// Such elements of the pages that an earlier sync has committed, which this one continues.
        package var skippedBefore = 0
        /// Lists that this sync has not requested, because the interrupted one had finished them,
        /// and that may go on where they ended.
        package var doubtsBefore = 0
        /// Parents of a `for_each` that lack a value for the path or the body; not requested.
        package var skippedParents: [SkippedParents] = []
        /// Records of a `for_each` that this scan has stored: the next one requests their lists.
        package var newParents = 0
        /// The numbers of imported records of which the server lists only a part in the answer, by
        /// the paths of the flags that say so: `labels.pageInfo.hasNextPage`.
        package var cutLists: [String: Int] = [:]
        /// Lists that ended without an error at the limit of the endpoint: the server has more.
        package var cutOff = 0
        /// Requests that a response rule has passed over.
        package var ignored = 0
        /// Complete lists of an incremental endpoint in which no value for the next scan was found.
        ///
        /// Unless an earlier one has left a value, the next scan lists everything again.
        package var withoutValue = 0
        /// A date in the future that a record has as the value for the next scan; nil without one.
        ///
        /// The next scan requests what has changed since the beginning of this one.
        package var futureValue: String?
        /// Whether the time of the scan could not be written as such a date: the value stays as it
        /// was.
        package var leavesFutureOut = false
        /// Lists that may go on behind the page at which their scans have ended, by the reason.
        package var doubts: [EndDoubt: Int] = [:]
        /// Those of them of an incremental endpoint.
        ///
        /// The next scan begins with the same value.
        package var inDoubt = 0
        /// Those of which that was so in the scan before, too: the next scan goes on all the same.
        package var inDoubtAgain = 0
        /// Lists that were requested as a whole: the server refuses their values for `since`.
        package var expired = 0
        /// Whether a list was requested as a whole because the last such scan was long ago
        /// (`full_every`).
        package var isPeriodicallyFull = false
        /// Whether a list was not requested, because change feeds tell what has changed since its
        /// last complete scan.
        package var isFollowed = false
        /// Whether everything was requested because the credentials have changed.
        package var hasOtherCredentials = false
        /// Whether everything was requested because another description has an endpoint of the same
        /// name, and scans into the store in turn.
        package var hasOtherDescription = false
        /// Records that lists had before the description or the credentials changed, and that no
        /// list has now. They stay.
        package var unlisted = 0
        /// Records of lists that are no longer requested, and that no other list has. They stay.
        package var ofFormerLists = 0
        /// The time when the complete scan before this one began; nil if there was none.
        ///
        /// Of several lists it is the earliest one.
        var previous: Timestamp?
        /// The responses to requests for one record that contained another one.
        package var otherRecords: OtherRecords?
        /// The records that came again, of the list with the most of them; nil if they are few.
        package var repeated: RepeatedRecords?
        /// The pagination style that `paginate: auto` has chosen, and the reason.
        package var pagination: PaginationChoice?
        /// The findings about records that complete scans did not list.
        ///
        /// Nil if orphans are not looked for, or if no scan was completed.
        public var orphans: OrphanReport?
        /// The failures that stopped the endpoint or some of its parents.
        public var failures: [MirrorError] = []
        /// The duration of the scan, in seconds.
        public var seconds = 0.0

        /// Creates an empty report of an endpoint.
        init(name: String) { self.name = name }

        /// Counts the records of a page that was answered with 304.
        mutating func confirm(_ listed: [ListedRecord], _ catalog: Catalog) {
            for record in Set(listed) {
                guard let entity = catalog.entity(id: record.entity) else { continue }
                confirmedEntities[entity.name, default: 0] += 1
            }
        }

        mutating func add(_ report: OrphanReport) {
            // In place: a copy for each list would take long.
            if orphans == nil { orphans = OrphanReport() }
            orphans?.add(report)
        }
    }

    /// The results of the endpoints, in the order of the description.
    public var endpoints: [Endpoint] = []
    /// The time when the interrupted sync began that this one continues; nil for a new sync.
    public var resumed: Timestamp?

    /// Whether endpoints were stopped, or not begun, because another one has failed for all.
    package internal(set) var isCutShort = false

    /// The missing targets of references that a sync of missing records has left, by entity.
    package var missing: [Missing] = []

    /// The targets of references to an entity that are not in the store.
    package struct Missing: Sendable, Hashable {
        /// The entity of the targets.
        package var entity: String
        /// The number of targets.
        package var count: Int
        /// The number of those with keys that are too long to be requested.
        package var tooLong: Int
        /// Whether an endpoint requests single records of the entity by their keys.
        package var hasEndpoint: Bool
    }

    /// Attributes without a value in this sync and in the store: their JSON paths may be wrong.
    ///
    /// Only attributes of listed records count. Of the store, the first 10,000 records of the
    /// entity are read.
    package var absentAttributes: [AbsentAttribute] = []

    /// Fields that come from elsewhere in the JSON than in the sync before: where the responses
    /// lack them, records keep their former values.
    package var formerValues: [FormerValues] = []

    /// Records that lists had before the description was edited, and that no list has now, by
    /// entity. They stay, and the next syncs do not count them again.
    package var unlisted: [String: Int] = [:]
    /// Such records that may be in lists that were others than before, too, and are not complete
    /// yet, by entity.
    package var unlistedSoFar: [String: Int] = [:]

    /// Creates an empty report.
    package init() {}

    /// Answered pages of all endpoints.
    public var pages: Int { endpoints.reduce(0) { $0 + $1.pages } }
    /// Pages of all endpoints that were answered with 304.
    package var notModified: Int { endpoints.reduce(0) { $0 + $1.notModified } }
    /// Listed records of all endpoints.
    public var listed: Int { endpoints.reduce(0) { $0 + $1.listed } }
    /// Skipped parents of all endpoints.
    package var skippedParents: [SkippedParents] { endpoints.flatMap(\.skippedParents) }
    /// Failures of all endpoints.
    public var failures: [MirrorError] { endpoints.flatMap(\.failures) }

    /// The import reports of all endpoints, combined.
    public var report: ImportReport {
        var sum = ImportReport()
        for endpoint in endpoints { sum.add(endpoint.report) }
        return sum
    }
}

extension SyncReport {
    /// The findings about orphans of all endpoints, combined; nil if there are none.
    public var orphans: OrphanReport? {
        endpoints.compactMap(\.orphans).reduce(nil) { sum, next in
            var sum = sum ?? OrphanReport()
            sum.add(next)
            return sum
        }
    }
}

extension SyncReport {
    /// The counts of each entity. Records of pages that were answered with 304 are unchanged, and
    /// count for the root entity.
    package var entityCounts: [String: ImportReport.Counts] {
        var counts = report.entities
        for endpoint in endpoints {
            for (entity, confirmed) in endpoint.confirmedEntities {
                counts[entity, default: ImportReport.Counts()].unchanged += confirmed
            }
        }
        return counts
    }
}

extension SyncReport {
    /// The APIs that were cut off.
    var interruptedAPIs: Set<String?> {
        Set(endpoints.filter { $0.failures.contains(where: \.isInterruption) }.map(\.api))
    }

    /// Whether an API has answered pages.
    func hasPages(of api: String?) -> Bool { endpoints.contains { $0.api == api && $0.pages > 0 } }
}
