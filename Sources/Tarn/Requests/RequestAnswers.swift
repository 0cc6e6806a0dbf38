import TarnImport
import TarnStore

/// The answers of the store, then of the server, then of every change, each when it is requested.
///
/// `Result` is what is observed: the records of a local query, or of the request's stored answer.
struct RequestAnswers<Fetched: MappedRecord, Value: Sendable, Result: Sendable>: AsyncSequence, Sendable {
    let client: RecordClient
    let request: RecordRequest<Fetched>
    let fetch: RemoteFetch
    let observation: @Sendable () async throws -> StoreObservation<Result>
    /// The records of a result; its second argument has the records that the server has just sent.
    let records: @Sendable (Result, _ sent: [Fetched]?) -> [Value]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(answers: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        private enum Phase {
            case local
            case remote(RecordRequest<Fetched>)
            case changes
            case over
        }

        private let answers: RequestAnswers
        private var phase = Phase.local
        private var observed: StoreObservation<Result>.AsyncIterator?

        init(answers: RequestAnswers) { self.answers = answers }

        /// Returns the next answer; nil after the task was cancelled.
        mutating func next() async throws -> RequestAnswer<Value>? {
            let phase = phase
            // An error, or the end of the task, ends the answers.
            self.phase = .over
            guard !Task.isCancelled else { return nil }
            switch phase {
            case .local: return try await local()
            case .remote(let request): return try await remote(request)
            case .changes:
                guard let change = try await observed?.next() else { return nil }
                self.phase = .changes
                return .changed(answers.records(change.value, nil))
            case .over: return nil
            }
        }

        private mutating func local() async throws -> RequestAnswer<Value>? {
            observed = try await answers.observation().makeAsyncIterator()
            guard let records = try await current(nil) else { return nil }
            let asked = answers.fetch.asked(answers.request, isEmpty: records.isEmpty)
            phase = asked.map { .remote($0) } ?? .changes
            return .local(records)
        }

        private mutating func remote(_ request: RecordRequest<Fetched>) async throws -> RequestAnswer<Value>? {
            var reports: [ImportReport] = [], sent: [Fetched]? = [], failure: (any Error)?
            do {
                for try await page in answers.client.pages(request) {
                    if let report = page.report { reports.append(report) }
                    sent?.append(contentsOf: page.records)
                    // The store has answered in the place of the server.
                    failure = failure ?? page.failure
                }
            } catch {
                (failure, sent) = (error, nil)
            }
            guard !Task.isCancelled, let records = try await current(sent) else { return nil }
            phase = .changes
            return failure.map { .failed($0, kept: records) } ?? .remote(records, reports)
        }

        private mutating func current(_ sent: [Fetched]?) async throws -> [Value]? {
            try await observed?.current().map { answers.records($0.value, sent) }
        }
    }
}

/// A sequence of answers that knows whether the server is asked after the first one.
protocol FetchingAnswers {
    /// Returns whether the server is asked.
    ///
    /// - Parameter isEmpty: whether the store has no record.
    func asksServer(isEmpty: Bool) -> Bool
}

extension RequestAnswers: FetchingAnswers {
    func asksServer(isEmpty: Bool) -> Bool { fetch.asked(request, isEmpty: isEmpty) != nil }
}
