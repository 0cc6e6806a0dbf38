// Callers that end: a wait of their request ends with them, a transfer does not.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Request progress", .timeLimit(.minutes(1)))
struct RequestProgressTests {
    private let request = TransportRequest(url: "http://h.example/items")

    /// Sends the request in a task that the progress ends.
    private func send(
        over transport: any Transport, _ progress: RequestProgress
    ) -> Task<TransportResponse, any Error> {
        let request = request
        let work = Task {
            try await RequestProgress.$current.withValue(progress) { try await transport.send(request) }
        }
        progress.onEnd { work.cancel() }
        return work
    }

    @Test("the wait before a retry ends with its caller")
    func retry() async throws {
        let inner = ScriptedTransport([.status(429, ["Retry-After": "200"])])
        let progress = RequestProgress()
        let work = send(over: RetryingTransport(PacedTransport(inner)), progress)
        try await eventually("the refusal") { inner.requests.count == 1 }
        progress.endWaits()
        let result = await work.result
        #expect(throws: TransportError.self) { try result.get() }
        #expect(progress.hasEnded)
        #expect(inner.requests.count == 1)
    }

    @Test("a transfer is completed after its caller has begun to end")
    func transfer() async throws {
        let mayAnswer = Mutex(false)
        let inner = ScriptedTransport([.status(200)]) { _ in
            while !mayAnswer.withLock(\.self), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        }
        let progress = RequestProgress()
        let work = send(over: RetryingTransport(PacedTransport(inner)), progress)
        try await eventually("the request") { inner.requests.count == 1 }
        progress.endWaits()
        #expect(!progress.hasEnded)
        mayAnswer.withLock { $0 = true }
        #expect(try await work.value.status == 200)
        #expect(!progress.hasEnded && !work.isCancelled)
        progress.waits()
        #expect(progress.hasEnded)
    }
}
