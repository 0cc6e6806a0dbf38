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
    public var url: String?
    /// The record that the endpoint is walked for, if it is for each one of an entity.
    public var parent: RecordKey?
    /// Request directives of HTTP for the cache alone, such as `max-stale=60`: the server is sent what the description says.
    public var directives: String?

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

/// A request that has been looked up, encoded and hashed: what a program that asks for the same again and again keeps.
public struct PreparedRequest: Sendable {
    /// Of the API, as the store knows it.
    public let url: String
    let endpoint: Endpoint
    let parent: Walk.Parent?
    let key: RequestKey
    let digest: RequestDigest
    let request: HTTPRequest
    let directives: String?

    /// How it is named in messages: without secrets.
    var shownURL: String { Redaction.url(request.url) }
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
        let names = Set(request.parameters.map(\.name))
        endpoint.parameters = endpoint.parameters.filter { !names.contains($0.name) } + request.parameters
        let scope = try await mirror.scope()
        let pipeline = try pipelines.take(store)
        defer { pipelines.give(back: pipeline) }
        let walk = Walk(
            mirror: mirror, endpoint: endpoint, pipeline: pipeline.value, authScope: scope, fingerprint: fingerprint, progress: { _ in })
        let parent = try request.parent.map { try walk.parent($0) }
        guard endpoint.forEach == nil || parent != nil || request.url != nil else {
            throw MirrorError.endpoint(place: endpoint.place, message: "it is asked for each record of an entity: name one")
        }
        let url = try request.url ?? PageSequence(endpoint.pagination, walk.firstRequest(parent), walk.bounds).url
        // What is asked of elsewhere is not this endpoint's.
        guard let wanted = try? HTTPURL(url), let base = try? HTTPURL(description.api.base), wanted.hasSameOrigin(as: base) else {
            throw MirrorError.endpoint(place: endpoint.place, message: "\(Redaction.url(url)) is not of \(description.api.base)")
        }
        let key = RequestKey(url: url, endpoint: "\(endpoint.name) \(fingerprint)", authScope: scope)
        return PreparedRequest(
            url: url, endpoint: endpoint, parent: parent, key: key, digest: key.digest, request: mirror.request(url),
            directives: request.directives)
    }

    /// The endpoint that a URL is of: the one whose path it has, the one with the fewest variables if there are several.
    public func request(for url: String) -> CacheRequest? {
        guard let wanted = try? HTTPURL(url), let base = try? HTTPURL(mirror.description.api.base), wanted.hasSameOrigin(as: base) else { return nil }
        let root = base.path == "/" ? "" : base.path
        guard wanted.path.hasPrefix(root) else { return nil }
        let segments = wanted.path.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
        var best: (endpoint: Endpoint, values: [Endpoint.Parameter])?
        for endpoint in mirror.description.endpoints where endpoint.method == "GET" && endpoint.body == nil {
            let pattern = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
            guard pattern.count == segments.count else { continue }
            var values: [Endpoint.Parameter] = []
            let fits = zip(pattern, segments).allSatisfy { pattern, segment in
                guard pattern.hasPrefix("{"), pattern.hasSuffix("}") else { return pattern == segment }
                values.append(Endpoint.Parameter(String(pattern.dropFirst().dropLast()), segment.removingPercentEncoding ?? String(segment)))
                return !segment.isEmpty
            }
            if fits, best.map({ values.count < $0.values.count }) ?? true { best = (endpoint, values) }
        }
        return best.map { CacheRequest($0.endpoint.name, parameters: $0.values, url: wanted.description) }
    }
}

extension Walk {
    /// A stored record that the endpoint is asked for.
    func parent(_ key: RecordKey) throws -> Parent {
        guard let forEach = endpoint.forEach else {
            throw MirrorError.endpoint(place: endpoint.place, message: "it is not asked for each record of an entity")
        }
        guard let parent = try parents(forEach).first(where: { $0.key == key }) else {
            throw MirrorError.endpoint(place: endpoint.place, message: "there is no \(forEach.entity) \(key), or it lacks what the path needs")
        }
        return parent
    }
}
