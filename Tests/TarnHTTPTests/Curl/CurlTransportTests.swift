// The libcurl transport against the real local server: requests, responses, and use of connections.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport", .timeLimit(.minutes(5)))
struct CurlTransportTests {
    static let page = """
        GET /issues?page=1
        HTTP/1.1 200 OK
        X-B: 2
        ETag: W/"abc"
        X-A: 1
        x-b: 3
        Link: <https://api.forge.example/issues?page=2>; rel="next"

        [{"id":1}]
        """

    @Test("a response comes back whole: status, body, header fields in order and as received")
    func wholeResponse() async throws {
        let server = try LocalServer([Self.page])
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/issues?page=1"))
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == #"[{"id":1}]"#)
        #expect(
            response.headers.fields == [
                .init("X-B", "2"), .init("ETag", #"W/"abc""#), .init("X-A", "1"), .init("x-b", "3"),
                .init("Link", #"<https://api.forge.example/issues?page=2>; rel="next""#), .init("Content-Length", "10"),
            ])
        #expect(response.redirectedTo == nil)
    }

    @Test("404 and 500 are responses, with their bodies")
    func errorStatuses() async throws {
        let server = try LocalServer([Self.page], "--fault", "page=1:status:500")
        let transport = CurlTransport()
        let missing = try await transport.send(TransportRequest(url: server.base + "/nothing"))
        #expect(missing.status == 404)
        #expect(String(decoding: missing.body, as: UTF8.self).contains("no recording of GET /nothing"))
        #expect(try await transport.send(TransportRequest(url: server.base + "/issues?page=1")).status == 500)
    }

    @Test("a conditional request is answered 304, without a body")
    func conditionalRequest() async throws {
        let server = try LocalServer([Self.page])
        let transport = CurlTransport()
        var request = TransportRequest(url: server.base + "/issues?page=1")
        Validators(try await transport.send(request).headers).apply(to: &request)
        let second = try await transport.send(request)
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        #expect(second.headers["ETag"] == #"W/"abc""#)
        #expect(
            server.requests == [
                "GET /issues?page=1 200 connection=1", "GET /issues?page=1 304 conditional connection=1",
            ])
    }

    @Test("HEAD has header fields and no body, even with a length beyond the limit")
    func head() async throws {
        let server = try LocalServer([Self.page])
        var options = CurlTransport.Options()
        options.maximumBodySize = 5
        let response = try await CurlTransport(options).send(
            TransportRequest(method: "HEAD", url: server.base + "/issues?page=1"))
        #expect(response.status == 200)
        #expect(response.headers["Content-Length"] == "10")
        #expect(response.body.isEmpty)
    }

    @Test("method, target and header fields arrive as they were given")
    func requestAsGiven() async throws {
        let server = try RawServer("HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n")
        var request = TransportRequest(method: "DELETE", url: server.base + "/a/../b/%7e?x[y]=z&q='#part")
        request.headers = TransportHeaders([
            .init("Accept", "application/json"), .init("X-Empty", ""), .init("X-Twice", "1"),
            .init("X-Twice", "ü; \"2\""),
        ])
        #expect(try await CurlTransport().send(request).status == 204)
        let head = try #require(server.requests.first)
        let lines = head.components(separatedBy: "\r\n")
        #expect(lines[0] == "DELETE /a/../b/%7e?x[y]=z&q=' HTTP/1.1")
        #expect(lines.contains("Host: 127.0.0.1:\(server.port)"))
        #expect(lines.contains("User-Agent: tarn/0.1"))
        #expect(
            lines.filter { $0.hasPrefix("X-") || $0.hasPrefix("Accept:") }
                == ["Accept: application/json", "X-Empty:", "X-Twice: 1", "X-Twice: ü; \"2\""])

