public import Tarn
public import Tracing

/// A transport that records a span for every HTTP request: `tarn.request`.
///
/// ```swift
/// let forge = try RecordClient(
///     base: "https://api.forge.example", records: Issue.self, store: "forge.tarn",
///     transport: TracedTransport(CurlTransport()))
/// ```
///
/// The span is a child of the current one. It has the method, the server, the path, the status and
/// the size of the body; never the query, a header field or a body, which may contain secrets.
public struct TracedTransport: Transport {
    package let inner: any Transport
    private let tracer: (any Tracer)?
    private let propagates: Bool

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - inner: the transport that sends the requests.
    ///   - tracer: the tracer; nil for the one of the process.
    ///   - propagates: whether the trace's identifiers are sent to the server, in the header fields
    ///     that the tracer writes.
    public init(_ inner: any Transport, tracer: (any Tracer)? = nil, propagates: Bool = true) {
        self.inner = inner
        self.tracer = tracer
        self.propagates = propagates
    }

    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let span = tracer.startAnySpan("tarn.request", ofKind: .client)
        defer { span.end() }
        var request = request
        span.attributes["http.request.method"] = request.method
        if let url = try? HTTPURL(request.url) {
            span.attributes["server.address"] = url.host
            span.attributes["server.port"] = url.port
            span.attributes["url.path"] = url.path
        }
        if propagates { tracer.inject(span.context, into: &request.headers, using: HeaderInjector()) }
        do throws(TransportError) {
            let response = try await inner.send(request)
            span.attributes["http.response.status_code"] = response.status
            span.attributes["http.response.body.size"] = response.body.count
            if response.status >= 400 { span.setStatus(SpanStatus(code: .error)) }
            RefreshRun.current?.noteAnswer()
            return response
        } catch {
            span.attributes["error.type"] = error.kind.rawValue
            span.setStatus(SpanStatus(code: .error))
            throw error
        }
    }
}

// A cache in front knows by it which transport removes content codings.
extension TracedTransport: TransportLayer {}

/// Writes the identifiers of a trace into header fields.
private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout TransportHeaders) { carrier[key] = value }
}
