// Gives requests their credentials, renews them, and keeps them out of everything that comes back.

import Foundation

/// A transport that adds credentials.
///
/// They go to the given origins only. A 401 leads to new credentials where there can be any (a token of OAuth 2, a file or command that
/// holds another secret than before), and the request is sent once more. However many requests wait for a new token, one is asked for.
///
/// What comes back holds no secret: URLs and header fields are without the key's parameter, error texts and the bodies of refusals have `***`
/// in its place.
public final class AuthorizedTransport: Transport, Sendable {
    private let inner: any Transport
    private let authorizer: Authorizer
    private let origins: Set<String>

    /// - Parameters:
    ///   - origins: where credentials go, as ``HTTPURL/origin`` writes them. Requests to others carry none.
    ///   - tokens: how the server of tokens is reached; the same transport if nothing is said.
    public init(
        _ inner: any Transport, _ authentication: Authentication, origins: Set<String>, tokens: (any Transport)? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment, time: TimeSource = .system
    ) {
        self.inner = inner
        self.origins = origins
        authorizer = Authorizer(authentication, transport: tokens ?? inner, environment: environment, time: time)
    }

    /// Asks for new credentials; false if there can be none.
    public func refresh() async throws(TransportError) -> Bool {
        try await authorizer.refresh(instead: nil, request: HTTPRequest(url: origins.sorted().first ?? ""))
    }

    /// A text that differs between those who ask, to be hashed: it may hold a secret. Nil if anybody may ask.
    ///
    /// - Throws: `TransportError` with the kind ``TransportError/Kind/credentials`` if a secret is not there.
    public func scope() async throws(TransportError) -> Secret? {
        try await authorizer.scope()
    }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard let origin = try? HTTPURL(request.url).origin, origins.contains(origin) else { return try await inner.send(request) }
        var mayRefresh = true
        while true {
            let (authorized, scrubber, generation) = try await authorizer.authorize(request)
            let response: HTTPResponse
            do throws(TransportError) {
                response = try await inner.send(authorized)
            } catch {
                throw scrubber.error(error, of: request)
            }
            if response.status == 401, mayRefresh, try await authorizer.refresh(instead: generation, request: request) {
                mayRefresh = false
                continue
            }
            return scrubber.response(response)
        }
    }
}
