// RFC 9111 §4.3, §4.4: conditional requests, their responses, and invalidation by unsafe methods.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §4.3: validation")
struct ValidationTests {
    @Test(
        "§4.3.1: the request asks with the stored validators, and not with the client's conditions",
        arguments: [
            ("ETag: \"a\" | Last-Modified: {0}", "If-None-Match: \"a\""), ("ETag: W/\"a\"", "If-None-Match: W/\"a\""),
            ("Last-Modified: {0}", "If-Modified-Since: {0}"), ("ETag: bad", ""), ("X: y", ""),
        ])
    func conditional(_ response: String, _ conditions: String) {
        let asked = request(
            "Accept: a | If-None-Match: \"z\" | If-Modified-Since: {-9} | Range: bytes=0-1 | If-Range: \"z\"")
        let sent = privateRules.validation(of: stored(response), for: asked)
        #expect(sent.headers == fields(dated("Accept: a" + (conditions.isEmpty ? "" : " | " + conditions))))
    }

    @Test(
        "§4.3.3, §4.3.4: what the answer to a validation means",
        arguments: [
            ("ETag: \"a\"", 304, "ETag: \"a\"", "confirmed"), ("ETag: \"a\"", 304, "", "confirmed"),
            ("ETag: \"a\"", 304, "ETag: \"b\"", "mismatched"),
            ("ETag: W/\"a\"", 304, "ETag: W/\"a\"", "confirmed"), ("ETag: \"a\"", 304, "ETag: W/\"a\"", "confirmed"),
            ("Last-Modified: {0}", 304, "Last-Modified: {0}", "confirmed"),
            ("Last-Modified: {0}", 304, "Last-Modified: {9}", "mismatched"),
            ("Last-Modified: {0}", 304, "ETag: \"b\"", "mismatched"), ("X: y", 304, "", "confirmed"),
            ("ETag: \"a\"", 200, "ETag: \"a\"", "replaced"),
            ("ETag: \"a\"", 404, "", "replaced"), ("ETag: \"a\"", 500, "", "failed 500"),
            ("ETag: \"a\"", 503, "", "failed 503"),
            ("ETag: \"a\"", 412, "", "replaced"),
        ])
    func answers(_ response: String, _ status: Int, _ answer: String, _ expected: String) {
        let text =
            switch privateRules.validate(
                stored(response), with: TransportResponse(status: status, headers: fields(dated(answer))))
            {
            case .confirmed: "confirmed"
            case .mismatched: "mismatched"
            case .replaced: "replaced"
            case .failed(let status): "failed \(status)"
            }
        #expect(text == expected)
    }

    @Test("§3.2, §4.3.4: a 304 brings the stored fields up to date, and the response is young again")
    func freshened() throws {
        let old = stored("ETag: \"a\" | Cache-Control: max-age=60 | Age: 50 | X: 1 | Content-Length: 5")
        let answer = TransportResponse(
            status: 304,
            headers: fields(dated("Cache-Control: max-age=90 | Y: 2 | Content-Length: 0 | Connection: Z | Z: 1")))
        guard case .confirmed(let headers) = privateRules.validate(old, with: answer) else {
            return #expect(Bool(false))
        }
        let fresh = privateRules.freshened(
            old, headers, to: TransportHeaders(), requestTime: t0 + 100, responseTime: t0 + 101)
        #expect(fresh.headers.fields.map(\.name) == ["ETag", "Cache-Control", "X", "Content-Length", "Y"])
        #expect(fresh.headers["Content-Length"] == "5")
        // Neither the old Age nor the old Date: a second on the way.
        #expect(privateRules.freshness(of: fresh, at: t0 + 101) == Freshness(age: 1, lifetime: 90, rule: .maxAge))
    }

    @Test("§4.1, §4.3.4: if a 304 changes Vary, the fields of its request select the response")
    func freshenedVary() {
        let old = stored("ETag: \"a\" | Vary: A", selecting: "A: 1"), asked = fields("A: 1 | B: 2 | C: 3")
        func selecting(_ vary: String) -> TransportHeaders {
            let headers = fields("ETag: \"a\" | Vary: \(vary)")
            return privateRules.freshened(old, headers, to: asked, requestTime: t0, responseTime: t0).selecting
        }
        #expect(selecting("A, B") == fields("A: 1 | B: 2"))
        #expect(selecting("C") == fields("C: 3"))
        #expect(selecting("a") == old.selecting)
    }

