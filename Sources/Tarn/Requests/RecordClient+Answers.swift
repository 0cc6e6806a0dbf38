// Answers of the store first, then of the server, then of every change.

import TarnImport
public import TarnStore

extension RecordClient {
    /// Answers a local query, then fetches a request and answers again, and then goes on with every
    /// change of the answer.
    ///
    /// ```swift
    /// let open = Issue.where { $0.state == .open }.order(by: \.updatedAt, .descending).limit(20)
    /// for try await answer in forge.answers(.issues("acme/anvil"), local: open) {
    ///     show(answer.records)
    /// }
    /// ```
    ///
    /// The sequence has no end: leave the loop, or cancel its task. That ends the transfer, too. A
    /// failure of the server is an answer, and not an error.
    ///
    /// - Parameters:
    ///   - request: the request whose records the query is about. All of its pages are fetched.
    ///   - query: the query that gives the answers.
    ///   - fetch: the condition on which the server is asked.
    /// - Throws: `StoreError` if the query cannot be answered.
    public func answers<Value: Equatable>(
        _ request: RecordRequest<Value>, local query: TypedQuery<Value>, fetch: RemoteFetch = .always
    ) -> AsyncThrowingStream<RequestAnswer<Value>, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var last = try local(query)
                    continuation.yield(.local(last))
                    if let request = asked(request, fetch, isEmpty: last.isEmpty) {
                        do {
                            var reports: [ImportReport] = []
                            for try await page in pages(request) {
                                if let report = page.report { reports.append(report) }
                            }
                            last = try local(query)
                            continuation.yield(.remote(last, reports))
                        } catch {
                            try Task.checkCancellation()
                            last = try local(query)
                            continuation.yield(.failed(error, kept: last))
                        }
                    }
                    for try await change in store.observe(query) where change.value != last {
                        last = change.value
                        continuation.yield(.changed(last))
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func local<Value>(_ query: TypedQuery<Value>) throws -> [Value] {
        try store.read(verifyingRows: true) { try $0.fetch(query) }
    }

    /// The request to send; nil if the server is not asked.
    private func asked<Value>(_ request: RecordRequest<Value>, _ fetch: RemoteFetch, isEmpty: Bool) -> RecordRequest<
        Value
    >? {
        switch fetch {
        case .always: request
        case .ifNoLocalRecords: isEmpty ? request : nil
        case .never: nil
        case .olderThan(let seconds): request.policy(.olderThan(seconds: seconds))
        }
    }
}
