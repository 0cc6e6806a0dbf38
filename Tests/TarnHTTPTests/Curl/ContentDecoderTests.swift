// Coded contents that are complete, and those that break off.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Content codings", .timeLimit(.minutes(5)))
struct ContentDecoderTests {
    /// A text of several buffers, in each coding.
    private static let text = Array(String(repeating: "0123456789", count: 20_000).utf8)
    private static let coded: [(coding: String, bytes: [UInt8])] = [
        (
            "gzip",
            base64(
                "H4sIAAAAAAAAA+3GSQEAIAgAsEp4INq/mBUIsL0WY66dp+4LMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMza+4DXqXrjUANAwA="
            )
        ),
        (
            "deflate",
            base64(
                "eJztxkkBACAIALBKeCDav5gVCLC9FmOunafuCzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM2vuA28yQQE="
            )
        ),
        // Without the header of zlib, as some servers send it.
        (
            "deflate",
            base64(
                "7cZJAQAgCACwSngg2r+YFQiwvRZjrp2n7gszMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzNr7gM="
            )
        ),
        ("br", base64("Wz8Ng1/cYGxe0ogDQwHgCQZAOZ29Bw==")),
        ("zstd", base64("KLUv/QRYlAAAUDAxMjM0NTY3ODkBAPP/zQsSTQAACDIBADwNORACf/yHzw==")),
    ]

    private static func base64(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }

    private func fetch(_ head: String, _ body: [UInt8]) async throws -> TransportResponse {
        let server = try RawServer([Array("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n".utf8) + body])
        return try await CurlTransport().send(TransportRequest(url: server.base + "/"))
    }

    /// Decodes a body in pieces; nil if it is malformed.
    private func decoded(_ coding: String, _ body: [UInt8], pieces: Int) throws -> (bytes: [UInt8], isComplete: Bool)? {
        let decoder = try #require(try ContentDecoder.of([coding], limit: .max))
        var output: [UInt8] = [], rest = body[...]
        while !rest.isEmpty {
            let progress = rest.prefix(pieces).withUnsafeBytes { piece in
                decoder.decode(piece) { decoded in
                    output += decoded
                    return true
                }
            }
            guard case .decoded = progress else { return nil }
            rest = rest.dropFirst(pieces)
        }
        return (output, decoder.isComplete)
    }

    @Test("the codings of libcurl are requested and removed", arguments: coded.indices)
    func whole(_ index: Int) async throws {
        let (coding, body) = Self.coded[index]
        let response = try await fetch("Content-Encoding: \(coding)\r\nContent-Length: \(body.count)", body)
        #expect(response.body == Self.text && response.headers["Content-Encoding"] == coding)
        #expect(try await fetch("Content-Encoding: \(coding)\r\nConnection: close", body).body == Self.text)
        for pieces in [1, 7, body.count] {
            let result = try #require(try decoded(coding, body, pieces: pieces))
            #expect(result.bytes == Self.text && result.isComplete, "\(pieces)")
        }
    }

    @Test(
        "a coded content that breaks off is an error, wherever it does, within a complete body and with its connection",
        arguments: coded.indices)
    func brokenOff(_ index: Int) async throws {
        let (coding, body) = Self.coded[index]
        for length in 1..<body.count {
            #expect(try decoded(coding, Array(body[..<length]), pieces: 100)?.isComplete != true, "\(length)")
        }
        for length in [1, body.count / 2, body.count - 1] {
            for framing in ["Content-Length: \(length)", "Connection: close"] {
                let error = await expectFailure(.cutShort) {
                    try await fetch("Content-Encoding: \(coding)\r\n\(framing)", Array(body[..<length]))
                }
                #expect(error?.detail.hasSuffix("was cut short: its \(coding) content has no end") == true)
            }
        }
    }

