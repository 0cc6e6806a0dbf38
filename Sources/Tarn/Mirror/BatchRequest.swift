import TarnHTTP
import TarnImport
import TarnStore

/// One request of a group: an endpoint, and what is different about it this time.
public struct BatchRequest: Sendable {
    /// The name of an endpoint of the description.
    public var endpoint: String
    /// In the place of the endpoint's own values of these names; others are added.
    public var parameters: [Endpoint.Parameter]
    /// When it is sent again, if not as the others are.
    public var retry: RetryPolicy?
    /// How far its pages are walked, if not as the endpoint says.
    public var limits: Endpoint.Limits?

    public init(
        _ endpoint: String, parameters: [Endpoint.Parameter] = [], retry: RetryPolicy? = nil, limits: Endpoint.Limits? = nil
    ) {
        self.endpoint = endpoint
        self.parameters = parameters
        self.retry = retry
        self.limits = limits
    }
}
