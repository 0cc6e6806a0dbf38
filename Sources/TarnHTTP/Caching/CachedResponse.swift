// A stored response as the rules see it: no body, and times as whole seconds.

/// What is stored of a response, and of the request that it answered.
public struct CachedResponse: Sendable, Hashable {
    /// Of the request: `GET` or `HEAD`.
    public var method: String
    /// The status code.
    public var status: Int
    /// The header fields, as they were stored or brought up to date by a 304.
    public var headers: HTTPHeaders
    /// The request's fields that `Vary` names.
    public var selecting: HTTPHeaders
    /// When the request was sent, in seconds since 1970.
    public var requestTime: Int
    /// When the answer, or the 304 that confirmed it last, was received.
    public var responseTime: Int
    /// Whether it has to be validated before it may answer: an unsafe method may have changed the resource (RFC 9111 §4.4).
    public var isInvalidated: Bool

    /// What is stored, with its times in seconds since 1970.
    public init(
        method: String = "GET", status: Int, headers: HTTPHeaders, selecting: HTTPHeaders = HTTPHeaders(), requestTime: Int, responseTime: Int,
        isInvalidated: Bool = false
    ) {
        self.isInvalidated = isInvalidated
        self.method = method
        self.status = status
        self.headers = headers
        self.selecting = selecting
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}

extension CachedResponse {
    /// The date of the response; where it says none that can be read, when it was received (RFC 9110 §6.6.1).
    func date(now: Int) -> Int {
        headers["Date"].flatMap { HTTPDate.seconds($0, now: now) } ?? responseTime
    }

    /// RFC 9111 §4.2.3.
    public func age(at now: Int) -> Int {
        let apparent = DeltaSeconds.difference(responseTime, date(now: now))
        let delay = DeltaSeconds.difference(responseTime, requestTime)
        let corrected = DeltaSeconds.sum(ageValue, delay)
        // A clock that was set back makes nothing younger.
        return DeltaSeconds.sum(max(apparent, corrected), DeltaSeconds.difference(now, responseTime))
    }

    /// The first member of the first `Age` (RFC 9111 §5.1); what is no number is not there.
    private var ageValue: Int {
        guard let text = headers["Age"] else { return 0 }
        let first = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        return DeltaSeconds.parse(Array(first)[...].trimmingWhitespace()) ?? 0
    }
}

extension CacheRules {
    /// Age and lifetime of a stored response (RFC 9111 §4.2.1, §4.2.3).
    public func freshness(of stored: CachedResponse, at now: Int) -> Freshness {
        freshness(of: stored, CacheControl(stored.headers), at: now)
    }

    func freshness(of stored: CachedResponse, _ control: CacheControl, at now: Int) -> Freshness {
        let (lifetime, rule) = lifetime(of: stored, control, at: now)
        return Freshness(age: stored.age(at: now), lifetime: lifetime, rule: rule)
    }

    private func lifetime(of stored: CachedResponse, _ control: CacheControl, at now: Int) -> (Int, CacheRule) {
        if isShared, let seconds = control.sharedMaxAge { return (seconds.orZero, seconds == .invalid ? .invalidLifetime : .sharedMaxAge) }
        if let seconds = control.maxAge { return (seconds.orZero, seconds == .invalid ? .invalidLifetime : .maxAge) }
        let expires = stored.headers.all("Expires")
        if let first = expires.first {
            // Of several different ones none can be trusted (§4.2.1), and what is no date lies in the past (§5.3).
            guard expires.allSatisfy({ $0 == first }), let moment = HTTPDate.seconds(first, now: now) else { return (0, .invalidLifetime) }
            return (DeltaSeconds.difference(moment, stored.date(now: now)), .expires)
        }
        guard heuristicFraction > 0, CacheRules.heuristicStatuses.contains(stored.status) || control.isPublic,
            let modified = stored.headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) })
        else { return (0, .noLifetime) }
        let since = DeltaSeconds.difference(stored.date(now: now), modified)
        return (min(Int(Double(since) * heuristicFraction), heuristicLimit), .heuristic)
    }

    /// Statuses that may be stored, and given a lifetime by guess, without a word about it (RFC 9110 §15.1).
    public static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
}
