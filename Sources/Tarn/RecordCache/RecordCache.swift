// The record-level cache: answers requests with records by the rules of HTTP, online or offline.

import Foundation
public import TarnHTTP
import TarnImport
public import TarnStore

/// A cache that answers requests to an API with records.
///
/// A response is stored as the keys of its records, its validators and its metadata, in the same
/// transaction as the records. A fresh response is answered from the store. For a stale one the
/// server is asked with a conditional request; a 304 costs neither parsing nor an import. If the
/// server cannot be reached, a stale response answers, marked as such, unless a rule forbids it.
///
///     let transport = CurlTransport(description.api.transport)
///     let cache = try RecordCache(description, store: store, transport: transport)
///     let answer = try await cache.fetch(CacheRequest("issues"))
///     print(answer.records.count, answer.source, answer.age)
///
/// Deleting a record, by any writer of the store, invalidates the responses that list it. A change
/// of the schema or the mapping changes the request keys, so that nothing stored before answers.
/// Responses that a ``APIMirror`` has stored answer, too. Any number of tasks and processes may use
/// caches over one store.
///
/// See <doc:Caching>.
public final class RecordCache: Sendable {
    /// The store of the records and responses.
    package var store: Store { client.store }
    /// The options of the cache.
    package let options: Options
    let client: APIClient
    let importers: ImporterPool
    let uses = CacheUses()
    /// Fingerprints of the endpoints' mappings, by name: too large to be hashed for each request.
    let fingerprints: [String: String]
    /// The responses of mirrors with other mappings: a typed request is no endpoint of the
    /// description, and the description may have changed since a mirror has imported them.
    let others: OtherMirrors
    let claims: RequestLock?
    /// The resources of the transfers under way: see ``state(of:)``.
    let states: ResourceStates
    private let flights = Flights<Transfer>()
    private let background = BackgroundTasks()

    /// Creates a cache over a client.
    ///
    /// - Parameter options: the options; nil for those of the description.
    public init(_ client: APIClient, options: Options? = nil) {
        let description = client.description
        self.client = client
        self.options = options ?? Options(description.api.cache)
        importers = ImporterPool(client)
        fingerprints = Dictionary(description.endpoints.map { ($0.name, description.fingerprint(of: $0)) }) {
            first, _ in first
        }
        others = OtherMirrors(than: Set(fingerprints.map { RequestKey.endpoint($0, mapping: $1) }))
        claims = self.options.sharesTransfersBetweenProcesses ? RequestLock(directory: client.store.directory) : nil
        states = ResourceStates(claims)
    }

    /// Creates a cache with a client of its own.
    ///
    /// - Parameter options: the options; nil for those of the description.
    /// - Throws: as ``APIClient/init(_:store:transport:options:environment:)``.
    public convenience init(
        _ description: Description, store: Store, transport: any Transport,
        client: APIClient.Options = APIClient.Options(), options: Options? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        self.init(
            try APIClient(description, store: store, transport: transport, options: client, environment: environment),
            options: options)
    }

    /// The part of an answer that is copied from the store.
    public enum Copying: Sendable {
        case keys, records
    }

    /// Answers a request.
    ///
    /// If the calling task is cancelled, it returns at once, with the error `MirrorError.cancelled`
    /// in a `CacheError`. The transfer ends, too, unless other callers wait for it. A stored
    /// response answers a cancelled caller as well.
    ///
    /// - Parameters:
    ///   - policy: the policy of this request; nil for that of the options.
    ///   - copying: `keys` if the records are not needed.
    /// - Throws: `CacheError`.
    public func fetch(
        _ request: CacheRequest, policy: CachePolicy? = nil, copying: Copying = .records
    ) async throws(CacheError) -> CachedAnswer {
        try await fetch(try await prepare(request), policy: policy, copying: copying)
    }

    /// Answers a prepared request.
    ///
    /// - Throws: `CacheError`.
    public func fetch(
        _ prepared: PreparedRequest, policy: CachePolicy? = nil, copying: Copying = .records
    ) async throws(CacheError) -> CachedAnswer {
        let policy = policy ?? options.policy
        do {
            let again = policy == .networkOnly ? nil : try begunAnew(prepared)
            return try await answer(again ?? prepared, policy, copying)
        } catch let error as CacheError {
            guard case .request(.status(let code, _, _, _), _) = error,
                let again = restarted(prepared, afterStatus: code)
            else { throw error }
            return try await answer(again, policy, copying)
        } catch {
            throw CacheError(error, url: prepared.shownURL, place: prepared.endpoint.place)
        }
    }

