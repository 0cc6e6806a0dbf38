import NIOHTTP1
import Tarn

/// A transport that refuses malformed responses before the cache stores them.
///
/// They cannot be forwarded: RFC 9110 §5.5 (CR within a value), RFC 9112 §5.1 (a space in a name).
struct WellFormedTransport: Transport {
    let inner: any Transport

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let response = try await inner.send(request)
        guard (200...599).contains(response.status), response.headers.fields.allSatisfy(HTTPSyntax.isWellFormed) else {
            throw TransportError(
                .protocol, method: request.method, url: request.url,
                detail: "malformed status or header field in the response")
        }
        return response
    }
}
