// Redirects: those that are followed, and that credentials never cross to another server.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Curl transport and redirects", .timeLimit(.minutes(5)))
struct CurlRedirectTests {
    private func redirect(_ status: Int, _ location: String) -> String {
        "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\n{}"
    }

    private let ok = "HTTP/1.1 200 OK\r\nX-End: 1\r\nContent-Length: 2\r\n\r\n[]"

    @Test(
        "a redirect is followed; the fields are those of the last response only, and its URL is known",
        arguments: [
            301, 302, 303, 307, 308,
        ])
    func followed(_ status: Int) async throws {
        let server = try LocalServer([
            "GET /old/a?x=1\nHTTP/1.1 \(status) Moved\nLocation: ../new/b?y=2\nX-Hop: 1\n\n{}",
            "GET /new/b?y=2\nHTTP/1.1 200 OK\nX-End: 1\n\n[]",
        ])
        let response = try await CurlTransport().send(TransportRequest(url: server.base + "/old/a?x=1"))
        #expect(response.status == 200)
        #expect(response.headers.fields == [.init("X-End", "1"), .init("Content-Length", "2")])
        #expect(response.redirectedTo == server.base + "/new/b?y=2")
    }

    @Test("a request for which only its resource may be asked again gets a 303 as its answer", arguments: [303, 307])
    func seeOther(_ status: Int) async throws {
        let server = try LocalServer([
            "POST /a\nHTTP/1.1 \(status) Moved\nLocation: /b\n\n", "POST /b\nHTTP/1.1 201 Created\n\n{}",
        ])
        var request = TransportRequest(method: "POST", url: server.base + "/a", body: Array("{}".utf8))
        request.returnsSeeOther = true
        #expect(try await CurlTransport().send(request).status == (status == 303 ? 303 : 201))
    }

    @Test("a deletion is not repeated for another resource after 301 and 302", arguments: [301, 302, 307])
    func deletion(_ status: Int) async throws {
        let server = try LocalServer([
            "DELETE /a/7\nHTTP/1.1 \(status) Moved\nLocation: /a?deleted=7\n\n",
            "DELETE /a?deleted=7\nHTTP/1.1 204 Gone\n\n",
            "DELETE /b/7\nHTTP/1.1 \(status) Moved\nLocation: /v2/b/7/\n\n", "DELETE /v2/b/7/\nHTTP/1.1 204 Gone\n\n",
        ])
        let toList = TransportRequest(method: "DELETE", url: server.base + "/a/7")
        if status == 307 {
            #expect(try await CurlTransport().send(toList).status == 204)
        } else {
            let error = await #expect(throws: TransportError.self) { try await CurlTransport().send(toList) }
            #expect("\(try #require(error))".contains("redirects a DELETE with \(status) to /a"))
            #expect(server.requests.count == 1)
        }
        let moved = TransportRequest(method: "DELETE", url: server.base + "/b/7")
        #expect(try await CurlTransport().send(moved).status == 204)
    }

    @Test("a deletion of what its query names is not repeated without the query after 301 and 302")
    func deletionByQuery() async throws {
        let server = try ScriptedServer { request in
            switch request.target {
            case "/a?id=7": .init(status: "302 Found", fields: ["Location: /a"])
            case "/b?id=u%3A7": .init(status: "301 Moved Permanently", fields: ["Location: /b/?id=u:7"])
            default: .init(status: "204 No Content")
            }
        }
        let toList = TransportRequest(method: "DELETE", url: server.base + "/a?id=7")
        await #expect(throws: TransportError.self) { try await CurlTransport().send(toList) }
        #expect(server.requests.count == 1)
        let moved = TransportRequest(method: "DELETE", url: server.base + "/b?id=u%3A7")
        #expect(try await CurlTransport().send(moved).status == 204)
    }