    @Test("a content without any byte is empty if its length is declared, and broken off otherwise")
    func empty() async throws {
        #expect(try await fetch("Content-Encoding: gzip\r\nContent-Length: 0", []).body.isEmpty)
        #expect(
            try await fetch("Content-Encoding: gzip\r\nTransfer-Encoding: chunked", Array("0\r\n\r\n".utf8)).body
                .isEmpty)
        await expectFailure(.cutShort) { try await fetch("Content-Encoding: gzip\r\nConnection: close", []) }
    }

    @Test(
        "bytes after the end of a coded content are an error; more members of gzip and frames of zstd are not",
        arguments: coded.indices)
    func trailing(_ index: Int) async throws {
        let (coding, body) = Self.coded[index]
        #expect(try decoded(coding, body + Array("garbage".utf8), pieces: 1 << 20) == nil)
        let two = try decoded(coding, body + body, pieces: 50)
        let mayFollow = coding == "gzip" || coding == "zstd"
        #expect((two?.bytes == Self.text + Self.text && two?.isComplete == true) == mayFollow)
        let error = await expectFailure(.protocol) {
            try await fetch("Content-Encoding: \(coding)\r\nConnection: close", body + Array("garbage".utf8))
        }
        #expect(error?.detail.hasSuffix("the content is not valid \(coding)") == true)
    }

    @Test("an unknown coding is an error that names it; without a content it is not")
    func unknown() async throws {
        let error = await expectFailure(.protocol) {
            try await fetch("Content-Encoding: x-own\r\nContent-Length: 2", Array("[]".utf8))
        }
        #expect(error?.detail.hasSuffix("unsupported Content-Encoding: x-own") == true)
        #expect(try await fetch("Content-Encoding: x-own\r\nContent-Length: 0", []).body.isEmpty)
        #expect(try await fetch("Content-Encoding: identity\r\nContent-Length: 2", Array("[]".utf8)).body.count == 2)
    }

    @Test("a transfer coding other than chunked is an error that names it, whether its stream is whole or breaks off")
    func transferCodings() async throws {
        let whole = try #require(Self.coded.first).bytes
        for body in [whole, Array(whole[..<(whole.count / 2)])] {
            let chunk = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
            for (codings, bytes) in [("gzip, chunked", chunk), ("GZip", body)] {
                let error = await expectFailure(.protocol) { try await fetch("Transfer-Encoding: \(codings)", bytes) }
                #expect(error?.detail.hasSuffix("unsupported Transfer-Encoding: gzip") == true, "\(codings)")
            }
        }
        let chunks = Array("2\r\n[]\r\n0\r\n\r\n".utf8)
        #expect(try await fetch("Transfer-Encoding: Chunked", chunks).body == Array("[]".utf8))
    }

    /// An empty list in three layers of gzip: between the second and the third, there are 32 MiB of
    /// blocks without content.
    private static let expanding = base64(
        "H4sIAAAAAAACA+3bvyvEcRzH8U/nhrtCfm3EFWUlJbJgYVL+AIWUwY+ynEWRxKBkssk/QDGQMrgLseoGIkLKwC02hdPd/2D59nj2GD7za333aVpPhGKxso/zbDK0JcLB8s7sc6Zy76Wh+3jiZ/7isSJIkiRJkiRJkqQoldmvXYsXH72/p+mV0fujGQAAAAAAIFrGWiuTxWPA0vdiPpE1CAAAAAAARM7ZUENN6Y/AV+GuetkgAAAAAAAQOavbXS2lY8Bn4bA5bhAAAAAAAIicip65wdIx4LUwNZAwCAAAAAAARE59+mWzdAy4KtxsVE0bBAAAAAAAoqYzf9mXDKnykGm/zaXexzuy/Vu5xse3pyBJkiRJkiRJ0j+WGdgduZ7cWDh5qJ0argsh9geCI7UMIL8AAA=="
    )

    @Test("codings in layers that expand between each other end at the limit, whatever the content is")
    func layers() async throws {
        var options = CurlTransport.Options()
        options.maximumBodySize = 1000
        let transport = CurlTransport(options)
        func answer(_ body: [UInt8]) async throws -> TransportResponse {
            let fields = "Content-Encoding: gzip, gzip, gzip\r\nContent-Length: \(body.count)"
            let server = try RawServer([Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + body])
            return try await transport.send(TransportRequest(url: server.base + "/"))
        }
        let error = await expectFailure(.tooLarge) { try await answer(Self.expanding) }
        #expect(error?.detail.contains("larger than the limit of 1000 bytes") == true)
        let plain = Self.base64(
            "H4sIAAAAAAACA5Pv5mAAASbmye+fJTAwqj17ZxfGdvau3R4fBzkGe8PjPmJAWQDMXusPJgAAAA==")
        #expect(try await answer(plain).body == Array("[]".utf8))
        let decoder = try #require(try ContentDecoder.of(["gzip", "gzip, gzip"], limit: 100 << 20))
        let progress = Self.expanding.withUnsafeBytes { piece in decoder.decode(piece) { _ in true } }
        guard case .decoded = progress else {
            Issue.record("within the limit: \(progress)")
            return
        }
        #expect(decoder.isComplete)
    }

    @Test("a request's own Accept-Encoding is sent as it is")
    func ownField() async throws {
        let server = try RawServer(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        var request = TransportRequest(url: server.base + "/")
        _ = try await CurlTransport().send(request)
        request.headers["Accept-Encoding"] = "identity"
        _ = try await CurlTransport().send(request)
        #expect(server.requests[0].contains("\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"))
        #expect(server.requests[1].components(separatedBy: "Accept-Encoding").count == 2)
    }
}
