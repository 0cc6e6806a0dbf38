// The format of recordings, how they are matched, and the transport that answers from them.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Recordings")
struct RecordingTests {
    private func parse(_ text: String) throws(RecordingError) -> Recording {
        try Recording(parsing: Array(text.utf8), file: "a.http")
    }

    @Test("an exchange is read as it stands: target, status, fields in order, body byte for byte")
    func exchange() throws {
        let recording = try parse(
            "GET /x?b=2&a=1\nHTTP/1.1 200 OK\nB:  2 \nA: 1\nb: 3\nContent-Length: 11\n\nbody\r\n\n\nend")
        #expect(recording.method == "GET")
        #expect(recording.target == "/x?b=2&a=1")
        #expect(recording.status == 200)
        #expect(recording.fieldLines == ["B:  2 ", "A: 1", "b: 3", "Content-Length: 11"])
        #expect(recording.headers.fields.prefix(3) == [.init("B", "2"), .init("A", "1"), .init("b", "3")])
        #expect(String(decoding: recording.body, as: UTF8.self) == "body\r\n\n\nend")
    }

    @Test("lines may end in CRLF, and a body may be any bytes")
    func carriageReturns() throws {
        let head = "GET /x\r\nHTTP/1.1 404\r\nA: 1\r\n\r\n"
        let recording = try Recording(parsing: Array(head.utf8) + [0, 0xFF, 10], file: "a.http")
        #expect(recording.status == 404)
        #expect(recording.fieldLines == ["A: 1"])
        #expect(recording.body == [0, 0xFF, 10])
    }

    @Test("a chunked body is kept as it was sent and known as what it says")
    func chunked() throws {
        let recording = try parse(
            "GET /x\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n4;x=y\r\n[1,2\r\nA\r\n,3,4,5,6,7\r\n1\r\n]\r\n0\r\nT: 1\r\n\r\n"
        )
        #expect(String(decoding: recording.content, as: UTF8.self) == "[1,2,3,4,5,6,7]")
        #expect(recording.body.count > recording.content.count)
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        var text: String
        var message: String
        /// On one line, for the runner's log.
        var testDescription: String { text.debugDescription }
    }

    static let ok = "GET /x\nHTTP/1.1 200 OK\n"
    static let malformed: [Malformed] =
        ([
            ("", "a.http:1: "), ("GET /x", "a.http:1: "), ("GET x\n", "a.http:1: "), ("/x\n", "a.http:1: "),
            ("GET /x HTTP/1.1\n", "a.http:1: "), ("G(T /x\n", "a.http:1: "), ("GET http://a/x\n", "a.http:1: "),
            ("GET /ü\n", "a.http:1: "), ("GET /x#f\n", "a.http:1: "), ("GET /x\n", "a.http:2: "),
            ("GET /x\n200 OK\n\n", "a.http:2: "),
            ("GET /x\nHTTP/2 200\n\n", "a.http:2: "), ("GET /x\nHTTP/1.1 20 OK\n\n", "a.http:2: "),
            ("GET /x\nHTTP/1.1 2000\n\n", "a.http:2: "), ("GET /x\nHTTP/1.1 100 Continue\n\n", "a.http:2: an interim"),
            (ok, "a.http:3: unexpected end of file"), (ok + "A: 1\n", "a.http:4: unexpected end of file"),
            (ok + "A 1\n\n", "a.http:3: expected"),
            (ok + "A: 1\n folded\n\n", "a.http:4: expected"), (ok + "A : 1\n\n", "a.http:3: expected"),
            (ok + "A: \u{1}\n\n", "a.http:3: expected"),
            (ok + "X: 1\nContent-Length: 3\n\nab", "a.http:4: Content-Length is 3, but the body has 2 bytes"),
            (ok + "Content-Length: x\n\n", "a.http:3: Content-Length is not"),
            (ok + "Content-Length: -1\n\n", "a.http:3: Content-Length is not"),
            (ok + "Content-Length: 1\nContent-Length: 1\n\na", "a.http:4: a second"),
            (ok + "Transfer-Encoding: gzip\n\n", "a.http:3: unsupported transfer coding"),
            (ok + "Transfer-Encoding: chunked\n\n3\r\nab\r\n0\r\n\r\n", "a.http:5: the body is not chunked"),
            (ok + "Transfer-Encoding: chunked\n\n2\r\nab\r\n0\r\n", "a.http:5: the body is not chunked"),
            (ok + "Transfer-Encoding: chunked\n\n2\r\nab\r\n0\r\n\r\nx", "a.http:5: the body is not chunked"),
            (ok + "Content-Length: 5\nTransfer-Encoding: chunked\n\n0\r\n\r\n", "a.http:3: both Content-Length"),
            (
                "GET /x\nHTTP/1.1 304 Not Modified\n\nx",
                "a.http:4: a response to GET with status 304 must not have a body"
            ),
        ] as [(String, String)]).map { Malformed(text: $0, message: $1) }

