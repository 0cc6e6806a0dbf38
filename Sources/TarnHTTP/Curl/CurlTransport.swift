// The transport for real servers: libcurl's multi interface on a thread of its own, `async` outside.

/// Sends requests with libcurl: HTTP/1.1 and HTTP/2, connections reused, content codings removed, TLS verified.
///
/// - Redirects are followed for `http` and `https` only. To another origin only `Accept`, `Accept-Language`,
///   `User-Agent` and conditions go along: credentials, also those in fields that only the server knows, stay behind,
///   and they do not come back if the chain returns.
/// - A body of a request stays with its server: a redirect that would take it to another one (307 or 308) is an error.
/// - A body that was cut short, or that is larger than the limit, is an error.
/// - Header fields are those of the final response, in order. `Content-Encoding` and `Content-Length` are as received,
///   although the body is decoded.
/// - Proxies are taken from the environment as libcurl does (`https_proxy`, `no_proxy`), if the options name none.
///
/// One transport has one thread, started by the first request. When the transport is released, transfers under way are
/// finished and the thread ends.
public final class CurlTransport: Transport, Sendable {
    /// The limits of a transport.
    public struct Options: Sendable, Hashable {
        /// For name resolution, connection and TLS.
        public var connectTimeout: Duration = .seconds(10)
        /// How long nothing may arrive before a transfer is given up; whole seconds, at least one.
        public var idleTimeout: Duration = .seconds(30)
        /// From the start of a transfer to its last byte, redirects included; waiting for a free place does not count.
        public var totalTimeout: Duration = .seconds(300)
        /// In bytes, after decoding. By default a part of the memory that the process may use, since reading a page takes many times as much as
        /// its text: a 64th, at least 8 MiB, at most 256 MiB.
        public var maximumBodySize = Options.defaultBodySize
        /// More of them are an error.
        public var maximumRedirects = 10
        /// Whether redirects are followed; otherwise they are answers like others.
        public var followsRedirects = true
        /// Whether codings of contents (gzip and others) are asked for and removed; otherwise bodies are as the server sent them.
        public var decodesContent = true
        /// Sent with requests that have no `User-Agent` of their own.
        public var userAgent = "tarn/0.1"
        /// Whether `User-Agent` and `Accept` are added to requests that have none, and `Expect: 100-continue` to those with a large body.
        public var addsFields = true
        /// Requests under way at the same time to one origin; others wait their turn, in order.
        public var concurrencyPerHost = 4
        /// A file of certificates in PEM that are trusted instead of the system's.
        public var certificateAuthorities: String?
        /// A file with the certificate in PEM by which this client is known, and others of its chain.
        public var clientCertificate: String?
        /// A file with its key in PEM; nil if it is in the same file.
        public var clientKey: String?
        /// The URL of a proxy; empty for none. Nil for what the environment says.
        public var proxy: String?
        /// Of one answer, in bytes, all lines together.
        public var maximumHeaderSize = 256 << 10
        /// Of one answer.
        public var maximumHeaderFields = 1000

        /// The limits that the properties name.
        public init() {}

        private static let defaultBodySize = bodySize(forMemory: MemoryLimit.ofProcess)

        /// What simdjson's tape, the drafts and the changed pages of the store take at worst, as an estimate: 50 times the text.
        static func bodySize(forMemory memory: Int) -> Int { min(max(memory / 64, 8 << 20), 256 << 20) }
    }

    /// What it was made with.
    public let options: Options
    private let engine: CurlEngine

    /// A transport with its own connections; its thread starts with the first request.
    public init(_ options: Options = .init()) {
        self.options = options
        engine = CurlEngine(concurrencyPerHost: max(1, options.concurrencyPerHost))
    }

    deinit {
        engine.finish()
    }

    /// As ``Transport/send(_:)``.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: detail)
        }
        var url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(request.url) } catch let problem {
            throw error(.url, problem.reason)
        }
        if let problem = CurlTransport.problem(of: request) { throw error(.protocol, problem) }
        var next = request
        var remaining = options.totalTimeout
        var redirects = 0
        while true {
            let answer: CurlAnswer
            switch await exchange(next, url, timeout: remaining) {
            case .success(let success): answer = success
            case .failure(let failure): throw error(failure.kind, failure.detail)
            }
            var response = answer.response
            guard options.followsRedirects, let location = Redirect.location(of: response) else {
                if redirects > 0 { response.redirectedTo = url.description }
                return response
            }
            guard redirects < options.maximumRedirects else {
                throw error(
                    .protocol, "more than \(options.maximumRedirects) redirects, the last one to \(Redaction.shown(location))")
            }
            redirects += 1
            remaining -= answer.duration
            guard remaining > .zero else { throw error(.timeout, "no complete answer within \(options.totalTimeout)") }
            do throws(HTTPURLError) {
                let target = try Redirect.destination(try url.resolving(location), of: request)
                next = Redirect.request(after: next, status: response.status, from: url, to: target)
                // It was meant for this server, and may hold what no other should read.
                guard next.body == nil || target.hasSameOrigin(as: url) else {
                    throw HTTPURLError(target.description, "the request has a body, which is sent to no other server")
                }
                url = target
            } catch let problem {
                throw error(.protocol, "a redirect that cannot be followed: \(problem)")
            }
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ url: HTTPURL, timeout: Duration
    ) async -> Result<CurlAnswer, CurlFailure> {
        let ticket = CurlTicket()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.submit(
                    CurlSubmission(
                        request: request, url: url, options: options, timeout: timeout, ticket: ticket, interim: InterimResponse.receiver?.receive,
                        completion: { continuation.resume(returning: $0) }))
            }
        } onCancel: {
            engine.cancel(ticket)
        }
    }

    /// What libcurl would send as it is, to a server that would read it as something else (request smuggling).
    private static func problem(of request: HTTPRequest) -> String? {
        guard HTTPSyntax.isToken(request.method) else { return "the method is not a token" }
        for field in request.headers.fields {
            guard HTTPSyntax.isToken(field.name) else { return "a header field's name is not a token" }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the header field \(field.name) holds a control character"
            }
        }
        return nil
    }
}
