// A pause before a request, for progress and logs.

import Foundation

/// A wait before a request is sent, or sent again.
public struct RequestWait: Sendable, Hashable {
    /// Why a request waits.
    public enum Reason: String, Sendable, Hashable {
        /// The user's own pace.
        case pace
        /// The server's limit is used up, or the server has asked for a pause.
        case limit
        /// The last try failed.
        case retry
    }

    /// The server: `https://api.example.org`.
    public var origin: String
    /// When the request goes, if nothing else holds it up.
    public var until: Date
    public var reason: Reason

    public init(origin: String, until: Date, reason: Reason) {
        self.origin = origin
        self.until = until
        self.reason = reason
    }
}
