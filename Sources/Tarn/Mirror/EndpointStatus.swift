public import TarnStore

/// The state of an endpoint's records in the store: how complete and how old they are, and why they
/// are not newer.
public struct EndpointStatus: Sendable, Hashable {
    /// A failure that has stopped an attempt.
    public struct Failure: Sendable, Hashable {
        /// The time of the failure.
        public var at: Timestamp
        /// The description of the failure, without secrets: at most 500 Unicode scalars.
        public var message: String

        package init(at time: Timestamp, message: String) {
            at = time
            self.message = message
        }
    }

    /// The committed part of a scan that has not reached its end.
    public struct Progress: Sendable, Hashable {
        /// The time when the scan began.
        public var startedAt: Timestamp
        /// The committed pages.
        public var pages: Int
        /// The records that they list.
        public var records: Int
    }

    /// The size of complete scans.
    public struct Counts: Sendable, Hashable {
        /// The pages.
        public var pages: Int
        /// The records that they list.
        public var records: Int
    }

    /// The name of the endpoint or request.
    public var name: String
    /// The name of the API, if the description has several ones.
    package internal(set) var api: String?
    /// The number of lists: 1, or with `for_each` the number of stored parents.
    public var lists = 1
    /// The number of lists that were scanned to their end at least once.
    public var completeLists = 0
    /// The number of these lists whose last complete scan ended at a limit that the description
    /// declares (`then: stop`): the server has more records than are stored.
    package internal(set) var cutOffLists = 0
    /// The number of these lists whose last complete scan ended where the server may have a limit:
    /// behind a full page, or at a round total.
    package internal(set) var doubtfulLists = 0
    /// The time of the last complete scan; nil if there was none.
    ///
    /// Of several lists it is the earliest one, and nil until all of them are complete. Of a
    /// request it is the earliest time at which the server confirmed one of its stored pages.
    public var completedAt: Timestamp?
    /// The time since then, in seconds.
    public var age: Int?
    /// The scan that is under way or was interrupted; nil if the last one is complete.
    ///
    /// Of several lists it is the sum of their pages and records.
    public var unfinished: Progress?
    /// The URL of the next page of that scan, without secrets; nil with `for_each`.
    public var position: String?
    /// The pages and records of the last complete scan; nil if there was none.
    ///
    /// A further scan takes its place with its first page: until it is complete, the counts are
    /// nil. Of several lists it is the sum of those that are complete.
    public var complete: Counts?
    /// The number of lists whose last complete scan is followed by one that is not complete: its
    /// pages and records are no longer known.
    package internal(set) var rescannedLists = 0
    /// The value from which the next incremental scan continues; nil without one, and with
    /// `for_each`.
    public var since: String?
    /// The time from which on the whole list is requested again, in place of what has changed
    /// (`full_every`); nil if it is not, and with `for_each`. It may be in the past.
    package internal(set) var nextWhole: Timestamp?
    /// The process that scans the endpoint at this moment; nil if there is none.
    public var processID: Int32?
    /// The failure of the last attempt; nil since an attempt has succeeded.
    ///
    /// A cancellation is no failure.
    public var failure: Failure?
    /// The time until which the rules of HTTP consider the stored response fresh (RFC 9111 §4.2).
    ///
    /// Of an endpoint it is that of the first page, of a request the earliest one of its stored
    /// pages. Nil if no response is stored, and with `for_each`.
    public var freshUntil: Timestamp?

    /// The time at which `tarn sync --watch` scans the endpoint next; it may be in the past.
    ///
    /// It follows from the schedule in the description or, without one, from the freshness of the
    /// stored response. Nil for a request, which no watch sends.
    package internal(set) var nextRun: Timestamp?

    /// Creates the status of an endpoint of which nothing is stored.
    package init(named name: String) { self.name = name }

    /// Whether the stored response is fresh at a time.
    public func isFresh(at time: Timestamp) -> Bool { freshUntil.map { $0 > time } ?? false }

    package mutating func setAge(at now: Timestamp) {
        // A scan of the future was completed before the clock was set back.
        age = completedAt.map { max(0, Int(now.elapsed(since: $0) / 1_000_000)) }
    }

    mutating func setFailure(_ stored: Checkpoint.LastFailure?) {
        failure = stored.map { Failure(at: $0.at, message: $0.text) }
    }

    /// Adds the progress of one list.
    package mutating func add(_ checkpoint: Checkpoint) {
        if let time = checkpoint.completedAt {
            completeLists += 1
            if checkpoint.isCutOff { cutOffLists += 1 }
            if checkpoint.mayEndAtLimit { doubtfulLists += 1 }
            if checkpoint.state == .underWay { rescannedLists += 1 }
            completedAt = min(completedAt ?? time, time)
        }
        guard checkpoint.state == .underWay else {
            var sum = Progress(
                startedAt: checkpoint.startedAt, pages: complete?.pages ?? 0, records: complete?.records ?? 0)
            sum.add(pages: checkpoint.pages, records: checkpoint.records, since: checkpoint.startedAt)
            complete = Counts(pages: sum.pages, records: sum.records)
            return
        }
        var progress = unfinished ?? Progress(startedAt: checkpoint.startedAt, pages: 0, records: 0)
        progress.add(pages: checkpoint.pages, records: checkpoint.records, since: checkpoint.startedAt)
        unfinished = progress
    }
}

extension EndpointStatus.Progress {
    /// Adds stored counts. They may be any numbers: a sum is limited to the largest one.
    mutating func add(pages: Int, records: Int, since time: Timestamp) {
        startedAt = min(startedAt, time)
        self.pages = Self.sum(self.pages, pages)
        self.records = Self.sum(self.records, records)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflows) = a.addingReportingOverflow(b)
        return overflows ? .max : sum
    }
}
