// `tarn fetch` and `tarn proxy` as a user runs them: real processes, a real server, and one that is gone.

import Foundation
import Glibc
import Testing

@Suite("Command line: fetch", .timeLimit(.minutes(5)))
struct FetchCommandTests {
    private static let items = #"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#

    /// A description beside its store, and a server.
    private struct Forge {
        let folder: TemporaryFolder
        let file: String
        var store: String { folder.path + "/store.tarn" }

        init() throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML())
        }

        func fetch(_ base: String, _ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(["fetch", "items", "--file", file, "--base", base] + arguments)
        }
    }

    private func server(_ fields: [String], _ arguments: String...) throws -> LocalServer {
        let text = "GET /items\nHTTP/1.1 200 OK\n" + fields.map { $0 + "\n" }.joined() + "\n" + Self.items
        // One option at most.
        return arguments.count == 2 ? try LocalServer([text], arguments[0], arguments[1]) : try LocalServer([text])
    }

    @Test("records are printed as JSON lines, and where they come from on standard error: fetched, fresh, and off line stale")
    func sources() async throws {
        let forge = try Forge()
        do {
            let server = try server(["Cache-Control: max-age=600", "ETag: \"a\""])
            let first = try await forge.fetch(server.base)
            expectSuccess(first)
            #expect(first.lines == [#"{"id":1,"name":"one"}"#, #"{"id":2,"name":"two"}"#])
            #expect(first.error.hasPrefix("fetched (nothing is stored for this request, RFC 9111 §4): 2 records"))
            let second = try await forge.fetch(server.base)
            #expect(second.lines == first.lines && second.error.hasPrefix("fresh, "))
            #expect(server.requests.count == 1)
            let third = try await forge.fetch(server.base, "--policy", "network-first")
            #expect(third.lines == first.lines && third.error.hasPrefix("revalidated"))
            #expect(server.requests.count == 2)
        }
        let gone = "http://127.0.0.1:9"
        let offline = try await forge.fetch(gone, "--policy", "network-first")
        expectSuccess(offline)
        #expect(offline.lines.count == 2 && offline.error.contains("off line: "))
        expectSuccess(try await forge.fetch(gone, "--offline"))
        let none = try await forge.fetch(gone, "--policy", "network-only")
        #expect(none.status == 5 && none.output.isEmpty)
    }

    @Test("--explain names every rule, and sends nothing")
    func explain() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"])
        #expect(try await forge.fetch(server.base, "--explain").lines.last == "  nothing is stored for this request (RFC 9111 §4)")
        expectSuccess(try await forge.fetch(server.base))
        let lines = try await forge.fetch(server.base, "--explain").lines
        #expect(lines.contains("fresh: answered from the store") && lines.contains("  the lifetime is max-age: 600 s (RFC 9111 §5.2.2.1)"))
        #expect(server.requests.count == 1)
    }

    @Test("the real clock: what is stale after a second is revalidated then, and --max-stale takes it as it is")
    func realClock() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=1", "ETag: \"a\""])
        expectSuccess(try await forge.fetch(server.base))
        var last = try await forge.fetch(server.base, "--max-stale", "100000")
        let deadline = ContinuousClock.now + .seconds(60)
        while !last.error.hasPrefix("stale"), ContinuousClock.now < deadline { last = try await forge.fetch(server.base, "--max-stale", "100000") }
        #expect(last.error.contains("the request takes answers that are stale for so long"))
        #expect(server.requests.count == 1)
        #expect(try await forge.fetch(server.base).error.hasPrefix("revalidated"))
        #expect(server.requests.count == 2)
    }

    @Test("--raw stores and prints any body, byte by byte, in a store of its own")
    func raw() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/cache.tarn"
        let server = try LocalServer(["GET /logo\nHTTP/1.1 200 OK\nContent-Type: image/png\nCache-Control: max-age=600\n\nP\u{1}NG\n\n"])
        let first = try await tarn("fetch", "--raw", server.base + "/logo", "--store", store)
        expectSuccess(first)
        #expect(first.output.hasPrefix("P\u{1}NG") && first.error.hasPrefix("fetched"))
        let second = try await tarn("fetch", "--raw", server.base + "/logo", "--store", store)
        #expect(second.output == first.output && second.error.hasPrefix("fresh"))
        #expect(server.requests.count == 1)
        let check = try await tarn("inspect", "verify", store)
        #expect(check.status == 0, "\(check.output)\(check.error)")
        #expect(try await tarn("fetch", "--raw", server.base + "/none", "--store", store, "--offline").status == 5)
    }

    @Test("two processes that ask for the same share one transfer")
    func collapsed() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"], "--latency", "700")
        async let first = forge.fetch(server.base)
        async let second = forge.fetch(server.base)
        async let third = forge.fetch(server.base)
        for result in try await [first, second, third] {
            expectSuccess(result)
            #expect(result.lines.count == 2)
        }
        #expect(server.requests.count == 1)
    }

    @Test("a process that is killed while it fetches blocks nobody, and leaves all or nothing")
    func killed() async throws {
        let forge = try Forge(), server = try server(["Cache-Control: max-age=600"], "--latency", "5000")
        let stuck = try TarnProcess(["fetch", "items", "--file", forge.file, "--base", server.base])
        // It has its claim when the kernel knows its lock.
        try await eventually {
            var information = stat()
            guard stat(forge.store + "/claims.lock", &information) == 0 else { return false }
            return try String(contentsOfFile: "/proc/locks", encoding: .utf8).contains(":\(information.st_ino) ")
        }
        let waiting = try TarnProcess(["fetch", "items", "--file", forge.file, "--base", server.base])
        stuck.send(SIGKILL)
        #expect(await stuck.end().status == -SIGKILL)
        let result = await waiting.end()
        expectSuccess(result)
        #expect(result.lines.count == 2)
        let check = try await tarn("inspect", "verify", forge.store)
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("arguments that make no sense are refused", arguments: [
        ["fetch", "items", "--policy", "sometimes"], ["fetch", "items", "--max-stale", "-1"], ["fetch", "items", "--offline", "--policy", "cache-first"],
        ["fetch", "nothing"], ["fetch", "--raw", "ftp://x"], ["fetch", "items", "--header", "A: b"], ["fetch", "items", "--policy", "older-than=x"],
    ])
    func usage(_ arguments: [String]) async throws {
        let forge = try Forge()
        let result = try await tarn(arguments + ["--file", forge.file])
        #expect(result.status == 2, "\(result.error)")
    }
}

