// The record-level cache: requests in, records out, by HTTP's rules, on line or off.

import Foundation
public import TarnHTTP
import TarnImport
public import TarnStore

/// Answers requests to an API with records.
///
/// A response is kept as the keys of its records, its validators and its metadata, in the same transaction as the records. While it is fresh
/// it is answered from there; when it is stale the server is asked with a condition, and a 304 costs neither parsing nor an import; when the
/// server cannot be reached what is stale is given, marked as such, where nothing forbids it.
///
///     let cache = try RecordCache(description, store: store, transport: CurlTransport(description.api.transport))
///     let answer = try await cache.fetch(CacheRequest("issues"))
///     print(answer.records.count, answer.source, answer.age)
///
/// Deleting a record, here or anywhere, invalidates the responses that list it; a change of the schema or the mapping makes other requests of
/// all. What a ``Mirror`` has walked is answered from too. Any number of tasks and processes may use caches over one store.
///
/// See <doc:Caching>.
public final class RecordCache: Sendable {
    /// Where records and responses are.
    public let store: Store
    /// What it was made with.
    public let options: Options
    let mirror: Mirror
    let pipelines: PipelinePool
    let uses = CacheUses()
    /// Of what decides how a response becomes records, by endpoint: too much to be hashed for each request.
    let fingerprints: [String: String]
    private let claims: ClaimFile?
    private let flights = Flights<Transfer>()
    private let background = BackgroundTasks()

    /// - Parameter options: nil for what the description says.
    /// - Throws: as ``Mirror``'s initializer.
    public init(
        _ description: Description, store: Store, transport: any Transport, options: Options? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        let options = options ?? Options(description.api.cache)
        self.store = store
        self.options = options
        mirror = try Mirror(description, store: store, transport: transport, options: options.mirror, environment: environment)
        pipelines = PipelinePool(description.mapping)
        fingerprints = Dictionary(description.endpoints.map { ($0.name, description.fingerprint(of: $0)) }) { first, _ in first }
        claims = options.sharesTransfersBetweenProcesses ? ClaimFile(directory: store.path) : nil
    }

    /// What is copied out of the store for an answer.
    public enum Copying: Sendable {
        case keys, records
    }

    /// Answers a request.
    ///
    /// If the calling task is cancelled, it returns at once, with the error `MirrorError.cancelled`
    /// in a `CacheError`; the transfer ends too, unless other callers wait for it. What is stored
    /// answers a cancelled caller as well.
    ///
    /// - Parameters:
    ///   - policy: where the answer comes from, if not as the options say.
    ///   - copying: `keys` if the records are not wanted.
    /// - Throws: `CacheError`.
    public func fetch(
        _ request: CacheRequest, policy: CachePolicy? = nil, copying: Copying = .records
    ) async throws(CacheError) -> CachedAnswer {
        try await fetch(try await prepare(request), policy: policy, copying: copying)
    }

    /// Answers a request that has been prepared.
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

    /// Answers as they come: what is stored, if there is anything that may be used, and then what the server says. With another policy than
    /// ``CachePolicy/cacheAndNetwork`` it is the one answer of ``fetch(_:policy:copying:)``.
    public func answers(
        _ request: CacheRequest, policy: CachePolicy = .cacheAndNetwork
    ) -> AsyncThrowingStream<CachedAnswer, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let prepared = try await prepare(request)
                    if policy == .cacheAndNetwork, let stored = try look(prepared, .cacheOnly, .records).answer { continuation.yield(stored) }
                    continuation.yield(try await fetch(prepared, policy: policy))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// What would be done about a request, and why, rule by rule. Nothing is sent, and nothing changes.
    ///
    /// - Throws: `CacheError`: as ``prepare(_:)``, or the store cannot be read.
    public func explain(_ request: CacheRequest, policy: CachePolicy? = nil) async throws(CacheError) -> CacheExplanation {
        let prepared = try await prepare(request)
        do {
            return try explain(prepared, policy ?? options.policy)
        } catch {
            throw CacheError(error, url: prepared.shownURL, place: prepared.endpoint.place)
        }
    }

