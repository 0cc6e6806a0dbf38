// Whole responses in the store, in front of another transport: what HTTP's rules allow is answered from there, JSON or not.

import Foundation
public import TarnHTTP
public import TarnStore

/// A transport that keeps responses in a store, with status, header fields in their order, and body, and answers from there by the rules of
/// HTTP caching (RFC 9111).
///
///     let transport = CachedTransport(CurlTransport(), store: store)
///     let page = try await transport.send(HTTPRequest(url: "https://api.example.org/readme"))
///
/// GET and HEAD are answered from what is stored, also in part (`Range`) and with 304 for who has it already. Everything else goes to the
/// transport behind it; methods that are not safe invalidate what is stored of their URL, also the entries of a ``RecordCache``. Responses
/// that are parts (206) are passed on and not stored. A response to a request with `Authorization` answers that user only, unless the cache is
/// shared and the response allows it.
///
/// Equal requests at the same time share a transfer, also between processes. Caches may share a store with records and mirrors.
public final class CachedTransport: Transport, Sendable {
    /// How a transport caches, and how much it keeps.
    public struct Options: Sendable {
        /// HTTP's rules, for a private cache if nothing is said.
        public var rules = CacheRules()
        /// How much is kept, together with what record caches keep in the same store.
        public var limits = CacheLimits(entries: 1_000_000, bytes: 1 << 30)
        /// Bytes of a body that is stored; larger ones are passed on.
        public var maximumBodySize = 64 << 20
        /// What distinguishes those who share the store and do not send `Authorization` themselves.
        public var scope = ""
        /// The clock of ages, and the chance of evictions.
        public var time = TimeSource.system

        /// For one user, with a million entries or a gibibyte.
        public init() {}
    }

    /// A response, and how it was come by.
    public struct Answer: Sendable {
        /// As the client is to get it, but for `Cache-Status`.
        public var response: HTTPResponse
        /// In the words of RFC 9211.
        public var status: CacheStatus
        /// Why.
        public var decision: CacheDecision
        /// Nil if it comes from the server.
        public var age: Int?
    }

    /// What it was made with.
    public let options: Options
    let inner: any Transport
    let shelf: ResponseShelf
    private let flights = Flights<Fetched>()
    private let background = Flights<Void>()
    private let claims: ClaimFile?

    /// A cache in front of a transport. Other caches and mirrors may use the same store.
    public init(_ inner: any Transport, store: Store, options: Options = Options()) {
        self.inner = inner
        self.options = options
        shelf = ResponseShelf(store, options)
        claims = ClaimFile(directory: store.path)
    }

    /// Answers a request, as ``answer(_:)`` does.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { try await answer(request).response }

    /// Answers a request, and says how.
    ///
    /// - Throws: `TransportError` of the transport behind it, if nothing stored may be used instead; with the kind `store` if the store
    ///   fails, since then nothing can be said about what is in it.
    public func answer(_ request: HTTPRequest) async throws(TransportError) -> Answer {
        do {
            guard let url = try? HTTPURL(request.url).normalized.description else { return try await passOn(request, url: request.url) }
            guard request.method == "GET" || request.method == "HEAD" else { return try await passOn(request, url: url) }
            return try await answer(request, url)
        } catch let error as TransportError {
            throw error
        } catch is CancellationError {
            throw TransportError(.cancelled, method: request.method, url: request.url, detail: "cancelled")
        } catch {
            throw TransportError(.store, method: request.method, url: request.url, detail: "the store of the cache: \(error)")
        }
    }

    /// What would be done about a request, and why. Nothing is sent.
    public func explain(_ request: HTTPRequest) throws -> CacheExplanation {
        let url = try HTTPURL(request.url).normalized.description
        let found = try shelf.find(request, url, now: now)
        return CacheExplanation(
            url: Redaction.url(url), decision: options.rules.decide(request, found?.response, at: now, explains: true),
            status: found?.response.status, records: nil, validators: found.map { Validators($0.response.headers) })
    }

    /// Waits for revalidations that go on in the background.
    public func finishBackground() async { await background.finish() }

    var now: Int { Int(options.time.now().timeIntervalSince1970) }

    // MARK: Deciding

    private func answer(_ request: HTTPRequest, _ url: String) async throws -> Answer {
        let found = try shelf.find(request, url, now: now)
        var decision = options.rules.decide(request, found?.response, at: now)
        if let found, decision.isHit {
            if let answer = try served(found, request, decision, isValidated: false) {
                if decision.outcome == .stale(revalidates: true) { revalidateInBackground(request, url) }
                return answer
            }
            // Several ranges, or the body has gone meanwhile: the server has it.
            decision = CacheDecision(.miss, .rangeNotStored)
        }
        if decision.outcome == .unanswerable {
            // RFC 9111 §5.2.1.7
            return Answer(
                response: HTTPResponse(status: 504), status: CacheStatus(forward: nil, detail: decision.rule.rawValue), decision: decision)
        }
        return try await fetched(request, url, decision)
    }

