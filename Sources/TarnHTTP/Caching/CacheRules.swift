// RFC 9111 as functions of a request, a stored response and the time. Pure.

/// The configured rules of HTTP caching.
///
/// All functions are pure: the stored response and the time are parameters.
public struct CacheRules: Sendable, Hashable {
    /// Whether the cache is shared between users, as in a proxy (RFC 9111 §1).
    ///
    /// Otherwise it is private.
    public var isShared: Bool
    /// The fraction of the time since `Last-Modified` that is the heuristic lifetime; 0 for none.
    ///
    /// RFC 9111 §4.2.2 permits a heuristic lifetime for responses without an explicit one.
    package var heuristicFraction: Double
    /// The maximum heuristic lifetime in seconds.
    package var heuristicLimit: Int
    /// Whether a stale response is used while the server cannot be reached (RFC 9111 §4.2.4).
    ///
    /// Directives of the response can forbid it.
    package var answersWhenDisconnected: Bool

    /// Creates rules; by default those of a private cache.
    public init(
        isShared: Bool = false, heuristicFraction: Double = 0.1, heuristicLimit: Int = 86_400,
        answersWhenDisconnected: Bool = true
    ) {
        self.isShared = isShared
        self.heuristicFraction = heuristicFraction
        self.heuristicLimit = heuristicLimit
        self.answersWhenDisconnected = answersWhenDisconnected
    }
}

extension CacheRules {
    /// Decides about a request (RFC 9111 §4).
    ///
    /// - Parameters:
    ///   - stored: the stored response that ``select(_:for:at:)`` found; nil for none.
    ///   - now: the current time in seconds since 1970.
    ///   - explains: whether ``CacheDecision/steps`` are recorded.
    package func decide(
        _ request: TransportRequest, _ stored: CachedResponse?, at now: Int, explains: Bool = false
    ) -> CacheDecision {
        let wants = CacheControl(request.headers)
        var decision = decide(request, wants, stored, at: now, explains)
        // §5.2.1.7: a request that must not be forwarded gets a 504.
        if wants.onlyIfCached, !decision.isHit {
            decision.outcome = .unanswerable
            decision.rule = .onlyIfCached
            if explains { decision.steps.append(.init(.onlyIfCached)) }
        }
        return decision
    }

    private func decide(
        _ request: TransportRequest, _ wants: CacheControl, _ stored: CachedResponse?, at now: Int, _ explains: Bool
    ) -> CacheDecision {
        var steps: [CacheDecision.Step] = []
        func note(_ rule: CacheRule, _ detail: @autoclosure () -> String = "") {
            if explains { steps.append(.init(rule, detail())) }
        }
        func end(
            _ outcome: CacheDecision.Outcome, _ rule: CacheRule, _ freshness: Freshness? = nil,
            _ detail: @autoclosure () -> String = ""
        ) -> CacheDecision {
            note(rule, detail())
            return CacheDecision(outcome, rule, freshness: freshness, steps: steps)
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return end(.miss, .methodNotCacheable, nil, request.method)
        }
        if let condition = CacheRules.serversPrecondition(request.headers) {
            return end(.miss, .preconditionIsTheServers, nil, condition)
        }
        guard let stored else { return end(.miss, .nothingStored) }
        // A response to HEAD has no body.
        guard stored.method == "GET" || request.method == stored.method else { return end(.miss, .methodDiffers) }
        if let mismatch = Variance(stored).mismatch(request.headers) { return end(.miss, mismatch) }
        let control = CacheControl(stored.headers), fresh = freshness(of: stored, control, at: now)
        if stored.isInvalidated { return end(.revalidate, .unsafeMethod, fresh) }
        note(fresh.rule, "\(fresh.lifetime) s")
        if wants.noCache { return end(.revalidate, .requestNoCache, fresh) }
        if wants.isEmpty, CacheRules.saysPragmaNoCache(request.headers) {
            return end(.revalidate, .pragmaNoCache, fresh)
        }
        if control.noCache { return end(.revalidate, .responseNoCache, fresh) }
        if let limit = wants.maxAge, fresh.age > limit.orZero {
            // RFC 8246 §2: a reload does not revalidate an immutable response.
            if control.immutable, fresh.isFresh, limit == .seconds(0) {
                note(.immutable)
            } else {
                return end(.revalidate, .requestMaxAge, fresh, "age \(fresh.age) s, max-age=\(limit.orZero)")
            }
        }
        if let least = wants.minFresh?.orNil, fresh.remaining < least,
            staleAccepted(wants, control, fresh) == false || fresh.isFresh
        {
            return end(.revalidate, .requestMinFresh, fresh, "fresh for \(fresh.remaining) s, min-fresh=\(least)")
        }
        if fresh.isFresh { return end(.fresh, .fresh, fresh, "age \(fresh.age) s of \(fresh.lifetime) s") }
        note(.stale, "age \(fresh.age) s of \(fresh.lifetime) s")
        if let rule = forbidsStale(control) { return end(.revalidate, rule, fresh) }
        if staleAccepted(wants, control, fresh) { return end(.stale(revalidates: false), .requestMaxStale, fresh) }
        if let window = control.staleWhileRevalidate?.orNil, -fresh.remaining < window {
            return end(
                .stale(revalidates: true), .staleWhileRevalidate, fresh,
                "stale for \(-fresh.remaining) s of \(window) s")
        }
        return CacheDecision(.revalidate, .stale, freshness: fresh, steps: steps)
    }

