// Metrics and logs of HTTP traffic. They hold no secrets: only the method and the redacted URL of a
// request, and no field.

import Foundation
import Logging
import Metrics

/// A transport that counts and logs its requests.
///
/// Metrics (swift-metrics):
/// - `tarn_http_requests` by host, method and status (or the kind of the failure);
/// - `tarn_http_duration` by host and method;
/// - `tarn_http_received_bytes` by host.
///
/// Logs (swift-log): a line at level debug for every response and failure.
package final class ObservedTransport: DirectTransport, Sendable {
    private let inner: any Transport
    private let direct: (any DirectTransport)?
    private let logger: Logger?
    private let secretParameters: Set<String>

    /// Creates a transport.
    ///
    /// - Parameter secretParameters: query parameters whose values are secrets, in addition to
    ///   those with secret names.
    package init(_ inner: any Transport, logger: Logger? = nil, secretParameters: Set<String> = []) {
        self.inner = inner
        direct = inner as? any DirectTransport
        self.logger = logger
        self.secretParameters = secretParameters
    }

    /// Sends a request, then counts and logs its outcome.
    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let host = (try? HTTPURL(request.url))?.host ?? ""
        let started = ContinuousClock.now
        do throws(TransportError) {
            let response = try await inner.send(request)
            note(.success(response), request, host, ContinuousClock.now - started)
            return response
        } catch {
            note(.failure(error), request, host, ContinuousClock.now - started)
            throw error
        }
    }

    /// Starts a request without a task, and counts and logs its outcome.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        let started = ContinuousClock.now
        return direct?.start(request, transfer) { [self] result in
            note(result, request.request, request.url.host, ContinuousClock.now - started)
            completion(result)
        } ?? false
    }

    private func note(
        _ result: Result<TransportResponse, TransportError>, _ request: TransportRequest, _ host: String,
        _ duration: Duration
    ) {
        switch result {
        case .success(let response):
            if isMetered {
                note(request, host, "\(response.status)", duration)
                Counter(label: "tarn_http_received_bytes", dimensions: [("host", host)])
                    .increment(by: response.body.count)
            }
            logger?.debug(
                "answer",
                metadata: metadata(request).merging(["status": "\(response.status)", "bytes": "\(response.body.count)"])
                { $1 })
        case .failure(let error):
            if isMetered { note(request, host, error.kind.rawValue, duration) }
            logger?.debug("no answer", metadata: metadata(request).merging(["reason": "\(error.kind.rawValue)"]) { $1 })
        }
    }

    /// Whether the program collects metrics: without a backend, their objects are not created.
    private var isMetered: Bool { !(MetricsSystem.factory is NOOPMetricsHandler) }

    private func note(_ request: TransportRequest, _ host: String, _ status: String, _ duration: Duration) {
        Counter(
            label: "tarn_http_requests", dimensions: [("host", host), ("method", request.method), ("status", status)]
        ).increment()
        Metrics.Timer(label: "tarn_http_duration", dimensions: [("host", host), ("method", request.method)])
            .recordNanoseconds(Int64(duration.inSeconds * 1e9))
    }

    private func metadata(_ request: TransportRequest) -> Logger.Metadata {
        ["method": "\(request.method)", "url": "\(Redaction.url(request.url, hiding: secretParameters))"]
    }
}
