// The transport for real servers: libcurl's multi interface on its own thread, with an `async`
// interface.

/// A transport on libcurl: HTTP/1.1 and HTTP/2, reused connections, decoded content, verified TLS.
///
/// - Redirects are followed for `http` and `https` only. Another origin gets only `Accept`,
///   `Accept-Language`, `User-Agent` and preconditions. Credentials, including those in fields that
///   only the server knows, are removed, and are not restored if the chain returns.
/// - A body is sent to its own server only: a redirect that would send it to another one (307 or
///   308) is an error.
/// - A body that is incomplete or larger than the limit is an error, and so is a coded content that
///   breaks off within a complete body.
/// - Header fields are those of the final response, in order. `Content-Encoding` and
///   `Content-Length` are as received, although the body is decoded. A `Content-Length` beside a
///   chunked `Transfer-Encoding` is removed (RFC 9112 §6.3).
/// - Proxies come from the environment by libcurl's rules (`https_proxy`, `no_proxy`) if the
///   options name none.
///
/// A transport has one thread, which the first request starts. When the transport is released,
/// transfers in progress are finished and the thread ends.
public final class CurlTransport: Transport, DirectTransport, Sendable {
    /// The options of a transport.
    public struct Options: Sendable, Hashable {
        /// The time limit for name resolution, connection and TLS.
        public var connectTimeout: Duration = .seconds(10)
        /// The time without received data after which a transfer fails.
        ///
        /// Header fields, interim responses and sent parts of a body count as well. It is rounded
        /// up to whole seconds, at least one.
        public var idleTimeout: Duration = .seconds(30)
        /// The time limit from the start of a transfer to its last byte, redirects included.
        ///
        /// The wait for a free slot does not count.
        public var totalTimeout: Duration = .seconds(300)
        /// Whether the wait for a free slot counts for the total timeout all the same.
        package var countsWaits = false
        /// The maximum size of a body in bytes, after decoding.
        ///
        /// The default is a 64th of the memory limit of the process, at least 8 MiB and at most 256
        /// MiB: importing a page takes many times the size of its text.
        public var maximumBodySize = Options.defaultBodySize
        /// The maximum number of redirects of a request; more are an error.
        public var maximumRedirects = 10
        /// Whether redirects are followed. Otherwise they are returned as responses.
        public var followsRedirects = true
        /// Whether content codings (gzip and others) are requested and removed.
        ///
        /// Otherwise bodies are as the server sent them.
        package var decodesContent = true
        /// The `User-Agent` of requests that have none.
        public var userAgent = "tarn/0.1"
        /// Whether `User-Agent`, `Accept` and `Expect: 100-continue` are added.
        ///
        /// The first two are added to requests without them, the third to requests with a large
        /// body.
        package var addsFields = true
        /// The maximum number of concurrent requests to one origin.
        ///
        /// Others wait, in order of priority and arrival.
        public var concurrencyPerHost = 4
        /// A file of trusted certificates in PEM, in place of the system's.
        public var certificateAuthorities: String?
        /// A file with the client certificate in PEM and its chain.
        public var clientCertificate: String?
        /// A file with the client's private key in PEM; nil if ``clientCertificate`` has it.
        public var clientKey: String?
        /// The URL of a proxy; empty for none, nil for the one of the environment.
        public var proxy: String?
        /// Whether messages about limits name their settings in a description file.
        package var namesSettings = true
        /// The maximum size of all header lines of one response in bytes, with those of the interim
        /// responses before it.
        var maximumHeaderSize = 256 << 10
        /// The maximum number of header fields of one response.
        var maximumHeaderFields = 1000

        /// Creates options with the default values.
        public init() {}

        private static let defaultBodySize = bodySize(forMemory: MemoryLimit.ofProcess)

        /// Returns the default size limit of a body for a memory limit.
        ///
        /// simdjson's tape, the drafts and the changed pages of the store take an estimated 50
        /// times the text at worst.
        static func bodySize(forMemory memory: Int) -> Int { min(max(memory / 64, 8 << 20), 256 << 20) }
    }

    /// The options of the transport.
    package var options: Options { settings.options }
    private let settings: CurlSettings
    private let engine: CurlEngine

    /// Creates a transport with its own connections. Its thread starts with the first request.
    public init(_ options: Options = .init()) {
        settings = CurlSettings(options)
        engine = CurlEngine(concurrencyPerHost: max(1, options.concurrencyPerHost))
    }

    deinit {
        engine.finish()
    }