    @Test("what does not fit the format is an error that names file and line", arguments: malformed)
    func malformedRecordings(_ row: Malformed) throws {
        let error = try #require(#expect(throws: RecordingError.self) { try parse(row.text) })
        #expect("\(error)".hasPrefix(row.message), "\(error)")
    }

    @Test("a head that is not UTF-8 is an error")
    func invalidUTF8() {
        let bytes = Array("GET /x\nHTTP/1.1 200 OK\nA: ".utf8) + [0xFF, 10, 10]
        #expect(throws: RecordingError(file: "a.http", line: 3, "not valid UTF-8")) {
            try Recording(parsing: bytes, file: "a.http")
        }
    }
}

@Suite("Recordings of a directory")
struct RecordingLibraryTests {
    private func library(_ texts: String...) throws -> RecordingLibrary {
        var recordings: [Recording] = []
        for (index, text) in texts.enumerated() {
            recordings.append(try Recording(parsing: Array(text.utf8), file: "\(index).http"))
        }
        return try RecordingLibrary(recordings)
    }

    @Test("a request is matched exactly, else with its parameters in any order, else not at all")
    func matching() throws {
        let library = try library(
            "GET /x?a=1&b=2\nHTTP/1.1 200 OK\n\n0", "GET /x?b=2&a=1\nHTTP/1.1 200 OK\n\n1",
            "POST /x\nHTTP/1.1 201 Made\n\n2",
            "GET /y?a=1&a=2&c\nHTTP/1.1 200 OK\n\n3", "HEAD /x?a=1&b=2\nHTTP/1.1 200 OK\nContent-Length: 9\n\n")
        func body(_ method: String, _ target: String) -> String? {
            try? library.recording(method: method, target: target).map { String(decoding: $0.body, as: UTF8.self) }
        }
        #expect(body("GET", "/x?a=1&b=2") == "0")
        #expect(body("GET", "/x?b=2&a=1") == "1")
        #expect(body("GET", "/y?c&a=2&a=1") == "3")
        #expect(body("GET", "/y?a=1&c") == nil)
        #expect(body("GET", "/x") == nil)
        #expect(body("POST", "/x") == "2")
        #expect(body("HEAD", "/x?a=1&b=2") == "")
        #expect(body("HEAD", "/y?a=1&a=2&c") == "3")
        #expect(body("DELETE", "/x") == nil)
    }

