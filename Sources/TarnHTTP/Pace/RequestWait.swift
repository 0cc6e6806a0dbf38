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
    }

    /// The origin of the server: `https://api.example.org`.
    public var origin: String
    /// The time at which the request is sent, if no other limit delays it.
    public var until: Date
    /// The reason of the wait.
    public var reason: Reason

    /// Creates a wait.
    package init(origin: String, until: Date, reason: Reason) {
        self.origin = origin
        self.until = until
        self.reason = reason
    }
}
