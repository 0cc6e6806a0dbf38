public import Tarn

/// A refresh that a ``RefreshService`` repeats: a request or endpoints of a mirror, and a schedule.
///
/// ```swift
/// var issues = ScheduledRefresh(.issues("acme/anvil"), of: forge, every: .seconds(60))
/// issues.priority = .high
/// ```
public struct ScheduledRefresh: Sendable {
    /// The order in which refreshes start that wait for others.
    public enum Priority: Int, Sendable, Hashable, Comparable {
        case low, normal, high

        public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
    }

    /// The name in health values, metrics, spans and logs: unique in a service.
    public var name: String
    /// The time between the end of a complete refresh and the start of the next one.
    ///
    /// It is at least a millisecond, and at most about 136 years.
    public var interval: Duration { didSet { interval = interval.ofRefresh } }
    /// The largest random addition to each wait, as a fraction of it.
    ///
    /// It keeps the programs of a fleet, and the refreshes of one program, from asking a server at
    /// the same moments.
    public var jitter = 0.1
    /// The order of refreshes that wait for others: ``RefreshService/Options/concurrency``.
    public var priority = Priority.normal
    /// Whether the service is unavailable until this refresh has been complete once.
    public var isRequired = true
    /// The age after which the records are out of date; nil for twice the interval with its jitter.
    public var staleAfter: Duration?

    let store: Store
    /// The requests of the refresh: an earlier one counts only if it had the same.
    let plan: RefreshPlan
    /// The account that asks, as a keyed hash: an earlier refresh counts only for the same one.
    let scope: @Sendable () async throws -> String
    /// Runs the refresh once; false if a shutdown has ended it before the last page.
    let run: @Sendable (RefreshRun) async throws -> Bool

    /// Creates a refresh of a typed request, page by page.
    ///
    /// The server is asked for every page, with a condition if the page is stored. A record that
    /// does not fit the struct is stored, too: only reading it fails. A shutdown ends the refresh
    /// after the page under way, and does not wait for one that is not sent yet.
    ///
    /// - Parameters:
    ///   - request: the request. Its policy does not matter.
    ///   - client: the client that sends it.
    ///   - name: the name of the refresh; nil for the method and the path, without the values of
    ///     parameters.
    ///   - interval: the time between two refreshes.
    public init<Value>(
        _ request: RecordRequest<Value>, of client: RecordClient, name: String? = nil, every interval: Duration
    ) {
        self.init(
            name ?? request.description, client.store, client.refreshPlan(of: request),
            { try await client.refreshScope(of: request) }, every: interval
        ) { run in
            try await run.follow(client.refreshedPages(request))
        }
    }

    /// Creates a refresh of endpoints of a mirror.
    ///
    /// A shutdown ends it at once, with the transfers under way. The next refresh continues after
    /// the committed pages, also in another process, and counts from the beginning of this one.
    ///
    /// - Parameters:
    ///   - endpoints: the names of the endpoints; nil for all of the description.
    ///   - mirror: the mirror.
    ///   - name: the name of the refresh; nil for the names of the endpoints.
    ///   - interval: the time between two refreshes.
    public init(
        endpoints: Set<String>? = nil, of mirror: APIMirror, name: String? = nil, every interval: Duration
    ) {
        let own = endpoints.map { $0.sorted().joined(separator: " ") } ?? "mirror"
        self.init(
            name ?? own, mirror.client.store, mirror.refreshPlan(of: endpoints),
            { try await mirror.refreshScope(of: endpoints) }, every: interval
        ) { run in
            try await run.sync(mirror, endpoints)
        }
    }

    private init(
        _ name: String, _ store: Store, _ plan: RefreshPlan, _ scope: @escaping @Sendable () async throws -> String,
        every interval: Duration, _ run: @escaping @Sendable (RefreshRun) async throws -> Bool
    ) {
        self.name = name
        self.interval = interval.ofRefresh
        self.store = store
        self.plan = plan
        self.scope = scope
        self.run = run
    }

    /// The age after which the records are out of date.
    var limitOfAge: Duration { staleAfter ?? interval * (2 * (1 + max(0, jitter))) }

    /// Returns a wait with its random addition.
    func jittered(_ wait: Duration) -> Duration {
        (wait.ofRefresh * (1 + max(0, jitter) * Double.random(in: 0..<1))).ofRefresh
    }
}

extension Duration {
    /// The duration within the bounds of a refresh: clocks and sums of longer ones overflow.
    var ofRefresh: Duration { min(max(self, .milliseconds(1)), .seconds(1 << 32)) }
}
