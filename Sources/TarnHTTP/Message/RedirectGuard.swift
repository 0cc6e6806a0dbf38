/// A transport that accepts responses of allowed servers only.
///
/// It also guards a transport that follows redirects by its own rules.
package struct RedirectGuard: Transport {
    private let inner: any Transport
    private let scope: RedirectScope

    package init(_ inner: any Transport, _ scope: RedirectScope) {
        self.inner = inner
        self.scope = scope
    }

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var request = request
        request.redirects = scope
        let response = try await inner.send(request)
        guard let answeredBy = response.redirectedTo else { return response }
        do throws(HTTPURLError) {
            _ = try Redirect.destination(try HTTPURL(answeredBy), of: request)
        } catch {
            throw TransportError(
                .protocol, method: request.method, url: request.url, detail: "redirect not followed: \(error)"
            )
        }
        return response
    }
}
