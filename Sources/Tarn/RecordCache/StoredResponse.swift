// A stored response as the rules of HTTP see it, without the description of its API.

package import TarnHTTP
package import TarnStore

/// A stored response, with its freshness at one time.
package struct StoredResponse: Sendable {
    /// The number of the response in the store.
    package let id: UInt64
    /// The requested URL, with secrets masked.
    package let url: String
    /// The requested URL as stored.
    package let requestURL: String
    package let method: String
    package let status: Int
    /// The endpoint's name; `*` and more for whole responses.
    package let endpoint: String
    /// The keyed hash of the request's credentials; empty without.
    let scope: String
    /// The number of listed records; nil for a whole response.
    package let records: Int?
    /// The size in bytes: that of the body, else what the entry takes in the store.
    package let bytes: Int
    package let freshness: Freshness
    package let validators: Validators
    /// Whether a later request may have changed the resource, or the values of its records.
    package let isInvalidated: Bool
    /// The keeper of the entry: a mirror, a cache, or a list that several responses make up.
    package let keeper: Keeper
    private let response: CachedResponse

    package enum Keeper: String, Sendable {
        case cache, mirror, list
    }

    /// Creates a view of an entry, at a time in seconds since 1970.
    package init(_ id: UInt64, _ entry: ResponseEntry, at now: Int) {
        self.id = id
        var target = entry.request.url, scope = entry.request.authScope
        // In entries of whole responses the scope follows the URL.
        if entry.request.endpoint.hasPrefix("*"), let mark = target.utf8.lastIndex(of: UInt8(ascii: "#")) {
            scope = String(target[target.index(after: mark)...])
            target = String(target[..<mark])
        }
        requestURL = target
        url = Redaction.url(target)
        method = entry.request.method
        status = entry.validation.status
        endpoint = String(entry.request.endpoint.prefix { $0 != " " })
        self.scope = scope
        let bodySize = entry.caching?.bodySize
        records = bodySize == nil ? entry.listing.count : nil
        keeper = method == StoredList.method ? .list : entry.cacheCost == nil ? .mirror : .cache
        bytes = bodySize ?? entry.cacheCost ?? entry.listing.listed.reduce(400) { $0 + 2 * $1.storageKey.count + 30 }
        response = CachedResponse(entry)
        freshness = CacheRules().freshness(of: response, at: now)
        validators = Validators(response.headers)
        isInvalidated = entry.validation.isInvalidated
    }

    /// The validators as header fields; empty without any.
    package var validatorTexts: [String] {
        [validators.etag.map { "ETag \($0)" }, validators.lastModified.map { "Last-Modified \($0)" }].compactMap(\.self)
    }

    /// The state for people: `fresh for 40 s`, `stale for 3 s`, `invalidated`.
    package var state: String {
        if isInvalidated { return "invalidated" }
        return freshness.isFresh ? "fresh for \(freshness.remaining) s" : "stale for \(-freshness.remaining) s"
    }

    /// Whether a prefix is one of the URL.
    package func begins(with prefix: String) -> Bool { requestURL.utf8.starts(with: prefix.utf8) }

    /// Explains whether the response answers a request of its URL.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the request, which `Vary` and the directives concern.
    ///   - now: The time in seconds since 1970.
    package func explanation(method: String, _ headers: TransportHeaders, at now: Int) -> CacheExplanation {
        let request = TransportRequest(method: method, url: requestURL, headers: headers)
        var explanation = CacheExplanation(
            url: "\(self.method) \(url)", decision: CacheRules().decide(request, response, at: now, explains: true))
        explanation.status = status
        explanation.records = records
        explanation.validators = validators
        return explanation
    }

    /// The scope of the response, and what it means for other requests.
    package var scopeText: String {
        if scope.isEmpty { return "without credentials; it answers requests without them" }
        return endpoint.hasPrefix("*")
            ? "the cache scope \(scope.prefix(12))…; it answers requests of this scope only"
            : "the credentials with the hash \(scope.prefix(12))…; it answers requests with the same ones only"
    }

    /// The header fields of the request that `Vary` names. Values that may be secrets are hidden.
    package var varianceTexts: [String] {
        response.headers.all("Vary").map { "Vary: \($0)" }
            + response.selecting.fields.map { field in
                let isPlain = field.name.lowercased().hasPrefix("accept")
                return "its request had \(field.name)" + (isPlain ? ": \(field.value)" : " (not shown)")
            }
    }
}
