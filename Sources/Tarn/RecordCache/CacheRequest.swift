// A request to a cache: an endpoint with parameters, or a URL of an endpoint.

import Foundation
import TarnHTTP
import TarnStore

/// A request that a cache can answer with records.
public struct CacheRequest: Sendable, Hashable {
    /// The name of an endpoint of the description.
    public var endpoint: String
    /// Parameters that replace the endpoint's parameters of the same names; others are added.
    package var parameters: [Endpoint.Parameter]
    /// The URL of a page, such as that of the next page; nil for the first page.
    ///
    /// It is empty if the next page cannot be requested: see ``failure``.
    public var url: String?
    /// The parent record, for an endpoint with `for_each`.
    package var parent: RecordKey?
    /// Request directives for the cache only, such as `max-stale=60`; they are not sent.
    package var directives: String?
    /// The state of the list up to this page; set by ``CachedAnswer/next``.
    var continuation: Continuation?

    /// The facts about a page that are known from the previous one.
    enum Continuation: Sendable, Hashable {
        case page(PageSequence)
        case failure(PaginationError, place: String)
    }

    /// The reason why the page cannot be requested; nil if it can.
    ///
    /// A next page cannot be requested if its link leads to another server or to a page that was
    /// already fetched, or if a limit is reached. Fetching the request throws this error.
    public var failure: MirrorError? {
        if case .failure(let error, let place)? = continuation { .pagination(error, place: place) } else { nil }
    }

    /// Creates a request to an endpoint: for its first page if there is no URL.
    public init(
        _ endpoint: String, parameters: [Endpoint.Parameter] = [], url: String? = nil, parent: RecordKey? = nil,
        directives: String? = nil
    ) {
        self.directives = directives
        self.endpoint = endpoint
        self.parameters = parameters
        self.url = url
        self.parent = parent
    }
}

extension RecordCache {
    /// Looks up a request. Frequent requests should reuse the result: the look-up takes time.
    ///
    /// - Throws: `CacheError` if there is no such endpoint, or a parameter or a credential is
    ///   missing.
    public func prepare(_ request: CacheRequest) async throws(CacheError) -> PreparedRequest {
        do {
            return try await prepared(request)
        } catch {
            throw CacheError(error, url: request.url ?? "", place: client.description.file)
        }
    }

    private func prepared(_ request: CacheRequest) async throws -> PreparedRequest {
        let description = client.description
        guard let endpoint = description.endpoints.first(where: { $0.name == request.endpoint }),
            let fingerprint = fingerprints[endpoint.name]
        else {
            throw MirrorError.endpoint(
                place: description.file,
                message: Spelling.unknown("endpoint", request.endpoint, among: description.endpoints.map(\.name)))
        }
        // Without its values, another list would be requested than those of a sync.
        if request.url == nil,
            let partition = endpoint.partitions.first(where: { partition in
                !request.parameters.contains { $0.name == partition.name }
            })
        {
            throw MirrorError.endpoint(
                place: endpoint.place,
                message: "\(endpoint.name) is requested for each value of \(partition.name) (partitions): name one of "
                    + "them, or request its URL")
        }
        return try await prepared(request, to: endpoint, fingerprint)
    }

    /// Looks up a request to an endpoint that the description need not have.
    func prepared(
        _ request: CacheRequest, to endpoint: Endpoint, _ fingerprint: String,
        options: TransferOptions = TransferOptions()
    ) async throws -> PreparedRequest {
        var endpoint = endpoint
        let client = client.client(of: endpoint)
        guard endpoint.method == "GET", endpoint.body == nil else {
            throw MirrorError.endpoint(
                place: endpoint.place, message: "responses to \(endpoint.method) are not cached: use a mirror")
        }
        if let failure = request.failure { throw failure }
        // A parameter of the parent record is no parameter of the endpoint: the URL names it, see
        // below.
        let variable = endpoint.forEach.map { $0.variable + "." }
        let parameters = request.parameters.filter { parameter in
            variable.map { !parameter.name.hasPrefix($0) } ?? true
        }
        endpoint.replaceParameters(by: parameters)
        var target = EndpointRequest(
            client: client, endpoint: endpoint, fingerprint: fingerprint, authScope: try await client.authScope())
        target.priority = options.priority
        if let url = request.url {
            // A URL of another server is refused, unless a link of the previous page leads there
            // and the description allows it.
            guard let wanted = try? HTTPURL(url), let base = try? HTTPURL(client.api.base),
                request.continuation != nil || wanted.hasSameOrigin(as: base)
            else {
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "\(Redaction.url(url)) does not belong to \(client.api.base)")
            }
        }
        target.parent = try request.parent.map { try target.parentRecord($0) }
        if endpoint.forEach != nil {
            if let url = request.url {
                target.parent = try target.parentRecord(ofURL: url, known: target.parent)
            } else if target.parent == nil {
                throw MirrorError.endpoint(
                    place: endpoint.place,
                    message: "the endpoint is requested for each record of an entity: name a record")
            }
        }
        let (pages, isPositioned) = try sequence(request, target)
        guard pages.request.body == nil else {
            throw MirrorError.endpoint(
                place: endpoint.place,
                message: "the pages are requested with a body, and such responses are not cached: use a mirror")
        }
        return PreparedRequest(
            target, at: pages, isPositioned: isPositioned, directives: request.directives, options: options)
    }

    /// The page sequence of a request, positioned at its page.
    ///
    /// - Returns: the sequence, and whether the position in the list is known.
    private func sequence(
        _ request: CacheRequest, _ target: EndpointRequest
    ) throws -> (PageSequence, isPositioned: Bool) {
        let endpoint = target.endpoint
        guard let url = request.url else { return (try target.pages(), true) }
        // The caller may have changed the URL or the endpoint of a request for a next page.
        if case .page(let pages)? = request.continuation, pages.url == url, pages.pagination == endpoint.pagination {
            return (pages, true)
        }
        let first = (try? target.firstPage()) ?? PageRequest(url: url)
        var bounds = target.client.bounds(of: endpoint)
        var pages = try PageSequence(endpoint.pagination, first, bounds, deep: endpoint.deep)
        guard pages.url != url else { return (pages, true) }
        // The number of records before the page is unknown, so record counts cannot be checked.
        bounds.more = .ignore
        pages = try PageSequence(endpoint.pagination, first, bounds, deep: endpoint.deep)
        try pages.resume(at: url, ordinal: 1)
        return (pages, false)
    }

    /// The request to the endpoint whose path a URL matches; nil if there is none.
    ///
    /// If several paths match, the one with the fewest variables is chosen.
    public func request(for url: String) -> CacheRequest? {
        guard let wanted = try? HTTPURL(url) else { return nil }
        var best: (endpoint: Endpoint, values: [Endpoint.Parameter])?
        for endpoint in client.description.endpoints where endpoint.method == "GET" && endpoint.body == nil {
            guard let base = try? HTTPURL(client.client(of: endpoint).api.base), wanted.hasSameOrigin(as: base),
                let values = endpoint.pathValues(of: wanted, on: base)
            else { continue }
            if best.map({ values.count < $0.values.count }) ?? true { best = (endpoint, values) }
        }
        return best.map { CacheRequest($0.endpoint.name, parameters: $0.values, url: wanted.description) }
    }
}
