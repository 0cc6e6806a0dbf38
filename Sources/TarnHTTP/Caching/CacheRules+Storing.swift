// Whether a response may be stored, and which of its fields (RFC 9111 §3). Pure.

extension CacheRules {
    /// Final statuses whose meaning for a cache is known here (RFC 9110 §15).
    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414,
        415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]

    /// Whether a response may be stored (RFC 9111 §3, §3.5, §5.2.1.5, §5.2.2).
    ///
    /// What could never answer is not stored either: `Vary: *`, and answers to other methods than GET and HEAD (RFC 9110 §9.3.3 would allow
    /// POST).
    ///
    /// - Returns: `.storable`, or the rule that forbids it.
    public func storability(of response: HTTPResponse, to request: HTTPRequest) -> CacheRule {
        guard request.method == "GET" || request.method == "HEAD" else { return .methodNotCacheable }
        guard response.status >= 200 else { return .statusNotFinal }
        if CacheControl(request.headers).noStore { return .requestNoStore }
        let control = CacheControl(response.headers)
        // §5.2.2.3: who understands the status ignores no-store beside must-understand.
        if control.mustUnderstand {
            guard CacheRules.understoodStatuses.contains(response.status) else { return .statusNotUnderstood }
        } else if control.noStore {
            return .responseNoStore
        }
        // Parts are passed through, and a 304 is no response of its own.
        if response.status == 206 || response.status == 304 || response.headers["Content-Range"] != nil { return .partialContent }
        if isShared, control.isPrivate { return .privateInShared }
        if isShared, request.headers["Authorization"] != nil,
            !control.mustRevalidate, !control.isPublic, control.sharedMaxAge == nil
        {
            return .authorized
        }
        if Variance.names(response.headers).contains("*") { return .variesByEverything }
        let isAllowed = control.isPublic || control.maxAge != nil || (isShared && control.sharedMaxAge != nil)
            || (!isShared && (control.isPrivate || !control.privateFields.isEmpty)) || response.headers["Expires"] != nil
            || CacheRules.heuristicStatuses.contains(response.status)
        return isAllowed ? .storable : .statusNotCacheable
    }

    /// The fields of a response that may be stored (RFC 9111 §3.1): not those of the connection and of proxies, and in a shared cache not
    /// those that `private` names (§5.2.2.7).
    public func storedFields(of headers: HTTPHeaders) -> HTTPHeaders {
        let control = CacheControl(headers)
        return headers.withoutConnectionFields.without(isShared ? control.privateFields : [])
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