    private func answer(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ copying: Copying
    ) async throws(CacheError) -> CachedAnswer {
        do {
            var decision = CacheDecision(policy == .networkOnly ? .miss : .revalidate, .policy)
            if policy.looksFirst {
                let looked = try look(prepared, policy, copying)
                if let answer = looked.answer { return answer }
                decision = looked.decision
                if policy == .cacheOnly {
                    throw CacheError.unanswerable(url: prepared.shownURL, try explain(prepared, policy).decision)
                }
            }
            return try await ask(prepared, policy, copying, decision)
        } catch {
            throw CacheError(error, url: prepared.shownURL, place: prepared.endpoint.place)
        }
    }

    /// Answers a request from the store, if that is allowed, and then from the server.
    ///
    /// With a policy other than ``CachePolicy/cacheAndNetwork`` there is one answer: that of
    /// ``fetch(_:policy:copying:)``.
    public func answers(
        _ request: CacheRequest, policy: CachePolicy = .cacheAndNetwork
    ) -> AsyncThrowingStream<CachedAnswer, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let prepared = try await prepare(request)
                    if policy == .cacheAndNetwork, let stored = try look(prepared, .cacheOnly, .records).answer {
                        continuation.yield(stored)
                    }
                    continuation.yield(try await fetch(prepared, policy: policy))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Explains the decision about a request, rule by rule. Nothing is sent, and nothing changes.
    ///
    /// - Throws: `CacheError`: as ``prepare(_:)``, or if the store cannot be read.
    public func explain(_ request: CacheRequest, policy: CachePolicy? = nil) async throws(CacheError)
        -> CacheExplanation
    {
        let prepared = try await prepare(request)
        do {
            return try explain(prepared, policy ?? options.policy)
        } catch {
            throw CacheError(error, url: prepared.shownURL, place: prepared.endpoint.place)
        }
    }

    /// Waits for background work: revalidations, and the training of dictionaries.
    ///
    /// Failures are logged to the client's logger.
    public func finishBackground() async { await background.finish() }

    // MARK: Deciding

    var now: Int { Int(client.options.time.now().timeIntervalSince1970) }

    /// The request as the cache rules see it, with the directives of the policy and the caller.
    private func asked(_ prepared: PreparedRequest, _ policy: CachePolicy) -> TransportRequest {
        let directives = [policy.directives, prepared.directives].compactMap(\.self)
        guard !directives.isEmpty else { return prepared.selectingMessage }
        var request = prepared.selectingMessage
        request.headers.fields += directives.map { .init("Cache-Control", $0) }
        return request
    }

    func decide(_ prepared: PreparedRequest, _ policy: CachePolicy, _ view: ResponseView?, explains: Bool = false)
        -> CacheDecision
    {
        options.rules.decide(asked(prepared, policy), view.map(CachedResponse.init), at: now, explains: explains)
    }

    /// Decides whether a stored response replaces one that the server has failed to send.
    ///
    /// RFC 9111 §4.2.4 allows a stale answer if the client permits it: policies that fall back on
    /// the store do. Directives of the response have precedence: `must-revalidate` and `no-cache`
    /// forbid it, and `stale-if-error` limits its age (RFC 5861 §4).
    private func decide(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ view: ResponseView?, after failure: CacheRules.Failure
    ) -> CacheDecision {
        var request = asked(prepared, policy)
        let stored = view.map(CachedResponse.init),
            decision = options.rules.decide(request, stored, at: now, after: failure)
        guard decision.rule == .errorIsPassedOn, policy.fallsBack, options.rules.answersWhenDisconnected, let stored,
            CacheControl(request.headers).staleIfError == nil, CacheControl(stored.headers).staleIfError == nil
        else { return decision }
        request.headers.fields.append(.init("Cache-Control", "stale-if-error=2147483648"))
        return options.rules.decide(request, stored, at: now, after: failure)
    }

