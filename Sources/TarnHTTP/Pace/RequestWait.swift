// Waits before requests, for progress and logs.

import Foundation

/// A wait before a request is sent or retried.
public struct RequestWait: Sendable, Hashable {
    /// The reason of a wait.
    public enum Reason: String, Sendable, Hashable {
        /// The user's own pace.
        case pace
        /// The server's limit is exhausted, or the server has requested a pause.
        case limit
        /// The last attempt failed.
        case retry
        /// Another process sends the same request: its response is the answer, if it comes.
        case process
        /// The server has not finished the answer yet.
        case answer
    }

    /// The origin of the server: `https://api.example.org`.
    public var origin: String
    /// The time at which the request is sent, if no other limit delays it.
    public var until: Date
    /// The reason of the wait.
    public var reason: Reason
    /// The process that sends the same request, for ``Reason/process``; nil if it is unknown.
    package var processID: Int32?
    /// The endpoint of the request; nil for a wait of all requests to the origin.
    package var endpoint: String?
    /// The attempt that the wait precedes, from 2 on; nil if the request was not sent before.
    package var attempt: Int?
    /// The maximum number of attempts; nil like ``attempt``.
    package var attempts: Int?
    /// The outcome of the last attempt: a status such as `429`, or the kind of a failure.
    package var cause: String?

    /// Creates a wait.
    package init(origin: String, until: Date, reason: Reason) {
        self.origin = origin
        self.until = until
        self.reason = reason
    }
}
