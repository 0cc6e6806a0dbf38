// Redirects (RFC 9110 §15.4): where to, with which method, and what may go along. Pure.
//
// libcurl could follow them itself and would keep Authorization and Cookie from other hosts, but not the fields in which
// other APIs expect their keys (PRIVATE-TOKEN, X-Api-Key): it cannot know them. So what goes along is a closed list.

enum Redirect {
    /// Sent to another origin; no other field is.
    fileprivate static let harmless = [
        "Accept", "Accept-Language", "User-Agent", "If-None-Match", "If-Modified-Since",
    ]

    /// About a body that does not go along.
    private static let contentFields = ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length"]

    /// The reference of a response that is a redirect to follow, or nil.
    static func location(of response: HTTPResponse) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
        return response.headers["Location"]
    }

    /// The URL at which a redirect is followed.
    ///
    /// - Throws: `HTTPURLError` if the request does not allow redirects to that server.
    static func destination(_ target: HTTPURL, of request: HTTPRequest) throws(HTTPURLError) -> HTTPURL {
        guard let scope = request.redirects else { return target }
        if let moved = scope.moved, let url = HTTPURL.rebase(link: target.description, from: [moved.from], onto: moved.to) { return try HTTPURL(url) }
        let home = try HTTPURL(request.url)
        if target.hasSameOrigin(as: home) { return target }
        for base in scope.bases where HTTPURL.rebase(link: target.description, from: [base], onto: base) != nil { return target }
        throw HTTPURLError(
            target.description,
            "it leads from \(home.origin) to another server, \(target.origin)"
                + (scope.bases.isEmpty ? "" : "; allowed: " + scope.bases.map { Redaction.url($0) }.joined(separator: ", "))
                + ". If that is the same API, add its base URL to api.aliases; if it may be asked without credentials, to api.follow")
    }

    /// The request that follows a redirect.
    static func request(after request: HTTPRequest, status: Int, from: HTTPURL, to: HTTPURL) -> HTTPRequest {
        var next = request
        next.url = to.description
        // RFC 9110 §15.4.2 to §15.4.4: POST becomes GET by custom, anything but HEAD by 303.
        if (status == 301 || status == 302) && request.method == "POST" || status == 303 && request.method != "HEAD" {
            next.method = "GET"
            next.body = nil
            next.headers.fields.removeAll { field in contentFields.contains { HTTPHeaders.same($0, field.name) } }
        }
        if !to.hasSameOrigin(as: from) {
            next.headers = next.headers.harmless
        }
        return next
    }
}

extension HTTPHeaders {
    /// Those that may be sent to a server that is not asked in the name of anybody.
    package var harmless: HTTPHeaders {
        HTTPHeaders(fields.filter { field in Redirect.harmless.contains { HTTPHeaders.same($0, field.name) } })
    }
}
