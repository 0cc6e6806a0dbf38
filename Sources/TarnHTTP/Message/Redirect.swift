// Redirects (RFC 9110 §15.4): the destination, the method and the permitted header fields. Pure.
//
// libcurl could follow redirects and would keep Authorization and Cookie from other hosts. It
// cannot know the fields in which other APIs expect their keys (PRIVATE-TOKEN, X-Api-Key). The
// fields for other origins are therefore a closed list.

/// The rules of redirects.
enum Redirect {
    /// The only header fields that are sent to another origin.
    fileprivate static let harmless = [
        "Accept", "Accept-Language", "User-Agent", "If-None-Match", "If-Modified-Since",
    ]

    /// The header fields of a body, which are removed with it.
    private static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length",
    ]

    /// Returns the `Location` of a response that redirects a request, or nil.
    static func location(of response: TransportResponse, to request: TransportRequest) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
        if request.returnsRedirects || response.status == 303 && request.returnsSeeOther { return nil }
        return response.headers["Location"]
    }

    /// Returns the reason why a redirect of a request is not followed, or nil.
    ///
    /// RFC 9110 §15.4.2 and §15.4.3 allow a client to repeat a POST as a GET after 301 and 302. The
    /// server has not performed the POST then, and the answer to the GET looks as if it had. Other
    /// changes would be repeated as they are: some servers lead from a deleted record to its list,
    /// which must not be deleted.
    static func problem(following status: Int, of request: TransportRequest, to location: String) -> String? {
        guard status == 301 || status == 302 else { return nil }
        let shown = Redaction.shown(location)
        switch request.method {
        case "POST":
            return
                "the server redirects a POST with \(status) to \(shown), where it would be repeated as a GET. If the "
                + "address has changed, name the new one; a login page asks for other credentials"
        case "DELETE", "PATCH", "PUT":
            guard !isSameResource(request, location) else { return nil }
            return
                "the server redirects a \(request.method) with \(status) to \(shown), another resource, where it is not "
                + "repeated: the server may have carried it out, or have moved the resource, or want other credentials"
        default: return nil
        }
    }

    /// Whether a redirect leads to the resource of a request at another address.
    private static func isSameResource(_ request: TransportRequest, _ location: String) -> Bool {
        guard var url = try? HTTPURL(request.url), var target = try? url.resolving(location) else { return false }
        if let secret = request.redirects?.secretParameter {
            (url, target) = (url.removing(parameter: secret), target.removing(parameter: secret))
        }
        // The query may name the resource: without it, the path is that of a list.
        guard let query = url.query else { return url.hasSameName(as: target) }
        return url.hasSameName(as: target)
            && target.query.map { PercentEncoding.decode($0) == PercentEncoding.decode(query) } ?? false
    }

    /// Returns the URL at which a redirect is followed.
    static func destination(_ target: HTTPURL, of request: TransportRequest) throws(HTTPURLError) -> HTTPURL {
        guard let scope = request.redirects else { return target }
        if let moved = scope.moved,
            let url = HTTPURL.rebase(link: target.description, from: [moved.from], onto: moved.to)
        {
            return try HTTPURL(url)
        }
        let home = try HTTPURL(request.url)
        if target.hasSameOrigin(as: home) { return target }
        for base in scope.bases where HTTPURL.rebase(link: target.description, from: [base], onto: base) != nil {
            // The server may repeat the key of the request.
            return scope.secretParameter.map { target.removing(parameter: $0) } ?? target
        }
        if let wayOut = scope.wayOut {
            throw HTTPURLError(
                target.description, "leads from \(home.origin) to another server, \(target.origin); \(wayOut)")
        }
        guard request.body == nil else {
            throw HTTPURLError(
                target.description,
                "leads from \(home.origin) to another server, \(target.origin), and the request has a body, which is "
                    + "not sent there. If it is the same API, make it the base URL: `base`, or `write.base` of the entity"
            )
        }
        throw HTTPURLError(
            target.description,
            "leads from \(home.origin) to another server, \(target.origin)"
                + (scope.bases.isEmpty
                    ? "" : "; allowed: " + scope.bases.map { Redaction.url($0) }.joined(separator: ", "))
                + ". If it is the same API, add its base URL to \(scope.section).aliases; if it needs no credentials, to \(scope.section).follow"
        )
    }

    /// Returns the request that follows a redirect.
    static func request(after request: TransportRequest, status: Int, from: HTTPURL, to: HTTPURL) -> TransportRequest {
        var next = request
        next.url = to.description
        // RFC 9110 §15.4.4: after 303, every method except HEAD becomes GET.
        if status == 303 && request.method != "HEAD" {
            next.method = "GET"
            next.body = nil
            next.headers.fields.removeAll { field in contentFields.contains { TransportHeaders.same($0, field.name) } }
        }
        if !to.hasSameOrigin(as: from) {
            next.headers = next.headers.harmless
        }
        return next
    }
}

extension TransportHeaders {
    /// The fields that may be sent to a server without credentials.
    package var harmless: TransportHeaders {
        TransportHeaders(
            fields.filter { field in Redirect.harmless.contains { TransportHeaders.same($0, field.name) } })
    }
}
