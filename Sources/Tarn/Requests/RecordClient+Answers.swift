// Answers of the store first, then of the server, then of every change.

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
    /// failure of the server is an answer, and not an error, also if the store answers in its
    /// place. Each answer is made when it is requested: a slow loop skips states, and gets the
    /// newest one.
    ///
    /// - Parameters:
    ///   - request: the request whose records the query is about. All of its pages are fetched.
    ///   - query: the query that gives the answers.
    ///   - fetch: the condition on which the server is asked.
    /// - Throws: the iteration throws `StoreError` if the query cannot be answered.
    public func answers<Value: Equatable>(
        _ request: RecordRequest<Value>, local query: TypedQuery<Value>, fetch: RemoteFetch = .always
    ) -> some AsyncSequence<RequestAnswer<Value>, any Error> & Sendable {
        RequestAnswers(
            client: self, request: request, fetch: fetch, observation: { [store] in store.observe(query) },
            records: { records, _ in records })
    }

    /// Answers a local query with included targets, then fetches a request and answers again, and
    /// then goes on with every change of the answer.
    ///
    /// A change of an included target is a change of the answer. Otherwise as
    /// ``answers(_:local:fetch:)-(_,TypedQuery<Value>,_)``.
    public func answers<Value: Equatable, each Column: RelationshipColumn>(
        _ request: RecordRequest<Value>, local query: IncludingQuery<Value, repeat each Column>,
        fetch: RemoteFetch = .always
    ) -> some AsyncSequence<RequestAnswer<(Value, repeat (each Column).Included)>, any Error> & Sendable
    where repeat (each Column).Included: Equatable {
        RequestAnswers(
            client: self, request: request, fetch: fetch, observation: { [store] in store.observe(query) },
            records: { records, _ in records })
    }

    /// Answers a request with the records of its stored answer, then fetches it and answers again,
    /// and then goes on with every change of the answer.
    ///
    /// ```swift
    /// for try await answer in forge.answers(.issues("acme/anvil")) { show(answer.records) }
    /// ```
    ///
    /// The records are those that the response lists, over all pages, in the server's order. They
    /// are delivered again if any program stores another list, or changes or deletes one of them.
    /// While the store has no answer, because it was evicted, the records of the last one stay.
    ///
    /// - Parameters:
    ///   - request: the request. It is a GET request without a body.
    ///   - fetch: the condition on which the server is asked.
    /// - Throws: the iteration throws `StoreError`; `CacheError` if a credential is missing, or if
    ///   the responses to the request are not kept as its answer.
    public func answers<Value>(
        _ request: RecordRequest<Value>, fetch: RemoteFetch = .always
    ) -> some AsyncSequence<RequestAnswer<Value>, any Error> & Sendable {
        RequestAnswers(
            client: self, request: request, fetch: fetch,
            observation: { [self] in
                StoredAnswer<Value>.observation(of: try await prepared(request), in: store)
            },
            // A response that must not be stored is answered with what the server has sent.
            records: { answer, sent in answer.isStored ? answer.records : sent ?? answer.records })
    }
}
