// `tarn proxy` between users and against clients that mean harm: no answer reaches a user or a URL
// that it is not for.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Command line: users of the proxy", .timeLimit(.minutes(5)))
struct ProxyUsersTests {
    /// Responds with the values of the fields that distinguish users, and the target.
    private static func echo(_ fields: String) throws -> ConnectionServer {
        try ConnectionServer { request, connection in
            let names = [
                "authorization", "cookie", "x-api-key", "private-token", "x-tenant", "x-forwarded-host",
                "x-http-method-override",
            ]
            let body =
                names.flatMap { request.values($0) }.joined(separator: "+") + " "
                + (request.start.split(separator: " ").dropFirst().first ?? "")
            try connection.send("HTTP/1.1 200 OK\r\n\(fields)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
    }

    /// Sends requests one after the other: the body and `Cache-Status` of each answer.
    private func exchange(_ base: String, _ arguments: [String], _ requests: [String]) async throws -> [(
        body: String, status: String
    )] {
        let proxy = try await RunningProxy(base, arguments)
        let answers = try await onThread {
            try requests.map { text in
                let connection = try proxy.connection()
                try connection.send(text)
                let answer = try connection.message()
                return (answer.text, answer.values("cache-status").first ?? answer.start)
            }
        }
        #expect(await proxy.end().status == 0)
        return answers
    }

    private func get(_ target: String = "/", _ fields: String...) -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test(
        "an answer to one user reaches no other, whatever field tells them and whatever the upstream declares",
        arguments: [
            "Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN",
        ],
        [
            "Cache-Control: private, max-age=600", "Cache-Control: max-age=600",
            "Last-Modified: Mon, 01 Jan 2001 00:00:00 GMT",
        ])
    func users(_ field: String, _ fields: String) async throws {
        let server = try Self.echo(fields)
        for arguments in [[], ["--private"], ["--scope-by", field], ["--private", "--scope-by", "X-Other"]] {
            let users = ["ada", "bob", "ada", "", "bob"]
            let answers = try await exchange(
                server.base, arguments, users.map { $0.isEmpty ? get() : get("/", "\(field): \($0)") })
            #expect(answers.map(\.body) == users.map { "\($0) /" }, "\(arguments)")
            // Each user has a cache, or none.
            let isScoped = !arguments.isEmpty
            #expect(
                answers.map { $0.status.hasPrefix("tarn; hit") } == [false, false, isScoped, false, isScoped],
                "\(arguments) \(answers)")
        }
    }

    @Test("--scope-by covers the fields that it names: with another credential beside, a request passes by the cache")
    func uncovered() async throws {
        let server = try Self.echo("Cache-Control: max-age=600")
        let arguments = ["--scope-by", "X-Tenant", "--scope-by", "cookie"]
        let requests = [
            get("/", "X-Tenant: 1", "Cookie: ada"), get("/", "Cookie: ada", "X-Tenant: 1"),
            get("/", "X-Tenant: 2", "Cookie: ada"),
            get("/", "Cookie: ada", "X-Tenant: 1", "X-Api-Key: k"), get("/", "X-Tenant: 1"), get("/", "X-Tenant: 1"),
            get("/"), get("/"),
        ]
        let answers = try await exchange(server.base, arguments, requests)
        #expect(answers.map(\.body) == ["ada+1 /", "ada+1 /", "ada+2 /", "ada+k+1 /", "1 /", "1 /", " /", " /"])
        #expect(
            answers.map { $0.status.hasPrefix("tarn; hit") } == [false, true, false, false, false, true, false, true])
        #expect(answers[3].status.hasPrefix("tarn; fwd=bypass"), "\(answers[3])")
    }

    @Test("only-if-cached of a request that passes by the cache is 504, and nothing is sent")
    func bypassed() async throws {
        let server = try Self.echo("Cache-Control: max-age=600")
        let answers = try await exchange(server.base, [], [get("/", "Cookie: ada", "Cache-Control: only-if-cached")])
        #expect(answers[0].body == "no stored response may be used\n")
    }

    @Test(
        "Set-Cookie reaches the client that it was sent to, and no other; without leave the answer is not kept for all",
        arguments: [
            ("public, max-age=600", [], true), ("max-age=600", [], false), ("max-age=600", ["--private"], true),
            ("s-maxage=600", [], true),
        ] as [(String, [String], Bool)])
    func cookies(_ control: String, _ arguments: [String], _ isKept: Bool) async throws {
        let count = Mutex(0)
        let server = try ConnectionServer { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            try connection.send(
                "HTTP/1.1 200 OK\r\nSet-Cookie: session=\(number)\r\nCache-Control: \(control)\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\nok"
            )
        }
        let proxy = try await RunningProxy(server.base, arguments), request = get()
        let answers = try await onThread {
            let connection = try proxy.connection()
            try connection.send(request + request)
            return [try connection.message(), try connection.message()]
        }
        #expect(await proxy.end().status == 0)
        #expect(answers[0].values("set-cookie") == ["session=1"])
        #expect(answers[1].values("set-cookie") == (isKept ? [] : ["session=2"]))
    }

