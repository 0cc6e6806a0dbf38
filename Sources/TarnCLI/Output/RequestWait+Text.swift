import Foundation
import Tarn

extension RequestWait {
    /// The wait for logs: `waiting 30 s, until …: the rate limit of … is used up`.
    func line(seconds: TimeInterval) -> String {
        "waiting \(whole(seconds)) s, until \(HTTPDate.text(until)): \(text)"
    }

    /// The wait for a terminal: `waiting 30 s: …`, or `429: waiting 4 s, try 2 of 4`.
    func countdown(seconds: TimeInterval) -> String {
        guard let cause, let tries else { return "waiting \(whole(seconds)) s: \(text)" }
        return "\(cause): waiting \(whole(seconds)) s, \(tries)"
    }

    /// The attempt that follows the wait: `429: try 2 of 4`; nil if there was none before.
    var attemptText: String? {
        guard let cause, let tries else { return nil }
        return "\(cause): \(tries)"
    }

    private var tries: String? { attempt.map { "try \($0)" + (attempts.map { " of \($0)" } ?? "") } }

    private func whole(_ seconds: TimeInterval) -> Int { max(1, Int(min(seconds, 1e9).rounded(.up))) }

    private var text: String {
        let reason =
            switch self.reason {
            case .limit: "the rate limit of \(origin) is used up"
            case .pace: "the request pace for \(origin)"
            case .retry: "next attempt at \(origin)"
            case .process: "\(processID.map { "process \($0)" } ?? "another process") sends the same request"
            case .answer: "\(origin) has not finished the answer yet"
            }
        return attemptText.map { "\($0): \(reason)" } ?? reason
    }
}