    @Test(
        "a POST is not sent again because of what its 303 leads to: no server, other credentials, a rule, an overload",
        arguments: ["nowhere", "401", "rule", "503"])
    func failureBehindSeeOther(_ failure: String) async throws {
        let folder = try TemporaryFolder(), file = try folder.write("token", "first")
        let server = try ScriptedServer { request in
            guard request.method == "GET" else {
                let target = failure == "nowhere" ? "http://127.0.0.1:1/" : "/result"
                return .init(status: "303 See Other", fields: ["Location: \(target)"])
            }
            _ = try? folder.write("token", "second")
            let status = ["401": "401 Unauthorized", "503": "503 Service Unavailable"][failure] ?? "200 OK"
            return .init(status: status, body: "token expired")
        }
        let authorized = AuthorizedTransport(CurlTransport(), .bearer(.file(file)), origins: [server.base])
        var policy = RetryPolicy(attempts: 3, firstDelay: .milliseconds(1))
        policy.repeatsRefused = true
        let transport = RetryingTransport(
            authorized, policy: policy,
            rules: failure == "rule" ? [ResponseRule(text: "expired", action: .refreshToken)] : [],
            refresh: { (used: Int?) async throws(TransportError) in try await authorized.refresh(instead: used) })
        let request = TransportRequest(method: "POST", url: server.base + "/a", body: Array("{}".utf8))
        let status = try? await transport.send(request).status
        #expect(status == (failure == "nowhere" ? nil : Int(failure) ?? 200))
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
    }

    static let secrets: [TransportHeaders.Field] = [
        .init("Authorization", "Bearer hush"), .init("Cookie", "session=hush"), .init("PRIVATE-TOKEN", "hush"),
        .init("X-Api-Key", "hush"), .init("Proxy-Authorization", "hush"),
    ]

    @Test(
        "credentials stay with their server: another port or another name gets none of them",
        arguments: [
            "127.0.0.1", "localhost",
        ])
    func credentialsStayHome(_ host: String) async throws {
        let other = try RawServer(ok)
        let home = try RawServer(redirect(302, "http://\(host):\(other.port)/there"))
        let request = TransportRequest(
            url: home.base + "/here",
            headers: TransportHeaders(
                Self.secrets + [.init("Accept", "application/json"), .init("If-None-Match", "\"e\"")]))
        let response = try await CurlTransport().send(request)
        #expect(response.status == 200)
        #expect(home.requests[0].contains("Authorization: Bearer hush"))
        #expect(home.requests[0].contains("PRIVATE-TOKEN: hush"))
        let arrived = try #require(other.requests.first)
        #expect(arrived.hasPrefix("GET /there HTTP/1.1\r\n"))
        #expect(!arrived.contains("hush"))
        #expect(arrived.contains("Accept: application/json\r\n"))
        #expect(arrived.contains("If-None-Match: \"e\"\r\n"))
    }

    @Test("credentials go along on the same server, and do not come back after a detour over another")
    func sameServerAndDetour() async throws {
        let other = try RawServer(ok)
        let first = try RawServer(redirect(307, "/second"), redirect(307, "http://127.0.0.1:\(other.port)/"))
        let request = TransportRequest(url: first.base + "/first", headers: TransportHeaders(Self.secrets))
        _ = try await CurlTransport().send(request)
        #expect(first.requests.count == 2)
        #expect(first.requests.allSatisfy { $0.contains("Authorization: Bearer hush") })
        #expect(other.requests.allSatisfy { !$0.contains("hush") })

        let start = try HTTPURL("http://a/1")
        let away = Redirect.request(after: request, status: 302, from: start, to: try HTTPURL("https://a/2"))
        let back = Redirect.request(after: away, status: 302, from: try HTTPURL("https://a/2"), to: start)
        #expect(back.url == "http://a/1")
        #expect(back.headers.fields.isEmpty)
    }

    @Test("a circle of redirects ends with an error at the limit")
    func circle() async throws {
        let server = try LocalServer(["GET /a\nHTTP/1.1 302 Found\nLocation: /a\n\n"])
        var options = CurlTransport.Options()
        options.maximumRedirects = 3
        let error = await expectFailure(.protocol) {
            try await CurlTransport(options).send(TransportRequest(url: server.base + "/a"))
        }
        #expect(error?.detail == "more than 3 redirects, the last one to /a")
        #expect(server.requests.count == 4)
    }

