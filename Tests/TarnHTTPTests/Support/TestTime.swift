// A clock that advances only on a sleep, and a transport with a list of outcomes: for rules about
// time.

import Foundation
import Synchronization
import Testing

@testable import TarnHTTP

/// Sleeping takes no time here, but moves the clock, and is noted.
final class TestTime: Sendable {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let state = Mutex<(now: Date, slept: [Duration])>((TestTime.start, []))
    let random: Double

    init(random: Double = 0.5) { self.random = random }

    var now: Date { state.withLock { $0.now } }
    var slept: [Duration] { state.withLock { $0.slept } }
    func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }

    var source: TimeSource {
        TimeSource(
            now: { self.now },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.now += duration.inSeconds
                    state.slept.append(duration)
                }
            },
            random: { self.random })
    }
}

/// Answers the n-th request with the n-th outcome, and all later ones with the last. Keeps the
/// requests.
final class ScriptedTransport: Transport {
    enum Outcome: Sendable {
        case answer(TransportResponse)
        case failure(TransportError.Kind)
    }

    private let outcomes: [Outcome]
    private let received = Mutex<[TransportRequest]>([])
    private let before: @Sendable (TransportRequest) async -> Void

    init(_ outcomes: [Outcome], before: @escaping @Sendable (TransportRequest) async -> Void = { _ in }) {
        self.outcomes = outcomes
        self.before = before
    }

    var requests: [TransportRequest] { received.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let number = received.withLock { received in
            received.append(request)
            return received.count - 1
        }
        await before(request)
        switch outcomes[min(number, outcomes.count - 1)] {
        case .answer(let response): return response
        case .failure(let kind):
            throw TransportError(kind, method: request.method, url: request.url, detail: kind.rawValue)
        }
    }
}

extension ScriptedTransport.Outcome {
    static func status(_ status: Int, _ fields: [String: String] = [:], _ body: String = "") -> Self {
        .answer(
            TransportResponse(
                status: status, headers: TransportHeaders(fields.map { .init($0.key, $0.value) }),
                body: Array(body.utf8)))
    }
}