    /// Waits for what goes on in the background: revalidations, and the training of dictionaries. What fails there is told to the logger of
    /// ``Options/mirror``.
    public func finishBackground() async { await background.finish() }

    // MARK: Deciding

    var now: Int { Int(options.mirror.time.now().timeIntervalSince1970) }

    /// The request as the rules see it.
    private func asked(_ prepared: PreparedRequest, _ policy: CachePolicy) -> HTTPRequest {
        let directives = [policy.directives, prepared.directives].compactMap(\.self)
        guard !directives.isEmpty else { return prepared.request }
        var request = prepared.request
        request.headers.fields += directives.map { .init("Cache-Control", $0) }
        return request
    }

    func decide(_ prepared: PreparedRequest, _ policy: CachePolicy, _ view: ResponseView?, explains: Bool = false) -> CacheDecision {
        options.rules.decide(asked(prepared, policy), view.map(CachedResponse.init), at: now, explains: explains)
    }

    /// Whether what is stored answers a request that the server has failed to answer.
    ///
    /// RFC 9111 §4.2.4 allows a stale answer if the client permits it: policies that fall back on
    /// the store do. Directives of the response decide all the same: `must-revalidate` and
    /// `no-cache` forbid it, and `stale-if-error` says how long (RFC 5861 §4).
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
            let view = try reader.access.responseView(prepared.digest)
            if policy.looksFirst {
                explanation.decision = decide(prepared, policy, view, explains: true)
            } else {
                let outcome: CacheDecision.Outcome = policy == .networkOnly || view == nil ? .miss : .revalidate
                explanation.decision = CacheDecision(outcome, .policy, steps: [.init(.policy, "\(policy)")])
            }
            explanation.status = view?.status
            explanation.records = view?.count
            explanation.validators = view.map { Validators(HTTPHeaders(flat: $0.headers)) }
        }
        return explanation
    }

    // MARK: The store

    private func look(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ copying: Copying
    ) throws -> (answer: CachedAnswer?, decision: CacheDecision) {
        var answer: CachedAnswer?, decision = CacheDecision(.miss, .nothingStored)
        try store.read(verifyingRows: true) { reader in
            guard let view = try reader.access.responseView(prepared.digest) else { return }
            decision = decide(prepared, policy, view)
            guard decision.isHit else { return }
            answer = try self.answer(view, decision, copying, reader, prepared)
        }
        if answer != nil, decision.outcome == .stale(revalidates: true), policy != .cacheOnly { revalidateInBackground(prepared) }
        return (answer, decision)
    }

    /// Lends what is stored for a request to the closure, if it may be used; nil if not. Nothing is copied, and nobody is asked: the
    /// quickest way to an answer.
    ///
    /// - Throws: what the closure throws, and `StoreError`.
    public func withHit<Result>(
        _ prepared: PreparedRequest, policy: CachePolicy? = nil, _ body: (CacheDecision, ListedResponse) throws -> Result
    ) throws -> Result? {
        let policy = policy ?? options.policy
        return try store.read(verifyingRows: true) { reader in
            guard let view = try reader.access.responseView(prepared.digest) else { return nil }
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
        _ view: ResponseView, _ decision: CacheDecision, _ copying: Copying, _ reader: StoreReader, _ prepared: PreparedRequest
    ) throws -> CachedAnswer {
        noteUse(view)
        let listed = ListedResponse(view, reader)
        let source: CachedAnswer.Source = if case .stale = decision.outcome { .stale } else { .stored }
        let keys = listed.listed(), page = view.page(keys)
        var answer = CachedAnswer(
            source: source, decision: decision, age: decision.freshness?.age ?? 0, listed: keys,
            records: copying == .records ? try listed.records() : [], metadata: page.kept)
        answer.next = prepared.next(page.end)
        return answer
    }

    // MARK: The server

    private func ask(
        _ prepared: PreparedRequest, _ policy: CachePolicy, _ copying: Copying, _ decision: CacheDecision
    ) async throws -> CachedAnswer {
        let transfer: Transfer, isShared: Bool
        do {
            (transfer, isShared) = try await self.transfer(prepared, isConditional: policy != .networkOnly)
        } catch {
            let error = Mirror.mirrorError(error, url: prepared.shownURL, place: prepared.endpoint.place)
            guard policy != .networkOnly, let failure = error.cacheFailure else { throw CacheError.request(error, nil) }
            return try store.read(verifyingRows: true) { reader in
                let view = try reader.access.responseView(prepared.digest)
                let fallback = decide(prepared, policy, view, after: failure)
                guard let view, fallback.isHit else { throw CacheError.request(error, fallback) }
                var answer = try self.answer(view, fallback, copying, reader, prepared)
                answer.failure = .request(error, nil)
                return answer
            }
        }
        var answer = CachedAnswer(
            source: transfer.source, decision: decision, age: 0, listed: transfer.listed, records: [], metadata: transfer.metadata,
            report: transfer.report, isStored: transfer.isStored, isShared: isShared || transfer.isAnothers)
        answer.next = prepared.next(transfer.page)
        guard copying == .records else { return answer }
        if let records = transfer.records {
            answer.records = records
        } else {
            answer.records = try store.read(verifyingRows: true) { reader in try transfer.listed.compactMap { try reader.access.record($0) } }
        }
        return answer
    }

    /// Shares one transfer among all callers, in this process and others. It ends with the last of
    /// them.
    func transfer(_ prepared: PreparedRequest, isConditional: Bool) async throws -> (Transfer, isShared: Bool) {
        try await flights.value(prepared.digest.bytes) { [self] in
            try await claimed(prepared) { try await perform(prepared, isConditional: isConditional) }
        }
    }

    private func claimed(_ prepared: PreparedRequest, _ body: () async throws -> Transfer) async throws -> Transfer {
        guard let claims else { return try await body() }
        let began = options.mirror.time.now()
        var hasWaited = false
        while claims.claim(prepared.digest) == .isAnothers {
            hasWaited = true
            try await Task.sleep(for: .milliseconds(10))
        }
        defer { claims.release(prepared.digest) }
        // What another process has fetched meanwhile is the answer; if it failed, this one tries itself.
        if hasWaited, let transfer = try fetched(prepared, since: began) { return transfer }
        return try await body()
    }

    private func revalidateInBackground(_ prepared: PreparedRequest) {
        inBackground(prepared.digest.bytes, "revalidation of \(prepared.shownURL)") { [self] in _ = try await transfer(prepared, isConditional: true) }
    }

    /// Does something that no answer waits for, once at a time.
    func inBackground(_ key: [UInt8], _ what: String, _ body: @escaping @Sendable () async throws -> Void) {
        let logger = options.mirror.logger
        background.start(key) {
            do { try await body() } catch { logger?.warning("\(what) has failed: \(error)") }
        }
    }
}

extension MirrorError {
    /// What the failure means for HTTP's rules; nil if it is none of the server's.
    var cacheFailure: CacheRules.Failure? {
        switch self {
        case .transport(let error):
            switch error.kind {
            case .credentials, .url, .store, .cancelled: nil
            default: error.isUnreachable ? .disconnected : .error(status: nil)
            }
        // It is asked too often, and says nothing about the resource (RFC 6585 §4).
        case .status(429, _, _, _): .error(status: nil)
        case .status(let code, _, _, _): .error(status: code)
        // An error page, or a body that was cut where only the end of the connection tells its
        // length.
        case .response(.invalidJSON, _, _): .error(status: nil)
        default: nil
        }
    }
}
