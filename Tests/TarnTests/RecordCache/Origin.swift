// A server in the process of the tests.

import Synchronization
import Tarn
import TestSupport

/// A server in this process: a closure makes the responses, and requests are counted.
final class Origin: Sendable {
    private let state:
        Mutex<(requests: [TransportRequest], answer: @Sendable (TransportRequest) async throws -> TransportResponse)>

    init(_ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
        state = Mutex(([], answer))
    }

    /// Always the same.
    convenience init(_ headers: [TransportHeaders.Field], _ body: String = "hello", status: Int = 200) {
        self.init { _ in TransportResponse(status: status, headers: TransportHeaders(headers), body: Array(body.utf8)) }
    }

    var requests: [TransportRequest] { state.withLock { $0.requests } }
    func become(_ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
        state.withLock { $0.answer = answer }
    }
    func become(_ status: Int, _ headers: [TransportHeaders.Field] = [], _ body: String = "") {
        become { _ in TransportResponse(status: status, headers: TransportHeaders(headers), body: Array(body.utf8)) }
    }

    func goAway() { become { throw TransportError(.connect, method: $0.method, url: $0.url, detail: "refused") } }

    var transport: ClosureTransport {
        ClosureTransport { request in
            let answer = self.state.withLock { state in
                state.requests.append(request)
                return state.answer
            }
            return try await answer(request)
        }
    }
}
