// What is to be done with an answer that says no, or says yes and means no: the user's own rules. Pure.

/// A rule for answers: those with a status, those that contain a text, or both.
public struct ResponseRule: Sendable, Hashable {
    /// What is done with an answer.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// The request is passed over: nothing is stored or noted, and it is no failure.
        case ignore
        /// The walk fails, also where the status is a success.
        case fail
        /// The request is sent again, by the ``RetryPolicy``; if that does not help, it fails.
        case retry
        /// The answer is a page without records.
        case empty
        /// The page before was the last one.
        case stop
        /// New credentials are asked for, and the request is sent once more; if that does not help, it fails.
        case refreshToken = "refresh_token"
    }

    /// Any of them; empty for every status.
    public var statuses: [ClosedRange<Int>]
    /// A text in the body's first 64 KiB, byte for byte; nil for every body.
    public var text: String?
    /// What is done with an answer that the rule is about.
    public var action: Action
    /// What is said of a failure, instead of what the server says.
    public var message: String?

    public init(statuses: [ClosedRange<Int>] = [], text: String? = nil, action: Action, message: String? = nil) {
        self.statuses = statuses
        self.text = text
        self.action = action
        self.message = message
    }

    /// Whether the rule is about this answer.
    public func matches(_ response: HTTPResponse) -> Bool {
        guard statuses.isEmpty || statuses.contains(where: { $0.contains(response.status) }) else { return false }
        guard let text else { return true }
        return response.body.prefix(HTTPRequest.ResponseLimits.records.refusal).firstRange(of: text.utf8) != nil
    }
}

extension [ResponseRule] {
    /// The first rule that an answer meets.
    public func first(for response: HTTPResponse) -> ResponseRule? {
        first { $0.matches(response) }
    }
}
