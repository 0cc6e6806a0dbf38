// Recordings with placeholders, faults on demand, and recordings that are made.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Fixture rules", .timeLimit(.minutes(5)))
struct FixtureRuleTests {
    private func directory(_ recordings: [String]) throws -> String {
        let folder = try LocalServer.makeFolder()
        for (index, text) in recordings.enumerated() {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(index).http"))
        }
        return folder
    }

    private func recording(_ first: String, _ body: String, _ status: String = "200 OK") -> String {
        "\(first)\nHTTP/1.1 \(status)\n\n\(body)"
    }

    private func answer(_ transport: FixtureTransport, _ target: String) async throws -> TransportResponse {
        try await transport.send(TransportRequest(url: "http://h\(target)"))
    }

    private func text(_ transport: FixtureTransport, _ target: String, method: String = "GET", body: [UInt8]? = nil)
        async throws -> String
    {
        String(
            decoding: try await transport.send(TransportRequest(method: method, url: "http://h\(target)", body: body))
                .body,
            as: UTF8.self)
    }

    @Test("of recordings with placeholders the most specific one answers, and one without any before all")
    func mostSpecific() async throws {
        let folder = try directory([
            recording("GET /repos/{owner}/{repo}/issues", "any"), recording("GET /repos/acme/{repo}/issues", "acme"),
            recording("GET /repos/acme/anvil/issues", "anvil"), recording("GET /repos/acme/a{rest}/issues", "a…"),
            recording("GET /items?page={page}&size=2", "page"),
            recording("GET /items?page=7&size={size}{&more*}", "seven and more"),
            recording("GET /files/{name}.json{?any*}", "file"),
        ])
        let transport = try FixtureTransport(directory: folder)
        let expected = [
            "/repos/x/y/issues": "any", "/repos/acme/y/issues": "acme", "/repos/acme/anvil/issues": "anvil",
            "/repos/acme/abc/issues": "a…",
            "/items?size=2&page=3": "page", "/items?page=7&size=2": "page",
            "/items?page=7&x=y&size=2": "seven and more", "/files/a.b.json": "file",
            "/files/a.json?x=1&y": "file",
        ]
        for (target, body) in expected { #expect(try await text(transport, target) == body, "\(target)") }
        for target in [
            "/repos/a/b/c/issues", "/repos//y/issues", "/items?page=3", "/items?page=3&size=2&x=1", "/files/.json",
            "/items?page=&size=2",
        ] {
            await expectFailure(.noFixture) { try await answer(transport, target) }
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(
        "two recordings that fit equally well are an error that names both, and a malformed placeholder one that names the line"
    )
    func ambiguous() async throws {
        let folder = try directory([recording("GET /a/{x}/c", "1"), recording("GET /a/b/{y}", "2")])
        let error = await expectFailure(.noFixture) {
            try await answer(try FixtureTransport(directory: folder), "/a/b/c")
        }
        #expect(error?.detail.contains("0.http") == true && error?.detail.contains("1.http") == true)
        for target in ["/a/{x", "/a/x}", "/a/{}", "/a/{x}{y}", "/a/{+x}", "/a{?x*}/b"] {
            let folder = try directory([recording("GET \(target)", "")])
            let error = #expect(throws: RecordingError.self) { try FixtureTransport(directory: folder) }
            #expect(error?.line == 1, "\(target)")
        }
    }

    @Test("a request with a body is answered by the recording of that body, else by one of any")
    func bodies() async throws {
        let one = Array("{\"page\":1}".utf8), two = Array("{\"page\":2}".utf8)
        let transport = try FixtureTransport(
            directory: try directory([
                recording("POST /search body=\(BodyDigest.text(one))", "first"),
                recording("POST /search body=\(BodyDigest.text(two))", "second"),
                recording("POST /search", "other"),
            ]))
        #expect(try await text(transport, "/search", method: "POST", body: one) == "first")
        #expect(try await text(transport, "/search", method: "POST", body: two) == "second")
        #expect(try await text(transport, "/search", method: "POST", body: []) == "other")
        #expect(try await text(transport, "/search", method: "POST") == "other")
    }

    @Test("delays and failures come on demand, for the requests that are named")
    func faults() async throws {
        let time = TestTime(), folder = try directory([recording("GET /a", "a"), recording("GET /b", "b")])
        let transport = try FixtureTransport(
            directory: folder,
            faults: [
                FixtureFault("/a", .delay(.seconds(2)), first: 2, times: 1),
                FixtureFault("/a", .failure(.connect), first: 3, times: 1),
                FixtureFault("/b", .status(429, TransportHeaders([.init("Retry-After", "7")])), times: 1),
            ], time: time.source)
        #expect(try await text(transport, "/a") == "a" && time.slept.isEmpty)
        #expect(try await text(transport, "/a") == "a" && time.slept == [.seconds(2)])
        await expectFailure(.connect) { try await answer(transport, "/a") }
        #expect(try await text(transport, "/a") == "a")
        // With retries it is a server that has a bad moment.
        let patient = RetryingTransport(transport, time: time.source)
        #expect(try await patient.send(TransportRequest(url: "http://h/b")).status == 200)
        #expect(time.slept.last.map { $0 >= .seconds(7) } == true)
    }

    @Test("what was recorded against a live server is replayed as it was, and holds no secret")
    func recordAndReplay() async throws {
        let secret = "s3cret-0123456789"
        let server = try LocalServer([
            "GET /items?page=1&api_key=\(secret)\nHTTP/1.1 200 OK\nETag: \"a\"\nSet-Cookie: session=\(secret)\nLink: </items?page=2&api_key=\(secret)>; rel=\"next\"\nX-Echo: \(secret)\n\n[{\"id\":1,\"token\":\"\(secret)\"}]",
            "GET /items?page=2\nHTTP/1.1 404 Not Found\n\n{\"message\":\"no\"}",
            "POST /search\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\r\n[1]\r\n0\r\n\r\n",
        ])
        let folder = try LocalServer.makeFolder() + "/new"
        let recorder = try RecordingTransport(CurlTransport(), directory: folder, secrets: [Secret(secret)])
        var first = TransportRequest(url: server.base + "/items?page=1&api_key=\(secret)")
        first.headers["If-None-Match"] = "\"a\""
        #expect(try await recorder.send(first).status == 200)
        #expect(try await recorder.send(TransportRequest(url: server.base + "/items?page=2")).status == 404)
        let search = TransportRequest(method: "POST", url: server.base + "/search", body: Array("{}".utf8))
        _ = try await recorder.send(search)
        _ = try await recorder.send(search)
        // Another run adds to it.
        _ = try await RecordingTransport(CurlTransport(), directory: folder).send(search)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.count == 3)
        for name in names {
            let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            #expect(!text.contains(secret) && !text.contains("Set-Cookie"), "\(text)")
        }
        let replay = try FixtureTransport(directory: folder)
        let page = try await replay.send(TransportRequest(url: "http://h/items?page=1"))
        #expect(
            page.headers["ETag"] == "\"a\""
                && String(decoding: page.body, as: UTF8.self) == "[{\"id\":1,\"token\":\"***\"}]")
        #expect(page.headers["Link"] == "</items?page=2&api_key=***>; rel=\"next\"")
        #expect(try await replay.send(TransportRequest(url: "http://h/items?page=2")).status == 404)
        #expect(
            try await replay.send(TransportRequest(method: "POST", url: "http://h/search", body: Array("{}".utf8))).body
                == Array("[1]".utf8))
        await expectFailure(.noFixture) {
            try await replay.send(TransportRequest(method: "POST", url: "http://h/search", body: Array("{ }".utf8)))
        }
    }

