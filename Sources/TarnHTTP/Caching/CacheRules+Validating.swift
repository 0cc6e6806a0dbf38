// Validation: what is asked, and what its answer makes of what is stored (RFC 9111 §4.3). Pure.

extension CacheRules {
    /// The request that asks whether a stored response is still right (RFC 9111 §4.3.1).
    ///
    /// Conditions of the client are taken out: they are judged by what is stored afterwards (``clientHasCurrent(_:_:status:)``).
    ///
    /// - Parameter keepsRange: whether the client's range is sent along: if what is stored is no longer right, only that part comes (RFC 9110 §13.2.2).
    public func validation(of stored: CachedResponse, for request: HTTPRequest, keepsRange: Bool = false) -> HTTPRequest {
        var conditional = request
        for name in ["If-None-Match", "If-Modified-Since"] + (keepsRange ? [] : ["If-Range", "Range"]) { conditional.headers[name] = nil }
        Validators(stored.headers).apply(to: &conditional)
        return conditional
    }

    /// What the answer to a validation means.
    public enum Validation: Sendable, Hashable {
        /// The stored response is right, with these fields from now on.
        case confirmed(HTTPHeaders)
        /// The 304 is about another representation: the server has to be asked without a condition.
        case mismatched
        /// The answer takes the place of what is stored.
        case replaced
        /// The server failed: see ``decide(_:_:at:after:explains:)``.
        case failed(status: Int)
    }

    /// RFC 9111 §4.3.3 and §4.3.4.
    public func validate(_ stored: CachedResponse, with response: HTTPResponse) -> Validation {
        if response.status >= 500 { return .failed(status: response.status) }
        guard response.status == 304 else { return .replaced }
        let old = Validators(stored.headers), new = Validators(response.headers)
        if let tag = new.etag.flatMap(EntityTag.init) {
            // Servers weaken tags under way (a coding, a proxy): opaque strings are compared, as If-None-Match does.
            guard let known = old.etag.flatMap(EntityTag.init), known.matchesWeakly(tag) else {
                return .mismatched
            }
        } else if let date = new.lastModified, old.etag == nil, let known = old.lastModified, date != known {
            return .mismatched
        }
        return .confirmed(storedFields(of: stored.headers.confirmed(byNotModified: response.headers)))
    }

    /// Brings a stored response up to date: the answer to a validation, with its times.
    public func freshened(_ stored: CachedResponse, _ headers: HTTPHeaders, requestTime: Int, responseTime: Int) -> CachedResponse {
        var fresh = stored
        fresh.headers = headers
        fresh.requestTime = requestTime
        fresh.responseTime = responseTime
        fresh.isInvalidated = false
        return fresh
    }

    /// What an answer to HEAD says of a stored answer to GET (RFC 9111 §4.3.5): its fields from now on, or nil if it is of another
    /// representation, and what is stored is no longer to be trusted.
    public func updated(_ stored: CachedResponse, byHead response: HTTPResponse) -> HTTPHeaders? {
        guard response.status == 200 else { return stored.headers }
        let old = Validators(stored.headers), new = Validators(response.headers)
        guard new.etag == nil || new.etag == old.etag, new.lastModified == nil || new.lastModified == old.lastModified else { return nil }
        if let length = response.headers["Content-Length"], let known = stored.headers["Content-Length"], length != known { return nil }
        return storedFields(of: stored.headers.confirmed(byNotModified: response.headers))
    }

    /// Whether a client that asks with a condition has what is stored already, so that 304 is the answer (RFC 9111 §4.3.2).
    public func clientHasCurrent(_ stored: CachedResponse, _ request: HTTPHeaders, at now: Int) -> Bool {
        guard stored.status == 200 || stored.status == 206 else { return false }
        if let condition = IfNoneMatch(request.all("If-None-Match")) {
            return condition.holds(stored.headers["ETag"].flatMap(EntityTag.init))
        }
        guard let since = request["If-Modified-Since"].flatMap({ HTTPDate.seconds($0, now: now) }) else { return false }
        let modified = stored.headers["Last-Modified"].flatMap { HTTPDate.seconds($0, now: now) } ?? stored.date(now: now)
        return modified <= since
    }

    /// The fields of a 304 that is made from a stored response (RFC 9110 §15.4.5).
    public static func notModifiedFields(_ headers: HTTPHeaders) -> HTTPHeaders {
        headers.without(["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Content-Language", "Content-MD5"])
    }
}

extension CacheRules {
    /// URLs of which nothing stored is right any more after a request (RFC 9111 §4.4): of one by an unsafe method that did not fail, its own
    /// and those of `Location` and `Content-Location` at the same origin.
    public static func invalidated(by request: HTTPRequest, _ response: HTTPResponse) -> [String] {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method), (200..<400).contains(response.status),
            let target = try? HTTPURL(request.url)
        else { return [] }
        var urls = [target.description]
        for name in ["Location", "Content-Location"] {
            guard let value = response.headers[name], let other = try? target.resolving(value), other.hasSameOrigin(as: target),
                !urls.contains(other.description)
            else { continue }
            urls.append(other.description)
        }
        return urls
    }
}