    @Test(
        "a redirect away from http and https is an error that names it",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "http://", "http://u:p@127.0.0.1/",
            "/a b",
        ])
    func otherSchemes(_ location: String) async throws {
        let server = try LocalServer(["GET /a\nHTTP/1.1 302 Found\nLocation: \(location)\n\n"])
        let error = await expectFailure(.protocol) {
            try await CurlTransport().send(TransportRequest(url: server.base + "/a"))
        }
        #expect(error?.detail.hasPrefix("cannot follow a redirect: ") ?? false)
    }

    @Test("a redirect without a location, and a status that is none, are responses", arguments: [300, 301, 304, 305])
    func notRedirects(_ status: Int) async throws {
        let location = status == 301 ? "X: 1" : "Location: /b"
        let server = try LocalServer(["GET /a\nHTTP/1.1 \(status) Odd\n\(location)\n\n"])
        #expect(try await CurlTransport().send(TransportRequest(url: server.base + "/a")).status == status)
    }

    @Test(
        "the method after a redirect is that of RFC 9110 §15.4",
        arguments: [
            ("POST", 303, "GET"), ("POST", 307, "POST"),
            ("POST", 308, "POST"),
            ("DELETE", 302, "DELETE"), ("DELETE", 303, "GET"), ("HEAD", 303, "HEAD"), ("HEAD", 301, "HEAD"),
        ])
    func method(_ method: String, _ status: Int, _ expected: String) throws {
        let url = try HTTPURL("http://a/")
        let next = Redirect.request(
            after: TransportRequest(method: method, url: "http://a/"), status: status, from: url, to: url)
        #expect(next.method == expected)
    }

    @Test(
        "a POST is not repeated as a GET after 301 and 302: its answer would look like that of the POST",
        arguments: [301, 302])
    func redirectedPost(_ status: Int) async throws {
        let server = try LocalServer([
            "POST /a\nHTTP/1.1 \(status) Moved\nLocation: /a/\n\n", "GET /a/\nHTTP/1.1 200 OK\n\n{}",
        ])
        let error = await expectFailure(.url) {
            try await CurlTransport().send(
                TransportRequest(method: "POST", url: server.base + "/a", body: Array("{}".utf8)))
        }
        #expect(error?.detail.contains("redirects a POST with \(status) to /a/") == true, "\(error?.detail ?? "")")
        #expect(server.requests.count == 1)
    }

    @Test("a key in the query does not go along to another server, even if the first one repeats it")
    func keyInRedirect() async throws {
        let other = try RawServer(ok)
        let first = try RawServer(redirect(302, "http://127.0.0.1:\(other.port)/there?a=1&key=hush&b=2"))
        var request = TransportRequest(url: first.base + "/here?key=hush")
        request.redirects = RedirectScope(bases: [other.base], secretParameter: "key")
        _ = try await CurlTransport().send(request)
        #expect(other.requests.first?.hasPrefix("GET /there?a=1&b=2 HTTP/1.1\r\n") == true, "\(other.requests)")
        // On its own server it stays.
        let same = try RawServer(redirect(302, "/there?key=hush"), ok)
        request.url = same.base + "/here?key=hush"
        _ = try await CurlTransport().send(request)
        #expect(same.requests.last?.hasPrefix("GET /there?key=hush HTTP/1.1\r\n") == true, "\(same.requests)")
    }

    @Test("a token request reaches its own server only, whatever its redirect names")
    func redirectedTokenRequest() async throws {
        let token = "{\"access_token\":\"other\",\"token_type\":\"bearer\"}"
        let other = try ScriptedServer { _ in .init(body: token) }
        let home = try ScriptedServer { request in
            switch request.target {
            case "/away": .init(status: "303 See Other", fields: ["Location: \(other.base)/token"])
            case "/here": .init(status: "303 See Other", fields: ["Location: /token"])
            default: .init(body: token.replacing("other", with: "own"))
            }
        }
        func send(_ path: String) async throws -> Int {
            let settings = OAuth2(
                tokenURL: home.base + path, clientID: .value(Secret("tarn")), clientSecret: .value(Secret("hush")))
            let transport = AuthorizedTransport(CurlTransport(), .oauth2(settings), origins: [home.base])
            return try await transport.send(TransportRequest(url: home.base + "/items")).status
        }
        let error = await #expect(throws: TransportError.self) { try await send("/away") }
        #expect(error?.description.contains("if that is the authorization server, name it by token_url") == true)
        #expect(other.requests.isEmpty)
        #expect(try await send("/here") == 200)
    }

    @Test("the total time covers all redirects together")
    func totalTime() async throws {
        let server = try LocalServer(["GET /a\nHTTP/1.1 302 Found\nLocation: /a\n\n"], "--latency", "300")
        var options = CurlTransport.Options()
        options.totalTimeout = .seconds(1)
        options.maximumRedirects = 1000
        await expectFailure(.timeout) {
            try await CurlTransport(options).send(TransportRequest(url: server.base + "/a"))
        }
        #expect(server.requests.count <= 5)
    }
}
