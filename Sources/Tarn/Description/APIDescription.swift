import Glibc
import TarnHTTP

/// The description of an API: its URLs, credentials and request policies.
public struct APIDescription: Sendable, Hashable {
    /// The base URL: absolute, `http` or `https`, without query, fragment and trailing `/`.
    public var base: String
    /// Other base URLs of the same API. A link that begins with one is requested at ``base``.
    public var aliases: [String] = []
    /// Base URLs of other servers that links to pages may lead to.
    ///
    /// Requests there carry neither credentials nor ``headers`` nor ``parameters``.
    public var follows: [String] = []
    /// Header fields of every request, in the order of the file.
    public var headers: [TransportHeaders.Field] = []
    /// The parameters of every request, in the order of the file, such as `per_page`.
    ///
    /// They fill variables of paths and bodies, and the others become query parameters. A parameter
    /// of the endpoint or of the request with the same name replaces them. They are sent to
    /// ``base`` only.
    public var parameters: [Endpoint.Parameter] = []
    /// The authentication of requests. The file contains no secrets.
    public var authentication = Authentication.none
    /// The name of the account whose credentials the requests have; nil if the secrets distinguish
    /// accounts.
    ///
    /// Stored data of one account is not served to another. With a name, a replaced secret is that
    /// of the same account.
    public var account: String?
    /// The pace of requests.
    public var pace = Pace()
    /// Time limits, sizes, proxies and certificates.
    public var transport = CurlTransport.Options()
    /// The retry policy of requests.
    public var retry = RetryPolicy()
    /// The rules for responses of all endpoints. Those of an endpoint have precedence.
    public var responses: [ResponseRule] = []
    /// The policy and the limits of the record cache.
    public var cache = CacheDescription()

    /// Creates the description of an API with this base URL.
    public init(base: String) {
        self.base = base
    }
}
