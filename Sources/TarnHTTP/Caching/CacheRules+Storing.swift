// Storing of responses and of their header fields (RFC 9111 §3). Pure.

extension CacheRules {
    /// The final status codes that this cache understands (RFC 9110 §15).
    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409,
        410, 411, 412, 413, 414,
        415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]

    /// Returns whether a response may be stored (RFC 9111 §3, §3.5, §5.2.1.5, §5.2.2).
    ///
    /// Responses that could never be reused are not stored: those with `Vary: *`, and those to
    /// methods other than GET and HEAD; see ``storability(ofPost:to:)``.
    ///
    /// A shared cache does not store a response that sets a cookie, since it may be specific to a
    /// user (§7.3). Exceptions are `public`, `s-maxage`, and a `private` or `no-cache` limited to
    /// `Set-Cookie`.
    ///
    /// - Returns: `.storable`, or the rule that forbids storing.
    package func storability(of response: TransportResponse, to request: TransportRequest) -> CacheRule {
        storability(of: response, to: request, isPart: false)
    }

    /// Returns whether a 206 may be stored as a part of a representation (RFC 9111 §3.3).
    ///
    /// The request must ask for a range, the response must have one range, and a strong validator
    /// must identify the representation.
    ///
    /// - Parameter now: the current time in seconds since 1970.
    package func storability(ofPart response: TransportResponse, to request: TransportRequest, at now: Int) -> CacheRule
    {
        let message = CachedResponse(status: 206, headers: response.headers, requestTime: now, responseTime: now)
        guard request.method == "GET", request.headers["Range"] != nil, ContentRange(response) != nil,
            message.strongValidator(at: now) != nil,
            response.redirectedTo == nil
        else { return .partialContent }
        return storability(of: response, to: request, isPart: true)
    }

    /// Returns whether a response to POST may be stored for later GETs (RFC 9110 §9.3.3).
    ///
    /// It must be a 200 with an explicit lifetime, and its `Content-Location` must be the requested
    /// URL.
    package func storability(ofPost response: TransportResponse, to request: TransportRequest) -> CacheRule {
        let control = CacheControl(response.headers)
        guard request.method == "POST", response.status == 200, response.redirectedTo == nil,
            let target = try? HTTPURL(request.url),
            let location = response.headers["Content-Location"], let place = try? target.resolving(location),
            place.normalized == target.normalized,
            control.maxAge != nil || isShared && control.sharedMaxAge != nil || response.headers["Expires"] != nil
        else { return .methodNotCacheable }
        var get = request
        get.method = "GET"
        return storability(of: response, to: get, isPart: false)
    }

    private func storability(of response: TransportResponse, to request: TransportRequest, isPart: Bool) -> CacheRule {
        guard request.method == "GET" || request.method == "HEAD" else { return .methodNotCacheable }
        guard response.status >= 200 else { return .statusNotFinal }
        if CacheControl(request.headers).noStore { return .requestNoStore }
        let control = CacheControl(response.headers)
        // §5.2.2.3: a cache that understands the status ignores no-store beside must-understand.
        if control.mustUnderstand {
            guard isPart || CacheRules.understoodStatuses.contains(response.status) else { return .statusNotUnderstood }
        } else if control.noStore {
            return .responseNoStore
        }
        // Parts have their own rule. A 304 is not a response to store, and a 416 concerns one
        // range. Content-Range has no meaning for other statuses (RFC 9110 §14.4).
        if response.status == 206, !isPart { return .partialContent }
        if response.status == 304 || response.status == 416 { return .partialContent }
        if isShared, control.isPrivate { return .privateInShared }
        if isShared, request.headers["Authorization"] != nil, !allowsAuthorized(control) { return .authorized }
        if isShared, setsCookie(response.headers, control) { return .setsCookie }
        if Variance.names(response.headers).contains("*") { return .variesByEverything }
        let isAllowed =
            control.isPublic || control.maxAge != nil || (isShared && control.sharedMaxAge != nil)
            || (!isShared && (control.isPrivate || !control.privateFields.isEmpty))
            || response.headers["Expires"] != nil
            || CacheRules.heuristicStatuses.contains(response.status)
        return isAllowed ? .storable : .statusNotCacheable
    }

    /// Returns whether a response sets a cookie without permission to store it in a shared cache.
    private func setsCookie(_ headers: TransportHeaders, _ control: CacheControl) -> Bool {
        guard CacheRules.cookieFields.contains(where: { headers[$0] != nil }), !control.isPublic,
            control.sharedMaxAge == nil
        else { return false }
        return !(control.privateFields + control.noCacheFields).contains { TransportHeaders.same($0, "Set-Cookie") }
    }

    /// Fields that are meant only for the client of the original request.
    private static let cookieFields = ["Set-Cookie", "Set-Cookie2"]

    /// Returns whether a stored response may be used for a request under these rules.
    ///
    /// The response may have been stored under other rules. A shared cache uses no private
    /// response. For a request with `Authorization`, it uses only responses that it could have
    /// stored for such a request (§3.5).
    package func permits(_ stored: CachedResponse, for request: TransportRequest) -> Bool {
        guard isShared else { return true }
        let control = CacheControl(stored.headers)
        return !control.isPrivate && (request.headers["Authorization"] == nil || allowsAuthorized(control))
    }

    /// Returns whether what a response to a validation tells may be kept for other requests.
    ///
    /// A shared cache keeps nothing of a response to a request with `Authorization` that it could
    /// not store itself (§3.5).
    package func keeps(_ headers: TransportHeaders, to request: TransportRequest) -> Bool {
        !isShared || request.headers["Authorization"] == nil || allowsAuthorized(CacheControl(headers))
    }

    /// Returns whether a shared cache may store a response despite `Authorization` (§3.5).
    private func allowsAuthorized(_ control: CacheControl) -> Bool {
        control.mustRevalidate || control.isPublic || control.sharedMaxAge != nil
    }

    /// Returns the header fields of a response that may be stored (RFC 9111 §3.1).
    ///
    /// Fields of the connection and of proxies are removed. Cookies are removed: they are never
    /// replayed. In a shared cache, the fields that `private` names are removed (§5.2.2.7).
    ///
    /// A private cache declares a response with cookies `private`: without these, a shared cache
    /// over the same store would take it for one that concerns all users.
    package func storedFields(of headers: TransportHeaders) -> TransportHeaders {
        let control = CacheControl(headers)
        var stored = headers.withoutConnectionFields.without(
            CacheRules.cookieFields + (isShared ? control.privateFields : []))
        if !isShared, !control.isPrivate, setsCookie(headers, control) {
            stored.fields.append(.init("Cache-Control", "private"))
        }
        return stored
    }

    /// Adds the cookies of a transfer to the response to its request. They are not stored.
    package static func addCookies(of response: TransportHeaders, to answer: inout TransportHeaders) {
        answer.fields += response.fields.filter { field in
            cookieFields.contains { TransportHeaders.same($0, field.name) }
        }
    }

    /// Returns the header fields with which a stored response is served.
    ///
    /// Fields that `no-cache` names are removed unless the response was just validated (§5.2.2.4).
    /// `Age` is set (§5.1), and `Date` is added if it is missing (RFC 9110 §6.6.1).
    package func servedFields(of stored: CachedResponse, at now: Int, isValidated: Bool) -> TransportHeaders {
        let control = CacheControl(stored.headers)
        var headers = isValidated ? stored.headers : stored.headers.without(control.noCacheFields)
        // Stored by a private cache over the same store.
        if isShared { headers = headers.without(control.privateFields) }
        headers["Age"] = String(stored.age(at: now))
        if headers["Date"] == nil {
            headers["Date"] = HTTPDate.text(.init(timeIntervalSince1970: Double(stored.responseTime)))
        }
        return headers
    }
}

extension TransportHeaders {
    private static let connectionFields = [
        "Connection", "Proxy-Connection", "Keep-Alive", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
    ]

    /// The fields without those of one connection (RFC 9110 §7.6.1, RFC 9111 §3.1).
    ///
    /// `Connection` may name further ones.
    package var withoutConnectionFields: TransportHeaders {
        without(TransportHeaders.connectionFields + connectionOptions)
    }

    /// The fields that `Connection` names, in lower case.
    var connectionOptions: Set<String> {
        var names: Set<String> = []
        for value in all("Connection") {
            for name in value.utf8.split(separator: UInt8(ascii: ",")) {
                names.insert(String(decoding: name.trimmingWhitespace(), as: UTF8.self).lowercased())
            }
        }
        return names
    }

    /// Returns the fields without those with the names.
    func without(_ names: [String]) -> TransportHeaders {
        guard !names.isEmpty else { return self }
        let names = Set(names.map { $0.lowercased() })
        return TransportHeaders(fields.filter { !names.contains($0.name.lowercased()) })
    }
}
