/// The refusal of a token request by the token endpoint.
struct OAuth2Refusal: Error, Sendable, Hashable {
    /// The reason, as the predicate of a sentence about the endpoint: `answers 401`.
    var reason: String
}
