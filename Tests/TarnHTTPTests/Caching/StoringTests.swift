// RFC 9111 §3: the responses that may be stored, and their fields.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §3: storing")
struct StoringTests {
    private func rule(
        _ rules: CacheRules, _ response: String, _ status: Int, _ wants: String = "", method: String = "GET"
    ) -> CacheRule {
        rules.storability(
            of: TransportResponse(status: status, headers: fields(dated(response))), to: request(wants, method: method))
    }

    @Test(
        "§3: a response is stored if something says so, or its status does",
        arguments: [
            ("", 200, .storable), ("", 404, .storable), ("", 201, .statusNotCacheable), ("", 302, .statusNotCacheable),
            ("", 500, .statusNotCacheable),
            ("Cache-Control: max-age=0", 302, .storable), ("Cache-Control: public", 500, .storable),
            ("Cache-Control: private", 302, .storable),
            ("Cache-Control: s-maxage=9", 302, .statusNotCacheable), ("Expires: 0", 302, .storable),
            ("Cache-Control: max-age=60", 599, .storable),
            ("Cache-Control: max-age=60", 103, .statusNotFinal), ("Cache-Control: no-store", 200, .responseNoStore),
            ("Cache-Control: no-store, max-age=60", 200, .responseNoStore),
            ("Cache-Control: NO-STORE=1", 200, .responseNoStore),
            ("Cache-Control: no-cache", 200, .storable), ("Vary: *", 200, .variesByEverything),
            ("Vary: Accept, *", 200, .variesByEverything),
            ("Vary: Accept", 200, .storable),
        ] as [(String, Int, CacheRule)])
    func responses(_ headers: String, _ status: Int, _ expected: CacheRule) {
        #expect(rule(privateRules, headers, status) == expected)
    }

    @Test(
        "§5.2.2.3: must-understand outweighs no-store for a status that is understood, and forbids the others",
        arguments: [
            ("Cache-Control: must-understand, no-store, max-age=60", 200, .storable),
            ("Cache-Control: must-understand, no-store, max-age=60", 599, .statusNotUnderstood),
            ("Cache-Control: must-understand, max-age=60", 299, .statusNotUnderstood),
            ("Cache-Control: must-understand, max-age=60", 404, .storable),
        ] as [(String, Int, CacheRule)])
    func mustUnderstand(_ headers: String, _ status: Int, _ expected: CacheRule) {
        #expect(rule(privateRules, headers, status) == expected)
    }

