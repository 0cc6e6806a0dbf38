import Glibc
import TarnHTTP
import TarnImport
import TarnStore

/// How to reach an API.
public struct APIDescription: Sendable, Hashable {
    /// An absolute `http` or `https` URL without query, fragment and trailing `/`.
    public var base: String
    /// Other base URLs of the same API, in the same form: a link that begins with one is followed at ``base``.
    public var aliases: [String]
    /// Base URLs of other servers to which links to pages may lead. Requests there carry neither credentials nor ``headers``.
    public var follows: [String]
    /// Header fields of every request, in the order of the file.
    public var headers: [HTTPHeaders.Field]
    /// How requests carry credentials. Secrets themselves are never in the file.
    public var authentication: Authentication
    /// How fast requests go.
    public var pace: Pace
    /// Time limits, sizes, proxies and certificates.
    public var transport: CurlTransport.Options
    /// When a request is sent again.
    public var retry: RetryPolicy
    /// What is to be done with certain answers, of all endpoints; those of an endpoint go before.
    public var responses: [ResponseRule]
    /// What is kept of answers to single requests, and when it is used again.
    public var cache: CacheDescription

    public init(
        base: String, aliases: [String] = [], follows: [String] = [], headers: [HTTPHeaders.Field] = [], authentication: Authentication = .none,
        transport: CurlTransport.Options = CurlTransport.Options(), pace: Pace = Pace(), retry: RetryPolicy = RetryPolicy(), responses: [ResponseRule] = [],
        cache: CacheDescription = CacheDescription()
    ) {
        self.cache = cache
        self.base = base
        self.aliases = aliases
        self.follows = follows
        self.headers = headers
        self.authentication = authentication
        self.transport = transport
        self.pace = pace
        self.retry = retry
        self.responses = responses
    }
}
