// Whether a response may be stored, and which of its fields (RFC 9111 §3). Pure.

extension CacheRules {
    /// Final statuses whose meaning for a cache is known here (RFC 9110 §15).
    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414,
        415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]

    /// Whether a response may be stored (RFC 9111 §3, §3.5, §5.2.1.5, §5.2.2).
    ///
    /// What could never answer is not stored either: `Vary: *`, and answers to other methods than GET and HEAD; see
    /// ``storability(ofPost:to:)``. A shared cache does not store an answer that sets a cookie unless the answer is declared `public`, has `s-maxage`, or
    /// excepts `Set-Cookie` by name: it may be about that cookie's user (§7.3).
    ///
    /// - Returns: `.storable`, or the rule that forbids it.
    public func storability(of response: HTTPResponse, to request: HTTPRequest) -> CacheRule {
        storability(of: response, to: request, isPart: false)
    }

    /// Whether a 206 may be stored as a part of a representation (RFC 9111 §3.3): if the request wanted a part, one range has come, and a strong
    /// validator tells what it is a part of.
    ///
    /// - Parameter now: seconds since 1970.
    public func storability(ofPart response: HTTPResponse, to request: HTTPRequest, at now: Int) -> CacheRule {
        let message = CachedResponse(status: 206, headers: response.headers, requestTime: now, responseTime: now)
        guard request.method == "GET", request.headers["Range"] != nil, ContentRange(response) != nil, message.strongValidator(at: now) != nil,
            response.redirectedTo == nil
        else { return .partialContent }
        return storability(of: response, to: request, isPart: true)
    }

    /// Whether an answer to POST may be stored for later GETs (RFC 9110 §9.3.3): a 200 that declares its lifetime, and that it is what its own URL has.
    public func storability(ofPost response: HTTPResponse, to request: HTTPRequest) -> CacheRule {
        let control = CacheControl(response.headers)
        guard request.method == "POST", response.status == 200, response.redirectedTo == nil, let target = try? HTTPURL(request.url),
            let location = response.headers["Content-Location"], let place = try? target.resolving(location), place.normalized == target.normalized,
            control.maxAge != nil || isShared && control.sharedMaxAge != nil || response.headers["Expires"] != nil
        else { return .methodNotCacheable }
        var get = request
        get.method = "GET"
        return storability(of: response, to: get, isPart: false)
    }

    private func storability(of response: HTTPResponse, to request: HTTPRequest, isPart: Bool) -> CacheRule {
        guard request.method == "GET" || request.method == "HEAD" else { return .methodNotCacheable }
        guard response.status >= 200 else { return .statusNotFinal }
        if CacheControl(request.headers).noStore { return .requestNoStore }
        let control = CacheControl(response.headers)
        // §5.2.2.3: who understands the status ignores no-store beside must-understand.
        if control.mustUnderstand {
            guard isPart || CacheRules.understoodStatuses.contains(response.status) else { return .statusNotUnderstood }
        } else if control.noStore {
            return .responseNoStore
        }
        // Parts are stored as parts. A 304 is no response of its own, and a 416 is about one range. For other statuses Content-Range means nothing
        // (RFC 9110 §14.4).
        if response.status == 206, !isPart { return .partialContent }
        if response.status == 304 || response.status == 416 { return .partialContent }
        if isShared, control.isPrivate { return .privateInShared }
        if isShared, request.headers["Authorization"] != nil, !allowsAuthorized(control) { return .authorized }
        if isShared, setsCookie(response.headers, control) { return .setsCookie }
        if Variance.names(response.headers).contains("*") { return .variesByEverything }
        let isAllowed = control.isPublic || control.maxAge != nil || (isShared && control.sharedMaxAge != nil)
            || (!isShared && (control.isPrivate || !control.privateFields.isEmpty)) || response.headers["Expires"] != nil
            || CacheRules.heuristicStatuses.contains(response.status)
        return isAllowed ? .storable : .statusNotCacheable
    }

    private func setsCookie(_ headers: HTTPHeaders, _ control: CacheControl) -> Bool {
        guard CacheRules.cookieFields.contains(where: { headers[$0] != nil }), !control.isPublic, control.sharedMaxAge == nil else { return false }
        return !(control.privateFields + control.noCacheFields).contains { HTTPHeaders.same($0, "Set-Cookie") }
    }

    /// Fields that are for the client that has asked, and for no later one.
    private static let cookieFields = ["Set-Cookie", "Set-Cookie2"]

    /// Whether a stored response may answer a request under these rules, whoever has stored it: in a shared cache, nothing that is private, and for
    /// a request with `Authorization` only what would have been stored for it (§3.5).
    public func permits(_ stored: CachedResponse, for request: HTTPRequest) -> Bool {
        guard isShared else { return true }
        let control = CacheControl(stored.headers)
        return !control.isPrivate && (request.headers["Authorization"] == nil || allowsAuthorized(control))
    }

    private func allowsAuthorized(_ control: CacheControl) -> Bool { control.mustRevalidate || control.isPublic || control.sharedMaxAge != nil }

    /// The fields of a response that may be stored (RFC 9111 §3.1): not those of the connection and of proxies, not cookies, which are never
    /// replayed, and in a shared cache not those that `private` names (§5.2.2.7).
    public func storedFields(of headers: HTTPHeaders) -> HTTPHeaders {
        let control = CacheControl(headers)
        return headers.withoutConnectionFields.without(CacheRules.cookieFields + (isShared ? control.privateFields : []))
    }

    /// Gives the answer to one request the cookies that came with its transfer; they are not stored.
    public static func addCookies(of response: HTTPHeaders, to answer: inout HTTPHeaders) {
        answer.fields += response.fields.filter { field in cookieFields.contains { HTTPHeaders.same($0, field.name) } }
    }

    /// The fields that a stored response is served with: without those that `no-cache` names, if it was not validated just now (§5.2.2.4),
    /// with its age (§5.1), and with a date if it had none (RFC 9110 §6.6.1).
    public func servedFields(of stored: CachedResponse, at now: Int, isValidated: Bool) -> HTTPHeaders {
        let control = CacheControl(stored.headers)
        var headers = isValidated ? stored.headers : stored.headers.without(control.noCacheFields)
        headers["Age"] = String(stored.age(at: now))
        if headers["Date"] == nil { headers["Date"] = HTTPDate.text(.init(timeIntervalSince1970: Double(stored.responseTime))) }
        return headers
    }
}

extension HTTPHeaders {
    private static let connectionFields = [
        "Connection", "Proxy-Connection", "Keep-Alive", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
    ]

    /// Without the fields that are about one connection, and those that `Connection` names (RFC 9110 §7.6.1, RFC 9111 §3.1).
    public var withoutConnectionFields: HTTPHeaders {
        let named = all("Connection").flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0.trimmingWhitespace(), as: UTF8.self) }
        }
        return without(HTTPHeaders.connectionFields + named)
    }

    func without(_ names: [String]) -> HTTPHeaders {
        names.isEmpty ? self : HTTPHeaders(fields.filter { field in !names.contains { HTTPHeaders.same($0, field.name) } })
    }
}
