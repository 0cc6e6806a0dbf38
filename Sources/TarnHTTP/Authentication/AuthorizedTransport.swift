// The transport that adds, renews and conceals credentials.

import Foundation

/// A transport that adds credentials to requests.
///
/// Credentials are sent to the given origins only. After a 401 response, the transport renews them
/// and repeats the request once; twice, if it has first taken the token of another client. Renewal
/// is possible for an OAuth 2.0 token, a session and a signed token, and for a file or a command
/// that has another secret than before. Concurrent requests share one renewal.
///
/// Responses and errors hold no secret. URLs and header fields lose the key's query parameter, also
/// those in bodies. Error texts and bodies have `***` in place of a secret, except for JSON with a
/// 2xx status: it becomes records. Secrets that the request carries itself, in header fields or in
/// its URL, are removed from error texts and refusals only.
package final class AuthorizedTransport: DirectTransport, Sendable {
    private let inner: any Transport
    /// The inner transport, if no request gets credentials and it can start requests directly.
    private let direct: (any DirectTransport)?
    private let authorizer: Authorizer
    private let origins: Set<String>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - origins: the origins that get credentials, in the form of ``HTTPURL/origin``. Requests
    ///     to others carry none.
    ///   - account: the name of the account; nil if the secrets distinguish accounts.
    ///   - tokens: the transport to the token endpoint, and of logins; nil for `inner`.
    ///   - base: the base URL of the API, which logins are relative to.
    ///   - moved: the base URL by which the API is reached; nil for `base`.
    ///   - keeper: keeps OAuth 2.0 tokens for the next transport; nil for none.
    ///   - sessions: the sessions that a logout ends.
    ///   - onScope: called with ``scope()`` when secrets were read, which may have changed. The
    ///     scope of OAuth 2.0 stays.
    package init(
        _ inner: any Transport, _ authentication: Authentication, account: String? = nil, origins: Set<String>,
        tokens: (any Transport)? = nil, base: String = "", moved: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        time: TimeSource = .system, keeper: TokenKeeper? = nil, sessions: OpenSessions = .ofProcess,
        onScope: (@Sendable (Secret?) -> Void)? = nil
    ) {
        self.inner = inner
        self.origins = origins
        if case .none = authentication { direct = inner as? any DirectTransport } else { direct = nil }
        authorizer = Authorizer(
            authentication, account: account, transport: tokens ?? inner,
            address: SessionLogin.Address(base: base, moved: moved), environment: environment, time: time,
            keeper: keeper, sessions: sessions, onScope: onScope)
    }

    /// Renews the credentials. Returns false if there are no new ones.
    ///
    /// - Parameter used: ``TransportResponse/generation`` of the response that demands others. If
    ///   another request has renewed them since, nothing is requested.
    package func refresh(instead used: Int? = nil) async throws(TransportError) -> Bool {
        let place = TransportRequest(url: origins.sorted().first ?? "")
        return try await authorizer.refresh(instead: used, request: place) != .unavailable
    }

    /// Returns a text that is unique to the account, or nil without authentication.
    ///
    /// The text may hold a secret: it must be hashed.
    ///
    /// - Throws: `TransportError` with the kind ``TransportError/Kind/credentials`` if a secret
    ///   cannot be read.
    package func scope() async throws(TransportError) -> Secret? {
        try await authorizer.scope()
    }

    /// Starts a request without a task. Requests with credentials need one.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        guard let direct, !CarriedSecrets.isIn(request.request) else { return false }
        return direct.start(request, transfer, completion)
    }

    /// Sends a request with credentials if its origin is one of the given ones.
    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let origin = try? HTTPURL(request.url).origin, origins.contains(origin) else {
            let scrubber = Scrubber(carriedBy: request)
            do throws(TransportError) { return scrubber.response(try await inner.send(request)) } catch {
                throw scrubber.error(error, of: request)
            }
        }
        var mayRefresh = true, mayTakeKept = true
        while true {
            let (authorized, scrubber, generation) = try await authorizer.authorize(request)
            var response: TransportResponse
            do throws(TransportError) {
                response = try await inner.send(authorized)
            } catch {
                throw scrubber.error(error, of: request)
            }
            // A request that the server has carried out is not repeated.
            let mayRepeat = !response.isBehindEffect || RetryPolicy.idempotent.contains(request.method)
            if response.status == 401, mayRefresh, mayRepeat {
                let refresh = try await authorizer.refresh(
                    instead: generation, takingKept: mayTakeKept, request: request)
                // The server may refuse the token of another client, too.
                mayRefresh = refresh == .kept && mayTakeKept
                mayTakeKept = false
                if refresh != .unavailable { continue }
            }
            response.generation = generation > 0 ? generation : nil
            return scrubber.response(response)
        }
    }
}