@Suite("Command line: proxy", .timeLimit(.minutes(5)))
struct ProxyCommandTests {
    /// A proxy that runs, and its address.
    private final class Proxy {
        let process: TarnProcess
        let base: String

        init(_ upstream: String, _ arguments: String...) async throws {
            let folder = try TemporaryFolder()
            let process = try TarnProcess(
                ["proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--store", folder.path + "/cache.tarn"] + arguments)
            try await eventually { process.output.contains("\n") }
            base = String(process.output.dropFirst("listening on ".count).prefix { $0 != "\n" })
            self.process = process
            self.folder = folder
        }

        private let folder: TemporaryFolder

        func end() async -> TarnProcess.Result {
            process.send(SIGTERM)
            return await process.end()
        }
    }

    private func curl(_ arguments: String...) async throws -> String {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try await shell("curl -sS --max-time 60 \(quoted)").output.replacingOccurrences(of: "\r", with: "")
    }

    @Test("answers come from the upstream, then from the cache, with Age, Via and Cache-Status; SIGTERM ends it well")
    func hits() async throws {
        let server = try LocalServer([
            "GET /v1/items\nHTTP/1.1 200 OK\nX-B: 1\nCache-Control: max-age=600\nX-A: 2\nETag: \"a\"\nConnection: X-Hop\nX-Hop: 1\n\nhello",
        ])
        let proxy = try await Proxy(server.base + "/v1")
        let first = try await curl("-i", proxy.base + "/items")
        #expect(first.hasPrefix("HTTP/1.1 200 OK\n") && first.hasSuffix("\n\nhello"), "\(first)")
        #expect(first.contains("Cache-Status: tarn; fwd=uri-miss; fwd-status=200; stored") && first.contains("Via: 1.1 tarn") && !first.contains("X-Hop"))
        let second = try await curl("-i", proxy.base + "/items")
        #expect(second.contains("Cache-Status: tarn; hit; ttl=") && second.contains("\nAge: ") && second.hasSuffix("\n\nhello"), "\(second)")
        #expect(try await curl("-i", "-H", "If-None-Match: \"a\"", proxy.base + "/items").hasPrefix("HTTP/1.1 304 "))
        let part = try await curl("-i", "-H", "Range: bytes=1-2", proxy.base + "/items")
        #expect(part.hasPrefix("HTTP/1.1 206 ") && part.hasSuffix("\n\nel") && part.contains("Content-Range: bytes 1-2/5"), "\(part)")
        let head = try await curl("-I", proxy.base + "/items")
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("tarn; hit"))
        #expect(server.requests.count == 1)
        #expect(try await curl("-i", proxy.base + "/none").hasPrefix("HTTP/1.1 404 "))
        #expect(await proxy.end().status == 0)
    }

    @Test("an upstream that is gone: 502 for what is not stored, and what is stored otherwise")
    func offLine() async throws {
        var server: LocalServer? = try LocalServer(["GET /items\nHTTP/1.1 200 OK\nCache-Control: max-age=0\n\nhello"])
        let proxy = try await Proxy(server?.base ?? "")
        _ = try await curl(proxy.base + "/items")
        server = nil
        let stale = try await curl("-i", proxy.base + "/items")
        #expect(stale.hasPrefix("HTTP/1.1 200 ") && stale.contains("detail=disconnected"), "\(stale)")
        #expect(try await curl("-i", proxy.base + "/other").hasPrefix("HTTP/1.1 502 "))
        #expect(try await curl("-i", "-H", "Cache-Control: only-if-cached", proxy.base + "/other").hasPrefix("HTTP/1.1 504 "))
        #expect(await proxy.end().status == 0)
    }

    @Test("what is too large, no HTTP, or not for a gateway is refused")
    func refusals() async throws {
        let server = try LocalServer(["GET /items\nHTTP/1.1 200 OK\n\nhello"])
        let proxy = try await Proxy(server.base, "--maximum-body", "10")
        #expect(try await curl("-i", "-d", "12345678901", proxy.base + "/items").contains("HTTP/1.1 413 "))
        let port = proxy.base.split(separator: ":").last ?? ""
        let garbage = try await shell("exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'nonsense\\r\\n\\r\\n' >&3; timeout 20 cat <&3").output
        #expect(garbage.contains("400"), "\(garbage)")
        let connect = try await shell(
            "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'OPTIONS * HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&3; timeout 20 cat <&3").output
        #expect(connect.hasPrefix("HTTP/1.1 501 "), "\(connect)")
        #expect(server.requests.isEmpty)
        #expect(await proxy.end().status == 0)
    }

    @Test("arguments that make no sense are refused", arguments: [
        ["--upstream", "ftp://x", "--store", "s"], ["--upstream", "http://x?q", "--store", "s"], ["--upstream", "http://x", "--store", "s", "--listen", "x"],
        ["--upstream", "http://x"],
    ])
    func usage(_ arguments: [String]) async throws {
        #expect(try await tarn(["proxy"] + arguments).status == 2)
    }
}
