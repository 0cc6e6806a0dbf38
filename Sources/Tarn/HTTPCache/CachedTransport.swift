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
/// GET and HEAD are answered from what is stored, also in part (`Range`), from stored parts (206), and with 304 for a client that has it already.
/// Everything else goes to the transport behind it; methods that are not safe invalidate what is stored of their URL, also the entries of a
/// ``RecordCache``. The URL is sent in the normalised form under which its answer is stored.
///
/// An answer to a request with credentials (``CacheRules/isCredential(_:)``) answers only requests with the same ones. In a shared cache,
/// ``Options/scopeFields`` names the fields that distinguish users; requests with other credentials pass by the cache, but for `Authorization`,
/// about which the response decides. `Set-Cookie` is never stored.
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
        /// What distinguishes those who share the store and do not send credentials themselves.
        public var scope = ""
        /// Request fields each value of which is one user, with private rules for its answers. In a private cache all credentials are such fields anyway.
        public var scopeFields: [String] = []
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
    private let background = BackgroundTasks()
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
            guard let url = try? HTTPURL(request.url).normalized.description else { return try await passOn(request, nil) }
            // What is sent is what is keyed: a server that reads `/x/%2e%2e/` in its own way would fill the entry of another URL.
            var request = request
            request.url = url
            let scope = try shelf.scope(request)
            guard request.method == "GET" || request.method == "HEAD" else { return try await passOn(request, scope) }
            guard let scope, request.body == nil else { return try await bypass(request, scope == nil ? .credentials : .policy) }
            return try await answer(request, url, scope)
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
        guard let scope = try shelf.scope(request) else {
            let decision = CacheDecision(.miss, .credentials, steps: [.init(.credentials)])
            return CacheExplanation(url: Redaction.url(url), decision: decision, status: nil, records: nil, validators: nil)
        }
        let found = try shelf.find(request, url, scope, now: now)
        return CacheExplanation(
            url: Redaction.url(url), decision: scope.rules.decide(request, found?.response, at: now, explains: true),
            status: found?.response.status, records: nil, validators: found.map { Validators($0.response.headers) })
    }

    /// Waits for revalidations that go on in the background.
    public func finishBackground() async { await background.finish() }

    var now: Int { Int(options.time.now().timeIntervalSince1970) }

    // MARK: Deciding

    private func answer(_ request: HTTPRequest, _ url: String, _ scope: CacheScope) async throws -> Answer {
        let found = try shelf.find(request, url, scope, now: now)
        var decision = scope.rules.decide(request, found?.response, at: now)
        if let found, decision.isHit {
            if let answer = try served(found, request, scope, decision, isValidated: false) {
                if decision.outcome == .stale(revalidates: true) { revalidateInBackground(request, url, scope) }
                return answer
            }
            // Several ranges, or the body has gone meanwhile: the server has it.
            decision = CacheDecision(.miss, .rangeNotStored)
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
                response: HTTPResponse(status: 504), status: CacheStatus(forward: nil, detail: decision.rule.rawValue), decision: decision)
        }
        return try await fetched(request, url, scope, decision)
    }

    func wantsPart(_ request: HTTPRequest) -> Bool { request.method == "GET" && request.headers["Range"] != nil }

    /// What is stored, as the request wants it; nil if it is wanted in a way that only the server can.
    func served(
        _ found: StoredMessage, _ request: HTTPRequest, _ scope: CacheScope, _ decision: CacheDecision, isValidated: Bool
    ) throws -> Answer? {
        let rules = scope.rules, now = now, remaining = rules.freshness(of: found.response, at: now).remaining
        var headers = rules.servedFields(of: found.response, at: now, isValidated: isValidated)
        let age = found.response.age(at: now)
        func made(_ status: Int, _ headers: HTTPHeaders, _ body: [UInt8]) -> Answer {
            Answer(
                response: HTTPResponse(status: status, headers: headers, body: body, redirectedTo: found.redirectedTo),
                status: CacheStatus(isHit: true, timeToLive: remaining), decision: decision, age: age)
        }
        if rules.clientHasCurrent(found.response, request.headers, at: now) { return made(304, CacheRules.notModifiedFields(headers), []) }
        if request.method == "HEAD" { return found.parts == nil ? made(found.response.status, headers, []) : nil }
        switch ByteRange.select(request.headers, of: found.response, length: found.size, at: now) {
        case .whole:
            guard found.parts == nil else { return nil }
            return try shelf.body(found, 0..<found.size).map { made(found.response.status, headers, $0) }
        case .several: return nil
        case .unsatisfiable:
            return made(416, HTTPHeaders([.init("Content-Range", "bytes */\(found.size)")]), [])
        case .part(let range):
            headers["Content-Range"] = ContentRange(range, of: found.size).description
            headers["Content-Length"] = String(range.count)
            return try shelf.body(found, range).map { made(206, headers, $0) }
        }
    }

    /// Whether a 304 would let what is stored answer the request.
    func couldServe(_ found: StoredMessage, _ request: HTTPRequest) -> Bool {
        guard request.headers["Range"] != nil else { return found.parts == nil }
        switch ByteRange.select(request.headers, of: found.response, length: found.size, at: now) {
        case .whole: return found.parts == nil
        case .several: return false
        case .unsatisfiable: return true
        case .part(let range): return found.places(of: range) != nil
        }
    }

    private func revalidateInBackground(_ request: HTTPRequest, _ url: String, _ scope: CacheScope) {
        var plain = request
        // A range stays: what is stored may be parts.
        for name in ["If-None-Match", "If-Modified-Since", "If-Range"] { plain.headers[name] = nil }
        plain.method = "GET"
        let wanted = plain
        background.start(digest(wanted, url).bytes) { [self] in
            _ = try? await fetched(wanted, url, scope, CacheDecision(.revalidate, .staleWhileRevalidate))
        }
    }

    // MARK: The server

    /// What a transfer has brought, before it is made fit for one request.
    struct Fetched: Sendable {
        var answer: Answer
        /// Set if it is in the store, so that others may have it.
        var stored: StoredMessage?
    }

    private func fetched(_ request: HTTPRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision) async throws -> Answer {
        // Parts, HEAD and conditions that only the server judges are nobody else's.
        guard request.method == "GET", request.headers["Range"] == nil, decision.rule != .preconditionIsTheServers,
            !CacheControl(request.headers).noStore
        else { return try await forward(request, url, scope, decision).answer }
        let (fetched, isShared) = try await flights.value(digest(request, url).bytes) { [self] in
            try await claimed(request, url, scope, decision)
        }
        guard isShared else { return fetched.answer }
        // What may not be stored is for the one who asked.
        guard let stored = fetched.stored, var answer = try served(stored, request, scope, decision, isValidated: true) else {
            return try await forward(request, url, scope, decision).answer
        }
        answer.status = fetched.answer.status
        answer.status.isCollapsed = true
        return answer
    }

    /// One transfer for all processes: who has waited for another one looks again.
    private func claimed(_ request: HTTPRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision) async throws -> Fetched {
        let digest = digest(request, url)
        guard let claims else { return try await forward(request, url, scope, decision) }
        var hasWaited = false
        while claims.claim(digest) == .isAnothers {
            hasWaited = true
            try await Task.sleep(for: .milliseconds(10))
        }
        defer { claims.release(digest) }
        if hasWaited, let found = try shelf.find(request, url, scope, now: now) {
            let again = scope.rules.decide(request, found.response, at: now)
            if again.isHit, var answer = try served(found, request, scope, again, isValidated: false) {
                answer.status.isCollapsed = true
                return Fetched(answer: answer, stored: found)
            }
        }
        return try await forward(request, url, scope, decision)
    }

    /// Equal requests: same method, URL and header fields.
    private func digest(_ request: HTTPRequest, _ url: String) -> RequestDigest {
        RequestKey(
            method: request.method, url: url, endpoint: ResponseShelf.endpoint,
            authScope: request.headers.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
        ).digest
    }

    /// Sends a request that no stored answer may answer, and whose answer is stored for nobody.
    private func bypass(_ request: HTTPRequest, _ rule: CacheRule) async throws -> Answer {
        if CacheControl(request.headers).onlyIfCached {
            return Answer(
                response: HTTPResponse(status: 504), status: CacheStatus(forward: nil, detail: CacheRule.onlyIfCached.rawValue),
                decision: CacheDecision(.unanswerable, .onlyIfCached))
        }
        let response = try await inner.send(request)
        return Answer(response: response, status: CacheStatus(forward: .bypass, forwardStatus: response.status), decision: CacheDecision(.miss, rule))
    }

    /// Methods that are not cached, and URLs that cannot be.
    ///
    /// - Parameter scope: nil if nothing may be stored.
    private func passOn(_ request: HTTPRequest, _ scope: CacheScope?) async throws -> Answer {
        let requestTime = now, response = try await inner.send(request)
        let invalid = CacheRules.invalidated(by: request, response)
        if !invalid.isEmpty { try await shelf.invalidate(invalid) }
        let decision = CacheDecision(.miss, .methodNotCacheable)
        var status = CacheStatus(forward: .method, forwardStatus: response.status)
        if let scope, scope.rules.storability(ofPost: response, to: request) == .storable, fits(response) {
            _ = try await shelf.keep(message(of: response, to: request, scope, requestTime), response, request.url, scope)
            status.isStored = true
        }
        return Answer(response: response, status: status, decision: decision)
    }

    /// Whether a response is small enough to be stored, and can be served as it is.
    func fits(_ response: HTTPResponse) -> Bool {
        response.body.count <= options.maximumBodySize && response.headers.fields.allSatisfy(HTTPSyntax.isWellFormed)
    }

    /// A response as it is stored.
    func message(of response: HTTPResponse, to request: HTTPRequest, _ scope: CacheScope, _ requestTime: Int) -> CachedResponse {
        CachedResponse(
            status: response.status, headers: scope.rules.storedFields(of: HTTPHeaders(stored: response)),
            selecting: CacheRules.selectingFields(of: request.headers, by: response.headers), requestTime: requestTime, responseTime: now)
    }
}