    /// What is stored, as the request wants it; nil if it is wanted in a way that only the server can.
    func served(_ found: StoredMessage, _ request: HTTPRequest, _ decision: CacheDecision, isValidated: Bool) throws -> Answer? {
        let rules = options.rules, now = now, remaining = rules.freshness(of: found.response, at: now).remaining
        var headers = rules.servedFields(of: found.response, at: now, isValidated: isValidated)
        let age = found.response.age(at: now)
        func made(_ status: Int, _ headers: HTTPHeaders, _ body: [UInt8]) -> Answer {
            Answer(
                response: HTTPResponse(status: status, headers: headers, body: body, redirectedTo: found.redirectedTo),
                status: CacheStatus(isHit: true, timeToLive: remaining), decision: decision, age: age)
        }
        if rules.clientHasCurrent(found.response, request.headers, at: now) { return made(304, CacheRules.notModifiedFields(headers), []) }
        if request.method == "HEAD" { return made(found.response.status, headers, []) }
        switch ByteRange.select(request.headers, of: found.response, length: found.size, at: now) {
        case .whole: return try shelf.body(found, 0..<found.size).map { made(found.response.status, headers, $0) }
        case .several: return nil
        case .unsatisfiable:
            return made(416, HTTPHeaders([.init("Content-Range", "bytes */\(found.size)")]), [])
        case .part(let range):
            headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(found.size)"
            headers["Content-Length"] = String(range.count)
            return try shelf.body(found, range).map { made(206, headers, $0) }
        }
    }

    private func revalidateInBackground(_ request: HTTPRequest, _ url: String) {
        var plain = request
        for name in ["If-None-Match", "If-Modified-Since", "If-Range", "Range"] { plain.headers[name] = nil }
        plain.method = "GET"
        let wanted = plain
        _ = background.task(digest(wanted, url).bytes) { [self] in
            _ = try await fetched(wanted, url, CacheDecision(.revalidate, .staleWhileRevalidate))
        }
    }

    // MARK: The server

    /// What a transfer has brought, before it is made fit for one request.
    struct Fetched: Sendable {
        var answer: Answer
        /// Set if it is in the store, so that others may have it.
        var stored: StoredMessage?
    }

    private func fetched(_ request: HTTPRequest, _ url: String, _ decision: CacheDecision) async throws -> Answer {
        // Parts, HEAD and conditions that only the server judges are nobody else's.
        guard request.method == "GET", request.headers["Range"] == nil, decision.rule != .preconditionIsTheServers,
            !CacheControl(request.headers).noStore
        else { return try await forward(request, url, decision).answer }
        let (task, isShared) = flights.task(digest(request, url).bytes) { [self] in try await claimed(request, url, decision) }
        let fetched = try await task.value
        guard isShared else { return fetched.answer }
        // What may not be stored is for the one who asked.
        guard let stored = fetched.stored, var answer = try served(stored, request, decision, isValidated: true) else {
            return try await forward(request, url, decision).answer
        }
        answer.status = fetched.answer.status
        answer.status.isCollapsed = true
        return answer
    }

    /// One transfer for all processes: who has waited for another one looks again.
    private func claimed(_ request: HTTPRequest, _ url: String, _ decision: CacheDecision) async throws -> Fetched {
        let digest = digest(request, url)
        guard let claims else { return try await forward(request, url, decision) }
        var hasWaited = false
        while claims.claim(digest) == .isAnothers {
            hasWaited = true
            try await Task.sleep(for: .milliseconds(10))
        }
        defer { claims.release(digest) }
        if hasWaited, let found = try shelf.find(request, url, now: now) {
            let again = options.rules.decide(request, found.response, at: now)
            if again.isHit, var answer = try served(found, request, again, isValidated: false) {
                answer.status.isCollapsed = true
                return Fetched(answer: answer, stored: found)
            }
        }
        return try await forward(request, url, decision)
    }

    /// Equal requests: same method, URL and header fields.
    private func digest(_ request: HTTPRequest, _ url: String) -> RequestDigest {
        RequestKey(
            method: request.method, url: url, endpoint: ResponseShelf.endpoint,
            authScope: request.headers.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
        ).digest
    }

    /// Methods that are not cached, and URLs that cannot be.
    private func passOn(_ request: HTTPRequest, url: String) async throws -> Answer {
        let response = try await inner.send(request)
        let invalid = CacheRules.invalidated(by: request, response)
        if !invalid.isEmpty { try await shelf.invalidate(invalid) }
        let decision = CacheDecision(.miss, .methodNotCacheable)
        return Answer(response: response, status: CacheStatus(forward: .method, forwardStatus: response.status), decision: decision)
    }
}
