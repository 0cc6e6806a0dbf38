// An authorization server and an API in one, whose answers a test scripts.

import Foundation
import Synchronization
import TestSupport

@testable import TarnHTTP

/// Answers token requests with what a test has queued, else with numbered tokens, and accepts the
/// newest access token only. It refuses `/forbidden` with 401, whatever the token.
final class SignInServer: Transport {
    struct Answer: Sendable {
        var status = 400
        var body: String
        /// The failure of the transport instead.
        var failure: TransportError.Kind?

        static func error(_ code: String, status: Int = 400) -> Answer {
            Answer(status: status, body: #"{"error":"\#(code)"}"#)
        }
        static func failure(_ kind: TransportError.Kind) -> Answer { Answer(body: "", failure: kind) }
    }

    private struct State {
        var queued: [Answer] = []
        var requests: [TransportRequest] = []
        var issued = 0
        var isRevoked = false
    }

    private let state = Mutex(State())
    /// Whether tokens have no end and no refresh token, as those of GitHub.
    let hasRefreshTokens: Bool

    init(_ queued: [Answer] = [], hasRefreshTokens: Bool = true) {
        self.hasRefreshTokens = hasRefreshTokens
        state.withLock { $0.queued = queued }
    }

    static let base = "https://auth.example"

    var requests: [TransportRequest] { state.withLock { $0.requests } }
    /// The forms of the requests to a path, in order.
    func forms(_ path: String) -> [String] {
        requests.filter { $0.url == Self.base + path }.map { String(decoding: $0.body ?? [], as: UTF8.self) }
    }
    func queue(_ answer: Answer) { state.withLock { $0.queued.append(answer) } }
    /// The API refuses the newest access token from now on.
    func revoke() { state.withLock { $0.isRevoked = true } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let answer: Answer = state.withLock { state in
            state.requests.append(request)
            guard request.url.hasPrefix(Self.base) else {
                let isValid =
                    request.headers["Authorization"] == "Bearer access-\(state.issued)" && !state.isRevoked
                    && !request.url.hasSuffix("/forbidden")
                return Answer(status: isValid ? 200 : 401, body: "[]")
            }
            if request.url.hasSuffix("/device") {
                return Answer(
                    status: 200,
                    body: #"{"device_code":"device-code","user_code":"ABCD-EFGH","expires_in":60,"interval":2,"#
                        + #""verification_uri":"https://auth.example/enter"}"#)
            }
            if !state.queued.isEmpty { return state.queued.removeFirst() }
            if request.url.hasSuffix("/revoke") { return Answer(status: 200, body: "") }
            state.issued += 1
            state.isRevoked = false
            let rest =
                hasRefreshTokens ? #","expires_in":3600,"refresh_token":"refresh-\#(state.issued)""# : ""
            return Answer(
                status: 200, body: #"{"access_token":"access-\#(state.issued)","token_type":"bearer"\#(rest)}"#)
        }
        if let kind = answer.failure {
            throw TransportError(kind, method: request.method, url: request.url, detail: "scripted")
        }
        return TransportResponse(status: answer.status, body: Array(answer.body.utf8))
    }
}

/// A clock that only its sleeps advance, and that remembers them.
final class SleepingClock: Sendable {
    private let state = Mutex<(now: Date, sleeps: [Double])>((Date(timeIntervalSince1970: 1_700_000_000), []))

    var sleeps: [Double] { state.withLock { $0.sleeps } }
    func advance(by seconds: Double) { state.withLock { $0.now += seconds } }

    var source: TimeSource {
        TimeSource(
            now: { self.state.withLock { $0.now } },
            sleep: { duration in
                self.state.withLock { state in
                    state.sleeps.append(duration.inSeconds)
                    state.now += duration.inSeconds
                }
            },
            random: { 0 })
    }
}
