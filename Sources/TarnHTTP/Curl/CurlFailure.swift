import CCrypto
import CCurl

/// The failure of a transfer.
struct CurlFailure: Error, Sendable {
    var kind: TransportError.Kind
    var detail: String
    /// The status and the header fields of an answer whose body cannot be used; nil for other
    /// failures.
    var answer: TransportResponse?
    /// Whether a connection that was used before has ended without a response.
    var isUnanswered = false
    /// Whether a request got no response, or a part of one, over a connection that was used before.
    var isOfUsedConnection = false

    static let cancelled = CurlFailure(kind: .cancelled, detail: "the task was cancelled")
}
