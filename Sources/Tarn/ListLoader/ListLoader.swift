import Foundation
import Locking
public import TarnImport
import TarnStore

/// A list of records that is loaded page by page, forwards and backwards, and kept in the store.
///
/// ```swift
/// let list = try await forge.list(.issues("acme/anvil"))
/// try await list.loadFirst()
/// for try await state in list.states {
///     show(state.items, isBusy: state.loading != nil, problem: state.failure)
/// }
/// ```
///
/// The list has the records of its pages in the order of the server. Its order and its edges are in
/// the store: after a restart, and offline, the list is there with its next page. A first page, or
/// a refresh, replaces the list: what the server has dropped is gone from it. The records stay in
/// the store, unless the request removes orphans (``RecordRequest/removingOrphans(_:where:)``),
/// whose rules apply after a load that has fetched the complete list.
///
/// A load that fails leaves the list as it is. Loads of one list run one after the other; a
/// ``ConcurrentLoads`` rule decides about a load that is requested meanwhile. Any number of loaders
/// and processes may use one list.
///
/// See <doc:ListLoaders>.
public final class ListLoader<Value: MappedRecord>: Sendable {
    let client: RecordClient
    let request: RecordRequest<Value>
    /// The query that selects and orders the items; nil for the order of the server.
    let query: TypedQuery<Value>?
    let target: EndpointRequest
    /// The key of the list's entry.
    let key: RequestKey
    /// A digest of the request's additions to the mapping.
    let variant: String
    /// The scan members of the request; nil if it removes no orphans.
    let members: String?
    let activity = ListActivity()
    /// The state of the list in this process, which its entry does not have.
    let session = Guarded(Session())
    private let queue = LoadQueue<Job, ListLoadResult>()

    /// A load, and the page at which it begins.
    struct Job: Hashable, Sendable {
        var load: ListLoad
        var url: String?
    }

    /// The next page of the list at a revision that this process has loaded.
    struct Session: Sendable {
        var revision: Int?
        /// The next page, which also knows the pages before it: a page loop is an error.
        var next: ResponsePage<Value>.NextPage?
    }

    init(
        _ client: RecordClient, _ request: RecordRequest<Value>, query: TypedQuery<Value>?, _ target: EndpointRequest
    ) throws {
        self.client = client
        var request = request
        request.options.findsPrevious = true
        self.request = request
        self.query = query
        self.target = target
        let first = try target.firstPage()
        var key = target.key(of: first)
        key.method = StoredList.method
        self.key = key
        variant = client.variant(of: request)
        members = request.options.orphans.map { _ in
            let records = Description.listing(of: target.endpoint, keyedBy: target.client.keyFingerprint)
            return ScanIdentity(
                name: request.scanName, target, plan: EndpointScan.plan(of: first, target),
                listing: EndpointScan.listing(of: first, target, records: records)
            ).members
        }
    }

    /// The number of calls about which a rule has decided, for tests of races.
    package var decisions: Int { queue.decisions }

    /// The number of calls that wait for the load under way, for tests of races.
    package var callers: Int { queue.callers }

    // MARK: Loading

    /// Loads the first page, which replaces the list. An empty page empties it.
    ///
    /// The policy of the request decides whether a fresh response of the store is enough. If the
    /// server is unreachable, the list stays as it is; a list that was never loaded takes what the
    /// store has.
    ///
    /// - Parameters:
    ///   - url: the URL of the page at which the list begins; nil for the first one. The pages
    ///     before it can then be loaded, too.
    ///   - rule: the rule if other loads are under way.
    /// - Throws: `CacheError`, `MirrorError`; `CancellationError` if the task or the load is
    ///   cancelled, which ends the transfer. If the domain of the request is cancelled,
    ///   ``CacheError/isCancelled`` is true. Neither is a failure of the list.
    @discardableResult
    public func loadFirst(
        at url: String? = nil, rule: ConcurrentLoads = .cancelOthers
    ) async throws -> ListLoadResult {
        try await load(Job(load: .first, url: url), rule)
    }

    /// Loads the page after the list; the first one if the list was never loaded.
    ///
    /// A record that the page lists again moves to its place there.
    ///
    /// - Throws: as ``loadFirst(at:rule:)``.
    @discardableResult
    public func loadNext(rule: ConcurrentLoads = .join) async throws -> ListLoadResult {
        try await load(Job(load: .next), rule)
    }

    /// Loads the page before the list, if ``ListState/hasPrevious`` is true.
    ///
    /// - Throws: as ``loadFirst(at:rule:)``.
    @discardableResult
    public func loadPrevious(rule: ConcurrentLoads = .join) async throws -> ListLoadResult {
        try await load(Job(load: .previous), rule)
    }

    /// Loads as many pages as the list has, from its first one, which replace the list together.
    ///
    /// The server is asked with conditions, whatever the freshness of stored responses. If the list
    /// is complete then, the records that it lacks are dropped.
    ///
    /// - Throws: as ``loadFirst(at:rule:)``. The list then is as it was before.
    @discardableResult
    public func refresh(rule: ConcurrentLoads = .join) async throws -> ListLoadResult {
        try await load(Job(load: .refresh), rule)
    }

    private func load(_ job: Job, _ rule: ConcurrentLoads) async throws -> ListLoadResult {
        try await queue.run(job, rule: rule) { [self] job in
            activity.begin(job.load)
            do {
                let (result, failure) = try await perform(job)
                activity.end(job.load, failure)
                return result
            } catch {
                let isCancelled = Task.isCancelled || (error as? CacheError)?.isCancelled ?? false
                activity.end(isCancelled ? nil : job.load, isCancelled ? nil : error)
                throw error
            }
        } ?? .skipped
    }
}

extension RecordClient {
    /// Returns the list of a request, as the store has it. Nothing is sent.
    ///
    /// - Parameters:
    ///   - request: the request whose pages make up the list.
    ///   - query: the query that selects and orders the items of the list; nil for the order of the
    ///     server. Records that match it are items also if no page lists them, such as one that was
    ///     created locally; those that the list had, and that the complete list of the server lacks
    ///     after one load of all its pages, are not.
    /// - Throws: `CacheError` if a credential is missing; `MirrorError.endpoint` if the request
    ///   does not persist its records, or a variable of its path has no value.
    public func list<Value>(
        _ request: RecordRequest<Value>, local query: TypedQuery<Value>? = nil
    ) async throws -> ListLoader<Value> {
        guard request.options.transfer.isPersisted else {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "a list is kept in the store: a request that does not persist has none")
        }
        do {
            let scope = try await client.authScope()
            let target = EndpointRequest(
                client: client, endpoint: request.endpoint, fingerprint: fingerprint(of: request), authScope: scope)
            return try ListLoader(self, request, query: query, target)
        } catch {
            throw CacheError(error, url: "", place: request.endpoint.place)
        }
    }
}
