// A caching transport: whole responses in the store, in front of another transport.

import Foundation
public import TarnHTTP
public import TarnStore

/// A transport that stores responses and answers by the rules of HTTP caching (RFC 9111).
///
/// It stores status, header fields in their order, and body, whether JSON or not.
///
///     let transport = CachedTransport(CurlTransport(), store: store)
///     let page = try await transport.send(TransportRequest(url: "https://api.example.org/readme"))
///
/// GET and HEAD are answered from the store, also in part (`Range`), from stored parts (206), and
/// with a 304 if the client has the response already. All other requests are forwarded to the inner
/// transport. Unsafe methods invalidate the stored responses of their URL, including the entries of
/// a ``RecordCache``. The URL is sent in the normalised form under which the response is stored.
///
/// A response to a request with credentials answers only requests with the same credentials. In a
/// shared cache, ``Options/scopeFields`` names the fields that distinguish users. Requests with
/// other credentials bypass the cache, except for `Authorization`, for which the response decides.
/// `Set-Cookie` is never stored.
///
/// Concurrent equal requests share a transfer, also between processes, unless the last response
/// could not be stored. Of one URL and user, 64 variants are stored at most. Caches may share a
/// store with records and mirrors.
///
/// In front of a `CurlTransport`, bodies are stored as the server sent them, and content codings
/// are removed from answers only. Other transports must leave the codings of a body as they are, or
/// remove `Content-Encoding` and `Content-Length` with them, if caches share the store.
public final class CachedTransport: Transport, Sendable {
    /// The options of a caching transport: its rules, limits and scopes.
    public struct Options: Sendable {
        /// The rules of HTTP; by default those of a private cache.
        public var rules = CacheRules()
        /// The limits of the cache, which include the record caches of the same store.
        public var limits = CacheLimits(entries: 1_000_000, bytes: 1 << 30)
        /// The maximum size of a stored body, in bytes. Larger ones are forwarded only.
        public var maximumBodySize = 64 << 20
        /// A text that separates users of the same store who send no credentials of their own.
        public var scope = ""
        /// Request fields whose values identify users; their responses follow private rules.
        ///
        /// In a private cache all credentials are such fields anyway.
        public var scopeFields: [String] = []
        /// The clock of ages, and the random source of evictions.
        public var time = TimeSource.system
        /// The longest wait of a response for the store, which has one writer at a time.
        package var longestWrite = Duration.seconds(5)

        /// Creates the options of a private cache of a million entries or a gibibyte.
        public init() {}
    }

    /// A response, with its source and the decision behind it.
    public struct Answer: Sendable {
        /// The response for the client, without `Cache-Status`.
        public var response: TransportResponse
        /// The cache status of RFC 9211.
        package var status: CacheStatus
        /// The decision of the cache, with its reasons.
        public var decision: CacheDecision
        /// The age in seconds; nil for a response from the server.
        public var age: Int?
        /// The reason why the store did not take the response; nil if it did, or was not to.
        package var storeFailure: String?

        /// Declares that the response is valid, but could not be stored.
        mutating func note(_ failure: any Error) {
            status.isStored = false
            status.detail =
                switch failure {
                case StoreWriteError.storeFull: "store-full"
                case is TimedWrites.Late: "store-busy"
                default: "store-failed"
                }
            storeFailure = "\(failure)"
        }
    }

    /// The options of the transport.
    package let options: Options
    let inner: any Transport
    /// The inner transport, if it removes content codings: stored bodies have them.
    private let decoder: CurlTransport?
    let shelf: ResponseStore
    private let flights = Flights<Fetched>()
    private let unstored = UnstoredRequests()
    let states: ResourceStates
    private let background = BackgroundTasks()
    let claims: RequestLock?

    /// Creates a cache in front of a transport. Other caches and mirrors may use the same store.
    public init(_ inner: any Transport, store: Store, options: Options = Options()) {
        self.inner = inner
        decoder = CachedTransport.decoder(under: inner)
        self.options = options
        shelf = ResponseStore(store, options, completing: decoder)
        claims = RequestLock(directory: store.directory)
        states = ResourceStates(claims)
    }

    /// The transport below others that removes content codings; nil if there is none.
    private static func decoder(under transport: any Transport) -> CurlTransport? {
        var transport = transport
        while let layer = transport as? any TransportLayer { transport = layer.inner }
        return (transport as? CurlTransport).flatMap { $0.options.decodesContent ? $0 : nil }
    }

