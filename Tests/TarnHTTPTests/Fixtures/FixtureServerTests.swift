// The local API server as a process: its command line, its end, and its bytes on the wire.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Fixture server", .timeLimit(.minutes(5)))
struct FixtureServerTests {
    static let recording = "GET /x?a=1&b=2\nHTTP/1.1 200 Fine\nX-B:  2 \nETag: \"e\"\nx-a: 1\n\n{}"

    /// Sends bytes on one connection and reads until the server closes it.
    private func talk(_ port: Int, _ text: String) -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return "no connection" }
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return String(decoding: answer, as: UTF8.self) }
            answer += buffer[..<count]
        }
    }

    @Test("the head goes out line by line as recorded; only a missing length is added")
    func wire() throws {
        let server = try LocalServer([Self.recording])
        let close = "Connection: close\r\n\r\n"
        #expect(
            talk(server.port, "GET /x?b=2&a=1 HTTP/1.1\r\n" + close)
                == "HTTP/1.1 200 Fine\r\nX-B:  2 \r\nETag: \"e\"\r\nx-a: 1\r\nContent-Length: 2\r\n\r\n{}")
        #expect(
            talk(server.port, "HEAD /x?a=1&b=2 HTTP/1.1\r\n" + close)
                == "HTTP/1.1 200 Fine\r\nX-B:  2 \r\nETag: \"e\"\r\nx-a: 1\r\nContent-Length: 2\r\n\r\n")
        #expect(
            talk(server.port, "GET /x?a=1&b=2 HTTP/1.1\r\nIf-None-Match: W/\"e\"\r\n" + close)
                == "HTTP/1.1 304 Not Modified\r\nX-B:  2 \r\nETag: \"e\"\r\nx-a: 1\r\n\r\n")
    }

    @Test("several requests on one connection are answered in order, a malformed one with 400")
    func pipeline() throws {
        let server = try LocalServer([Self.recording])
        let get = "GET /x?a=1&b=2 HTTP/1.1\r\nHost: h\r\n\r\n"
        let answer = talk(
            server.port, get + "POST /y HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /" + get + "nonsense\r\n\r\n")
        #expect(answer.components(separatedBy: "HTTP/1.1 200 Fine").count == 3)
        #expect(answer.contains(#"{"message":"no recording of POST /y"}"#))
        #expect(answer.contains("HTTP/1.1 400 Bad Request"))
        #expect(
            server.requests == [
                "GET /x?a=1&b=2 200 connection=1", "POST /y 404 connection=1", "GET /x?a=1&b=2 200 connection=1",
            ])
    }

    @Test("the port file holds the port, and SIGTERM ends the server with status 0", arguments: [SIGTERM, SIGINT])
    func portFileAndSignal(_ signal: Int32) throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(Self.recording.utf8).write(to: URL(fileURLWithPath: folder + "/a.http"))
        let child = try LocalServer.spawn([folder, "--port-file", folder + "/port"])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(child.output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        let port = String(decoding: try #require(FileManager.default.contents(atPath: folder + "/port")), as: UTF8.self)
        #expect(String(decoding: line, as: UTF8.self) + "\n" == "listening on http://127.0.0.1:" + port)
        kill(child.processID, signal)
        #expect(child.end().status == 0)
    }

    @Test("the end of standard input ends the server if that was asked for")
    func untilEndOfInput() throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(Self.recording.utf8).write(to: URL(fileURLWithPath: folder + "/a.http"))
        let end = try LocalServer.spawn([folder, "--until-eof"]).end()
        #expect(end.status == 0)
        #expect(end.text.hasPrefix("listening on "))
    }

    static let misuse: [([String], Int32, String)] = [
        ([], 2, "the directory of recordings is missing"), (["--nope"], 2, "unknown option --nope"),
        (["a", "b"], 2, "only one directory is allowed"), (["a", "--port"], 2, "--port needs a value"),
        (["a", "--port", "65536"], 2, "--port 65536"), (["a", "--latency", "x"], 2, "--latency x"),
        (["a", "--fault", "close"], 2, "the pattern is missing"),
        (["a", "--fault", "page"], 2, "expected PATTERN:KIND"),
        (["a", "--fault", "p:status:99"], 2, "a status from 200 to 599"),
        (["a", "--fault", "p:explode:1"], 2, "unknown kind explode"),
        (["a", "--fault", "p:cut:-1"], 2, "a number of bytes"), (["a", "--fault", "p:drip:0"], 2, "bytes a second"),
        (["a", "--fault", "p:stall:x"], 2, "seconds"), (["a", "--fault", "p:limit:3"], 2, "requests/seconds"),
        (["a", "--fault", "p:limit:0/1"], 2, "requests/seconds"),
        (["a", "--fault", "p:close:times=0"], 2, "times=0 needs a number"),
        (["/nonexistent/recordings"], 1, "/nonexistent/recordings: cannot read the directory of recordings"),
        (["--help"], 0, "USAGE: FixtureServer DIRECTORY"),
    ]

    @Test("a command line that cannot be followed is an error with its reason", arguments: misuse)
    func commandLine(_ arguments: [String], _ status: Int32, _ message: String) throws {
        let end = try LocalServer.spawn(arguments).end()
        #expect(end.status == status)
        #expect(end.text.contains(message), "\(end.text)")
    }

    @Test("a recording that cannot be used stops the server with file and line")
    func malformedRecording() throws {
        let error = #expect(throws: LocalServer.Failure.self) {
            try LocalServer([Self.recording, "GET /y\nHTTP/1.1 200 OK\nContent-Length: 9\n\n{}"])
        }
        #expect(error?.description.contains("0001.http:3: Content-Length is 9, but the body has 2 bytes") ?? false)
    }

    @Test("of several faults the first that applies is used, and a pattern may hold colons")
    func severalFaults() async throws {
        let server = try LocalServer(
            [Self.recording, "GET /t:1\nHTTP/1.1 200 OK\n\n1"],
            "--fault", "t:1:status:418:times=1", "--fault", ":status:503:from=2:times=2", "--fault", "a=1:html:from=2")
        let transport = CurlTransport()
        var statuses: [Int] = []
        for path in ["/t:1", "/t:1", "/x?a=1&b=2", "/x?a=1&b=2", "/t:1"] {
            statuses.append(try await transport.send(TransportRequest(url: server.base + path)).status)
        }
        #expect(statuses == [418, 503, 503, 200, 200])
        #expect(server.requests[3] == "GET /x?a=1&b=2 200 fault=html connection=1")
    }
}