    @Test(
        "§4.3.5: HEAD brings a stored GET up to date, or shows that it is another one",
        arguments: [
            ("ETag: \"a\" | X: 2", 200, "2"), ("ETag: \"b\" | X: 2", 200, "outdated"),
            ("ETag: \"a\" | Content-Length: 5 | X: 2", 200, "2"),
            ("ETag: \"a\" | Content-Length: 6 | X: 2", 200, "outdated"), ("Content-Length: 6", 200, "outdated"),
            ("Last-Modified: {9}", 200, "outdated"), ("Last-Modified: {0} | X: 2", 200, "2"), ("X: 2", 404, "none"),
            // Nothing proves that the stored representation is still the current one.
            ("X: 2", 200, "none"), ("Content-Length: 5 | X: 2", 200, "none"),
            ("ETag: \"a\" | Cache-Control: no-store | X: 2", 200, "none"),
        ], [true, false])
    func head(_ given: (String, Int, String), _ hasLength: Bool) {
        let (answer, status, expected) = given
        var old = stored("ETag: \"a\" | Last-Modified: {0} | Content-Length: 5 | X: 1")
        // A chunked one.
        if !hasLength { old.headers["Content-Length"] = nil }
        let response = TransportResponse(status: status, headers: fields(dated(answer)))
        let update = privateRules.update(of: old, size: 5, byHead: response, to: TransportRequest(url: "http://a/"))
        switch update {
        case .none: #expect(expected == "none")
        case .outdated: #expect(expected == "outdated")
        case .confirmed(let headers): #expect(headers["X"] == expected)
        }
    }

    @Test(
        "§3.5, §4.3.5: what HEAD tells an authorized user confirms a response for all of them only by the server's leave"
    )
    func authorizedHead() {
        let old = stored("ETag: \"a\" | Cache-Control: public, max-age=1")
        let ada = TransportRequest(
            url: "http://a/", headers: TransportHeaders([.init("Authorization", "Bearer ada")]))
        func update(_ control: String) -> CacheRules.HeadUpdate {
            CacheRules(isShared: true).update(
                of: old, size: 5,
                byHead: TransportResponse(
                    status: 200, headers: fields(dated("ETag: \"a\" | X-User: ada | Cache-Control: \(control)"))),
                to: ada)
        }
        #expect(update("max-age=100") == .none)
        guard case .confirmed = update("public, max-age=100") else { return #expect(Bool(false)) }
    }

    @Test(
        "§4.3.2: a client that has what is stored gets 304",
        arguments: [
            ("If-None-Match: \"a\"", true), ("If-None-Match: W/\"a\"", true), ("If-None-Match: \"x\", \"a\"", true),
            ("If-None-Match: *", true),
            ("If-None-Match: \"x\" | If-None-Match: \"a\"", true), ("If-None-Match: \"x\"", false),
            ("If-None-Match: a", false),
            ("If-Modified-Since: {-50}", true), ("If-Modified-Since: {-49}", true), ("If-Modified-Since: {-51}", false),
            ("If-Modified-Since: never", false), ("If-None-Match: \"x\" | If-Modified-Since: {0}", false),
            ("X: y", false),
        ])
    func clientConditions(_ asked: String, _ has: Bool) {
        let response = stored("ETag: \"a\" | Last-Modified: {-50}")
        #expect(privateRules.clientHasCurrent(response, fields(dated(asked)), at: t0) == has)
        #expect(!privateRules.clientHasCurrent(stored("ETag: \"a\"", status: 404), fields(dated(asked)), at: t0))
    }

    @Test("§4.3.2: without Last-Modified the date of the response is compared")
    func clientDate() {
        #expect(privateRules.clientHasCurrent(stored("X: y"), fields(dated("If-Modified-Since: {0}")), at: t0))
        #expect(!privateRules.clientHasCurrent(stored("X: y"), fields(dated("If-Modified-Since: {-1}")), at: t0))
    }

    @Test("RFC 9110 §15.4.5: a 304 from what is stored says nothing of a body")
    func notModifiedFields() {
        let headers = fields(
            "ETag: \"a\" | Content-Length: 5 | Content-Type: x | Content-Encoding: gzip | Vary: A | Cache-Control: max-age=1"
        )
        #expect(CacheRules.notModifiedFields(headers).fields.map(\.name) == ["ETag", "Vary", "Cache-Control"])
    }

    @Test(
        "§4.4: unsafe methods that do not fail invalidate their URL, and those that they name at the same origin",
        arguments: [
            ("POST", 200, "", ["/a"]), ("PUT", 204, "", ["/a"]), ("DELETE", 301, "", ["/a"]),
            ("PATCH", 200, "", ["/a"]), ("M-SEARCH", 200, "", ["/a"]),
            ("POST", 201, "Location: /b", ["/a", "/b"]),
            ("POST", 201, "Location: /b | Content-Location: c?d", ["/a", "/b", "/c?d"]),
            ("POST", 201, "Location: http://other.example/b", ["/a"]),
            ("POST", 201, "Location: http://api.example:81/b", ["/a"]),
            ("POST", 201, "Location: /a", ["/a"]), ("POST", 201, "Location: ftp://x", ["/a"]),
            ("POST", 400, "Location: /b", []), ("POST", 500, "", []),
            ("GET", 200, "Location: /b", []), ("HEAD", 200, "", []), ("OPTIONS", 200, "", []), ("TRACE", 200, "", []),
            ("QUERY", 200, "Location: /b", []),
        ] as [(String, Int, String, [String])])
    func invalidation(_ method: String, _ status: Int, _ answer: String, _ paths: [String]) {
        let request = TransportRequest(method: method, url: "http://api.example/a")
        #expect(
            CacheRules.invalidated(by: request, TransportResponse(status: status, headers: fields(answer)))
                == paths.map { "http://api.example" + $0 })
    }
}