    /// Answers a request, as ``answer(_:)`` does.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        try await answer(request).response
    }

    /// Answers a request, and reports the source of the response.
    ///
    /// If the store cannot take the server's response, for example because it is full, the response
    /// is the answer all the same.
    ///
    /// - Throws: `TransportError` of the inner transport if no stored response may be used instead;
    ///   with the kind `store` if the store cannot be read, since its content is unknown then.
    public func answer(_ request: TransportRequest) async throws(TransportError) -> Answer {
        try await answer(request, policy: .cacheFirst)
    }

    /// Answers a request by a policy.
    ///
    /// - Parameter policy: whether the server is asked first. What else a policy means is for the
    ///   directives of the request.
    package func answer(_ request: TransportRequest, policy: CachePolicy) async throws(TransportError) -> Answer {
        let request = completed(request)
        let answer = try await codedAnswer(request, policy)
        do throws(TransportError) {
            return try decoded(answer, of: request)
        } catch let problem {
            guard answer.status.isHit || answer.status.forwardStatus == 304 else { throw problem }
            return try await replacement(of: answer, to: request)
        }
    }

    /// Answers a request whose stored response cannot be decoded: the server's replaces it.
    ///
    /// Another cache has stored a coding that is unknown here, or an earlier version the decoded
    /// content. A text is the latter, and is the answer itself if the server has no other.
    private func replacement(
        of stored: Answer, to request: TransportRequest
    ) async throws(TransportError) -> Answer {
        let isText = String(validating: stored.response.body, as: UTF8.self) != nil
        if CacheControl(request.headers).onlyIfCached {
            return try await isText ? stored : decoded(bypass(request, .policy), of: request)
        }
        do throws(TransportError) {
            let answer = try decoded(try await codedAnswer(request, .networkOnly), of: request)
            return isText && answer.response.status >= 500 ? stored : answer
        } catch let error {
            guard isText, error.kind != .cancelled else { throw error }
            return stored
        }
    }

    /// The request with the fields that the inner transport adds: a response may vary by them.
    private func completed(_ request: TransportRequest) -> TransportRequest {
        guard let decoder else { return request }
        var request = request
        request.headers.fields += decoder.addedFields(to: request)
        request.keepsCoding = true
        return request
    }

    /// The answer without content codings, if the inner transport removes them.
    private func decoded(_ answer: Answer, of request: TransportRequest) throws(TransportError) -> Answer {
        guard let decoder else { return answer }
        var answer = answer
        answer.response = try decoder.decoded(answer.response, of: request)
        return answer
    }

    private func codedAnswer(
        _ request: TransportRequest, _ policy: CachePolicy
    ) async throws(TransportError) -> Answer {
        do {
            guard let url = try? HTTPURL(request.url).normalized.description else {
                return try await passOn(request, nil)
            }
            // The sent URL must be the key: a server that interprets `/x/%2e%2e/` in its own way
            // would fill the entry of another URL.
            var request = request
            request.url = url
            let scope = try shelf.scope(request)
            guard request.method == "GET" || request.method == "HEAD" else { return try await passOn(request, scope) }
            guard let scope, request.body == nil else {
                return try await bypass(request, scope == nil ? .credentials : .policy)
            }
            return try await policy.looksFirst
                ? answer(request, url, scope) : serversAnswer(request, url, scope, policy)
        } catch let error as TransportError {
            throw error
        } catch is CancellationError {
            throw TransportError(.cancelled, method: request.method, url: request.url, detail: "cancelled")
        } catch {
            throw TransportError(
                .store, method: request.method, url: request.url, detail: "error of the cache's store: \(error)")
        }
    }

    /// Answers a request from the store without suspending its thread for a transfer.
    ///
    /// - Parameter maximumBody: the largest stored body that is read.
    /// - Returns: nil if only ``answer(_:)`` can answer: the server is needed, also to revalidate,
    ///   the body is larger, or the store fails.
    package func storedAnswer(_ request: TransportRequest, maximumBody: Int) -> Answer? {
        guard request.method == "GET" || request.method == "HEAD", request.body == nil,
            let url = try? HTTPURL(request.url).normalized.description
        else { return nil }
        var request = completed(request)
        request.url = url
        // `answer` asks again, and reports the error.
        guard let scope = try? shelf.scope(request), let found = try? shelf.find(request, url, scope, now: now),
            found.size <= maximumBody
        else { return nil }
        let decision = scope.rules.decide(request, found.response, at: now)
        guard decision.isHit, decision.outcome != .stale(revalidates: true) else { return nil }
        guard let answer = try? served(found, request, scope, decision, isValidated: false) else { return nil }
        return try? decoded(answer, of: request)
    }

    /// Explains the decision about a request. Nothing is sent.
    ///
    /// - Throws: `StoreError`, `StoreWriteError`, or an error about an invalid URL.
    public func explain(_ request: TransportRequest) throws -> CacheExplanation {
        let url = try HTTPURL(request.url).normalized.description, request = completed(request)
        guard let scope = try shelf.scope(request) else {
            let decision = CacheDecision(.miss, .credentials, steps: [.init(.credentials)])
            return CacheExplanation(
                url: Redaction.url(url), decision: decision, status: nil, records: nil, validators: nil)
        }
        let found = try shelf.find(request, url, scope, now: now)
        return CacheExplanation(
            url: Redaction.url(url), decision: scope.rules.decide(request, found?.response, at: now, explains: true),
            status: found?.response.status, records: nil, validators: found.map { Validators($0.response.headers) })
    }

    /// Waits for revalidations in the background, and for the writes of responses that did not wait
    /// for a busy store.
    public func finishBackground() async {
        await background.finish()
        await shelf.finishLateWrites()
    }

    /// Cancels revalidations in the background.
    package func cancelBackground() { background.cancel() }

    var now: Int { Int(options.time.now().timeIntervalSince1970) }

    // MARK: Deciding

    private func answer(_ request: TransportRequest, _ url: String, _ scope: CacheScope) async throws -> Answer {
        let found = try shelf.find(request, url, scope, now: now)
        var decision = scope.rules.decide(request, found?.response, at: now)
        if let found, decision.isHit {
            if let answer = try served(found, request, scope, decision, isValidated: false) {
                if decision.outcome == .stale(revalidates: true) { revalidateInBackground(request, url, scope) }
                return answer
            }
            // Several ranges, or a body that was removed meanwhile: only the server has it.
            decision =
                CacheControl(request.headers).onlyIfCached
                ? CacheDecision(.unanswerable, .onlyIfCached) : CacheDecision(.miss, .rangeNotStored)
        } else if wantsPart(request), let part = try shelf.find(request, url, scope, now: now, isPart: true) {
            let partDecision = scope.rules.decide(request, part.response, at: now)
            if partDecision.isHit {
                if let answer = try served(part, request, scope, partDecision, isValidated: false) {
                    if partDecision.outcome == .stale(revalidates: true) { revalidateInBackground(request, url, scope) }
                    return answer
                }
                if decision.outcome == .miss { decision = CacheDecision(.miss, .rangeNotStored) }
            }
        }
        if decision.outcome == .unanswerable {
            // RFC 9111 §5.2.1.7
            return Answer(
                response: TransportResponse(status: 504),
                status: CacheStatus(forward: nil, detail: decision.rule.rawValue),
                decision: decision)
        }
        return try await fetched(request, url, scope, decision)
    }

    func wantsPart(_ request: TransportRequest) -> Bool { request.method == "GET" && request.headers["Range"] != nil }

    /// The stored response as the request wants it; nil if only the server can answer.
    func served(
        _ found: StoredMessage, _ request: TransportRequest, _ scope: CacheScope, _ decision: CacheDecision,
        isValidated: Bool
    ) throws -> Answer? {
        let rules = scope.rules, now = now, remaining = rules.freshness(of: found.response, at: now).remaining
        var headers = rules.servedFields(of: found.response, at: now, isValidated: isValidated)
        let age = found.response.age(at: now)
        func made(_ status: Int, _ headers: TransportHeaders, _ body: [UInt8]) -> Answer {
            Answer(
                response: TransportResponse(
                    status: status, headers: headers, body: body, redirectedTo: found.redirectedTo),
                status: CacheStatus(isHit: true, timeToLive: remaining), decision: decision, age: age)
        }
        if rules.clientHasCurrent(found.response, request.headers, at: now) {
            return made(304, CacheRules.notModifiedFields(headers), [])
        }
        if request.method == "HEAD" { return found.parts == nil ? made(found.response.status, headers, []) : nil }
        switch range(request, of: found) {
        case .whole:
            guard found.parts == nil else { return nil }
            return try shelf.body(found, 0..<found.size).map { made(found.response.status, headers, $0) }
        case .several: return nil
        case .unsatisfiable:
            return made(
                416,
                TransportHeaders([.init("Content-Range", "bytes */\(found.size)"), .init("Age", String(age))]), [])
        case .part(let range):
            headers["Content-Range"] = ContentRange(range, of: found.size).description
            headers["Content-Length"] = String(range.count)
            return try shelf.body(found, range).map { made(206, headers, $0) }
        }
    }

    /// The part of a stored response that a request asks for.
    private func range(_ request: TransportRequest, of found: StoredMessage) -> ByteRange.Selection {
        let range = ByteRange.select(request.headers, of: found.response, length: found.size, at: now)
        // A part of coded bytes cannot be decoded: the server has other ranges.
        let isCoded = decoder != nil && found.response.headers["Content-Encoding"] != nil
        return isCoded && range != .whole ? .several : range
    }

    /// Whether a 304 would let the stored response answer the request.
    func couldServe(_ found: StoredMessage, _ request: TransportRequest) -> Bool {
        guard request.headers["Range"] != nil else { return found.parts == nil }
        switch range(request, of: found) {
        case .whole: return found.parts == nil
        case .several: return false
        case .unsatisfiable: return true
        case .part(let range): return found.places(of: range) != nil
        }
    }

    private func revalidateInBackground(_ request: TransportRequest, _ url: String, _ scope: CacheScope) {
        var plain = request
        // The range stays: the entry may consist of parts.
        for name in ["If-None-Match", "If-Modified-Since", "If-Range"] { plain.headers[name] = nil }
        plain.method = "GET"
        let wanted = plain
        background.start(digest(wanted, url).bytes) { [self] in
            _ = try? await fetched(wanted, url, scope, CacheDecision(.revalidate, .staleWhileRevalidate))
        }
    }

    // MARK: The server

    /// The result of a transfer, before it is adapted to a single request.
    struct Fetched: Sendable {
        var answer: Answer
        /// The stored response, for other requests; nil if it was not stored.
        var stored: StoredMessage?
        /// The time at which the server's response was complete; nil without one.
        var receivedAt: ContinuousClock.Instant?
    }

    func fetched(_ request: TransportRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision)
        async throws -> Answer
    {
        var scope = scope
        scope.state = try state(url)
        // Ranges, HEAD, and conditions for the server only concern a single request.
        guard request.method == "GET", request.headers["Range"] == nil, decision.rule != .preconditionIsTheServers,
            !CacheControl(request.headers).noStore
        else { return try await forward(request, url, scope, decision).answer }
        let joined = scope, arrived = ContinuousClock.now, key = digest(request, url).bytes
        guard !unstored.contains(key) else {
            // A shared transfer would not help those who wait for it.
            let fetched = try await forward(request, url, scope, decision)
            note(fetched, key)
            return fetched.answer
        }
        let (fetched, isShared) = try await flights.value(digest(request, url, scope.state).bytes) { [self] in
            let fetched = try await claimed(request, url, joined, decision)
            note(fetched, key)
            return fetched
        }
        guard isShared else { return fetched.answer }
        // Complete before this request, and still being stored: it is like any stored one.
        if let received = fetched.receivedAt, received < arrived, let stored = fetched.stored,
            !scope.rules.decide(request, stored.response, at: now).isHit
        {
            return try await self.fetched(request, url, scope, decision)
        }
        // A response that must not be stored is only for the request that caused it.
        guard let stored = fetched.stored, var answer = try served(stored, request, scope, decision, isValidated: true)
        else {
            return try await forward(request, url, scope, decision).answer
        }
        answer.status = fetched.answer.status
        answer.status.isCollapsed = true
        return answer
    }

    /// Notes whether the response to a request could be stored. Failures are no evidence.
    private func note(_ fetched: Fetched, _ key: [UInt8]) {
        guard fetched.stored == nil else { return unstored.note(key, isStored: true) }
        let status = fetched.answer.response.status
        guard status < 500, status != 429, status != 408, fetched.answer.storeFailure == nil else { return }
        unstored.note(key, isStored: false)
    }

    /// The current state of a resource, which its transfer holds.
    func state(_ url: String) throws -> ResourceState {
        try states.current(url) { try shelf.unsafeRequests }
    }

    /// Forwards a request outside the cache: it neither reads nor stores a response.
    private func bypass(_ request: TransportRequest, _ rule: CacheRule) async throws(TransportError) -> Answer {
        if CacheControl(request.headers).onlyIfCached {
            return Answer(
                response: TransportResponse(status: 504),
                status: CacheStatus(forward: nil, detail: CacheRule.onlyIfCached.rawValue),
                decision: CacheDecision(.unanswerable, .onlyIfCached))
        }
        let response = try await inner.send(request)
        return Answer(
            response: response, status: CacheStatus(forward: .bypass, forwardStatus: response.status),
            decision: CacheDecision(.miss, rule))
    }

    /// Runs a write to the store, and returns its failure: the server's response is valid all the
    /// same.
    ///
    /// - Throws: `CancellationError`.
    func attempt<Value>(_ write: () async throws -> Value) async throws -> Result<Value, any Error> {
        do {
            return .success(try await write())
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// Whether a response is small enough to be stored, and can be served as it is.
    func fits(_ response: TransportResponse) -> Bool {
        response.body.count <= options.maximumBodySize && response.headers.fields.allSatisfy(HTTPSyntax.isWellFormed)
    }

    /// The stored form of a response.
    func message(of response: TransportResponse, to request: TransportRequest, _ scope: CacheScope, _ requestTime: Int)
        -> CachedResponse
    {
        CachedResponse(
            status: response.status, headers: scope.rules.storedFields(of: TransportHeaders(stored: response)),
            selecting: CacheRules.selectingFields(of: request.headers, by: response.headers), requestTime: requestTime,
            responseTime: now)
    }
}