    @Test("a cookie that comes with a 304 goes to the client that asked, and into no store")
    func cookieOf304() async throws {
        let server = try ConnectionServer { request, connection in
            let isKnown = !request.values("if-none-match").isEmpty
            let fields =
                "Cache-Control: public, \(isKnown ? "max-age=600" : "max-age=0")\r\nETag: \"a\"\r\nSet-Cookie: session=\(isKnown ? 2 : 1)\r\n"
            try connection.send(
                isKnown
                    ? "HTTP/1.1 304 Not Modified\r\n\(fields)\r\n"
                    : "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok")
        }
        let proxy = try await RunningProxy(server.base), request = get()
        let answers = try await onThread {
            let connection = try proxy.connection()
            try connection.send(request + request + request)
            return try (0..<3).map { _ in try connection.message() }
        }
        #expect(await proxy.end().status == 0)
        #expect(answers.map { $0.values("set-cookie") } == [["session=1"], ["session=2"], []])
        #expect(answers[2].values("cache-status").first?.hasPrefix("tarn; hit") == true)
    }

    // MARK: Poisoning

    @Test(
        "what is sent is what is kept: no spelling of one URL fills the entry of another",
        arguments: [
            ("/x/%2e%2e/", "/"), ("/x/../", "/"), ("/x/%2E./", "/"), ("/./", "/"), ("/%61", "/a"), ("/a%2fb", "/a%2Fb"),
            ("/a%2Fb/../c", "/c"),
            ("/a%7eb", "/a~b"), ("/../a", "/a"), ("//a", "//a"), ("/a//b", "/a//b"), ("/a/.", "/a/"), ("/a/..", "/"),
            ("/a;b=1", "/a;b=1"), ("/?b=1&a=2", "/?b=1&a=2"),
            ("/?a=2&b=1", "/?a=2&b=1"), ("/?a=%41%2f", "/?a=A%2F"), ("/?a=/../b", "/?a=/../b"),
            ("/%252e%252e/", "/%252e%252e/"), ("/A", "/A"), ("/a%00b", "/a%00b"),
            ("http://other.example/a", "/a"), ("http://other.example", "/"),
            ("HTTP://other.example:99/x/%2e%2e/b?c", "/b?c"), ("/a+b", "/a+b"), ("/a%20b", "/a%20b"),
            ("/a%2e%2e/b", "/a../b"), ("/%2e%2e%2fb", "/..%2Fb"), ("/a?%2e%2e/", "/a?../"),
        ])
    func targets(_ target: String, _ sent: String) async throws {
        let server = try Self.echo("Cache-Control: max-age=600")
        for prefix in ["", "/v1"] {
            let answers = try await exchange(
                server.base + prefix, ["--host", "other.example"], [get(target), get("/"), get("/a"), get(sent)])
            #expect(answers.map(\.body) == [sent, "/", "/a", sent].map { " " + prefix + $0 }, "\(answers)")
        }
    }

    @Test(
        "a target that is not well-formed, or a host that is not one name, is 400 and goes nowhere",
        arguments: [
            "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /a\"b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
        ])
    func badTargets(_ text: String) async throws {
        let server = try Self.echo("Cache-Control: max-age=600")
        let proxy = try await RunningProxy(server.base), good = get()
        let answers = try await onThread {
            let connection = try proxy.connection(), other = try proxy.connection()
            try connection.send(text)
            try other.send(good)
            return [try connection.message(), try other.message()]
        }
        #expect(answers[0].start == "HTTP/1.1 400 Bad Request" && answers[1].text == " /", "\(answers)")
        #expect(await proxy.end().status == 0)
    }

    @Test(
        "a target of another server is 421, and for a private proxy on a loopback address so is a name that is not known",
        arguments: [([], 200, 421), (["--private"], 421, 421), (["--host", "Forge.Example"], 421, 200)]
            as [([String], Int, Int)])
    func hosts(_ arguments: [String], _ unknown: Int, _ named: Int) async throws {
        let server = try Self.echo("X: y"), proxy = try await RunningProxy(server.base, arguments)
        let port = try proxy.port, base = server.base
        let requests: [(target: String, host: String, status: Int)] = [
            ("/", "localhost:\(port)", 200), ("/", "127.0.0.1:\(port)", 200), ("/", "[::1]", 200),
            ("/", "evil.example:\(port)", unknown), ("/", "127.evil.example", unknown),
            ("http://evil.example/", "evil.example", 421), ("http://localhost:1/", "localhost", 421),
            ("http://localhost:\(port)/", "a", 200), (base + "/", "a", 200),
            ("http://forge.example:81/", "a", named),
        ]
        let starts = try await onThread {
            try requests.map { request in
                let connection = try proxy.connection()
                try connection.send("GET \(request.target) HTTP/1.1\r\nHost: \(request.host)\r\n\r\n")
                return try connection.message().start
            }
        }
        for (start, request) in zip(starts, requests) {
            #expect(start.hasPrefix("HTTP/1.1 \(request.status) "), "\(start) \(request)")
        }
        #expect(await proxy.end().status == 0)
    }

