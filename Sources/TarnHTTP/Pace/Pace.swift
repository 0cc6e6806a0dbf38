/// How fast requests may go to one server.
public struct Pace: Sendable, Hashable {
    /// Requests a second, on average; nil for no limit.
    public var perSecond: Double?
    /// How many may start at once after a pause.
    public var burst: Int
    /// How many may be under way at once; nil for no limit beside the transport's own.
    public var concurrent: Int?
    /// Whether what servers say about their limits is obeyed before they refuse.
    public var obeysHeaders: Bool
    /// How long a request may wait for its turn because a server's limit is used up; past that it fails.
    public var longestWait: Duration
    /// How far ahead a server's limit is believed. A reset or a pause beyond that counts as this: one wrong header field must
    /// not stop a mirror for years.
    public var longestLimit: Duration

    public init(
        perSecond: Double? = nil, burst: Int = 1, concurrent: Int? = nil, obeysHeaders: Bool = true,
        longestWait: Duration = .seconds(900), longestLimit: Duration = .seconds(86_400)
    ) {
        precondition(perSecond ?? 1 > 0 && burst > 0 && concurrent ?? 1 > 0, "a pace of nothing would wait for ever")
        self.perSecond = perSecond
        self.burst = burst
        self.concurrent = concurrent
        self.obeysHeaders = obeysHeaders
        self.longestWait = longestWait
        self.longestLimit = longestLimit
    }
}