@Suite("RFC 9110 §14: ranges of what is stored")
struct ByteRangeTests {
    @Test(
        "§14.1.2, §14.2: one range is served; the rest is ignored, refused, or the server's",
        arguments: [
            ("bytes=0-4", .part(0..<5)), ("bytes=5-", .part(5..<10)), ("bytes=-3", .part(7..<10)),
            ("bytes=-30", .part(0..<10)), ("bytes=8-99", .part(8..<10)),
            ("bytes=9-9", .part(9..<10)), ("BYTES=0-0", .part(0..<1)), ("bytes= 0-0 , ", .part(0..<1)),
            ("bytes=10-", .unsatisfiable),
            ("bytes=10-12", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=0-1,3-4", .several),
            ("bytes=4-2", .whole), ("bytes=x-2", .whole),
            ("bytes=2", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("lines=0-1", .whole),
            ("bytes=0-99999999999999999999", .whole),
            ("bytes=1-2-3", .whole),
        ] as [(String, ByteRange.Selection)])
    func ranges(_ text: String, _ expected: ByteRange.Selection) {
        #expect(ByteRange.select(fields("Range: \(text)"), of: stored("ETag: \"a\""), length: 10, at: t0) == expected)
    }

    @Test(
        "§13.1.5: If-Range needs a strong validator that is the stored one's",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", false), ("\"b\"", false), ("{-50}", true), ("{-51}", false),
            ("nonsense", false),
        ])
    func ifRange(_ value: String, _ holds: Bool) {
        let response = stored("ETag: \"a\" | Last-Modified: {-50}")
        let selected = ByteRange.select(
            fields(dated("Range: bytes=0-0 | If-Range: \(value)")), of: response, length: 10, at: t0)
        #expect(selected == (holds ? .part(0..<1) : .whole))
        // Two weak ones are equal, and no proof that the bytes are.
        let weak = stored("ETag: W/\"a\"")
        #expect(
            ByteRange.select(fields("Range: bytes=0-0 | If-Range: W/\"a\""), of: weak, length: 10, at: t0) == .whole)
    }

    @Test("§8.8.2.2: a date that is as young as the response is no strong validator")
    func weakDate() {
        let response = stored("Last-Modified: {0}")
        #expect(
            ByteRange.select(fields(dated("Range: bytes=0-0 | If-Range: {0}")), of: response, length: 10, at: t0)
                == .whole)
    }

    @Test("§14.2: ranges of other statuses than 200, and of nothing")
    func others() {
        #expect(
            ByteRange.select(fields("Range: bytes=0-0"), of: stored("X: y", status: 404), length: 10, at: t0) == .whole)
        #expect(ByteRange.select(fields("X: y"), of: stored("X: y"), length: 10, at: t0) == .whole)
        #expect(ByteRange.select(fields("Range: bytes=-5"), of: stored("X: y"), length: 0, at: t0) == .unsatisfiable)
    }

    @Test(
        "§14.4: a Content-Range is bytes of a representation of a known length, or none",
        arguments: [
            ("bytes 0-9/10", 0..<10, 10), ("Bytes 3-3/10", 3..<4, 10), ("bytes 0-9/*", nil, 0), ("bytes */10", nil, 0),
            ("bytes 3-2/10", nil, 0),
            ("bytes 0-10/10", nil, 0), ("bytes=0-9/10", nil, 0), ("lines 0-9/10", nil, 0), ("bytes 0-9", nil, 0),
            ("bytes -9/10", nil, 0),
            ("bytes 0-99999999999999999999/999999999999999999999", nil, 0), ("bytes  0-9/10", nil, 0), ("", nil, 0),
        ] as [(String, Range<Int>?, Int)])
    func contentRange(_ text: String, _ range: Range<Int>?, _ length: Int) {
        #expect(ContentRange(text) == range.map { ContentRange($0, of: length) })
        let response = TransportResponse(
            status: 206, headers: fields("Content-Range: \(text)"), body: Array(repeating: 0, count: range?.count ?? 1))
        #expect((ContentRange(response) != nil) == (range != nil))
        #expect(
            ContentRange(TransportResponse(status: 206, headers: response.headers, body: response.body + [0])) == nil)
        #expect(ContentRange(TransportResponse(status: 200, headers: response.headers, body: response.body)) == nil)
    }

    @Test(
        "RFC 9111 §3.4: parts belong together by a strong validator",
        arguments: [
            ("ETag: \"a\"", "\"a\""), ("ETag: W/\"a\"", nil), ("ETag: a", nil),
            ("ETag: W/\"a\" | Last-Modified: {-9}", nil), ("Last-Modified: {-1}", "\(t0 - 1)"),
            ("Last-Modified: {0}", nil), ("X: y", nil),
        ] as [(String, String?)])
    func strongValidators(_ headers: String, _ validator: String?) {
        #expect(stored(headers).strongValidator(at: t0) == validator)
    }
}