    private func explain(_ prepared: PreparedRequest, _ policy: CachePolicy) throws -> CacheExplanation {
        var explanation = CacheExplanation(url: prepared.shownURL, decision: CacheDecision(.miss, .nothingStored))
        try store.read(verifyingRows: true) { reader in
            let view = try reader.access.responses.view(prepared.digest)
            if policy.looksFirst {
                explanation.decision = decide(prepared, policy, view, explains: true)
            } else {
                let outcome: CacheDecision.Outcome = policy == .networkOnly || view == nil ? .miss : .revalidate
                explanation.decision = CacheDecision(outcome, .policy, steps: [.init(.policy, "\(policy)")])
            }
            explanation.status = view?.status
            explanation.records = view?.count
            explanation.validators = view.map { Validators(TransportHeaders(flat: $0.headers)) }
        }
        return explanation
    }

    // MARK: The store

    private func look(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ copying: Copying
    ) throws -> (answer: CachedAnswer?, decision: CacheDecision) {
        var answer: CachedAnswer?, decision = CacheDecision(.miss, .nothingStored)
        try store.read(verifyingRows: true) { reader in
            guard let view = try reader.access.responses.view(prepared.digest) else { return }
            decision = decide(prepared, policy, view)
            guard decision.isHit else { return }
            answer = try self.answer(view, decision, copying, reader, prepared)
        }
        if answer != nil, decision.outcome == .stale(revalidates: true), policy != .cacheOnly,
            prepared.options.isPersisted
        {
            revalidateInBackground(prepared)
        }
        return (answer, decision)
    }

    /// Calls a closure with the stored response to a request, if it may be used.
    ///
    /// This is the fastest way to an answer: nothing is copied, and no request is awaited.
    ///
    /// - Returns: the result of the closure; nil if no stored response may be used.
    /// - Throws: errors of the closure; `StoreError`, `StoreWriteError`.
    public func withHit<Result>(
        _ prepared: PreparedRequest, policy: CachePolicy? = nil,
        _ body: (CacheDecision, ListedResponse) throws -> Result
    ) throws -> Result? {
        let policy = policy ?? options.policy
        return try store.read(verifyingRows: true) { reader in
            guard let view = try reader.access.responses.view(prepared.digest) else { return nil }
            let decision = decide(prepared, policy, view)
            guard decision.isHit else { return nil }
            noteUse(view)
            if decision.outcome == .stale(revalidates: true) { revalidateInBackground(prepared) }
            return try body(decision, ListedResponse(view, reader))
        }
    }

    private func noteUse(_ view: ResponseView) {
        guard view.isCaches else { return }
        uses.note(view.id, usedAt: view.usedAt, now: Timestamp(seconds: now))
    }

    private func answer(
        _ view: ResponseView, _ decision: CacheDecision, _ copying: Copying, _ reader: StoreReader,
        _ prepared: PreparedRequest
    ) throws -> CachedAnswer {
        noteUse(view)
        let listed = ListedResponse(view, reader)
        let source: CachedAnswer.Source = if case .stale = decision.outcome { .stale } else { .stored }
        let keys = listed.listed(), page = view.page(keys)
        var answer = CachedAnswer(
            source: source, decision: decision, age: decision.freshness?.age ?? 0, listed: keys,
            records: copying == .records ? try listed.records() : [], metadata: page.kept)
        answer.status = view.status
        answer.skipped = view.skipped
        answer.end = page.end
        (answer.next, answer.isCutOff, answer.doubt) = prepared.following(page.end)
        answer.read = try prepared.options.reading?.records(keys, reader)
        return answer
    }

    // MARK: The server

    private func ask(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ copying: Copying, _ decision: CacheDecision
    ) async throws -> CachedAnswer {
        let transfer: Transfer, isShared: Bool
        do {
            (transfer, isShared) = try await prepared.options.deadline.run(
                method: prepared.message.method, url: prepared.message.url
            ) { [self] in
                try await self.transfer(prepared, isConditional: policy != .networkOnly)
            }
        } catch {
            let error = MirrorError(
                error, method: prepared.endpoint.method, url: prepared.shownURL, place: prepared.endpoint.place)
            guard policy != .networkOnly, let failure = error.cacheFailure else { throw CacheError.request(error, nil) }
            return try store.read(verifyingRows: true) { reader in
                let view = try reader.access.responses.view(prepared.digest)
                let fallback = decide(prepared, policy, view, after: failure)
                guard let view, fallback.isHit else { throw CacheError.request(error, fallback) }
                var answer = try self.answer(view, fallback, copying, reader, prepared)
                answer.failure = .request(error, nil)
                return answer
            }
        }
        var answer = CachedAnswer(
            source: transfer.source, decision: decision, age: 0, listed: transfer.listed, records: [],
            metadata: transfer.metadata,
            report: transfer.report, isStored: transfer.isStored, isShared: isShared || transfer.isAnothers)
        answer.requestedAt = transfer.requestedAt
        answer.end = transfer.page
        if let ending = transfer.ending {
            answer.isCutOff = ending != .last
        } else {
            (answer.next, answer.isCutOff, answer.doubt) = prepared.following(transfer.page)
        }
        answer.status = transfer.status
        answer.skipped = transfer.skipped
        answer.failure = transfer.partialFailure.map { .request($0, nil) }
        answer.cutLists = transfer.cutLists
        answer.body = transfer.body
        if let records = transfer.records {
            answer.records = records
            return answer
        }
        answer.read = transfer.read.flatMap { $0.type == prepared.options.reading?.type ? $0 : nil }
        if copying == .records || prepared.options.reading != nil && answer.read == nil {
            try readRecords(of: &answer, copying, prepared)
        }
        return answer
    }

