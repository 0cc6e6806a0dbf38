// A stored response for the rules: without a body, and with times in whole seconds.

/// A stored response and the parts of its request that caching needs.
package struct CachedResponse: Sendable, Hashable {
    /// The method of the request: `GET` or `HEAD`.
    package var method: String
    /// The status code.
    package var status: Int
    /// The header fields as stored, or as updated by a 304.
    package var headers: TransportHeaders
    /// The request's header fields that `Vary` names.
    package var selecting: TransportHeaders
    /// The time at which the request was sent, in seconds since 1970.
    package var requestTime: Int
    /// The time at which the response, or the last 304 for it, was received, in seconds since 1970.
    package var responseTime: Int
    /// Whether the response must be validated before its use (RFC 9111 §4.4).
    ///
    /// A later request may have changed the resource, or the values of its records.
    package var isInvalidated = false

    /// Creates a stored response, with times in seconds since 1970.
    package init(
        method: String = "GET", status: Int, headers: TransportHeaders,
        selecting: TransportHeaders = TransportHeaders(),
        requestTime: Int, responseTime: Int
    ) {
        self.method = method
        self.status = status
        self.headers = headers
        self.selecting = selecting
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}

extension CachedResponse {
    /// Returns the date of the response.
    ///
    /// Without a valid `Date`, it is the time of receipt (RFC 9110 §6.6.1).
    func date(now: Int) -> Int {
        dateField(now: now) ?? responseTime
    }

    private func dateField(now: Int) -> Int? { headers["Date"].flatMap { HTTPDate.seconds($0, now: now) } }

    /// Returns whether the response is more recent than another one to the same request.
    ///
    /// It is if both its `Date` (RFC 9111 §4) and the time of its request are later: either alone
    /// may be wrong. One that was requested in the future, while the clock was ahead, is not:
    /// nothing would replace it until then.
    package func isLater(than other: CachedResponse, at now: Int) -> Bool {
        guard requestTime <= now, let date = dateField(now: now), let others = other.dateField(now: now) else {
            return false
        }
        return date > others && requestTime > other.requestTime
    }

    /// The seconds by which a clock may be set back without an effect on stored responses.
    private static let clockTolerance = 60

    /// Returns the age in seconds (RFC 9111 §4.2.3).
    ///
    /// A response from the future was received before the clock was set back. Its age is unknown,
    /// and would stay so until then: it is as old as can be. If its `Date` is past, the clock was
    /// ahead, by no less than the apparent age.
    package func age(at now: Int) -> Int {
        if DeltaSeconds.difference(responseTime, now) > CachedResponse.clockTolerance, date(now: now) > now {
            return DeltaSeconds.greatest
        }
        let apparent = DeltaSeconds.difference(responseTime, date(now: now))
        let delay = DeltaSeconds.difference(responseTime, requestTime)
        let corrected = DeltaSeconds.sum(ageValue, delay)
        // A clock that was set back does not reduce the age.
        return DeltaSeconds.sum(max(apparent, corrected), DeltaSeconds.difference(now, responseTime))
    }

    /// The first member of the first `Age` field (RFC 9111 §5.1); 0 if it is not a number.
    private var ageValue: Int {
        guard let text = headers["Age"] else { return 0 }
        let first = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        return DeltaSeconds.parse(Array(first)[...].trimmingWhitespace()) ?? 0
    }
}

extension CacheRules {
    /// Returns the age and the lifetime of a stored response (RFC 9111 §4.2.1, §4.2.3).
    package func freshness(of stored: CachedResponse, at now: Int) -> Freshness {
        freshness(of: stored, CacheControl(stored.headers), at: now)
    }

    func freshness(of stored: CachedResponse, _ control: CacheControl, at now: Int) -> Freshness {
        let (lifetime, rule) = lifetime(of: stored, control, at: now)
        return Freshness(age: stored.age(at: now), lifetime: lifetime, rule: rule)
    }

    /// Returns the lifetime in seconds, and the rule that determines it (RFC 9111 §4.2.1).
    private func lifetime(of stored: CachedResponse, _ control: CacheControl, at now: Int) -> (Int, CacheRule) {
        if isShared, let seconds = control.sharedMaxAge {
            return (seconds.orZero, seconds == .invalid ? .invalidLifetime : .sharedMaxAge)
        }
        if let seconds = control.maxAge { return (seconds.orZero, seconds == .invalid ? .invalidLifetime : .maxAge) }
        let expires = stored.headers.all("Expires")
        if let first = expires.first {
            // Several different values are unreliable (§4.2.1), and an invalid date is in the past
            // (§5.3).
            guard expires.allSatisfy({ $0 == first }), let moment = HTTPDate.seconds(first, now: now) else {
                return (0, .invalidLifetime)
            }
            return (DeltaSeconds.difference(moment, stored.date(now: now)), .expires)
        }
        guard heuristicFraction > 0, CacheRules.heuristicStatuses.contains(stored.status) || control.isPublic,
            let modified = stored.headers["Last-Modified"].flatMap({ HTTPDate.seconds($0, now: now) })
        else { return (0, .noLifetime) }
        let since = DeltaSeconds.difference(stored.date(now: now), modified)
        // Compared before the conversion: the product may be infinite, or zero times infinity.
        let lifetime = Double(since) * heuristicFraction
        return (lifetime < Double(heuristicLimit) ? Int(lifetime) : heuristicLimit, .heuristic)
    }

    /// The status codes that are heuristically cacheable (RFC 9110 §15.1).
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
}