    @Test("a field that is not UTF-8 is 400: it reaches neither the upstream nor the cache in another form")
    func notUTF8() async throws {
        let server = try Self.echo("Cache-Control: private, max-age=600")
        let proxy = try await RunningProxy(server.base, "--scope-by", "X-Tenant")
        let values: [[UInt8]] = [[0xFC], [0xF6], [0xC3, 0xBC]]
        let starts = try await onThread {
            try values.map { value in
                let connection = try proxy.connection()
                let head = Array("GET / HTTP/1.1\r\nHost: a\r\nX-Tenant: M".utf8)
                try connection.send(head + value + Array("ller\r\n\r\n".utf8))
                return try connection.message().start
            }
        }
        #expect(starts == ["HTTP/1.1 400 Bad Request", "HTTP/1.1 400 Bad Request", "HTTP/1.1 200 OK"])
        #expect(await proxy.end().status == 0)
    }

    @Test("fields by which a server takes another target or method do not fill the entries of requests without them")
    func otherTargets() async throws {
        let server = try Self.echo("Cache-Control: max-age=600")
        let requests = [
            get("/", "X-Forwarded-Host: evil"), get(), get("/", "X-Forwarded-Host: evil"),
            get("/", "X-Forwarded-Host: good"), get(),
            get("/b", "X-HTTP-Method-Override: DELETE"), get("/b"),
        ]
        let answers = try await exchange(server.base, [], requests)
        #expect(answers.map(\.body) == ["evil /", " /", "evil /", "good /", " /", "DELETE /b", " /b"])
        #expect(answers.map { $0.status.hasPrefix("tarn; hit") } == [false, false, true, false, true, false, false])
    }

    // MARK: Upstreams

