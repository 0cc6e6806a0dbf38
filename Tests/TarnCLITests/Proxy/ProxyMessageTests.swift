// `tarn proxy` message by message: input on one side, output on the other, checked on the sockets
// themselves.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: messages through the proxy", .timeLimit(.minutes(5)))
struct ProxyMessageTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Sends text to a new proxy in front of the server, and does the rest on the connection.
    private func exchange<Result: Sendable>(
        _ server: ConnectionServer, _ text: String, _ arguments: [String] = [],
        _ body: @escaping @Sendable (RawConnection) throws -> Result
    ) async throws -> Result {
        let proxy = try await RunningProxy(server.base, arguments)
        let result = try await onThread {
            let connection = try proxy.connection()
            try connection.send(text)
            return try body(connection)
        }
        #expect(await proxy.end().status == 0)
        return result
    }

    /// The request that the server receives for one of the client's.
    private func forwarded(_ text: String, _ arguments: [String] = []) async throws -> RawConnection.Message {
        let seen = Mutex<RawConnection.Message?>(nil)
        let server = try ConnectionServer { request, connection in
            seen.withLock { $0 = request }
            try connection.send(request.start.hasPrefix("HEAD") ? "HTTP/1.1 200 OK\r\n\r\n" : Self.answer)
        }
        let isHEAD = text.hasPrefix("HEAD")
        let answer = try await exchange(server, text, arguments) { try $0.message(hasBody: !isHEAD) }
        #expect(answer.start == "HTTP/1.1 200 OK")
        return try #require(seen.withLock { $0 })
    }

    // MARK: Requests

    @Test(
        "a request's fields go through in their order, however often one comes; what is the connection's own does not, and nothing is added but Via"
    )
    func requestFields() async throws {
        let seen = try await forwarded(
            """
            GET /a%2Fb/../c?q=%41&r HTTP/1.1\r
            Host: client.example\r
            X-One: 1\r
            x-two: a, b\r
            X-One: \r
            Connection: keep-alive, X-Hop\r
            X-Hop: 1\r
            TE: trailers\r
            Cookie: a=b; c\r
            \r

            """)
        // In the form under which the answer is kept.
        #expect(seen.start == "GET /c?q=A&r HTTP/1.1")
        #expect(seen.fields.count == 6 && seen.values("host").first?.hasPrefix("127.0.0.1:") == true, "\(seen.fields)")
        #expect(
            seen.fields.filter { !$0.hasPrefix("Host:") }.dropLast() == [
                "X-One: 1", "x-two: a, b", "X-One:", "Cookie: a=b; c",
            ])
        #expect(seen.fields.last?.hasPrefix("Via: 1.1 tarn-") == true)
    }

    @Test(
        "a transfer coding other than chunked is answered with 501, and nothing is forwarded (RFC 9112 §6.1)",
        arguments: ["gzip, chunked", "Chunked, chunked", "gzip\r\nTransfer-Encoding: chunked"])
    func transferCoding(_ coding: String) async throws {
        let count = Mutex(0)
        let server = try ConnectionServer { _, connection in
            count.withLock { $0 += 1 }
            try connection.send(Self.answer)
        }
        let answer = try await exchange(
            server, "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \(coding)\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        ) { try $0.message() }
        let isRefused = answer.start == "HTTP/1.1 501 Not Implemented" || answer.start == "HTTP/1.1 400 Bad Request"
        #expect(isRefused && count.withLock(\.self) == 0, "\(answer.start)")
        if coding == "gzip, chunked" { #expect(answer.start == "HTTP/1.1 501 Not Implemented") }
    }

    @Test("Max-Forwards of TRACE and OPTIONS is counted down, and at 0 the proxy answers (RFC 9110 §7.6.2)")
    func maximumForwards() async throws {
        for method in ["TRACE", "OPTIONS"] {
            let seen = try await forwarded("\(method) /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 5\r\n\r\n")
            #expect(seen.values("max-forwards") == ["4"])
            let strange = try await forwarded("\(method) /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: x\r\n\r\n")
            #expect(strange.values("max-forwards") == ["x"])
        }
        // The field means nothing to other methods.
        let other = try await forwarded("DELETE /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n")
        #expect(other.values("max-forwards") == ["0"])
        let server = try ConnectionServer { _, _ in Issue.record("the request was forwarded") }
        let trace = try await exchange(
            server, "TRACE /x?y HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nCookie: c\r\nMax-Forwards: 0\r\n\r\n"
        ) { try $0.message() }
        #expect(trace.start == "HTTP/1.1 200 OK" && trace.values("content-type") == ["message/http"])
        #expect(trace.text == "TRACE /x?y HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nMax-Forwards: 0\r\n\r\n")
        let options = try await exchange(server, "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n") {
            try $0.message()
        }
        #expect(options.start == "HTTP/1.1 200 OK" && options.values("content-length") == ["0"])
    }

    @Test(
        "a response with a malformed Content-Length is a 502, and nothing of it is stored",
        arguments: ["3, 5", "0x5", "1e1", "5x", "5.0", "5;", "+5"])
    func malformedLength(_ length: String) async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: \(length)\r\n\r\nhello")
        }
        let request = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
        let answers = try await exchange(server, request + request) { [try $0.message(), try $0.message()] }
        #expect(answers.map(\.start) == Array(repeating: "HTTP/1.1 502 Bad Gateway", count: 2))
    }

    @Test(
        "methods go through, with a body or without",
        arguments: [
            ("PROPFIND", "<a/>"), ("PURGE", nil), ("REPORT", "x"), ("M-SEARCH", nil), ("OPTIONS", nil),
            ("DELETE", "gone"), ("PATCH", "{}"), ("PUT", ""),
            ("GET", "a question"), ("HEAD", nil), ("TRACE", nil),
        ] as [(String, String?)])
    func methods(_ method: String, _ body: String?) async throws {
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        let seen = try await forwarded("\(method) /x HTTP/1.1\r\nHost: a\r\n\(length)\r\n\(body ?? "")")
        #expect(seen.start == "\(method) /x HTTP/1.1" && seen.text == body ?? "")
        // RFC 9110 §8.6: PATCH and PUT declare an empty body.
        #expect(seen.values("content-length") == (body.map { [String($0.utf8.count)] } ?? []))
        #expect(seen.values("content-type").isEmpty && seen.values("expect").isEmpty)
    }

    @Test("a body in chunks arrives whole, with its length")
    func chunkedRequest() async throws {
        let seen = try await forwarded(
            "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: 1\r\n\r\n"
        )
        #expect(seen.text == "abcdefg" && seen.values("content-length") == ["7"] && seen.values("x-trailer").isEmpty)
    }

    @Test("who expects 100 is told to go on, and the upstream is not asked for it")
    func expectation() async throws {
        let seen = Mutex<RawConnection.Message?>(nil)
        let server = try ConnectionServer { request, connection in
            seen.withLock { $0 = request }
            try connection.send(Self.answer)
        }
        let starts = try await exchange(
            server, "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        ) { connection in
            let interim = try connection.message(hasBody: false).start
            try connection.send("abc")
            return [interim, try connection.message().start]
        }
        #expect(starts == ["HTTP/1.1 100 Continue", "HTTP/1.1 200 OK"])
        #expect(seen.withLock { $0?.text } == "abc" && seen.withLock { $0?.values("expect") } == [])
    }

    @Test("who expects 100 for a body that is too large is told so at once, and sends nothing")
    func refusedExpectation() async throws {
        let server = try ConnectionServer { _, connection in try connection.send(Self.answer) }
        let text = "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 300\r\n\r\n"
        let answer = try await exchange(server, text, ["--maximum-body", "10"]) { connection in
            let answer = try connection.message()
            return (answer, try connection.isClosed)
        }
        #expect(
            answer.0.start == "HTTP/1.1 413 Payload Too Large" && answer.0.values("connection") == ["close"] && answer.1
        )
    }

    @Test("a body in chunks that grows beyond the limit is 413, and the connection ends")
    func tooLargeChunks() async throws {
        let server = try ConnectionServer { _, connection in try connection.send(Self.answer) }
        let text =
            "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nghijkl\r\n0\r\n\r\n"
        let answer = try await exchange(server, text, ["--maximum-body", "11"]) { connection in
            (try connection.message(), try connection.isClosed)
        }
        #expect(answer.0.start.hasPrefix("HTTP/1.1 413 ") && answer.1)
        #expect(
            try await exchange(server, text, ["--maximum-body", "12"]) { try $0.message().start } == "HTTP/1.1 200 OK")
    }

    @Test(
        "a target with scheme and host is asked for at the upstream; its path goes behind the upstream's",
        arguments: ["", "/", "/v1", "/v1/"])
    func absoluteForm(_ path: String) async throws {
        let seen = Mutex("")
        let server = try ConnectionServer { request, connection in
            seen.withLock { $0 = request.start }
            try connection.send(Self.answer)
        }
        let proxy = try await RunningProxy(server.base + path, "--host", "client.example")
        _ = try await onThread {
            let connection = try proxy.connection()
            try connection.send("GET http://client.example:81/x?y=http://z HTTP/1.1\r\nHost: client.example\r\n\r\n")
            return try connection.message()
        }
        #expect(await proxy.end().status == 0)
        #expect(
            seen.withLock { $0 }
                == "GET \(path == "/" ? "" : path.hasSuffix("/") ? String(path.dropLast()) : path)/x?y=http://z HTTP/1.1"
        )
    }

    @Test("a GET with a body passes the cache by: each body has its own answer, although answers may be kept")
    func questions() async throws {
        let server = try ConnectionServer { request, connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: \(request.body.count)\r\n\r\n\(request.text)"
            )
        }
        let text = ["a", "b", ""].map { "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
            .joined()
        let answers = try await exchange(server, text + text) { connection in
            try (0..<6).map { _ in try connection.message() }
        }
        #expect(answers.map(\.text) == ["a", "b", "", "a", "b", ""])
        #expect(
            answers.map { $0.values("cache-status").first?.contains("bypass") } == [
                true, true, false, true, true, false,
            ])
    }

    @Test(
        "what is private is not kept for the next one, but with --private it is",
        arguments: [[], ["--shared"], ["--private"]])
    func shared(_ arguments: [String]) async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 200 OK\r\nCache-Control: private, max-age=600\r\nContent-Length: 2\r\n\r\nok")
        }
        let text = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let answers = try await exchange(server, text + text, arguments) { [try $0.message(), try $0.message()] }
        #expect(answers[1].values("cache-status").first?.hasPrefix("tarn; hit") == (arguments == ["--private"]))
    }

    @Test("parts that went through answer ranges, and a GET when nothing is missing: the upstream sends each byte once")
    func parts() async throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) }, asked = Mutex(0)
        let server = try ConnectionServer { request, connection in
            asked.withLock { $0 += 1 }
            let ends = (request.values("range").first ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap
            { Int($0) }
            guard ends.count == 2 else {
                return try connection.send("HTTP/1.1 500 No range\r\nContent-Length: 0\r\n\r\n")
            }
            let part = Array(body[ends[0]...ends[1]]),
                fields = "ETag: \"a\"\r\nCache-Control: max-age=600\r\nContent-Length: \(part.count)\r\n"
            try connection.send(
                "HTTP/1.1 206 Partial Content\r\n\(fields)Content-Range: bytes \(ends[0])-\(ends[1])/\(body.count)\r\n\r\n"
            )
            try connection.send(part)
        }
        let ranges = [50_000...99_999, 0...49_999, 20_000...70_000, 100_000...199_999]
        let text = ranges.map { "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=\($0.lowerBound)-\($0.upperBound)\r\n\r\n" }
            .joined()
        let answers = try await exchange(server, text + "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { connection in
            try (0..<5).map { _ in try connection.message() }
        }
        for (answer, range) in zip(answers, ranges) {
            #expect(answer.start.hasPrefix("HTTP/1.1 206 ") && answer.body == Array(body[range]))
        }
        #expect(answers[4].start == "HTTP/1.1 200 OK" && answers[4].body == body)
        #expect(asked.withLock { $0 } == 3)
    }

    // MARK: Answers

    @Test("an answer's fields go through in their order, however often one comes; Content-Length stays where it stands")
    func answerFields() async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send(
                """
                HTTP/1.1 200 Fine\r
                set-cookie: a=1\r
                Content-length: 2\r
                Set-Cookie: b=2\r
                X-Empty:\r
                Keep-Alive: timeout=5\r
                Content-Encoding: gzip\r
                \r
                ok
                """)
        }
        let answer = try await exchange(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { try $0.message() }
        #expect(
            answer.fields.prefix(5) == [
                "set-cookie: a=1", "Content-length: 2", "Set-Cookie: b=2", "X-Empty: ", "Content-Encoding: gzip",
            ], "\(answer.fields)")
        #expect(
            answer.fields.count == 8 && answer.values("date").count == 1
                && answer.values("via").first?.hasPrefix("1.1 tarn-") == true
                && answer.text == "ok")
    }

    @Test(
        "statuses go through, also those that nobody knows",
        arguments: [
            200, 201, 202, 206, 226, 299, 300, 301, 307, 400, 401, 402, 404, 410, 418, 422, 429, 451, 499, 500, 503,
            599,
        ])
    func statuses(_ status: Int) async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send("HTTP/1.1 \(status) Whatever\r\nLocation: /x\r\nContent-Length: 2\r\n\r\nok")
        }
        let answer = try await exchange(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { try $0.message() }
        #expect(
            answer.start.hasPrefix("HTTP/1.1 \(status) ") && answer.text == "ok" && answer.values("location") == ["/x"])
    }

    @Test("what has no body gets none, and the connection goes on: HEAD with a length and without, 204, 304")
    func withoutBody() async throws {
        let server = try ConnectionServer { request, connection in
            let answers = [
                "HEAD /length": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
                "HEAD /none": "HTTP/1.1 200 OK\r\nX: 1\r\n\r\n",
                "GET /204": "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
                "GET /304": "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
            ]
            try connection.send(answers.first { request.start.hasPrefix($0.key + " ") }?.value ?? Self.answer)
        }
        let text = ["HEAD /length", "HEAD /none", "GET /204", "GET /304", "GET /"].map {
            "\($0) HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"a\"\r\n\r\n"
        }.joined()
        let answers = try await exchange(server, text) { connection in
            try (0..<4).map { _ in try connection.message(hasBody: false) } + [try connection.message()]
        }
        #expect(answers.map { $0.start.dropFirst("HTTP/1.1 ".count).prefix(3) } == ["200", "200", "204", "304", "200"])
        #expect(answers.map { $0.values("content-length") } == [["1000"], [], [], [], ["2"]])
        #expect(answers.allSatisfy { $0.values("transfer-encoding").isEmpty } && answers.last?.text == "ok")
    }

    @Test("an answer in chunks arrives whole, with its length; its trailers are dropped")
    func chunkedAnswer() async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
            )
        }
        let answer = try await exchange(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { try $0.message() }
        #expect(answer.text == "hello" && answer.values("content-length") == ["5"] && answer.values("x-sum").isEmpty)
    }

    @Test("an answer that breaks off is 502, not half an answer")
    func cutShort() async throws {
        let server = try ConnectionServer { connection in
            _ = try connection.message()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }
        let answer = try await exchange(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") { try $0.message() }
        #expect(answer.start == "HTTP/1.1 502 Bad Gateway" && !answer.text.contains("half"))
        #expect(answer.values("cache-status") == ["tarn; fwd=miss; detail=cutShort"], "\(answer.fields)")
    }

    @Test("an upstream's limits: a body beyond --maximum-response is 502, and silence beyond the timeouts is 504")
    func upstreamLimits() async throws {
        let server = try ConnectionServer { request, connection in
            if request.start.contains("/slow") { usleep(10_000_000) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        }
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let large = try await exchange(server, text, ["--maximum-response", "4"]) { try $0.message() }
        #expect(large.start == "HTTP/1.1 502 Bad Gateway")
        #expect(large.text.contains("a body may have 4 bytes"))
        #expect(
            try await exchange(server, text, ["--maximum-response", "5"]) { try $0.message().text } == "hello")
        for option in ["--upstream-timeout", "--upstream-idle-timeout"] {
            let slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
            let start = try await exchange(server, slow, [option, "1"]) { try $0.message().start }
            #expect(start == "HTTP/1.1 504 Gateway Timeout")
        }
    }

    @Test("20 MB go through in both directions, byte by byte")
    func largeBodies() async throws {
        let bytes = (0..<20 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) }
        let server = try ConnectionServer { request, connection in
            // Whoever does not expect 100 itself must not wait for it.
            guard request.values("expect").isEmpty else {
                return try connection.send("HTTP/1.1 417 Unexpected\r\nContent-Length: 0\r\n\r\n")
            }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
            try connection.send(request.body)
        }
        let text = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: \(bytes.count)\r\n\r\n"
        let answer = try await exchange(server, text, ["--maximum-body", "30000000"]) {
            try $0.send(bytes)
            return try $0.message()
        }
        #expect(answer.start == "HTTP/1.1 200 OK" && answer.body == bytes)
    }

    // MARK: Interim responses

    @Test(
        "interim responses reach the client while the answer is awaited, with their fields; 100, which nobody asked for, does not"
    )
    func interim() async throws {
        let hasArrived = DispatchSemaphore(value: 0)
        let server = try ConnectionServer { request, connection in
            try connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
            try connection.send(
                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"
            )
            let isAwaited = hasArrived.wait(timeout: .now() + 60) == .success
            try connection.send(isAwaited ? Self.answer : "HTTP/1.1 500 Nobody saw it\r\nContent-Length: 0\r\n\r\n")
        }
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let messages = try await exchange(server, text) { connection in
            let interim = [try connection.message(hasBody: false), try connection.message(hasBody: false)]
            hasArrived.signal()
            return interim + [try connection.message()]
        }
        #expect(messages.map(\.start) == ["HTTP/1.1 102 Processing", "HTTP/1.1 103 Early Hints", "HTTP/1.1 200 OK"])
        #expect(messages[1].fields == ["Link: </a.css>; rel=preload", "Link: </b.js>"] && messages[2].text == "ok")
        #expect(messages[2].values("link").isEmpty)
    }

    @Test(
        "an interim response to a revalidation in the background goes to nobody, also if the connection waits for another answer"
    )
    func lateInterim() async throws {
        let isRevalidating = Mutex(false), hasAsked = DispatchSemaphore(value: 0), hasTold = DispatchSemaphore(value: 0)
        let server = try ConnectionServer { request, connection in
            let again = isRevalidating.withLock { seen in
                defer { seen = seen || request.start.hasPrefix("GET /a ") }
                return seen
            }
            let fields =
                "Cache-Control: max-age=0, stale-while-revalidate=1000\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\nok"
            if request.start.hasPrefix("GET /b ") {
                hasAsked.signal()
                hasTold.wait()
                // The interim response has time to take the wrong way.
                usleep(300_000)
            } else if again {
                hasAsked.wait()
                try connection.send("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n")
                hasTold.signal()
            }
            try connection.send("HTTP/1.1 200 OK\r\n" + fields)
        }
        let text = ["/a", "/a", "/b"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
        let answers = try await exchange(server, text) { connection in try (0..<3).map { _ in try connection.message() }
        }
        #expect(answers.map(\.start) == ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK"])
        #expect(answers[1].values("cache-status").first?.hasPrefix("tarn; hit") == true, "\(answers[1].fields)")
    }

    @Test("a client of HTTP/1.0 gets no interim response, and a connection that ends")
    func oldClient() async throws {
        let seen = Mutex<[String]>([])
        let server = try ConnectionServer { request, connection in
            seen.withLock { $0 = request.values("via") }
            try connection.send("HTTP/1.1 103 Early Hints\r\n\r\n" + Self.answer)
        }
        let answer = try await exchange(server, "GET / HTTP/1.0\r\n\r\n") { connection in
            (try connection.message(), try connection.isClosed)
        }
        #expect(answer.0.start == "HTTP/1.1 200 OK" && answer.0.values("connection") == ["close"] && answer.1)
        #expect(seen.withLock { $0 }.first?.hasPrefix("1.0 tarn-") == true)
    }

    @Test("a client of HTTP/1.0 that keeps its connection is told that it stays, and does not wait for its end")
    func oldKeptConnection() async throws {
        let server = try ConnectionServer { _, connection in try connection.send(Self.answer) }
        let answers = try await exchange(server, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") { connection in
            let first = try connection.message()
            try connection.send("GET / HTTP/1.0\r\n\r\n")
            return (first, try connection.message(), try connection.isClosed)
        }
        #expect(answers.0.text == "ok" && answers.0.values("connection") == ["keep-alive"], "\(answers.0)")
        #expect(answers.1.text == "ok" && answers.1.values("connection") == ["close"] && answers.2)
    }
}
