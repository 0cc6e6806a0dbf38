/// The refusal of a token request by the token endpoint.
struct OAuth2Refusal: Error, Sendable, Hashable {
    /// The reason, as the predicate of a sentence about the endpoint: `answers 401`.
    var reason: String
    /// The kind of the failure: other than the credentials if the endpoint cannot answer now.
    var kind = TransportError.Kind.credentials
    /// Whether the refresh token is not valid, or no longer (RFC 6749 §5.2).
    var isInvalidGrant = false
}