        request.headers = TransportHeaders([.init("User-Agent", "mine/1")])
        _ = try await CurlTransport().send(request)
        let second = try #require(server.requests.last)
        #expect(second.contains("User-Agent: mine/1\r\n"))
        #expect(!second.contains("tarn/0.1"))
    }

    @Test("a request carries nothing of the ones before, of whatever kind they were")
    func nothingIsLeft() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer(answer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", answer, answer, answer)
        let transport = CurlTransport()
        func send(_ method: String, _ fields: [TransportHeaders.Field] = [], body: String? = nil) async throws -> String
        {
            let request = TransportRequest(
                method: method, url: server.base + "/", headers: TransportHeaders(fields),
                body: body.map { Array($0.utf8) })
            return String(decoding: try await transport.send(request).body, as: UTF8.self)
        }
        #expect(
            try await send("POST", [.init("X-Of", "post"), .init("Content-Type", "text/plain")], body: "a body") == "ok"
        )
        #expect(try await send("HEAD", [.init("X-Of", "head")]) == "")
        #expect(try await send("GET") == "ok")
        #expect(try await send("DELETE") == "ok")
        #expect(try await send("GET", [.init("X-Of", "get")]) == "ok")
        let requests = server.requests
        #expect(requests.map { $0.prefix { $0 != " " } } == ["POST", "HEAD", "GET", "DELETE", "GET"])
        #expect(requests.map { $0.contains("X-Of: post") } == [true, false, false, false, false])
        #expect(requests.map { $0.contains("X-Of: head") } == [false, true, false, false, false])
        #expect(requests.map { $0.contains("a body") } == [true, false, false, false, false])
        for plain in requests.dropFirst() { #expect(!plain.lowercased().contains("content-"), "\(plain)") }
    }

    @Test("a request that would be read as two is refused before it is sent")
    func smuggling() async throws {
        let transport = CurlTransport()
        let fields: [TransportHeaders.Field] = [
            .init("X", "1\r\nY: 2"), .init("X\r\nY", "1"), .init("X Y", "1"), .init("", "1"), .init("X", "\u{0}"),
        ]
        for field in fields {
            await expectFailure(.protocol) {
                try await transport.send(
                    TransportRequest(url: "http://127.0.0.1:9/", headers: TransportHeaders([field])))
            }
        }
        await expectFailure(.protocol) {
            try await transport.send(TransportRequest(method: "GET /", url: "http://127.0.0.1:9/"))
        }
        await expectFailure(.url) {
            try await transport.send(TransportRequest(url: "http://127.0.0.1:9/ HTTP/1.1\r\nX: y"))
        }
    }

    @Test("interim responses and trailers lend no header fields, and folded and Latin-1 fields are read")
    func oddHeads() async throws {
        let server = try RawServer([
            Array("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Name: caf".utf8) + [0xE9]
                + Array(
                    "\r\nX-Fold: a\r\n  b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n".utf8)
        ])
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(String(decoding: response.body, as: UTF8.self) == "{}")
        #expect(
            response.headers.fields == [
                .init("X-Name", "café"), .init("X-Fold", "a b"), .init("Transfer-Encoding", "chunked"),
            ])
    }

    @Test("a compressed body is decoded")
    func compressed() async throws {
        // gzip of [1,2,3]
        let body: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 139, 54, 212, 49, 210, 49, 142, 5, 0, 233, 179, 109, 253, 7, 0, 0, 0,
        ]
        let server = try RawServer([
            Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        ])
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/"))
        #expect(String(decoding: response.body, as: UTF8.self) == "[1,2,3]")
        #expect(server.requests[0].contains("Accept-Encoding: "))
        #expect(server.requests[0].contains("gzip"))
    }

    @Test("requests one after the other use one connection")
    func connectionReuse() async throws {
        let server = try LocalServer([Self.page])
        let transport = CurlTransport()
        for _ in 1...20 { _ = try await transport.send(TransportRequest(url: server.base + "/issues?page=1")) }
        #expect(server.requests.count == 20)
        #expect(Set(server.requests.compactMap { $0.split(separator: "=").last }) == ["1"])
    }

    @Test("50 requests at once are all answered right, over no more connections than allowed")
    func manyAtOnce() async throws {
        let recordings = (1...50).map {
            "GET /item/\($0)\nHTTP/1.1 200 OK\n\nbody \($0) " + String(repeating: "x", count: $0 * 997)
        }
        let server = try LocalServer(recordings, "--latency", "5")
        var options = CurlTransport.Options()
        options.concurrencyPerHost = 3
        let transport = CurlTransport(options)
        let bodies = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for number in 1...50 {
                group.addTask {
                    (number, try await transport.send(TransportRequest(url: server.base + "/item/\(number)")).body)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(bodies.count == 50)
        for (number, body) in bodies {
            #expect(body == Array("body \(number) ".utf8) + Array(repeating: UInt8(ascii: "x"), count: number * 997))
        }
        #expect(server.requests.count == 50)
        #expect(Set(server.requests.compactMap { $0.split(separator: "=").last }).isSubset(of: ["1", "2", "3"]))
    }

    @Test("any number of concurrent requests may be allowed")
    func greatestConcurrency() async throws {
        let server = try LocalServer([Self.page])
        var options = CurlTransport.Options()
        options.concurrencyPerHost = .max
        let response = try await CurlTransport(options).send(TransportRequest(url: server.base + "/issues?page=1"))
        #expect(response.status == 200)
    }

    @Test("a transport that is released while its requests are under way still answers them")
    func releasedEarly() async throws {
        let server = try LocalServer([Self.page], "--latency", "50")
        let bodies = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...6 {
                group.addTask {
                    try await CurlTransport().send(TransportRequest(url: server.base + "/issues?page=1")).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == [200, 200, 200, 200, 200, 200])
    }

    @Test("transports that are gone leave no threads")
    func noThreadsLeft() async {
        // In a separate process: the other tests have threads, too.
        await #expect(processExitsWith: .success) {
            func threads() -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
            }
            let server = try LocalServer([CurlTransportTests.page])
            let request = TransportRequest(url: server.base + "/issues?page=1")
            guard try await CurlTransport().send(request).status == 200 else { exit(2) }
            let before = threads()
            var transports: [CurlTransport] = []
            for _ in 1...40 {
                let transport = CurlTransport()
                guard try await transport.send(request).status == 200 else { exit(2) }
                transports.append(transport)
            }
            guard threads() >= before + 39 else { exit(3) }
            transports = []
            // Far from both: the runtime's own threads come and go.
            let end = ContinuousClock.now + .seconds(60)
            while threads() > before + 20, .now < end { try await Task.sleep(for: .milliseconds(5)) }
            if threads() > before + 20 { exit(4) }
        }
    }

    @Test("a program that the process starts does not inherit a connection")
    func closeOnExec() async throws {
        let server = try HoldingServer()
        let request = Task { try await CurlTransport().send(TransportRequest(url: server.base + "/")) }
        try await eventually("the request") { server.held == 1 }
        let port = in_port_t(server.port).bigEndian
        let flags = (3..<1024).compactMap { (descriptor: Int32) -> Int32? in
            var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            guard code == 0, address.sin_family == sa_family_t(AF_INET), address.sin_port == port else { return nil }
            return fcntl(descriptor, F_GETFD)
        }
        #expect(!flags.isEmpty && flags.allSatisfy { $0 & FD_CLOEXEC != 0 })
        server.answer("[]")
        #expect(try await request.value.status == 200)
    }
}