    /// Returns whether a request accepts the staleness of a response (§5.2.1.2).
    private func staleAccepted(_ wants: CacheControl, _ control: CacheControl, _ fresh: Freshness) -> Bool {
        guard let limit = wants.maxStale?.orNil, forbidsStale(control) == nil else { return false }
        return limit == DeltaSeconds.greatest || -fresh.remaining <= limit
    }

    /// Returns the rule that forbids any use of a stale response, or nil (§4.2.4).
    func forbidsStale(_ control: CacheControl) -> CacheRule? {
        if control.mustRevalidate { return .mustRevalidate }
        // §5.2.2.10: s-maxage implies proxy-revalidate.
        if isShared, control.proxyRevalidate || control.sharedMaxAge != nil { return .proxyRevalidate }
        if control.noCache { return .responseNoCache }
        return nil
    }

    /// The failure of a forwarded request.
    package enum Failure: Sendable, Hashable {
        /// The server was not reached.
        case disconnected
        /// The server responded with this status; nil if the response was incomplete.
        case error(status: Int?)
    }

    /// Decides about a request after a failure (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).
    package func decide(
        _ request: TransportRequest, _ stored: CachedResponse?, at now: Int, after failure: Failure
    ) -> CacheDecision {
        guard let stored else { return CacheDecision(.unanswerable, .nothingStored) }
        let wants = CacheControl(request.headers), control = CacheControl(stored.headers)
        let fresh = freshness(of: stored, control, at: now)
        func end(_ outcome: CacheDecision.Outcome, _ rule: CacheRule) -> CacheDecision {
            CacheDecision(outcome, rule, freshness: fresh)
        }
        if stored.isInvalidated { return end(.unanswerable, .unsafeMethod) }
        if let rule = forbidsStale(control) { return end(.unanswerable, rule) }
        // A request with no-cache, or with a lower max-age, accepts no stored response (§5.2.1.1,
        // §5.2.1.4).
        if wants.noCache || (wants.isEmpty && CacheRules.saysPragmaNoCache(request.headers)) {
            return end(.unanswerable, .requestNoCache)
        }
        if let limit = wants.maxAge, fresh.age > limit.orZero, wants.maxStale == nil {
            return end(.unanswerable, .requestMaxAge)
        }
        if case .error(let status?) = failure, ![500, 502, 503, 504].contains(status) {
            return end(.unanswerable, .errorIsPassedOn)
        }
        // A fresh response needs no permission.
        if fresh.isFresh { return end(.fresh, .fresh) }
        let window = wants.staleIfError?.orNil ?? control.staleIfError?.orNil
        if let window, -fresh.remaining < window { return end(.stale(revalidates: false), .staleIfError) }
        if case .disconnected = failure {
            // stale-if-error limits the staleness: beyond it the response is not used.
            if window == nil, answersWhenDisconnected { return end(.stale(revalidates: false), .disconnected) }
            return end(.unanswerable, .disconnected)
        }
        return end(.unanswerable, .errorIsPassedOn)
    }

    /// Returns whether `Pragma` has `no-cache`, for HTTP/1.0 clients (§5.4).
    static func saysPragmaNoCache(_ headers: TransportHeaders) -> Bool {
        headers.all("Pragma").contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains {
                TransportHeaders.same(String(decoding: $0.trimmingWhitespace(), as: UTF8.self), "no-cache")
            }
        }
    }

    /// Returns the precondition that only the server can evaluate, or nil (RFC 9111 §4.3.2).
    static func serversPrecondition(_ headers: TransportHeaders) -> String? {
        ["If-Match", "If-Unmodified-Since"].first { headers[$0] != nil }
    }
}