    @Test("two recordings of one request are an error that names both files")
    func duplicate() throws {
        let error = try #require(
            #expect(throws: RecordingError.self) {
                try library("GET /x\nHTTP/1.1 200 OK\n\n", "GET /x\nHTTP/1.1 404 No\n\n")
            })
        #expect("\(error)" == "1.http:1: the same request as in 0.http: GET /x")
    }

    static let conditions: [(String, Int)] = [
        (#""abc""#, 304), (#"W/"abc""#, 304), (#""x", W/"abc", "y""#, 304), (#""x","abc""#, 304), ("*", 304),
        (#"junk, "abc""#, 304),
        (#""x""#, 200), ("abc", 200), ("", 200), (#""ABC""#, 200), (#""x, abc""#, 200),
    ]

    @Test("If-None-Match is compared weakly with the recorded ETag", arguments: conditions)
    func ifNoneMatch(_ condition: String, _ status: Int) throws {
        let library = try library(
            "GET /x\nHTTP/1.1 200 OK\nDate: d\nContent-Type: t\nContent-Length: 2\nETag: \"abc\"\nLink: l\n\n{}")
        let answer = try #require(
            try library.answer(
                method: "GET", target: "/x", headers: TransportHeaders([.init("if-none-match", condition)])))
        #expect(answer.status == status)
        if status == 304 {
            #expect(answer.fieldLines == ["Date: d", "ETag: \"abc\"", "Link: l"])
            #expect(answer.body.isEmpty)
        }
    }

    @Test("a condition counts only for a recorded 200 that has a validator, and * for any 200")
    func conditionElsewhere() throws {
        let library = try library(
            "GET /none\nHTTP/1.1 200 OK\n\n{}", "GET /gone\nHTTP/1.1 404 No\nETag: \"a\"\n\n{}",
            "POST /p\nHTTP/1.1 200 OK\nETag: \"a\"\n\n")
        func status(_ method: String, _ target: String, _ tag: String) -> Int? {
            (try? library.answer(
                method: method, target: target, headers: TransportHeaders([.init("If-None-Match", tag)])))?
                .status
        }
        #expect(status("GET", "/none", #""a""#) == 200)
        #expect(status("GET", "/none", "*") == 304)
        #expect(status("GET", "/gone", #""a""#) == 404)
        #expect(status("POST", "/p", #""a""#) == 200)
    }
}

@Suite("Fixture transport")
struct FixtureTransportTests {
    private func directory(_ recordings: [String: String]) throws -> String {
        let folder = try LocalServer.makeFolder()
        for (name, text) in recordings {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        return folder
    }

    @Test("recorded responses are answered without a socket, at any origin or only at the base's")
    func answers() async throws {
        let folder = try directory([
            "a.http": "GET /x?b=1&a=2\nHTTP/1.1 200 OK\nZ: 1\nETag: \"e\"\nA: 2\n\n[1]",
            "b.http": "GET /c\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n",
            "notes.txt": "not a recording",
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let transport = try FixtureTransport(directory: folder)
        let response = try await transport.send(TransportRequest(url: "https://api.example/x?a=2&b=1"))
        #expect(response.status == 200)
        #expect(response.headers.fields == [.init("Z", "1"), .init("ETag", "\"e\""), .init("A", "2")])
        #expect(response.body == Array("[1]".utf8))
        #expect(try await transport.send(TransportRequest(url: "http://h/c")).body == Array("{}".utf8))
        #expect(try await transport.send(TransportRequest(method: "HEAD", url: "http://h/x?b=1&a=2")).body == [])

        var conditional = TransportRequest(url: "http://h/x?b=1&a=2")
        Validators(response.headers).apply(to: &conditional)
        #expect(try await transport.send(conditional).status == 304)

        let bound = try FixtureTransport(directory: folder, base: "https://api.example/v1")
        #expect(try await bound.send(TransportRequest(url: "https://api.example/c")).status == 200)
        await expectFailure(.noFixture) { try await bound.send(TransportRequest(url: "https://other.example/c")) }
    }

    @Test("a request without a recording is an error that names it, and so is a URL that is none")
    func failures() async throws {
        let folder = try directory(["a.http": "GET /x\nHTTP/1.1 404 Not Found\n\n{}"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let transport = try FixtureTransport(directory: folder)
        #expect(try await transport.send(TransportRequest(url: "http://h/x")).status == 404)
        let missing = await expectFailure(.noFixture) {
            try await transport.send(TransportRequest(url: "http://h/y?token=t"))
        }
        #expect(missing?.description == "GET http://h/y?token=***: no recording of this request")
        await expectFailure(.noFixture) {
            try await transport.send(TransportRequest(method: "POST", url: "http://h/x"))
        }
        await expectFailure(.url) { try await transport.send(TransportRequest(url: "/x")) }
        let task = Task { () throws -> TransportResponse in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(TransportRequest(url: "http://h/x"))
        }
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test("recordings that cannot be used are errors when the transport is made")
    func unusable() throws {
        #expect(throws: RecordingError.self) { try FixtureTransport(directory: "/nonexistent/recordings") }
        for (recordings, message) in [
            ([:], "no recordings"), (["a.http": "GET /x\n"], "a.http:2: "),
            (["a.http": "GET /x\nHTTP/1.1 200 OK\nContent-Encoding: gzip\n\nx"], "compressed (gzip)"),
        ] as [([String: String], String)] {
            let folder = try directory(recordings)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let error = try #require(#expect(throws: RecordingError.self) { try FixtureTransport(directory: folder) })
            #expect("\(error)".contains(message), "\(error)")
        }
    }
}

/// Expects a transport error of this kind, and returns it.
@discardableResult
func expectFailure(
    _ kind: TransportError.Kind, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> TransportResponse
) async -> TransportError? {
    do {
        let response = try await body()
        Issue.record("expected \(kind), got status \(response.status)", sourceLocation: sourceLocation)
    } catch let error as TransportError {
        #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(kind), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