@Suite("RFC 9211: Cache-Status")
struct CacheStatusTests {
    private static let collapsed: CacheStatus = {
        var status = CacheStatus(forward: .stale, forwardStatus: 304)
        status.isCollapsed = true
        return status
    }()
    private static let edge: CacheStatus = {
        var status = CacheStatus(forward: .varyMiss, detail: "key")
        status.cache = "edge"
        return status
    }()

    @Test(
        "§2: what was done is said in its words",
        arguments: [
            (CacheStatus(isHit: true, timeToLive: 30), "tarn; hit; ttl=30"),
            (CacheStatus(isHit: true, timeToLive: -5), "tarn; hit; ttl=-5"),
            (
                CacheStatus(forward: .uriMiss, forwardStatus: 200, isStored: true),
                "tarn; fwd=uri-miss; fwd-status=200; stored"
            ),
            (CacheStatusTests.collapsed, "tarn; fwd=stale; fwd-status=304; collapsed"),
            (CacheStatusTests.edge, "edge; fwd=vary-miss; detail=key"),
            (
                CacheStatus(isHit: true, forward: .stale, forwardStatus: 503, isStored: true, detail: "off \"line\" é"),
                "tarn; hit; detail=\"off \\\"line\\\" ??\""
            ),
        ])
    func text(_ status: CacheStatus, _ expected: String) {
        #expect(status.description == expected)
    }

    @Test(
        "§2.2: the reason to forward follows from the rule",
        arguments: [
            (CacheRule.nothingStored, "uri-miss"), (.varies, "vary-miss"), (.methodNotCacheable, "method"),
            (.requestNoCache, "request"), (.stale, "stale"),
            (.mustRevalidate, "stale"), (.rangeNotStored, "partial"), (.policy, "bypass"),
        ])
    func forward(_ rule: CacheRule, _ expected: String) {
        #expect(rule.forward.rawValue == expected)
    }
}
