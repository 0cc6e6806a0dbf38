import CCrypto
import CCurl

struct CurlAnswer: Sendable {
    var response: HTTPResponse
    var duration: Duration
}
