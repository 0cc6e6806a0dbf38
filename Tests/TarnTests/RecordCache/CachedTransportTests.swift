// Whole responses by HTTP's rules, over a real store and a scripted server.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Cached transport", .timeLimit(.minutes(5)))
struct CachedTransportTests {
    private static let minute = TransportHeaders.Field("Cache-Control", "max-age=60")
    private static let tag = TransportHeaders.Field("ETag", "\"a\"")

    @Test("RFC 9111 §4: a whole response is stored and served, with its fields in order and its age, whatever it is")
    func stored() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        let fixture = try ShelfFixture(
            Origin(
                [
                    .init("X-B", "1"), Self.minute, .init("X-A", "2"), .init("x-b", "3"),
                    .init("Content-Type", "image/png"),
                ], body))
        let cached = fixture.cached()
        #expect(try await cached.answer(get()).status.description == "tarn; fwd=uri-miss; fwd-status=200; stored")
        fixture.clock.pass(20)
        let answer = try await cached.answer(get())
        #expect(answer.status.description == "tarn; hit; ttl=40" && answer.age == 20)
        #expect(answer.response.body == Array(body.utf8))
        #expect(
            answer.response.headers.fields.map(\.name) == [
                "X-B", "Cache-Control", "X-A", "x-b", "Content-Type", "Age", "Date",
            ])
        #expect(answer.response.headers["Age"] == "20")
        #expect(fixture.origin.requests.count == 1)
        // Another process.
        #expect(try await fixture.cached().answer(get()).status.isHit)
    }

    @Test("RFC 3986 §6.2.2: URLs that mean the same are the same", arguments: ["/%61", "/./a", "/b/../a"])
    func normalised(_ path: String) async throws {
        let fixture = try ShelfFixture(Origin([Self.minute])), cached = fixture.cached()
        _ = try await cached.answer(get())
        #expect(try await cached.answer(get(path)).status.isHit)
        #expect(try await cached.answer(TransportRequest(url: "HTTP://API.example:80/a")).status.isHit)
        #expect(try await cached.answer(get("/A")).status.isHit == false)
    }

    @Test("RFC 9111 §4.3.3: a 304 makes what is stored fresh, with the new fields")
    func revalidated() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(304, [Self.tag, .init("X-New", "1"), .init("Cache-Control", "max-age=500")])
        let answer = try await cached.answer(get())
        #expect(
            answer.text == "200 hello; fwd=stale; fwd-status=304; stored" && answer.response.headers["X-New"] == "1")
        #expect(fixture.origin.requests.last?.headers["If-None-Match"] == "\"a\"")
        fixture.clock.pass(400)
        #expect(try await cached.answer(get()).text == "200 hello; hit; ttl=100")
    }

    @Test("RFC 9111 §4.3.4: a 304 about another representation is asked again without a condition")
    func mismatched() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become { request in
            request.headers["If-None-Match"] != nil
                ? TransportResponse(status: 304, headers: TransportHeaders([.init("ETag", "\"b\"")]))
                : TransportResponse(status: 200, body: Array("new".utf8))
        }
        #expect(try await cached.answer(get()).response.body == Array("new".utf8))
        #expect(fixture.origin.requests.count == 3)
    }

    @Test("RFC 9111 §4.1: variants are stored beside each other, and each answers its own")
    func variants() async throws {
        let fixture = try ShelfFixture(
            Origin { request in
                let language = request.headers["Accept-Language"] ?? "none"
                return TransportResponse(
                    status: 200, headers: TransportHeaders([Self.minute, .init("Vary", "Accept-Language")]),
                    body: Array(language.utf8))
            })
        let cached = fixture.cached()
        for language in ["de", "en", "de", "en", "DE"] {
            #expect(
                String(
                    decoding: try await cached.answer(get("/a", .init("Accept-Language", language))).response.body,
                    as: UTF8.self) == language.lowercased())
        }
        #expect(fixture.origin.requests.count == 2)
        #expect(try await cached.answer(get()).text == "200 none; fwd=vary-miss; fwd-status=200; stored")
    }

    @Test("RFC 9111 §4.4: a method that is not safe invalidates, and what it names at the same origin")
    func invalidation() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        for path in ["/a", "/b", "/c"] { _ = try await cached.answer(get(path)) }
        fixture.origin.become(201, [.init("Location", "/b")])
        #expect(try await cached.answer(get(method: "POST")).status.forward == .method)
        fixture.origin.become(304, [Self.tag])
        #expect(try await cached.answer(get("/a")).status.forwardStatus == 304)
        #expect(try await cached.answer(get("/b")).status.forwardStatus == 304)
        #expect(try await cached.answer(get("/c")).status.isHit)
        #expect(try await cached.answer(get("/a")).status.isHit)
        // One that fails changes nothing.
        fixture.origin.become(500)
        _ = try await cached.answer(get(method: "DELETE"))
        #expect(try await cached.answer(get("/a")).status.isHit)
    }

    @Test("RFC 9111 §4.3.2: a client that has what is stored gets 304, fresh or just fetched")
    func clientConditions() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        let condition = TransportHeaders.Field("If-None-Match", "\"x\", \"a\"")
        #expect(try await cached.answer(get("/a", condition)).response.status == 304)
        #expect(
            fixture.origin.requests.first?.headers["If-None-Match"] == nil
                || fixture.origin.requests.first?.headers["If-None-Match"] == condition.value)
        let answer = try await cached.answer(get("/a", condition))
        #expect(
            answer.response.status == 304 && answer.status.isHit && answer.response.body.isEmpty
                && answer.response.headers["ETag"] == "\"a\"")
        #expect(try await cached.answer(get("/a", .init("If-None-Match", "\"y\""))).response.status == 200)
    }

    @Test("RFC 9110 §14.2: a range of what is stored is served from there; several go to the server")
    func ranges() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag], "0123456789")), cached = fixture.cached()
        #expect(try await cached.answer(get()).status.isStored)
        let part = try await cached.answer(get("/a", .init("Range", "bytes=2-4")))
        #expect(part.text.hasPrefix("206 234; hit") && part.response.headers["Content-Range"] == "bytes 2-4/10")
        let beyond = try await cached.answer(get("/a", .init("Range", "bytes=20-"))).response
        #expect(beyond.status == 416 && beyond.headers["Age"] == "0")
        let count = fixture.origin.requests.count
        #expect(try await cached.answer(get("/a", .init("Range", "bytes=0-1,3-4"))).status.isHit == false)
        #expect(
            fixture.origin.requests.count == count + 1
                && fixture.origin.requests.last?.headers["Range"] == "bytes=0-1,3-4")
    }

    @Test("RFC 9111 §4.3.5: HEAD is answered from a stored GET, and brings it up to date or invalidates it")
    func head() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag, .init("Content-Length", "5")])),
            cached = fixture.cached()
        _ = try await cached.answer(get())
        let head = try await cached.answer(get(method: "HEAD"))
        #expect(head.status.isHit && head.response.body.isEmpty && head.response.headers["Content-Length"] == "5")
        fixture.clock.pass(100)
        fixture.origin.become(200, [Self.minute, Self.tag, .init("X-New", "1")])
        #expect(try await cached.answer(get(method: "HEAD")).status.forward == .stale)
        #expect(try await cached.answer(get()).response.headers["X-New"] == "1")
        fixture.clock.pass(100)
        fixture.origin.become(200, [Self.minute, .init("ETag", "\"b\"")])
        _ = try await cached.answer(get(method: "HEAD"))
        fixture.origin.become(200, [Self.minute, .init("ETag", "\"b\"")], "other")
        #expect(try await cached.answer(get()).response.body == Array("other".utf8))
    }

    @Test("RFC 9111 §4.3.5: HEAD without a validator confirms nothing; another length invalidates a chunked response")
    func headWithoutProof() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(200, [Self.minute, .init("X-New", "1")])
        _ = try await cached.answer(get(method: "HEAD"))
        fixture.origin.become(304, [Self.minute])
        let answer = try await cached.answer(get())
        #expect(answer.status.forward == .stale && answer.response.headers["X-New"] == nil)
        fixture.clock.pass(100)
        fixture.origin.become(200, [Self.minute, Self.tag, .init("Content-Length", "6")])
        _ = try await cached.answer(get(method: "HEAD"))
        fixture.origin.become(200, [Self.minute, Self.tag], "hello!")
        #expect(try await cached.answer(get()).response.body == Array("hello!".utf8))
    }

    @Test("RFC 9111 §3.5: what a 304 tells an authorized user is for this user, without the server's leave")
    func authorizedConfirmation() async throws {
        let ada = TransportHeaders.Field("Authorization", "Bearer ada"), user = TransportHeaders.Field("X-User", "ada")
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "public, max-age=60"), Self.tag]))
        let cached = fixture.cached(isShared: true)
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(304, [Self.tag, user])
        let own = try await cached.answer(get("/a", ada))
        #expect(own.response.headers["X-User"] == "ada" && own.response.body == Array("hello".utf8))
        fixture.origin.become(304, [Self.tag])
        let answer = try await cached.answer(get())
        #expect(answer.status.forward == .stale && answer.response.headers["X-User"] == nil)
        fixture.clock.pass(100)
        fixture.origin.become(304, [Self.tag, .init("Cache-Control", "public, max-age=60")])
        _ = try await cached.answer(get("/a", ada))
        #expect(try await cached.answer(get()).status.isHit)
    }

    @Test("RFC 9111 §5.2.2.7, §7.3: a shared cache uses nothing that a private one has stored for its user")
    func privateThenShared() async throws {
        let fixture = try ShelfFixture(
            Origin([.init("Cache-Control", "max-age=60, private=\"X-Secret\""), .init("X-Secret", "1")]))
        #expect(try await fixture.cached().answer(get()).response.headers["X-Secret"] == "1")
        #expect(try await fixture.cached().answer(get()).response.headers["X-Secret"] == "1")
        let shared = try await fixture.cached(isShared: true).answer(get())
        #expect(shared.status.isHit && shared.response.headers["X-Secret"] == nil)
        fixture.origin.become(200, [Self.minute, .init("Set-Cookie", "sid=1")], "mine")
        _ = try await fixture.cached().answer(get("/b"))
        #expect(try await fixture.cached().answer(get("/b")).status.isHit)
        #expect(try await fixture.cached(isShared: true).answer(get("/b")).status.isHit == false)
    }

    @Test("RFC 9111 §4.3.2: the answer to a client's condition that the server has evaluated is the server's")
    func forwardedCondition() async throws {
        let old = TransportHeaders.Field("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")
        let since = TransportHeaders.Field("If-Modified-Since", "Thu, 02 Jan 2020 00:00:00 GMT")
        let fixture = try ShelfFixture(Origin([Self.minute, old])), cached = fixture.cached()
        let answer = try await cached.answer(get("/a", since))
        #expect(fixture.origin.requests.last?.headers["If-Modified-Since"] == since.value)
        #expect(answer.response.status == 200 && answer.response.body == Array("hello".utf8))
        // From the store, the condition is the cache's.
        #expect(try await cached.answer(get("/a", since)).response.status == 304)
    }

    @Test("RFC 9111 §3.5: what was authorised for one is not for another; a shared cache needs the response's leave")
    func authorised() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute])),
            ada = TransportHeaders.Field("Authorization", "Bearer ada")
        let cached = fixture.cached()
        _ = try await cached.answer(get("/a", ada))
        #expect(try await cached.answer(get("/a", ada)).status.isHit)
        #expect(try await cached.answer(get("/a", .init("Authorization", "Bearer bob"))).status.isHit == false)
        #expect(try await cached.answer(get("/a")).status.isHit == false)
        let shared = try ShelfFixture(Origin([Self.minute]))
        #expect(try await shared.cached(isShared: true).answer(get("/a", ada)).status.isStored == false)
        shared.origin.become(200, [.init("Cache-Control", "public, max-age=60")])
        #expect(try await shared.cached(isShared: true).answer(get("/a", ada)).status.isStored)
        #expect(try await shared.cached(isShared: true).answer(get("/a")).status.isHit)
    }

    @Test("RFC 9111 §4.2.4, RFC 5861: off line and when the server fails")
    func failures() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "max-age=60, stale-if-error=600")])),
            cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(503, [], "down")
        #expect(try await cached.answer(get()).text == "200 hello; hit; ttl=-40; detail=staleIfError")
        fixture.origin.goAway()
        #expect(try await cached.answer(get()).age == 100)
        await #expect(throws: TransportError.self) { try await cached.answer(get("/b")) }
        fixture.clock.pass(1000)
        await #expect(throws: TransportError.self) { try await cached.answer(get()) }
        fixture.origin.become(503, [], "down")
        #expect(try await cached.answer(get()).text.hasPrefix("503 down; fwd=stale"))
    }

    @Test("RFC 5861 §3: stale while it is revalidated in the background")
    func staleWhileRevalidate() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "max-age=60, stale-while-revalidate=600")])),
            cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(200, [Self.minute], "new")
        #expect(try await cached.answer(get()).text == "200 hello; hit; ttl=-40")
        await cached.finishBackground()
        #expect(try await cached.answer(get()).text == "200 new; hit; ttl=60")
    }

    @Test("RFC 9111 §5.2.1.7: only-if-cached is 504 where nothing may answer, and nothing is sent")
    func onlyIfCached() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute]))
        #expect(
            try await fixture.cached().answer(get("/a", .init("Cache-Control", "only-if-cached"))).response.status
                == 504)
        #expect(fixture.origin.requests.isEmpty)
    }

    @Test("RFC 9111 §5.2.1.7: only-if-cached is 504 for several ranges of what is stored, and nothing is sent")
    func onlyIfCachedRanges() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag], "0123456789")), cached = fixture.cached()
        _ = try await cached.answer(get())
        let answer = try await cached.answer(
            get("/a", .init("Range", "bytes=0-1,4-5"), .init("Cache-Control", "only-if-cached")))
        #expect(answer.response.status == 504 && answer.decision.outcome == .unanswerable)
        #expect(fixture.origin.requests.count == 1)
    }

    @Test(
        "RFC 9111 §4.1: a Vary that a 304 or a HEAD adds selects by the fields of its request",
        arguments: ["GET", "HEAD"])
    func addedVary(_ method: String) async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag], "for a")), cached = fixture.cached()
        let a = TransportHeaders.Field("X-V", "a")
        _ = try await cached.answer(get("/a", a))
        fixture.clock.pass(100)
        fixture.origin.become(method == "GET" ? 304 : 200, [Self.minute, Self.tag, .init("Vary", "X-V")])
        _ = try await cached.answer(get("/a", method: method, a))
        #expect(try await cached.answer(get("/a", a)).text == "200 for a; hit; ttl=60")
        fixture.origin.become(200, [Self.minute, .init("Vary", "X-V")], "for none")
        #expect(try await cached.answer(get()).text == "200 for none; fwd=vary-miss; fwd-status=200; stored")
        #expect(try await cached.answer(get("/a", a)).text == "200 for a; hit; ttl=60")
        #expect(try fixture.store.read { try $0.cacheTotals.entries } == 2)
    }

    @Test("a Host that is not that of the URL is part of the key; U+FFFD in a field bypasses the cache")
    func hosts() async throws {
        let fixture = try ShelfFixture(
            Origin { request in
                TransportResponse(
                    status: 200, headers: TransportHeaders([Self.minute]),
                    body: Array((request.headers["Host"] ?? "own").utf8))
            })
        let cached = fixture.cached(), other = TransportHeaders.Field("Host", "other.example")
        #expect(try await cached.answer(get("/a", other)).text.hasPrefix("200 other.example; fwd=uri-miss"))
        #expect(try await cached.answer(get()).text.hasPrefix("200 own; fwd=uri-miss"))
        #expect(try await cached.answer(get("/a", .init("Host", "API.example:80"))).text.hasPrefix("200 own; hit"))
        #expect(try await cached.answer(get("/a", other)).text.hasPrefix("200 other.example; hit"))
        #expect(try await cached.answer(get("/a", .init("X-V", "M\u{FFFD}ller"))).status.forward == .bypass)
    }

    @Test("RFC 9111 §5.2.2.5: no-store leaves nothing, and takes away what was there")
    func noStore() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute])), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(200, [.init("Cache-Control", "no-store")], "secret")
        #expect(try await cached.answer(get()).status.isStored == false)
        #expect(try fixture.store.read { try $0.cacheTotals } == CacheTotals())
    }

    @Test(
        "equal requests at the same time are one; what may not be stored is asked for by each",
        arguments: [true, false])
    func collapsed(_ isStorable: Bool) async throws {
        let gate = Gate()
        let fixture = try ShelfFixture(
            Origin { _ in
                await gate.wait()
                return TransportResponse(
                    status: 200,
                    headers: TransportHeaders([.init("Cache-Control", isStorable ? "max-age=60" : "no-store")]),
                    body: [1])
            })
        let cached = fixture.cached()
        async let first = cached.answer(get())
        while fixture.origin.requests.isEmpty { await Task.yield() }
        async let second = cached.answer(get())
        async let third = cached.answer(get())
        // One request, whether they have joined by then or find the response stored.
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        let answers = try await [first, second, third]
        #expect(answers.allSatisfy { $0.response.body == [1] })
        #expect(fixture.origin.requests.count == (isStorable ? 1 : 3))
    }

    @Test("equal requests whose last response was not stored do not wait for each other")
    func notCollapsed() async throws {
        let gate = Gate()
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "no-store")])), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.origin.become { _ in
            await gate.wait()
            return TransportResponse(status: 200, headers: TransportHeaders([Self.minute]), body: [1])
        }
        async let first = cached.answer(get())
        async let second = cached.answer(get())
        try await eventually { fixture.origin.requests.count == 3 }
        gate.open()
        let answers = try await [first, second]
        #expect(answers.allSatisfy { !$0.status.isCollapsed })
        #expect(try await cached.answer(get()).status.isHit)
    }

    @Test("a redirect's target is never fresh under the URL that was asked for")
    func redirected() async throws {
        let fixture = try ShelfFixture(
            Origin { _ in
                TransportResponse(
                    status: 200, headers: TransportHeaders([Self.minute, Self.tag]), body: [1],
                    redirectedTo: "http://api.example/b")
            })
        let cached = fixture.cached()
        _ = try await cached.answer(get())
        #expect(try await cached.answer(get()).status.forward == .stale)
        fixture.origin.goAway()
        #expect(try await cached.answer(get()).response.redirectedTo == "http://api.example/b")
    }

    @Test("a redirect's target keeps what restricts its use: private, stale-if-error, no stale use in a shared cache")
    func redirectedRestrictions() async throws {
        func origin(_ control: String) -> Origin {
            Origin { _ in
                TransportResponse(
                    status: 200, headers: TransportHeaders([.init("Cache-Control", control)]), body: [1],
                    redirectedTo: "http://api.example/b")
            }
        }
        let fixture = try ShelfFixture(origin("private, max-age=60, stale-if-error=5")), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.origin.goAway()
        await #expect(throws: TransportError.self) { try await fixture.cached(isShared: true).answer(get()) }
        #expect(try await cached.answer(get()).status.isHit)
        fixture.clock.pass(10)
        await #expect(throws: TransportError.self) { try await cached.answer(get()) }
        let other = try ShelfFixture(origin("public, s-maxage=9, Max-Age=60, x=\"a, max-age=1\", immutable"))
        _ = try await other.cached().answer(get())
        other.origin.goAway()
        let fields = try await other.cached().answer(get()).response.headers
        #expect(fields.all("Cache-Control") == ["max-age=0, proxy-revalidate, x=\"a, max-age=1\""])
        await #expect(throws: TransportError.self) { try await other.cached(isShared: true).answer(get()) }
    }

    @Test("network-first sends a condition, and answers from the store if the server fails; network-only does neither")
    func serverFirst() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        _ = try await cached.answer(get())
        _ = try await cached.answer(get(), policy: .networkFirst)
        #expect(fixture.origin.requests.last?.headers["If-None-Match"] == "\"a\"")
        _ = try await cached.answer(get(), policy: .networkOnly)
        #expect(fixture.origin.requests.last?.headers["If-None-Match"] == nil && fixture.origin.requests.count == 3)
        fixture.origin.goAway()
        #expect(try await cached.answer(get(), policy: .networkFirst).status.isHit)
        await #expect(throws: TransportError.self) { try await cached.answer(get(), policy: .networkOnly) }
    }

    @Test(
        "network-first asks the server if another process that was asking it has failed, also if the clock was set back",
        arguments: [10, -7200])
    func othersFailure(seconds: Double) async throws {
        let date = TransportHeaders.Field("Date", "Sun, 09 Sep 2001 01:46:40 GMT")
        let fixture = try ShelfFixture(Origin([Self.minute, date], "v1")), gate = Gate()
        // Caches know of each other by locks of their own: as two processes do.
        let first = fixture.cached(), second = fixture.cached()
        _ = try await first.answer(get())
        fixture.clock.pass(seconds)
        fixture.origin.become { _ in
            await gate.wait()
            return TransportResponse(status: 500)
        }
        async let failed = first.answer(get(), policy: .networkFirst)
        try await eventually { fixture.origin.requests.count == 2 }
        async let waiting = second.answer(get(), policy: .networkFirst)
        try await Task.sleep(for: .milliseconds(50))
        fixture.origin.become(200, [Self.minute], "v2")
        gate.open()
        _ = try await failed
        let answer = try await waiting
        #expect(answer.response.body == Array("v2".utf8) && fixture.origin.requests.count == 3)
    }

    @Test(
        "RFC 9111 §4: a response that arrives late replaces no later one; without a Date it does",
        arguments: [true, false])
    func late(isDated: Bool) async throws {
        func headers(_ second: Int) -> [TransportHeaders.Field] {
            [Self.minute] + (isDated ? [TransportHeaders.Field("Date", "Sun, 09 Sep 2001 01:46:4\(second) GMT")] : [])
        }
        let fixture = try ShelfFixture(Origin([])), cached = fixture.cached(), gate = Gate(), early = headers(0)
        fixture.origin.become { _ in
            await gate.wait()
            return TransportResponse(status: 200, headers: TransportHeaders(early), body: Array("old".utf8))
        }
        async let late = cached.answer(get(), policy: .networkOnly)
        try await eventually { fixture.origin.requests.count == 1 }
        fixture.clock.pass(5)
        fixture.origin.become(200, headers(5), "new")
        #expect(try await cached.answer(get(), policy: .networkOnly).status.isStored)
        gate.open()
        let answer = try await late
        #expect(answer.response.body == Array("old".utf8) && answer.status.isStored == !isDated)
        let stored = try await cached.answer(get())
        #expect(stored.status.isHit && stored.response.body == Array((isDated ? "new" : "old").utf8))
    }
}
