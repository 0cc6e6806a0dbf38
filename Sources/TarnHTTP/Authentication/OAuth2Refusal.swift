/// What a server of tokens says instead of handing one out.
struct OAuth2Refusal: Error, Sendable, Hashable {
    var reason: String
}
