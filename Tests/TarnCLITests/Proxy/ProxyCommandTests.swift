// `tarn proxy` as clients see it: a real process between curl and a server.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: proxy", .timeLimit(.minutes(5)))
struct ProxyCommandTests {
    private func curl(_ arguments: String...) async throws -> String {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try await shell("curl -sS --max-time 60 \(quoted)").output.replacingOccurrences(of: "\r", with: "")
    }

    @Test("answers come from the upstream, then from the cache, with Age, Via and Cache-Status; SIGTERM ends it well")
    func hits() async throws {
        let server = try LocalServer([
            "GET /v1/items\nHTTP/1.1 200 OK\nX-B: 1\nCache-Control: max-age=600\nX-A: 2\nETag: \"a\"\nConnection: X-Hop\nX-Hop: 1\n\nhello"
        ])
        let proxy = try await RunningProxy(server.base + "/v1")
        let first = try await curl("-i", proxy.base + "/items")
        #expect(first.hasPrefix("HTTP/1.1 200 OK\n") && first.hasSuffix("\n\nhello"), "\(first)")
        #expect(
            first.contains("Cache-Status: tarn; fwd=uri-miss; fwd-status=200; stored")
                && first.contains("Via: 1.1 tarn") && !first.contains("X-Hop"))
        let second = try await curl("-i", proxy.base + "/items")
        #expect(
            second.contains("Cache-Status: tarn; hit; ttl=") && second.contains("\nAge: ")
                && second.hasSuffix("\n\nhello"), "\(second)")
        #expect(try await curl("-i", "-H", "If-None-Match: \"a\"", proxy.base + "/items").hasPrefix("HTTP/1.1 304 "))
        let part = try await curl("-i", "-H", "Range: bytes=1-2", proxy.base + "/items")
        #expect(
            part.hasPrefix("HTTP/1.1 206 ") && part.hasSuffix("\n\nel") && part.contains("Content-Range: bytes 1-2/5"),
            "\(part)")
        let head = try await curl("-I", proxy.base + "/items")
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("tarn; hit"))
        #expect(server.requests.count == 1)
        #expect(try await curl("-i", proxy.base + "/none").hasPrefix("HTTP/1.1 404 "))
        #expect(await proxy.end().status == 0)
    }

    @Test("an upstream that is gone: 502 for what is not stored, and what is stored otherwise")
    func offLine() async throws {
        var server: LocalServer? = try LocalServer(["GET /items\nHTTP/1.1 200 OK\nCache-Control: max-age=0\n\nhello"])
        let proxy = try await RunningProxy(server?.base ?? "")
        _ = try await curl(proxy.base + "/items")
        server = nil
        let stale = try await curl("-i", proxy.base + "/items")
        #expect(stale.hasPrefix("HTTP/1.1 200 ") && stale.contains("detail=disconnected"), "\(stale)")
        #expect(try await curl("-i", proxy.base + "/other").hasPrefix("HTTP/1.1 502 "))
        #expect(
            try await curl("-i", "-H", "Cache-Control: only-if-cached", proxy.base + "/other").hasPrefix(
                "HTTP/1.1 504 "))
        #expect(await proxy.end().status == 0)
    }

    @Test("what is too large, no HTTP, or not for a gateway is refused")
    func refusals() async throws {
        let server = try LocalServer(["GET /items\nHTTP/1.1 200 OK\n\nhello"])
        let proxy = try await RunningProxy(server.base, "--maximum-body", "10")
        #expect(try await curl("-i", "-d", "12345678901", proxy.base + "/items").contains("HTTP/1.1 413 "))
        let port = proxy.base.split(separator: ":").last ?? ""
        let garbage = try await shell(
            "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'nonsense\\r\\n\\r\\n' >&3; timeout 20 cat <&3"
        ).output
        #expect(garbage.contains("400"), "\(garbage)")
        let connect = try await shell(
            "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'OPTIONS * HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&3; timeout 20 cat <&3"
        ).output
        #expect(connect.hasPrefix("HTTP/1.1 501 "), "\(connect)")
        #expect(server.requests.isEmpty)
        #expect(await proxy.end().status == 0)
    }

    @Test("an upstream with a password is refused with the reason, and without the password")
    func password() async throws {
        let result = try await tarn("proxy", "--upstream", "http://ada:SECRET@h/", "--store", "s")
        #expect(result.status == 2 && !result.error.contains("SECRET"), "\(result.error)")
        #expect(result.error.contains("http://***@h/: a URL must not contain a user or password"))
    }

    @Test("two proxies on one store share a transfer")
    func sharedStore() async throws {
        let count = Mutex(0), folder = try TemporaryFolder()
        let server = try ConnectionServer { _, connection in
            count.withLock { $0 += 1 }
            // Longer than the second request needs. If it comes later, it is a hit.
            usleep(700_000)
            try connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok")
        }
        let store = folder.path + "/cache.tarn"
        let proxies = [
            try await RunningProxy(server.base, "--store", store),
            try await RunningProxy(server.base, "--store", store),
        ]
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for proxy in proxies {
                for _ in 0..<3 { group.addTask { try await curl(proxy.base + "/x") } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "ok", count: 6) && count.withLock(\.self) == 1)
        for proxy in proxies { #expect(await proxy.end().status == 0) }
    }

    @Test("a full store: every answer is passed on, Cache-Status tells that it is not stored, and one line reports it")
    func fullStore() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/cache.tarn"
        let body = String(repeating: "0123456789", count: 5000)
        let server = try ConnectionServer { request, connection in
            // Some are larger than the store: nothing is removed for them.
            let text = request.start + String(repeating: body, count: request.start.contains(" /1") ? 40 : 1)
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
        let proxy = try await RunningProxy(server.base, "--store", store)
        expectSuccess(try await tarn("store", "quota", store, "--set", "1MiB"))
        let answers = try await onThread {
            try (0..<40).map { number in
                let connection = try proxy.connection()
                try connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                return try connection.message()
            }
        }
        #expect(answers.allSatisfy { $0.start == "HTTP/1.1 200 OK" && $0.text.hasSuffix(body) })
        let refused = answers.filter { $0.values("cache-status").first?.hasSuffix("; detail=store-full") == true }
        #expect(refused.count > 5 && refused.count < 40)
        let result = await proxy.end()
        let reports = result.errorLines.filter { $0.hasPrefix("responses are passed on, but not stored: ") }
        #expect(result.status == 0 && reports.count == 1, "\(result.error)")
    }

    @Test(
        "arguments that make no sense are refused",
        arguments: [
            ["--upstream", "ftp://x", "--store", "s"], ["--upstream", "http://x?q", "--store", "s"],
            ["--upstream", "http://x", "--store", "s", "--listen", "x"],
            ["--upstream", "http://x"], ["--upstream", "http://x", "--store", "s", "--idle-timeout", "0"],
            ["--upstream", "http://x", "--store", "s", "--listen", "a:65536"],
            ["--upstream", "http://x", "--store", "s", "--maximum-connections", "0"],
            ["--upstream", "http://x", "--store", "s", "--maximum-body", "-1"],
            ["--upstream", "http://x", "--store", "s", "--host", "a:80"],
            ["--upstream", "http://x", "--store", "s", "--upstream-timeout", "0"],
            ["--upstream", "http://x", "--store", "s", "--cache-bytes", "some"],
        ])
    func usage(_ arguments: [String]) async throws {
        #expect(try await tarn(["proxy"] + arguments).status == 2)
    }
}