    /// Reads the records of an answer that a transfer has brought.
    ///
    /// If a newer response was stored meanwhile, the answer is that one, as its records are in the
    /// store by now. If there is none any more, the records are those that are left.
    private func readRecords(
        of answer: inout CachedAnswer, _ copying: Copying, _ prepared: PreparedRequest
    ) throws {
        let old = answer
        answer = try store.read(verifyingRows: true) { reader in
            var answer = old
            if let view = try reader.access.responses.view(prepared.digest) {
                let keys = ListedResponse(view, reader).listed(), page = view.page(keys)
                (answer.listed, answer.metadata, answer.end) = (keys, page.kept, page.end)
                (answer.next, answer.isCutOff, answer.doubt) = prepared.following(page.end)
                (answer.status, answer.skipped) = (view.status, view.skipped)
            }
            if copying == .records {
                answer.records = try answer.listed.compactMap { try reader.access.record($0) }
            }
            answer.read = try prepared.options.reading?.records(answer.listed, reader)
            return answer
        }
    }

    /// Shares one transfer among all callers, in this process and others.
    ///
    /// The transfer is cancelled with its last caller. One with options of its own is not shared.
    func transfer(_ prepared: PreparedRequest, isConditional: Bool) async throws -> (Transfer, isShared: Bool) {
        let isOwn = prepared.options.isOwn, isPersisted = prepared.options.isPersisted, state = try state(of: prepared)
        return try await flights.value(prepared.options.flight(prepared.digest.bytes, state)) { [self] in
            // Until the transfer has ended, other caches see it.
            defer { withExtendedLifetime(state) {} }
            // Such a transfer leaves nothing in the store, not even its outcome.
            guard isPersisted else { return try await perform(prepared, isConditional: isConditional) }
            do {
                return try await prepared.request.noting(prepared.shownURL) {
                    if isOwn { return try await perform(prepared, isConditional: isConditional) }
                    return try await claimed(prepared) { try await perform(prepared, isConditional: isConditional) }
                }
            } catch {
                // A refusal may have told a limit, which a program that starts again has to know.
                try? await client.saveBudgets()
                throw error
            }
        }
    }

    private func revalidateInBackground(_ prepared: PreparedRequest) {
        inBackground(prepared.digest.bytes, "revalidation of \(prepared.shownURL)") { [self] in
            _ = try await transfer(prepared, isConditional: true)
        }
    }

    /// Runs work in the background that no answer waits for, one task per key at a time.
    func inBackground(_ key: [UInt8], _ what: String, _ body: @escaping @Sendable () async throws -> Void) {
        let logger = client.options.logger
        background.start(key) {
            do { try await body() } catch { logger?.warning("\(what) failed: \(error)") }
        }
    }
}

extension MirrorError {
    /// The failure as the rules of HTTP classify it; nil if it is not the server's.
    var cacheFailure: CacheRules.Failure? {
        switch self {
        case .transport(let error):
            switch error.kind {
            case .credentials, .url, .store, .cancelled: nil
            default: error.isUnreachable ? .disconnected : .error(status: nil)
            }
        // Too many requests: this status is not about the resource (RFC 6585 §4).
        case .status(429, _, _, _): .error(status: nil)
        case .status(let code, _, _, _): .error(status: code)
        // An error page, or a truncated body whose length only the end of the connection marks.
        case .response(.invalidJSON, _, _, _): .error(status: nil)
        default: nil
        }
    }
}
