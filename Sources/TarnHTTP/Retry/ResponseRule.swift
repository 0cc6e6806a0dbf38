// The user's rules for responses that the status alone does not classify. Pure.

/// A rule for responses with a status, with a text in the body, or with both.
public struct ResponseRule: Sendable, Hashable {
    /// The treatment of a response.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// The response is skipped: nothing is stored, and the request does not fail.
        case ignore
        /// The scan fails, even if the status is a success.
        case fail
        /// The request is retried by the ``RetryPolicy``. If all attempts fail, the request fails.
        case retry
        /// The response is a page without records.
        case empty
        /// The page before was the last one.
        case stop
        /// The credentials are renewed and the request is repeated once.
        ///
        /// If that fails, the request fails.
        case refreshToken = "refresh_token"
    }

    /// The status codes, of which any matches; empty for every status.
    package var statuses: [ClosedRange<Int>]
    /// A text in the first 64 KiB of the body, compared by bytes; nil for every body.
    package var text: String?
    /// The treatment of a response that matches.
    package var action: Action
    /// The message of a failure, in place of the server's; nil for the server's.
    package var message: String?

    /// Creates a rule.
    public init(statuses: [ClosedRange<Int>] = [], text: String? = nil, action: Action, message: String? = nil) {
        self.statuses = statuses
        self.text = text
        self.action = action
        self.message = message
    }

    /// Whether the rule may apply to a success.
    package var mayMatchSuccess: Bool { statuses.isEmpty || statuses.contains { $0.overlaps(200...299) } }

    /// Returns whether the rule applies to a response.
    func matches(_ response: TransportResponse) -> Bool {
        guard statuses.isEmpty || statuses.contains(where: { $0.contains(response.status) }) else { return false }
        guard let text else { return true }
        return response.body.prefix(TransportRequest.ResponseLimits.records.refusal).firstRange(of: text.utf8) != nil
    }
}

extension [ResponseRule] {
    /// Returns the first rule that applies to a response.
    package func first(for response: TransportResponse) -> ResponseRule? {
        first { $0.matches(response) }
    }
}
