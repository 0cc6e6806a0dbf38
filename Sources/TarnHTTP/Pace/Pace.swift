/// The limits of the request rate to one server.
public struct Pace: Sendable, Hashable {
    /// The average number of requests per second; nil for no limit.
    package var perSecond: Double?
    /// The number of requests that may start at once after a pause.
    package var burst: Int
    /// The maximum number of concurrent requests; nil for the transport's own limit.
    package var concurrent: Int?
    /// Whether rate-limit header fields are obeyed before the server refuses requests.
    package var obeysHeaders: Bool
    /// The longest wait of a request for an exhausted server limit.
    ///
    /// A longer wait fails the request.
    package var longestWait: Duration
    /// The longest time until a reset, or of a pause, that a server may specify.
    ///
    /// Longer times are cut to this one: one wrong header field must not stop a mirror for years.
    package var longestLimit: Duration

    /// Creates a pace.
    public init(
        perSecond: Double? = nil, burst: Int = 1, concurrent: Int? = nil, obeysHeaders: Bool = true,
        longestWait: Duration = .seconds(900), longestLimit: Duration = .seconds(86_400)
    ) {
        precondition(perSecond ?? 1 > 0 && burst > 0 && concurrent ?? 1 > 0, "a pace of 0 would wait forever")
        self.perSecond = perSecond
        self.burst = burst
        self.concurrent = concurrent
        self.obeysHeaders = obeysHeaders
        self.longestWait = longestWait
        self.longestLimit = longestLimit
    }
}