    @Test("a retry replaces the recording of a transient failure, also in a later run, and no other one")
    func retryIsRecorded() async throws {
        let folder = try LocalServer.makeFolder(), time = TestTime()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let request = TransportRequest(url: "http://h/a"), other = TransportRequest(url: "http://h/b")
        let inner = ScriptedTransport([.status(503, [:], "down"), .status(200, [:], "[1]"), .status(503), .status(503)])
        let recorder = RetryingTransport(
            try RecordingTransport(inner, directory: folder), policy: RetryPolicy(attempts: 2), time: time.source)
        #expect(try await recorder.send(request).status == 200)
        #expect(try await recorder.send(other).status == 503)
        #expect(try await text(FixtureTransport(directory: folder), "/a") == "[1]")
        #expect(try await answer(FixtureTransport(directory: folder), "/b").status == 503)
        // Answers stay; a request without one may have one by now.
        let later = try RecordingTransport(
            ScriptedTransport([.status(503), .status(200, [:], "[2]")]), directory: folder)
        #expect(try await later.send(request).status == 503)
        #expect(try await later.send(other).status == 200)
        #expect(try await text(FixtureTransport(directory: folder), "/a") == "[1]")
        #expect(try await text(FixtureTransport(directory: folder), "/b") == "[2]")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }
    @Test("the answer that comes later replaces the recording of its 202")
    func laterAnswerIsRecorded() async throws {
        let folder = try LocalServer.makeFolder(), time = TestTime()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let inner = ScriptedTransport([.status(202), .status(202), .status(200, [:], "[1]")])
        let recorder = RetryingTransport(try RecordingTransport(inner, directory: folder), time: time.source)
        var request = TransportRequest(url: "http://h/a")
        request.isRead = true
        #expect(try await recorder.send(request).status == 200)
        #expect(try await text(FixtureTransport(directory: folder), "/a") == "[1]")
    }

    @Test("a transient failure does not replace the answer to an equal request that came meanwhile")
    func equalRequests() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let inner = ScriptedTransport([.status(503, [:], "down"), .status(200, [:], "[1]")])
        let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let recorder = try RecordingTransport(inner, directory: folder, secrets: [], hiding: []) { response in
            // The failure is about to be written.
            if response.body == Array("down".utf8) {
                await withCheckedContinuation { waiting in held.withLock { $0 = waiting } }
            }
        }
        let request = TransportRequest(url: "http://h/a")
        async let failure = recorder.send(request)
        try await eventually("the failure is held") { held.withLock { $0 != nil } }
        #expect(try await recorder.send(request).status == 200)
        held.withLock { $0.take() }?.resume()
        #expect(try await failure.status == 503)
        #expect(try await text(FixtureTransport(directory: folder), "/a") == "[1]")
    }

    @Test("an answer that another run records meanwhile stays", arguments: [503, 200])
    func otherRun(status: Int) async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let request = TransportRequest(url: "http://h/a")
        let second = try RecordingTransport(ScriptedTransport([.status(status, [:], "[2]")]), directory: folder)
        let first = try RecordingTransport(ScriptedTransport([.status(200, [:], "[1]")]), directory: folder)
        _ = try await first.send(request)
        _ = try await second.send(request)
        #expect(try await text(FixtureTransport(directory: folder), "/a") == "[1]")
    }
}
