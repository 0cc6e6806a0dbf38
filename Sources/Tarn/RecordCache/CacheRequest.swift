// What is asked of a cache: an endpoint and what is different about it, or a URL of one.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// A request that a cache can answer with records.
public struct CacheRequest: Sendable, Hashable {
    /// The name of an endpoint of the description.
    public var endpoint: String
    /// In the place of the endpoint's own values of these names; others are added.
    public var parameters: [Endpoint.Parameter]
    /// A page of the endpoint, such as the one that an answer names as the next; nil for the first.
    /// Empty if the next page cannot be asked for: see ``failure``.
    public var url: String?
    /// The record that the endpoint is walked for, if it is for each one of an entity.
    public var parent: RecordKey?
    /// Request directives of HTTP for the cache alone, such as `max-stale=60`: the server is sent what the description says.
    public var directives: String?
    /// Set by ``CachedAnswer/next``: how the list was walked up to here.
    var continuation: Continuation?

    /// What is known of a page from the one before it.
    enum Continuation: Sendable, Hashable {
        case page(PageSequence)
        case failure(PaginationError, place: String)
    }

    /// Why the page cannot be asked for, if it is the next one of a list that cannot go on: its
    /// link leads to another server or in a circle, or a limit is reached. To fetch it throws this
    /// error. Nil for all other requests.
    public var failure: MirrorError? {
        if case .failure(let error, let place)? = continuation { .pagination(error, place: place) } else { nil }
    }

    /// A request to an endpoint, with its first page if no URL is named.
    public init(
        _ endpoint: String, parameters: [Endpoint.Parameter] = [], url: String? = nil, parent: RecordKey? = nil, directives: String? = nil
    ) {
        self.directives = directives
        self.endpoint = endpoint
        self.parameters = parameters
        self.url = url
        self.parent = parent
    }
}

extension RecordCache {
    /// Looks up a request. Cheap, but not free: a program that asks often keeps the result.
    ///
    /// - Throws: `CacheError`: there is no such endpoint, a parameter has no value, a credential is missing.
    public func prepare(_ request: CacheRequest) async throws(CacheError) -> PreparedRequest {
        do {
            return try await prepared(request)
        } catch {
            throw CacheError(error, url: request.url ?? "", place: mirror.description.file)
        }
    }

    private func prepared(_ request: CacheRequest) async throws -> PreparedRequest {
        let description = mirror.description
        guard var endpoint = description.endpoints.first(where: { $0.name == request.endpoint }), let fingerprint = fingerprints[endpoint.name] else {
            throw MirrorError.endpoint(
                place: description.file, message: Spelling.unknown("endpoint", request.endpoint, among: description.endpoints.map(\.name)))
        }
        guard endpoint.method == "GET", endpoint.body == nil else {
            throw MirrorError.endpoint(place: endpoint.place, message: "answers to \(endpoint.method) are not cached: use a mirror")
        }
        if let failure = request.failure { throw failure }
        // What a URL says of the record that it is asked for is no parameter of its own: see below.
        let variable = endpoint.forEach.map { $0.variable + "." }
        let parameters = request.parameters.filter { parameter in
            variable.map { !parameter.name.hasPrefix($0) } ?? true
        }
        let names = Set(parameters.map(\.name))
        endpoint.parameters = endpoint.parameters.filter { !names.contains($0.name) } + parameters
        let scope = try await mirror.scope()
        let pipeline = try pipelines.take(store)
        defer { pipelines.give(back: pipeline) }
        let walk = Walk(
            mirror: mirror, endpoint: endpoint, pipeline: pipeline.value, authScope: scope, fingerprint: fingerprint, progress: { _ in })
        if let url = request.url {
            // Another server is not this endpoint's, unless the page before leads there and the
            // description allows it.
            guard let wanted = try? HTTPURL(url), let base = try? HTTPURL(description.api.base),
                request.continuation != nil || wanted.hasSameOrigin(as: base)
            else {
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "\(Redaction.url(url)) is not of \(description.api.base)")
            }
        }
        var parent = try request.parent.map { try walk.parent($0) }
        if endpoint.forEach != nil {
            if let url = request.url {
                parent = try walk.parent(ofURL: url, known: parent)
            } else if parent == nil {
                throw MirrorError.endpoint(
                    place: endpoint.place, message: "it is asked for each record of an entity: name one")
            }
        }
        let (pages, isPositioned) = try sequence(request, walk, parent)
        guard pages.request.body == nil else {
            throw MirrorError.endpoint(
                place: endpoint.place,
                message: "its pages are asked for with a body, and such answers are not cached: use a mirror")
        }
        let key = RequestKey(url: pages.url, endpoint: "\(endpoint.name) \(fingerprint)", authScope: scope)
        return PreparedRequest(
            endpoint, parent, key, mirror.request(pages.url), directives: request.directives, pages,
            isPositioned: isPositioned)
    }

    /// The list that a request is a page of, at that page; and whether it is known where in the
    /// list that is.
    private func sequence(
        _ request: CacheRequest, _ walk: Walk, _ parent: Walk.Parent?
    ) throws -> (PageSequence, isPositioned: Bool) {
        let endpoint = walk.endpoint
        guard let url = request.url else {
            return (
                try PageSequence(endpoint.pagination, walk.firstRequest(parent), walk.bounds, deep: endpoint.deep), true
            )
        }
        // A caller may have changed a request that was the next one.
        if case .page(let pages)? = request.continuation, pages.url == url, pages.pagination == endpoint.pagination {
            return (pages, true)
        }
        let first = (try? walk.firstRequest(parent)) ?? PageRequest(url: url)
        var pages = try PageSequence(endpoint.pagination, first, walk.bounds, deep: endpoint.deep)
        guard pages.url != url else { return (pages, true) }
        // What the pages before it list is not known, and counts say nothing about a page alone.
        var bounds = walk.bounds
        bounds.more = .ignore
        pages = try PageSequence(endpoint.pagination, first, bounds, deep: endpoint.deep)
        try pages.resume(at: url, ordinal: 1)
        return (pages, false)
    }

    /// The endpoint that a URL is of: the one whose path it has, the one with the fewest variables if there are several.
    public func request(for url: String) -> CacheRequest? {
        guard let wanted = try? HTTPURL(url), let base = try? HTTPURL(mirror.description.api.base), wanted.hasSameOrigin(as: base) else { return nil }
        var best: (endpoint: Endpoint, values: [Endpoint.Parameter])?
        for endpoint in mirror.description.endpoints where endpoint.method == "GET" && endpoint.body == nil {
            guard let values = endpoint.pathValues(of: wanted, on: base) else { continue }
            if best.map({ values.count < $0.values.count }) ?? true { best = (endpoint, values) }
        }
        return best.map { CacheRequest($0.endpoint.name, parameters: $0.values, url: wanted.description) }
    }
}
