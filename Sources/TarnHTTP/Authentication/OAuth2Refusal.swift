/// The refusal of a token request by the token endpoint.
struct OAuth2Refusal: Error, Sendable, Hashable {
    /// The reason, as the predicate of a sentence about the endpoint: `answers 401`.
    var reason: String
    /// The kind of the failure: other than the credentials if the endpoint cannot answer now.
    var kind = TransportError.Kind.credentials
    /// The code of the refusal (RFC 6749 §5.2, RFC 8628 §3.5); nil without one.
    var error: String?

    /// Whether the refresh token is not valid, or no longer; in the words of GitHub, too.
    ///
    /// A server that cannot answer now, such as one behind a failing gateway, decides nothing.
    var isInvalidGrant: Bool {
        kind == .credentials && (error == "invalid_grant" || error == "bad_refresh_token")
    }
}
