import TarnHTTP

/// One request of a group: an endpoint with parameters and options of its own.
public struct BatchRequest: Sendable {
    /// The name of an endpoint of the description.
    package var endpoint: String
    /// Parameters that replace the endpoint's parameters of the same names; others are added.
    package var parameters: [Endpoint.Parameter]
    /// The retry policy of this request; nil for the common one.
    package var retry: RetryPolicy?
    /// The page and record limits of this request; nil for the endpoint's.
    package var limits: Endpoint.Limits?

    /// Creates a request of a group.
    public init(
        _ endpoint: String, parameters: [Endpoint.Parameter] = [], retry: RetryPolicy? = nil,
        limits: Endpoint.Limits? = nil
    ) {
        self.endpoint = endpoint
        self.parameters = parameters
        self.retry = retry
        self.limits = limits
    }
}