    @Test(
        "a field of the upstream's that is not well-formed is 502, and nothing of it is stored",
        arguments: [
            "X-Bad: a\rb", "X Bad: a", "X-Bad: a\u{1}b", "X-B\u{e4}d: a", "X-Bad: a\u{7f}", "X\"Bad: a", ": a",
        ])
    func malformedAnswer(_ field: String) async throws {
        let count = Mutex(0)
        let server = try ConnectionServer { _, connection in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            try connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n\(isFirst ? field : "X-Good: a")\r\nContent-Length: 2\r\n\r\nok"
            )
        }
        let proxy = try await RunningProxy(server.base), request = get()
        let answers = try await onThread {
            let connection = try proxy.connection()
            try connection.send(request)
            let first = try connection.message()
            try connection.send(request)
            return [first, try connection.message()]
        }
        #expect(answers.map(\.start) == ["HTTP/1.1 502 Bad Gateway", "HTTP/1.1 200 OK"] && answers[1].text == "ok")
        #expect(answers[1].values("cache-status").first?.contains("fwd=uri-miss") == true, "\(answers)")
        #expect(await proxy.end().status == 0)
    }

    @Test("an interim response that is not well-formed is left out, and the answer comes")
    func malformedInterim() async throws {
        let server = try ConnectionServer { _, connection in
            try connection.send(
                "HTTP/1.1 103 Early Hints\r\nX Bad: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        #expect(try await exchange(server.base, [], [get()]).map(\.body) == ["ok"])
    }

    @Test("a proxy that is its own upstream answers 508 once, not for ever; a chain of two proxies is no loop")
    func loop() async throws {
        let port = Mutex(0), passed = Mutex(0)
        // Sends each received request back to the proxy, as a second proxy would.
        let server = try ConnectionServer { request, connection in
            guard
                passed.withLock({ count in
                    count += 1
                    return count < 20
                })
            else { return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforever") }
            let back = try RawConnection(port: port.withLock { $0 })
            try back.send(([request.start] + request.fields).map { $0 + "\r\n" }.joined() + "\r\n")
            let answer = try back.message()
            try connection.send(([answer.start] + answer.fields).map { $0 + "\r\n" }.joined() + "\r\n" + answer.text)
        }
        let proxy = try await RunningProxy(server.base), number = try proxy.port, request = get()
        port.withLock { $0 = number }
        let answer = try await onThread {
            let connection = try proxy.connection()
            try connection.send(request)
            return try connection.message()
        }
        #expect(answer.start == "HTTP/1.1 508 Loop Detected" && passed.withLock { $0 } == 1, "\(answer)")
        #expect(await proxy.end().status == 0)
        let last = try Self.echo("X: y"), inner = try await RunningProxy(last.base)
        #expect(try await exchange(inner.base, [], [get()]).map(\.body) == [" /"])
        #expect(await inner.end().status == 0)
    }

    // MARK: Slow clients, ports

    @Test("connections of one address have a limit of their own: clients of other addresses are served")
    func addresses() async throws {
        let server = try Self.echo("X: y"),
            proxy = try await RunningProxy(server.base, "--maximum-connections-per-address", "2"), request = get()
        @Sendable func served(from address: UInt32) throws -> RawConnection {
            let connection = try RawConnection(port: try proxy.port, from: address)
            try connection.send(request)
            _ = try connection.message()
            return connection
        }
        var held = [
            try await onThread { try served(from: 0x7F00_0001) }, try await onThread { try served(from: 0x7F00_0001) },
        ]
        #expect(try await onThread { try RawConnection(port: try proxy.port, from: 0x7F00_0001).isClosed })
        held.append(try await onThread { try served(from: 0x7F00_0002) })
        held.removeFirst()
        // The place is free again.
        try await eventually { (try? served(from: 0x7F00_0001)) != nil }
        #expect(held.count == 2)
        #expect(await proxy.end().status == 0)
    }

    @Test(
        "--header-timeout, --body-timeout: a client that sends byte by byte is 408 and closed; one that sends nothing is closed"
    )
    func slowClients() async throws {
        let server = try Self.echo("X: y")
        let proxy = try await RunningProxy(server.base, "--header-timeout", "1", "--body-timeout", "1")
        let answers = try await onThread {
            let silent = try proxy.connection(), head = try proxy.connection(), body = try proxy.connection(),
                kept = try proxy.connection()
            try kept.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try kept.message()
            try head.send("GET / HTTP/1.1\r\nX: ")
            try body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
            // For as long as the clients accept data, at most a minute.
            for _ in 0..<600 {
                let isOpen = [(try? head.send("x")) != nil, (try? body.send("x")) != nil].contains(true)
                guard isOpen else { break }
                usleep(100_000)
            }
            try kept.send("GET / HTTP/1.1\r\nHo")
            return (try silent.isClosed, try? head.message().start, try? body.message().start, try kept.message().start)
        }
        #expect(answers.0)
        // A reset may have overtaken the answer: the client had sent more.
        for start in [answers.1, answers.2] { #expect(start == nil || start == "HTTP/1.1 408 Request Timeout") }
        #expect(answers.3 == "HTTP/1.1 408 Request Timeout")
        #expect(await proxy.end().status == 0)
    }

    @Test("the time for header fields counts also after a body that was allowed to take longer")
    func slowHeadAfterSlowBody() async throws {
        let server = try Self.echo("X: y")
        let proxy = try await RunningProxy(
            server.base, "--header-timeout", "1", "--body-timeout", "50", "--idle-timeout", "100")
        let (answer, start, seconds) = try await onThread {
            let connection = try proxy.connection()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
            // Longer than the time for header fields.
            usleep(1_500_000)
            try connection.send("b")
            let answer = try connection.message().start, clock = ContinuousClock.now
            try connection.send("GET / HTTP/1.1\r\nHo")
            return (answer, try connection.message().start, (ContinuousClock.now - clock).components.seconds)
        }
        #expect(answer == "HTTP/1.1 200 OK" && start == "HTTP/1.1 408 Request Timeout")
        #expect(seconds < 40)
        #expect(await proxy.end().status == 0)
    }

    @Test("an address that cannot be listened on is an error that names the way out")
    func listening() async throws {
        let server = try Self.echo("X: y"), folder = try TemporaryFolder()
        func message(_ listen: String) async throws -> (Int32, String) {
            let result = try await tarn([
                "proxy", "--upstream", server.base, "--store", folder.path + "/s.tarn", "--listen", listen,
            ])
            return (result.status, result.error)
        }
        let busy = try await message("127.0.0.1:\(server.port)")
        #expect(
            busy.0 == 1 && busy.1.contains("--listen 127.0.0.1:\(server.port): the port is in use by another process"),
            "\(busy)")
        let foreign = try await message("192.0.2.1:0")
        #expect(foreign.0 == 1 && foreign.1.contains("this machine does not have the address"), "\(foreign)")
        let unknown = try await message("host.invalid:0")
        #expect(unknown.0 == 1 && unknown.1.contains("unknown host"), "\(unknown)")
    }
}
