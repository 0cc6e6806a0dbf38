import CCrypto
import CCurl

/// The response of a transfer, and the duration of the transfer.
struct CurlAnswer: Sendable {
    var response: TransportResponse
    var duration: Duration
}
