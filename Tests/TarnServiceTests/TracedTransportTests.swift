// A traced transport below a cache of whole responses.

import TarnMacros
import TarnService
import TestSupport
import Testing

@Suite("Traced transport", .timeLimit(.minutes(2)))
struct TracedTransportTests {
    /// The JSON text [1,2,3] in gzip.
    private static let coded: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 139, 54, 212, 49, 210, 49, 142, 5, 0, 233, 179, 109, 253, 7, 0, 0, 0,
    ]

    /// A server that cannot be reached.
    private struct Unreachable: Transport {
        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            throw TransportError(.connect, method: request.method, url: request.url, detail: "unreachable")
        }
    }

    @Test(
        "a cache over it stores bodies with their codings, as over the transport itself: others serve them as they are")
    func codings() async throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder.path + "/cache.tarn", schema: Schema([]), options: Store.Options(durability: .relaxed))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nCache-Control: max-age=60\r\n"
        let length = "Content-Length: \(Self.coded.count)\r\n\r\n"
        let server = try RawServer([Array((head + length).utf8) + Self.coded])
        let request = TransportRequest(url: server.base + "/a")
        let traced = CachedTransport(TracedTransport(CurlTransport()), store: store)
        for _ in 0..<2 { #expect(try await traced.answer(request).response.body == Array("[1,2,3]".utf8)) }
        // As `tarn proxy` over the same store does.
        let answer = try await CachedTransport(Unreachable(), store: store).answer(request)
        #expect(answer.response.headers["Content-Encoding"] == "gzip" && answer.response.body == Self.coded)
        #expect(server.requests.count == 1)
    }
}
