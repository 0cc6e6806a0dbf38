// The addresses of an API: its base URL, the URL that replaces it, and the servers of links.

import TarnHTTP

extension APIClient {
    /// The servers that redirects may lead to: the same ones as for links.
    var redirects: RedirectScope {
        var scope = RedirectScope(
            bases: [api.base] + api.aliases + api.follows,
            moved: base.map { RedirectScope.Moved(from: api.base, to: $0) },
            secretParameter: api.authentication.queryParameter)
        scope.section = section
        return scope
    }

    /// The section of the description that declares the API.
    var section: String { apiName.map { "apis.\($0)" } ?? "api" }

    /// The scope of links in an endpoint's pages, and the limits of its scan.
    func bounds(of endpoint: Endpoint) -> PageSequence.Bounds {
        var bounds = PageSequence.Bounds(
            base: api.base, aliases: api.aliases + [base].compactMap(\.self), follows: api.follows,
            pageLimit: endpoint.limits.pages ?? options.pageLimit)
        bounds.recordLimit = endpoint.limits.records
        bounds.partLimit = endpoint.limits.part
        bounds.stopsAtLimit = endpoint.limits.stopsQuietly
        bounds.secretParameter = api.authentication.queryParameter
        bounds.more = endpoint.more
        // The token of the next changes names no page.
        if let path = endpoint.incremental?.path, PageEvidence.isPosition(path) {
            switch bounds.more {
            case .fail: bounds.more = .ignoring([path])
            case .ignoring(let names): bounds.more = .ignoring(names.union([path]))
            case .ignore: break
            }
        }
        return bounds
    }

    /// Maps a URL of the API to the URL that is requested.
    func requestURL(_ url: String) -> String {
        guard let base else { return url }
        if let moved = HTTPURL.rebase(link: url, from: [api.base], onto: base) { return moved }
        // A link may lead outside the path of the base URL. Even then it must not reach the real
        // server.
        guard let home = try? HTTPURL(api.base), let other = try? HTTPURL(base) else { return url }
        return HTTPURL.rebase(link: url, from: [home.origin], onto: other.origin) ?? url
    }

    /// Maps a requested URL back to the URL of the API, which links are relative to.
    func canonicalURL(_ url: String) -> String {
        guard let base else { return url }
        return HTTPURL.rebase(link: url, from: [base], onto: api.base) ?? url
    }

    /// The header fields of the API, with those of an endpoint in their place.
    func headers(_ fields: [TransportHeaders.Field]) -> TransportHeaders {
        var headers = TransportHeaders(api.headers)
        for field in fields { headers[field.name] = field.value }
        return headers
    }

    /// Whether a URL begins with the base URL, as nearly all do: it has the same origin then.
    func isBelowBase(_ url: String) -> Bool {
        let base = api.base.utf8
        guard url.utf8.starts(with: base) else { return false }
        let next = url.utf8.dropFirst(base.count).first
        return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
    }

    /// A GET request for a URL of the API, without credentials.
    ///
    /// A successful body is read fully, and only the beginning of a refusal.
    ///
    /// - Parameter fields: the header fields of the endpoint.
    func request(_ url: String, headers fields: [TransportHeaders.Field] = []) -> TransportRequest {
        let headers = headers(fields)
        // A link to another server: headers that only this API may see are not sent.
        var request =
            isForeign(url)
            ? TransportRequest(url: url, headers: headers.harmless)
            : TransportRequest(url: requestURL(url), headers: headers)
        request.responseLimits = .records
        return request
    }

    /// Returns the URL of the request that ``request(_:headers:)`` makes.
    func sentURL(_ url: String) -> String { isForeign(url) ? url : requestURL(url) }

    /// Returns whether a URL is of another server than the API's.
    private func isForeign(_ url: String) -> Bool {
        guard !isBelowBase(url), let target = try? HTTPURL(url), let home = try? HTTPURL(api.base) else { return false }
        return !target.hasSameOrigin(as: home)
    }
}
