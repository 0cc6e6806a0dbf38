// The memory of refused logins: servers lock accounts after several ones.

import Foundation

/// A login that the server has refused. With the same secrets, it is repeated after a pause only.
struct RefusedLogin: Sendable {
    /// The secrets of the login.
    private let secrets: [Secret]
    /// The failure of the login.
    private let error: TransportError
    /// The number of refusals in a row.
    private let count: Int
    private let date: Date

    /// The seconds after the first refusal, which double with every further one.
    private static let firstPause = 300.0
    private static let longestPause = 3600.0

    /// - Parameter last: the refusal before.
    init(_ secrets: [Secret], _ error: TransportError, after last: RefusedLogin?, at date: Date) {
        self.secrets = secrets
        self.error = error
        self.date = date
        count = last?.secrets == secrets ? (last?.count ?? 0) + 1 : 1
    }

    private var pause: Double {
        min(RefusedLogin.firstPause * exp2(Double(min(count, 10) - 1)), RefusedLogin.longestPause)
    }

    /// Returns the failure of a login that is not sent; nil if it may be.
    func error(repeating secrets: [Secret], at now: Date) -> TransportError? {
        // A clock that was set back must not extend the pause.
        guard secrets == self.secrets, abs(now.timeIntervalSince(date)) < pause else { return nil }
        var error = error
        error.detail += "; not repeated with the same secrets for \(Int(pause / 60)) minutes: servers lock accounts"
        return error
    }
}
