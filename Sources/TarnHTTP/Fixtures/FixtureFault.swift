// Delays and failures on demand: how a program behaves when a server does not.

/// A way to misbehave, and which requests it hits.
public struct FixtureFault: Sendable, Hashable {
    /// What goes wrong.
    public enum Kind: Sendable, Hashable {
        /// Waits before the answer.
        case delay(Duration)
        /// Answers with this status and a JSON message.
        case status(Int, HTTPHeaders = HTTPHeaders())
        /// There is no answer.
        case failure(TransportError.Kind)
    }

    /// A part of the request's target; empty for every request.
    public var pattern: String
    /// What goes wrong.
    public var kind: Kind
    /// The first matching request that is hit, from 1.
    public var first: Int
    /// How many are hit; nil for all.
    public var times: Int?

    public init(_ pattern: String, _ kind: Kind, first: Int = 1, times: Int? = nil) {
        precondition(first > 0 && times ?? 1 > 0, "a fault counts requests from 1")
        self.pattern = pattern
        self.kind = kind
        self.first = first
        self.times = times
    }
}