    /// Sends a request and follows its redirects; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: detail)
        }
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(request.url) } catch let problem {
            throw error(.url, problem.reason)
        }
        if let problem = CurlTransport.problem(of: request) { throw error(.protocol, problem) }
        return try await exchange(request, url, first: nil)
    }

    /// Performs the transfers of a request: the first one, and those of its redirects.
    ///
    /// - Parameter first: the answer of the first transfer; nil if it is still to be performed.
    private func exchange(
        _ request: TransportRequest, _ url: HTTPURL, first: CurlAnswer?
    ) async throws(TransportError) -> TransportResponse {
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: detail)
        }
        var url = url, known = first
        var next = request
        var remaining = options.totalTimeout
        var redirects = 0, isBehindEffect = false
        while true {
            let answer: CurlAnswer
            if let first = known {
                answer = first
                known = nil
            } else {
                switch await exchange(next, url, timeout: remaining) {
                case .success(let success): answer = success
                case .failure(let failure):
                    var error = error(failure.kind, failure.detail)
                    error.note(failure)
                    error.isBehindEffect = isBehindEffect
                    throw error
                }
            }
            var response = answer.response
            guard options.followsRedirects, let location = Redirect.location(of: response, to: next) else {
                if redirects > 0 { response.redirectedTo = url.description }
                response.isBehindEffect = isBehindEffect
                return response
            }
            guard redirects < options.maximumRedirects else {
                throw error(
                    .protocol,
                    "more than \(options.maximumRedirects) redirects, the last one to \(Redaction.shown(location))")
            }
            if let problem = Redirect.problem(following: response.status, of: next, to: location) {
                throw error(.url, problem)
            }
            redirects += 1
            if response.status == 303 { isBehindEffect = true }
            remaining -= answer.duration
            guard remaining > .zero else {
                throw error(
                    .timeout,
                    "no complete response within \(options.totalTimeout), with redirects"
                        + (options.namesSettings ? " (`total_timeout` under `transport`)" : ""))
            }
            do throws(HTTPURLError) {
                let target = try Redirect.destination(try url.resolving(location), of: request)
                next = Redirect.request(after: next, status: response.status, from: url, to: target)
                // The body was meant for the original server and may be confidential.
                guard next.body == nil || target.hasSameOrigin(as: url) else {
                    throw HTTPURLError(
                        target.description,
                        "the request has a body, which is not sent to another server; make that the base URL of the "
                            + "request")
                }
                url = target
            } catch let problem {
                var refusal = error(.protocol, "cannot follow a redirect: \(problem)")
                refusal.isRefusedRedirect = true
                throw refusal
            }
        }
    }

    /// Performs one transfer on the engine's thread.
    private func exchange(
        _ request: TransportRequest, _ url: HTTPURL, timeout: Duration
    ) async -> Result<CurlAnswer, CurlFailure> {
        let ticket = CurlTicket()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.submit(
                    CurlSubmission(
                        request: DirectRequest(request, url), settings: settings, timeout: timeout, ticket: ticket,
                        receiver: CurlSubmission.Receiver(
                            interim: InterimResponse.receiver?.receive,
                            completion: { continuation.resume(returning: $0) })))
            }
        } onCancel: {
            engine.cancel(ticket)
        }
    }

    /// Starts a request without a task. Redirects are followed in one.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        guard CurlTransport.problem(of: request.request) == nil else { return false }
        let ticket = CurlTicket()
        transfer.onCancel { [engine] in engine.cancel(ticket) }
        let finish: @Sendable (Result<CurlAnswer, CurlFailure>) -> Void = { [self] result in
            switch result {
            case .success(let answer):
                guard options.followsRedirects, Redirect.location(of: answer.response, to: request.request) != nil
                else {
                    return completion(.success(answer.response))
                }
                transfer.resume(completion) { () async throws(TransportError) in
                    try await self.exchange(request.request, request.url, first: answer)
                }
            case .failure(let failure):
                var error = TransportError(
                    failure.kind, method: request.request.method, url: request.request.url, detail: failure.detail)
                error.note(failure)
                completion(.failure(error))
            }
        }
        engine.submit(
            CurlSubmission(
                request: request, settings: settings, timeout: options.totalTimeout, ticket: ticket,
                receiver: CurlSubmission.Receiver(
                    interim: InterimResponse.receiver?.receive, completion: finish)))
        return true
    }

    /// Returns the reason why a request must not be sent, or nil.
    ///
    /// libcurl sends methods and fields unchanged; a server could parse them as something else
    /// (request smuggling).
    private static func problem(of request: TransportRequest) -> String? {
        guard HTTPSyntax.isToken(request.method) else { return "the method is not a token" }
        for field in request.headers.fields {
            guard HTTPSyntax.isToken(field.name) else { return "a header field's name is not a token" }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the header field \(field.name) contains a control character"
            }
        }
        return nil
    }
}

extension TransportError {
    /// Takes the facts of a failed transfer.
    fileprivate mutating func note(_ failure: CurlFailure) {
        answer = failure.answer
        isUnanswered = failure.isUnanswered
        isOfUsedConnection = failure.isOfUsedConnection
    }
}
