// The rules of HTTP caching, by name and with their sections.

/// A rule of HTTP caching that can decide about a request or a response.
package enum CacheRule: String, Sendable, Hashable, CaseIterable, Codable {
    // Selection
    case nothingStored, methodDiffers, varies, variesByEverything
    // Lifetime
    case sharedMaxAge, maxAge, expires, heuristic, noLifetime, invalidLifetime
    // Freshness
    case fresh, stale, immutable
    case requestNoCache, pragmaNoCache, responseNoCache, requestMaxAge, requestMinFresh, requestMaxStale, onlyIfCached
    case mustRevalidate, proxyRevalidate, staleWhileRevalidate, staleIfError, disconnected, errorIsPassedOn
    // Storing
    case storable, methodNotCacheable, statusNotFinal, statusNotUnderstood, statusNotCacheable, requestNoStore,
        responseNoStore, privateInShared
    case authorized, credentials, setsCookie, malformed, partialContent, incomplete
    // Validation
    case notModified, validatorDiffers, replaced, unsafeMethod, headUpdates, headDiffers
    // Conditions and ranges of the request
    case preconditionIsTheServers, rangeOfStored, rangeNotStored
    // Rules outside HTTP
    case policy

    /// The section that defines the rule.
    package var paragraph: String {
        switch self {
        case .nothingStored, .methodDiffers: "RFC 9111 §4"
        case .varies, .variesByEverything: "RFC 9111 §4.1"
        case .sharedMaxAge: "RFC 9111 §5.2.2.10"
        case .maxAge: "RFC 9111 §5.2.2.1"
        case .expires: "RFC 9111 §5.3"
        case .heuristic: "RFC 9111 §4.2.2"
        case .noLifetime, .invalidLifetime: "RFC 9111 §4.2.1"
        case .fresh: "RFC 9111 §4.2"
        case .stale, .disconnected: "RFC 9111 §4.2.4"
        case .immutable: "RFC 8246 §2"
        case .requestMaxAge: "RFC 9111 §5.2.1.1"
        case .requestMaxStale: "RFC 9111 §5.2.1.2"
        case .requestMinFresh: "RFC 9111 §5.2.1.3"
        case .requestNoCache: "RFC 9111 §5.2.1.4"
        case .requestNoStore: "RFC 9111 §5.2.1.5"
        case .onlyIfCached: "RFC 9111 §5.2.1.7"
        case .pragmaNoCache: "RFC 9111 §5.4"
        case .mustRevalidate: "RFC 9111 §5.2.2.2"
        case .statusNotUnderstood: "RFC 9111 §5.2.2.3"
        case .responseNoCache: "RFC 9111 §5.2.2.4"
        case .responseNoStore: "RFC 9111 §5.2.2.5"
        case .privateInShared: "RFC 9111 §5.2.2.7"
        case .proxyRevalidate: "RFC 9111 §5.2.2.8"
        case .staleWhileRevalidate: "RFC 5861 §3"
        case .staleIfError: "RFC 5861 §4"
        case .storable, .methodNotCacheable, .statusNotFinal, .statusNotCacheable: "RFC 9111 §3"
        case .incomplete, .partialContent: "RFC 9111 §3.3"
        case .authorized: "RFC 9111 §3.5"
        case .credentials, .setsCookie: "RFC 9111 §7.3"
        case .malformed: "RFC 9110 §5.5"
        case .notModified: "RFC 9111 §4.3.4"
        case .validatorDiffers, .replaced, .errorIsPassedOn: "RFC 9111 §4.3.3"
        case .headUpdates, .headDiffers: "RFC 9111 §4.3.5"
        case .unsafeMethod: "RFC 9111 §4.4"
        case .preconditionIsTheServers: "RFC 9111 §4.3.2"
        case .rangeOfStored, .rangeNotStored: "RFC 9110 §14.2"
        case .policy: "the caller's policy"
        }
    }

    /// The meaning of the rule, in words.
    package var meaning: String {
        switch self {
        case .nothingStored: "no stored response for this request"
        case .methodDiffers: "the stored response does not answer this method"
        case .varies: "the stored response was selected by other request header fields"
        case .variesByEverything: "Vary: * matches no request"
        case .sharedMaxAge: "the lifetime is s-maxage"
        case .maxAge: "the lifetime is max-age"
        case .expires: "the lifetime is Expires minus Date"
        case .heuristic: "no explicit lifetime: a fraction of the time since Last-Modified"
        case .noLifetime: "no explicit lifetime, and no basis for a heuristic one"
        case .invalidLifetime: "the lifetime is invalid, or given twice"
        case .fresh: "the age is below the lifetime"
        case .stale: "the age has reached the lifetime"
        case .immutable: "the response does not change while it is fresh"
        case .requestNoCache: "the request has no-cache"
        case .pragmaNoCache: "the request has Pragma: no-cache, and no Cache-Control"
        case .responseNoCache: "the response has no-cache"
        case .requestMaxAge: "older than the request's max-age"
        case .requestMinFresh: "fresh for less than the request's min-fresh"
        case .requestMaxStale: "stale within the request's max-stale"
        case .onlyIfCached: "the request has only-if-cached"
        case .mustRevalidate: "the response has must-revalidate"
        case .proxyRevalidate: "the response has proxy-revalidate or s-maxage, and this cache is shared"
        case .staleWhileRevalidate: "a stale response may be used during revalidation"
        case .staleIfError: "a stale response may be used if the server fails"
        case .disconnected: "the server is unreachable"
        case .errorIsPassedOn: "no rule allows a stale response instead of the error"
        case .storable: "the response may be stored"
        case .methodNotCacheable: "responses to this method are not stored"
        case .statusNotFinal: "the status is not final"
        case .statusNotUnderstood: "must-understand, but the status is unknown here"
        case .statusNotCacheable: "no directive allows storing it, and the status is not cacheable by default"
        case .requestNoStore: "the request has no-store"
        case .responseNoStore: "the response has no-store"
        case .privateInShared: "the response is private, and this cache is shared"
        case .authorized: "the request has Authorization, this cache is shared, and the response does not allow it"
        case .credentials:
            "the request has a credential that no rule of this shared cache covers, or a field that changes its method"
        case .setsCookie: "the response sets a cookie, this cache is shared, and the response does not allow it"
        case .malformed: "malformed header field in the response"
        case .partialContent: "a part of a representation"
        case .incomplete: "the body is incomplete"
        case .notModified: "the server confirmed that it has not changed"
        case .validatorDiffers: "the 304 is for another representation"
        case .replaced: "the server sent another response"
        case .unsafeMethod: "a later request may have changed the resource or its records"
        case .headUpdates: "a response to HEAD updates it"
        case .headDiffers: "a response to HEAD shows another representation"
        case .preconditionIsTheServers: "the request has a condition that only the server can evaluate"
        case .rangeOfStored: "a part of the stored response"
        case .rangeNotStored: "the range cannot be served from the stored response"
        case .policy: "decided by the caller"
        }
    }
}
