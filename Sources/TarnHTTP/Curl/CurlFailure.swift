import CCrypto
import CCurl

/// The failure of a transfer.
struct CurlFailure: Error, Sendable {
    var kind: TransportError.Kind
    var detail: String

    static let cancelled = CurlFailure(kind: .cancelled, detail: "the task was cancelled")
}
