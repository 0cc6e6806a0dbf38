// Injected delays and failures, for tests of a program's behavior with a faulty server.

/// An injected fault and the requests that it affects.
public struct FixtureFault: Sendable, Hashable {
    /// The kind of a fault.
    public enum Kind: Sendable, Hashable {
        /// A delay before the response.
        case delay(Duration)
        /// A response with this status and a JSON message.
        case status(Int, TransportHeaders = TransportHeaders())
        /// A failure without a response.
        case failure(TransportError.Kind)
    }

    /// A part of the request target; empty for every request.
    var pattern: String
    /// The kind of the fault.
    package var kind: Kind
    /// The first matching request that is affected, counted from 1.
    package var first: Int
    /// The number of affected requests; nil for all.
    package var times: Int?

    /// Creates a fault.
    public init(_ pattern: String, _ kind: Kind, first: Int = 1, times: Int? = nil) {
        precondition(first > 0 && times ?? 1 > 0, "faults count requests from 1")
        self.pattern = pattern
        self.kind = kind
        self.first = first
        self.times = times
    }
}
