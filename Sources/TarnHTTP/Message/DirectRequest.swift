/// A request that is started by a ``DirectTransport``, with its URL parsed.
///
/// A class: each transport of a chain keeps it for its completion.
final class DirectRequest: Sendable {
    let request: TransportRequest
    /// The URL of the request.
    let url: HTTPURL
    /// The origin of the URL.
    let origin: String

    init(_ request: TransportRequest, _ url: HTTPURL) {
        self.request = request
        self.url = url
        origin = url.origin
    }

    private init(_ request: TransportRequest, like other: DirectRequest) {
        self.request = request
        url = other.url
        origin = other.origin
    }

    /// Returns the request with the servers to which redirects may lead.
    func redirecting(to scope: RedirectScope) -> DirectRequest {
        var request = request
        request.redirects = scope
        return DirectRequest(request, like: self)
    }
}
