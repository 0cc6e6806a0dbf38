/// A transport that accepts responses of allowed servers only.
///
/// It also guards a transport that follows redirects by its own rules.
package final class RedirectGuard: DirectTransport, Sendable {
    private let inner: any Transport
    private let direct: (any DirectTransport)?
    private let scope: RedirectScope

    package init(_ inner: any Transport, _ scope: RedirectScope) {
        self.inner = inner
        direct = inner as? any DirectTransport
        self.scope = scope
    }

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var request = request
        request.redirects = scope
        return try checked(try await inner.send(request), to: request)
    }

    /// Starts a request without a task.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        let request = request.redirecting(to: scope)
        return direct?.start(request, transfer) { [self] result in
            guard case .success(let response) = result, response.redirectedTo != nil else { return completion(result) }
            do throws(TransportError) { completion(.success(try checked(response, to: request.request))) } catch {
                completion(.failure(error))
            }
        } ?? false
    }

    /// Returns the response if redirects have led to an allowed server.
    private func checked(
        _ response: TransportResponse, to request: TransportRequest
    ) throws(TransportError) -> TransportResponse {
        guard let answeredBy = response.redirectedTo else { return response }
        do throws(HTTPURLError) {
            _ = try Redirect.destination(try HTTPURL(answeredBy), of: request)
        } catch {
            var refusal = TransportError(
                .protocol, method: request.method, url: request.url, detail: "redirect not followed: \(error)")
            refusal.isRefusedRedirect = true
            throw refusal
        }
        return response
    }
}