    @Test(
        "§3, RFC 9110 §9.3.3: answers to other methods are not stored, whatever they say",
        arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get"])
    func methods(_ method: String) {
        #expect(rule(privateRules, "Cache-Control: max-age=60", 200, method: method) == .methodNotCacheable)
    }

    @Test("§5.2.1.5: a request with no-store leaves nothing behind")
    func requestNoStore() {
        #expect(rule(privateRules, "Cache-Control: max-age=60", 200, "Cache-Control: no-store") == .requestNoStore)
        #expect(rule(privateRules, "Cache-Control: max-age=60", 200, "Cache-Control: no-cache") == .storable)
    }

    @Test(
        "§5.2.2.7: private is not for a shared cache; with fields it is about these",
        arguments: [
            ("Cache-Control: private, max-age=60", .privateInShared),
            (#"Cache-Control: private="set-cookie", max-age=60"#, .storable),
            ("Cache-Control: s-maxage=60", .storable),
        ] as [(String, CacheRule)])
    func privateInShared(_ headers: String, _ expected: CacheRule) {
        #expect(rule(sharedRules, headers, 200) == expected)
        #expect(rule(privateRules, headers, 200) == .storable)
    }

    @Test(
        "§3.5: authorised answers are stored by a shared cache only where the response says so",
        arguments: [
            ("Cache-Control: max-age=60", .authorized), ("", .authorized), ("Expires: {60}", .authorized),
            ("Cache-Control: public", .storable),
            ("Cache-Control: must-revalidate", .storable), ("Cache-Control: s-maxage=60", .storable),
            ("Cache-Control: proxy-revalidate", .authorized),
        ] as [(String, CacheRule)])
    func authorized(_ headers: String, _ expected: CacheRule) {
        #expect(rule(sharedRules, headers, 200, "Authorization: Bearer x") == expected)
        #expect(rule(privateRules, headers, 200, "Authorization: Bearer x") == .storable)
    }

    @Test(
        "§3.3, §3.4: parts are no whole responses, nor are a 304 and a 416; elsewhere Content-Range means nothing (RFC 9110 §14.4)"
    )
    func parts() {
        #expect(rule(privateRules, "Content-Range: bytes 0-1/2 | Cache-Control: max-age=60", 206) == .partialContent)
        #expect(rule(privateRules, "Content-Range: bytes 0-1/2 | Cache-Control: max-age=60", 200) == .storable)
        #expect(rule(privateRules, "Content-Range: bytes */2 | Cache-Control: max-age=60", 416) == .partialContent)
        #expect(rule(privateRules, "Cache-Control: max-age=60", 304) == .partialContent)
    }

    @Test(
        "§3.3: a part is stored if one was asked for, exactly one has come, and a strong validator tells of what",
        arguments: [
            ("bytes=0-1", "bytes 0-1/9", "ETag: \"a\"", .storable), ("", "bytes 0-1/9", "ETag: \"a\"", .partialContent),
            ("bytes=0-1", "bytes 0-1/9", "ETag: W/\"a\"", .partialContent),
            ("bytes=0-1", "bytes 0-1/9", "X: y", .partialContent),
            ("bytes=0-1", "bytes 0-2/9", "ETag: \"a\"", .partialContent),
            ("bytes=0-1", "", "ETag: \"a\"", .partialContent),
            ("bytes=0-1", "bytes 0-1/9", "ETag: \"a\" | Cache-Control: no-store", .responseNoStore),
            ("bytes=0-1", "bytes 0-1/9", "ETag: \"a\" | Vary: *", .variesByEverything),
        ] as [(String, String, String, CacheRule)])
    func partStorability(_ range: String, _ contentRange: String, _ headers: String, _ expected: CacheRule) {
        let response = TransportResponse(
            status: 206, headers: fields("\(headers) | Content-Range: \(contentRange)"), body: [1, 2])
        #expect(
            privateRules.storability(ofPart: response, to: request(range.isEmpty ? "" : "Range: \(range)"), at: t0)
                == expected)
    }

    @Test(
        "RFC 9110 §9.3.3: an answer to POST is stored if it declares its lifetime and that it is what its own URL has",
        arguments: [
            ("Content-Location: /issues | Cache-Control: max-age=60", 200, .storable),
            ("Content-Location: http://API.example:80/%69ssues | Expires: {60}", 200, .storable),
            ("Content-Location: /issues | Last-Modified: {-60}", 200, .methodNotCacheable),
            ("Content-Location: /issues/1 | Cache-Control: max-age=60", 200, .methodNotCacheable),
            ("Cache-Control: max-age=60", 200, .methodNotCacheable),
            ("Content-Location: /issues | Cache-Control: max-age=60", 201, .methodNotCacheable),
            ("Content-Location: http://other.example/issues | Cache-Control: max-age=60", 200, .methodNotCacheable),
            ("Content-Location: /issues | Cache-Control: max-age=60, no-store", 200, .responseNoStore),
        ] as [(String, Int, CacheRule)])
    func post(_ headers: String, _ status: Int, _ expected: CacheRule) {
        let response = TransportResponse(status: status, headers: fields(dated(headers)))
        #expect(privateRules.storability(ofPost: response, to: request(method: "POST")) == expected)
        #expect(privateRules.storability(ofPost: response, to: request(method: "PUT")) == .methodNotCacheable)
    }

    @Test(
        "§7.3: a shared cache stores no answer that sets a cookie without leave; the cookie itself is never stored",
        arguments: [
            ("Set-Cookie: a | Cache-Control: max-age=60", .setsCookie),
            ("Set-Cookie: a | Last-Modified: {-60}", .setsCookie),
            ("Set-Cookie: a | Cache-Control: public, max-age=60", .storable),
            ("Set-Cookie: a | Cache-Control: s-maxage=60", .storable),
            (#"Set-Cookie: a | Cache-Control: max-age=60, no-cache="set-cookie""#, .storable),
            ("Cache-Control: max-age=60", .storable),
        ] as [(String, CacheRule)])
    func cookies(_ headers: String, _ expected: CacheRule) {
        #expect(rule(sharedRules, headers, 200) == expected)
        #expect(rule(privateRules, headers, 200) == .storable)
        for rules in [sharedRules, privateRules] {
            #expect(rules.storedFields(of: fields(dated(headers)))["Set-Cookie"] == nil)
        }
    }

    @Test(
        "§3.5, §7.3: credentials make users; a shared cache passes by those that no rule covers",
        arguments: [
            ("", [], "everyone", "everyone"), ("Authorization: a", [], "everyone", "user"),
            ("Cookie: a", [], "nobody", "user"), ("X-Api-Key: a", [], "nobody", "user"),
            ("PRIVATE-TOKEN: a", [], "nobody", "user"), ("x_session_id: a", [], "nobody", "user"),
            ("X-Forwarded-User: a", [], "nobody", "user"),
            ("Accept: a | User-Agent: b | If-None-Match: c | Range: d | X-Request-Id: e", [], "everyone", "everyone"),
            ("Cookie: a", ["cookie"], "user", "user"), ("Cookie: a | X-Api-Key: b", ["Cookie"], "nobody", "user"),
            ("Cookie: a | Authorization: b", ["Cookie"], "nobody", "user"),
            ("Cookie: a | Authorization: b", ["Cookie", "Authorization"], "user", "user"),
            ("X-Tenant: a", ["X-Tenant"], "user", "user"), ("X-HTTP-Method-Override: DELETE", [], "nobody", "nobody"),
            ("X-Forwarded-Host: a", [], "everyone", "everyone"), ("Via: \u{FFFD}", [], "nobody", "nobody"),
            ("Cookie: a\u{FFFD}", ["Cookie"], "nobody", "nobody"), ("Via: \u{FFFC}", [], "everyone", "everyone"),
            ("Authorization: a | Cookie: b", [], "nobody", "user"),
        ] as [(String, [String], String, String)])
    func audiences(_ headers: String, _ scopedBy: [String], _ inShared: String, _ inPrivate: String) {
        for (rules, expected) in [(sharedRules, inShared), (privateRules, inPrivate)] {
            switch rules.audience(of: fields(headers), scopedBy: scopedBy) {
            case .everyone(let target):
                #expect(expected == "everyone" && target.fields.isEmpty == !headers.hasPrefix("X-Forwarded"))
            case .user(let user): #expect(expected == "user" && !user.fields.isEmpty)
            case .nobody: #expect(expected == "nobody")
            }
        }
    }

    @Test(
        "§7.3: a field in which a server in front names the user makes users, whatever the server",
        arguments: [
            "X-Ms-Client-Principal", "X-Ms-Client-Principal-Id", "X-Ms-Client-Principal-Name", "X-Amzn-Oidc-Identity",
            "X-Amzn-Oidc-Data", "X-Bearer", "X-Pat", "X-Login", "X-Email", "X-Impersonate-User", "X-Forwarded-Email",
            "Remote-User", "Remote-Name", "Remote-Groups", "SM_USER", "iv-user", "Tailscale-User-Login",
            "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Userinfo", "X-Apigateway-Api-Userinfo",
            "X-Forwarded-Preferred-Username", "X-Ssl-Client-S-Dn", "X-Ssl-Client-Subject-Dn", "Sudo",
            "X-Goog-Authenticated-User-Email", "X-Pomerium-Claim-Email", "X-Account-Id", "X-Tenant-Id", "X-User-Role",
        ])
    func namedUsers(_ name: String) {
        #expect(sharedRules.audience(of: fields("\(name): ada")) == .nobody(field: name))
        #expect(privateRules.audience(of: fields("\(name): ada")) == .user(fields("\(name.lowercased()): ada")))
        #expect(
            sharedRules.audience(of: fields("\(name): ada"), scopedBy: [name])
                == .user(fields("\(name.lowercased()): ada")))
    }

    @Test(
        "fields that name no user leave the answer to everyone",
        arguments: [
            "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "User-Agent", "X-User-Agent",
            "X-Original-User-Agent", "X-Operamini-Phone-UA", "X-Request-Id", "X-Correlation-Id", "X-Amzn-Trace-Id",
            "Traceparent", "Tracestate", "X-B3-TraceId", "X-Forwarded-For", "X-Real-Ip", "Cf-Connecting-Ip", "Via",
            "Origin", "Referer", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "Cache-Control", "Pragma",
            "X-Requested-With", "X-Client-Version", "X-Ms-Client-Request-Id", "X-Path", "X-Pattern", "X-Compatible",
            "Sec-Fetch-User", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Ch-Ua", "Sec-Ch-Ua-Platform", "Save-Data", "DNT",
            "Upgrade-Insecure-Requests", "Priority", "Idempotency-Key", "X-Powered-By", "X-Mobile-Device", "Date",
        ])
    func unnamedUsers(_ name: String) {
        #expect(sharedRules.audience(of: fields("\(name): a")) == .everyone(TransportHeaders()))
        #expect(privateRules.audience(of: fields("\(name): a")) == .everyone(TransportHeaders()))
    }

    @Test("§3.1: fields of the connection, of proxies, and those that Connection names are not stored")
    func connectionFields() {
        let headers = fields(
            "A: 1 | Connection: close, X-Hop | x-hop: 1 | Keep-Alive: timeout=5 | Proxy-Authenticate: Basic | Proxy-Authentication-Info: x"
                + " | Proxy-Authorization: y | TE: trailers | Trailer: Z | Transfer-Encoding: chunked | Upgrade: h2c | Proxy-Connection: close | a: 2"
        )
        #expect(privateRules.storedFields(of: headers).fields == [.init("A", "1"), .init("a", "2")])
    }

    @Test("§5.2.2.7: fields that private names are not stored in a shared cache")
    func privateFields() {
        let headers = fields(#"Set-Cookie: a | X: 1 | Cache-Control: private="set-cookie", max-age=60"#)
        #expect(sharedRules.storedFields(of: headers)["Set-Cookie"] == nil)
        let other = fields(#"X-User: a | X: 1 | Cache-Control: private="x-user", max-age=60"#)
        #expect(
            sharedRules.storedFields(of: other)["X-User"] == nil
                && privateRules.storedFields(of: other)["X-User"] == "a")
    }

    @Test("§5.2.2.4: fields that no-cache names are served only after a validation; §5.1: and always with the age")
    func servedFields() {
        let response = stored(#"X: 1 | Secret: 2 | Age: 5 | Cache-Control: no-cache="secret", max-age=60"#)
        let served = privateRules.servedFields(of: response, at: t0 + 10, isValidated: false)
        #expect(served["Secret"] == nil && served["X"] == "1" && served.all("Age") == ["15"])
        #expect(privateRules.servedFields(of: response, at: t0, isValidated: true)["Secret"] == "2")
        // RFC 9110 §6.6.1
        #expect(
            privateRules.servedFields(of: stored("X: no date"), at: t0 + 9, isValidated: true)["Date"] == httpDate(t0))
    }
}
