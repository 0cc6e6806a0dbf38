// Validation: conditional requests, and the effect of their responses on the stored one (RFC 9111
// §4.3). Pure.

extension CacheRules {
    /// Returns the conditional request that validates a stored response (RFC 9111 §4.3.1).
    ///
    /// Preconditions of the client are removed: ``clientHasCurrent(_:_:at:)`` evaluates them
    /// afterwards against the stored response.
    ///
    /// - Parameter keepsRange: whether the client's range is kept. If so, a changed representation
    ///   is sent only in that part (RFC 9110 §13.2.2).
    package func validation(of stored: CachedResponse, for request: TransportRequest, keepsRange: Bool = false)
        -> TransportRequest
    {
        var conditional = request
        for name in ["If-None-Match", "If-Modified-Since"] + (keepsRange ? [] : ["If-Range", "Range"]) {
            conditional.headers[name] = nil
        }
        Validators(stored.headers).apply(to: &conditional)
        return conditional
    }

    /// The result of a validation.
    package enum Validation: Sendable, Hashable {
        /// The stored response is valid and has these header fields from now on.
        case confirmed(TransportHeaders)
        /// The 304 concerns another representation: the request must be repeated unconditionally.
        case mismatched
        /// The response replaces the stored one.
        case replaced
        /// The server failed; see ``decide(_:_:at:after:)``.
        case failed(status: Int)
    }

    /// Evaluates the response to a validation (RFC 9111 §4.3.3, §4.3.4).
    package func validate(_ stored: CachedResponse, with response: TransportResponse) -> Validation {
        if response.status >= 500 { return .failed(status: response.status) }
        guard response.status == 304 else { return .replaced }
        if CacheRules.isMismatched(response.headers, with: stored.headers) { return .mismatched }
        return .confirmed(storedFields(of: stored.headers.confirmed(byNotModified: response.headers)))
    }

    /// Returns whether a 304 concerns another representation than the stored one (RFC 9111
    /// §4.3.4).
    package static func isMismatched(_ headers: TransportHeaders, with stored: TransportHeaders) -> Bool {
        let old = Validators(stored), new = Validators(headers)
        if let tag = new.etag {
            guard let known = old.etag else { return true }
            if known.utf8.elementsEqual(tag.utf8) { return false }
            // A coding or a proxy may weaken a tag: opaque strings are compared, as for
            // If-None-Match.
            guard let known = EntityTag(known), let tag = EntityTag(tag) else { return true }
            return !known.matchesWeakly(tag)
        }
        guard let date = new.lastModified, old.etag == nil, let known = old.lastModified else { return false }
        return date != known
    }

    /// Returns a stored response with the fields and the times of its validation.
    ///
    /// If the validation changes `Vary`, the fields of its request select the response from now on:
    /// those of the original request are not known (RFC 9111 §4.1).
    ///
    /// - Parameter request: the header fields of the client's request.
    package func freshened(
        _ stored: CachedResponse, _ headers: TransportHeaders, to request: TransportHeaders, requestTime: Int,
        responseTime: Int
    ) -> CachedResponse {
        var fresh = stored
        fresh.headers = headers
        if Set(Variance.names(headers)) != Set(Variance.names(stored.headers)) {
            fresh.selecting = Variance.selecting(headers, request)
        }
        fresh.requestTime = requestTime
        fresh.responseTime = responseTime
        fresh.isInvalidated = false
        return fresh
    }

    /// The effect of a response to HEAD on a stored response.
    package enum HeadUpdate: Sendable, Hashable {
        /// Nothing proves that HEAD describes the stored response, or another one.
        case none
        /// The stored response is valid and has these header fields from now on.
        case confirmed(TransportHeaders)
        /// HEAD describes another representation: the stored response must not be used any more.
        case outdated
    }

    /// Evaluates a response to HEAD (RFC 9111 §4.3.5).
    ///
    /// It confirms the stored response only by a validator, and only if it could be stored itself:
    /// what it tells one user is not for all of them.
    ///
    /// - Parameters:
    ///   - size: the size of the stored representation, in bytes.
    ///   - request: the request, with the method GET.
    package func update(
        of stored: CachedResponse, size: Int, byHead response: TransportResponse, to request: TransportRequest
    ) -> HeadUpdate {
        guard response.status == 200 else { return .none }
        let old = Validators(stored.headers), new = Validators(response.headers)
        guard new.etag == nil || new.etag == old.etag, new.lastModified == nil || new.lastModified == old.lastModified
        else { return .outdated }
        if let length = response.headers["Content-Length"] {
            let isCoded = [stored.headers, response.headers].contains { $0["Content-Encoding"] != nil }
            let known = stored.headers["Content-Length"] ?? (isCoded ? nil : String(size))
            guard known == nil || length == known else { return .outdated }
        }
        guard !new.isEmpty, storability(of: response, to: request) == .storable else { return .none }
        return .confirmed(storedFields(of: stored.headers.confirmed(byNotModified: response.headers)))
    }

    /// Returns whether the precondition of a request matches the stored response (RFC 9111 §4.3.2).
    ///
    /// If it does, the response to the request is 304.
    package func clientHasCurrent(_ stored: CachedResponse, _ request: TransportHeaders, at now: Int) -> Bool {
        guard stored.status == 200 || stored.status == 206 else { return false }
        if let condition = IfNoneMatch(request.all("If-None-Match")) {
            return condition.holds(stored.headers["ETag"].flatMap(EntityTag.init))
        }
        guard let since = request["If-Modified-Since"].flatMap({ HTTPDate.seconds($0, now: now) }) else { return false }
        let modified =
            stored.headers["Last-Modified"].flatMap { HTTPDate.seconds($0, now: now) } ?? stored.date(now: now)
        return modified <= since
    }

    /// Returns the header fields of a 304 made from a stored response (RFC 9110 §15.4.5).
    package static func notModifiedFields(_ headers: TransportHeaders) -> TransportHeaders {
        headers.without([
            "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Content-Language", "Content-MD5",
        ])
    }
}

extension CacheRules {
    /// Returns the URLs whose stored responses a request invalidates (RFC 9111 §4.4).
    ///
    /// A successful request with an unsafe method invalidates its own URL, and those of `Location`
    /// and `Content-Location` at the same origin.
    package static func invalidated(by request: TransportRequest, _ response: TransportResponse) -> [String] {
        guard !RetryPolicy.safe.contains(request.method), (200..<400).contains(response.status),
            let target = try? HTTPURL(request.url)
        else { return [] }
        var urls = [target.description]
        for name in ["Location", "Content-Location"] {
            guard let value = response.headers[name], let other = try? target.resolving(value),
                other.hasSameOrigin(as: target),
                !urls.contains(other.description)
            else { continue }
            urls.append(other.description)
        }
        return urls
    }
}
