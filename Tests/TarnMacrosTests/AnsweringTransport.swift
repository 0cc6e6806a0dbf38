// A server in the process, whose answers are those of a closure.

import Synchronization
import TarnMacros

final class AnsweringTransport: Transport {
    struct Answer: Sendable {
        var status = 200
        var fields: [String: String] = [:]
        var body = ""
        /// The reason why there is no answer; nil if there is one.
        var failure: TransportError.Kind?
    }

    private let seen = Mutex<[TransportRequest]>([])
    private let answer: @Sendable (TransportRequest) async -> Answer

    /// The requests so far.
    var requests: [TransportRequest] { seen.withLock(\.self) }

    init(_ answer: @escaping @Sendable (TransportRequest) async -> Answer) { self.answer = answer }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        seen.withLock { $0.append(request) }
        let answer = await answer(request)
        var headers = TransportHeaders([.init("Content-Type", "application/json")])
        for (name, value) in answer.fields { headers[name] = value }
        let response = TransportResponse(status: answer.status, headers: headers, body: Array(answer.body.utf8))
        guard let kind = answer.failure else { return response }
        throw TransportError(kind, method: request.method, url: request.url, detail: "made failure")
    }
}

extension TransportRequest {
    /// The path with the query.
    var target: String { String(url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }) }
}
