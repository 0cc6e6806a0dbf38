// Content codings of whole responses: stored as they were sent, removed from answers.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Cached transport: content codings", .timeLimit(.minutes(5)))
struct CachedCodingTests {
    /// The JSON text [1,2,3] in gzip.
    private static let coded: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 139, 54, 212, 49, 210, 49, 142, 5, 0, 233, 179, 109, 253, 7, 0, 0, 0,
    ]
    private static let plain = Array("[1,2,3]".utf8)
    private static let minute = TransportHeaders.Field("Cache-Control", "max-age=60")
    private static let gzip = TransportHeaders.Field("Content-Encoding", "gzip")

    private func store(_ folder: TemporaryFolder) throws -> Store {
        try Store.open(
            at: folder.path + "/cache.tarn", schema: Schema([]), options: Store.Options(durability: .relaxed))
    }

    /// A response in gzip as a proxy has it.
    private func codedOrigin(_ body: [UInt8] = CachedCodingTests.coded) -> Origin {
        Origin { _ in
            TransportResponse(status: 200, headers: TransportHeaders([Self.minute, Self.gzip]), body: body)
        }
    }

    @Test("a cache that decodes stores the coded bytes: one that does not serves them as they are")
    func decodedFirst() async throws {
        let folder = try TemporaryFolder(), store = try store(folder)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nCache-Control: max-age=60\r\n"
        let length = "Content-Length: \(Self.coded.count)\r\n\r\n"
        let server = try RawServer([Array((head + length).utf8) + Self.coded])
        let request = TransportRequest(url: server.base + "/a")
        let decoding = CachedTransport(CurlTransport(), store: store)
        #expect(try await decoding.answer(request).response.body == Self.plain)
        let stored = try await decoding.answer(request)
        #expect(stored.status.isHit && stored.response.body == Self.plain)
        let passing = CachedTransport(Origin([]).transport, store: store)
        let answer = try await passing.answer(request)
        #expect(answer.status.isHit && answer.response.body == Self.coded)
        #expect(answer.response.headers["Content-Length"] == "\(Self.coded.count)")
        #expect(server.requests.count == 1)
    }

    @Test("a cache that decodes removes the codings of what another one has stored; what it cannot decode, it requests")
    func decodedLast() async throws {
        let folder = try TemporaryFolder(), store = try store(folder)
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")
        let decoding = CachedTransport(CurlTransport(), store: store)
        let request = TransportRequest(url: server.base + "/a"), other = TransportRequest(url: server.base + "/b")
        _ = try await CachedTransport(codedOrigin().transport, store: store).answer(request)
        _ = try await CachedTransport(codedOrigin(Array("no gzip".utf8)).transport, store: store).answer(other)
        let answer = try await decoding.answer(request)
        #expect(answer.status.isHit && answer.response.body == Self.plain)
        #expect(server.requests.isEmpty)
        let fresh = try await decoding.answer(other)
        #expect(fresh.status.forward == .bypass && fresh.response.body == Array("new".utf8))
    }

    @Test("what an earlier version stored decoded, and without the added fields, is the answer if the server has none")
    func earlierVersion() async throws {
        let folder = try TemporaryFolder(), store = try store(folder), dead = DeadPort()
        var request = TransportRequest(url: "http://127.0.0.1:\(dead.port)/a")
        let origin = Origin([Self.minute, Self.gzip, .init("Vary", "Accept-Encoding")], "[1,2,3]")
        _ = try await CachedTransport(origin.transport, store: store).answer(request)
        let decoding = CachedTransport(CurlTransport(), store: store)
        let answer = try await decoding.answer(request)
        #expect(answer.status.isHit && answer.response.body == Self.plain)
        request.headers["Cache-Control"] = "only-if-cached"
        #expect(try await decoding.answer(request).response.body == Self.plain)
        // The client's own field still selects.
        request.headers["Accept-Encoding"] = "identity"
        #expect(try await decoding.answer(request).response.status == 504)
    }

    @Test("a coded part of a content is an error that names the range")
    func codedRange() async throws {
        let folder = try TemporaryFolder(), store = try store(folder)
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Range: bytes 0-11/27\r\n"
        let server = try RawServer([Array((head + "Content-Length: 12\r\n\r\n").utf8) + Self.coded.prefix(12)])
        var request = TransportRequest(url: server.base + "/a")
        request.headers["Range"] = "bytes=0-11"
        request.headers["Accept-Encoding"] = "gzip"
        let sent = request, cached = CachedTransport(CurlTransport(), store: store)
        let error = await #expect(throws: TransportError.self) { _ = try await cached.answer(sent) }
        #expect(error?.detail.contains("a range (bytes 0-11/27) of gzip content") == true, "\(error?.detail ?? "")")
    }

    @Test("the fields that the transport adds select a response as well")
    func addedFields() async throws {
        let folder = try TemporaryFolder(), store = try store(folder)
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\n"
        let server = try RawServer(head + "Content-Length: 2\r\n\r\n[]")
        var request = TransportRequest(url: server.base + "/a")
        _ = try await CachedTransport(CurlTransport(), store: store).answer(request)
        let other = CachedTransport(Origin([.init("Cache-Control", "no-store")], "other").transport, store: store)
        #expect(try await other.answer(request).status.forward == .varyMiss)
        request.headers["Accept-Encoding"] = CurlTransport().addedFields(to: request).last?.value
        #expect(try await other.answer(request).status.isHit)
    }
}
