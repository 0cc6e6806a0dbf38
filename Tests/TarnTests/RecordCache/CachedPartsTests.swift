// Parts of responses (206), answers to POST, and users of a cached transport, over a real store.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnStore

@Suite("Cached transport: parts, POST, users", .timeLimit(.minutes(5)))
struct CachedPartsTests {
    private static let minute = TransportHeaders.Field("Cache-Control", "max-age=60")
    private static let tag = TransportHeaders.Field("ETag", "\"a\"")
    private static let digits = Array("0123456789".utf8)

    /// A server of one representation that understands `Range` with one range, `If-Range` and
    /// `If-None-Match`.
    private static func serve(
        _ request: TransportRequest, _ body: [UInt8], _ tag: String, _ fields: [TransportHeaders.Field] = [minute]
    ) -> TransportResponse {
        var headers = TransportHeaders(fields + [.init("ETag", tag)])
        if request.headers["If-None-Match"] == tag { return TransportResponse(status: 304, headers: headers) }
        if let range = request.headers["Range"], request.headers["If-Range"] ?? tag == tag {
            let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            if !range.contains(","), ends.count == 2, let start = Int(ends[0]) {
                let part = ContentRange(start..<min(body.count, (Int(ends[1]) ?? body.count) + 1), of: body.count)
                headers["Content-Range"] = part.description
                return TransportResponse(status: 206, headers: headers, body: Array(body[part.range]))
            }
        }
        return TransportResponse(status: 200, headers: headers, body: body)
    }

    private func range(_ text: String, _ fields: TransportHeaders.Field...) -> TransportRequest {
        TransportRequest(
            url: "http://api.example/a", headers: TransportHeaders([.init("Range", "bytes=\(text)")] + fields))
    }

    @Test(
        "RFC 9111 §3.3, §3.4: parts are stored, answer ranges that they hold, are combined, and become a whole response"
    )
    func combined() async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        let first = try await cached.answer(range("2-4"))
        #expect(first.text == "206 234; fwd=uri-miss; fwd-status=206; stored")
        let again = try await cached.answer(range("3-4"))
        #expect(
            again.text == "206 34; hit; ttl=60" && again.response.headers["Content-Range"] == "bytes 3-4/10"
                && again.response.headers["Content-Length"] == "2")
        // The missing part is requested, with the rest of the range.
        #expect(try await cached.answer(range("3-7")).text == "206 34567; fwd=partial; fwd-status=206; stored")
        #expect(try await cached.answer(range("-8")).status.isHit == false)
        #expect(try await cached.answer(range("2-7")).text == "206 234567; hit; ttl=60")
    }

    @Test(
        "RFC 9111 §3.4: gaps are filled in any order; a GET asks the server until nothing is missing",
        arguments: [
            ["2-4", "0-3", "8-9", "5-6", "4-7"], ["0-9"], ["5-9", "0-4"], ["9-9", "0-0", "0-9"],
            ["1-2", "4-5", "7-8", "0-9"],
        ])
    func filled(_ ranges: [String]) async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        for text in ranges {
            let answer = try await cached.answer(range(text))
            let ends = text.split(separator: "-").compactMap { Int($0) }
            #expect(
                answer.response.status == 206 && answer.response.body == Array(Self.digits[ends[0]...ends[1]]),
                "\(text)")
        }
        let count = fixture.origin.requests.count
        let whole = try await cached.answer(get())
        #expect(
            whole.text == "200 0123456789; hit; ttl=60" && whole.response.headers["Content-Range"] == nil
                && whole.response.headers["Content-Length"] == "10")
        #expect(try await cached.answer(get(method: "HEAD")).status.isHit)
        #expect(try await cached.answer(range("1-8")).text == "206 12345678; hit; ttl=60")
        #expect(fixture.origin.requests.count == count)
        #expect(try fixture.store.read { try $0.cacheTotals.entries } == 1)
    }

    @Test("a part answers no GET and no HEAD, also offline, and no range beyond it")
    func onlyPart() async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        _ = try await cached.answer(range("0-4"))
        fixture.origin.goAway()
        for request in [get(), get(method: "HEAD"), range("3-5"), range("5-"), range("0-1,3-4")] {
            await #expect(throws: TransportError.self) { try await cached.answer(request) }
        }
        #expect(try await cached.answer(range("0-4")).text == "206 01234; hit; ttl=60")
        #expect(try await cached.answer(range("10-")).response.status == 416)
        fixture.clock.pass(100)
        #expect(try await cached.answer(range("0-1")).text == "206 01; hit; ttl=-40; detail=disconnected")
    }

    @Test("RFC 9111 §3.4: parts of another representation are never put together with those that are stored")
    func changed() async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        _ = try await cached.answer(range("0-4"))
        fixture.origin.become { Self.serve($0, Array("abcdefghij".utf8), "\"b\"") }
        #expect(try await cached.answer(range("5-9")).response.body == Array("fghij".utf8))
        #expect(try await cached.answer(range("0-4")).response.body == Array("abcde".utf8))
        #expect(try await cached.answer(get()).text == "200 abcdefghij; hit; ttl=60")
        // A part of a third one takes the place of the whole.
        fixture.clock.pass(100)
        fixture.origin.become { Self.serve($0, Self.digits, "\"c\"") }
        #expect(try await cached.answer(range("0-4")).text == "206 01234; fwd=stale; fwd-status=206; stored")
        fixture.origin.become { Self.serve($0, Self.digits, "\"c\"") }
        #expect(try await cached.answer(get()).text == "200 0123456789; fwd=uri-miss; fwd-status=200; stored")
    }

    @Test(
        "RFC 9111 §3.4: without a strong validator, with another length or in several pieces, nothing is stored",
        arguments: [
            [TransportHeaders.Field("ETag", "W/\"a\""), .init("Content-Range", "bytes 0-1/10")],
            [.init("Content-Range", "bytes 0-1/10")],
            [.init("ETag", "\"a\""), .init("Content-Range", "bytes 0-1/*")],
            [.init("ETag", "\"a\""), .init("Content-Range", "bytes 0-2/10")],
            [.init("ETag", "\"a\""), .init("Content-Type", "multipart/byteranges; boundary=x")],
            [.init("ETag", "\"a\"")],
            [.init("ETag", "\"a\""), .init("Content-Range", "bytes 0-1/10"), .init("Content-Range", "bytes 1-2/10")],
        ])
    func unusable(_ fields: [TransportHeaders.Field]) async throws {
        let fixture = try ShelfFixture(Origin([Self.minute] + fields, "01", status: 206)), cached = fixture.cached()
        #expect(try await cached.answer(range("0-1")).response.body == Array("01".utf8))
        #expect(try await cached.answer(range("0-1")).status.isHit == false)
        #expect(try fixture.store.read { try $0.cacheTotals } == CacheTotals())
    }

    @Test("RFC 9111 §4: a part that arrives late replaces no later response of another representation")
    func latePart() async throws {
        let fixture = try ShelfFixture(Origin([])), cached = fixture.cached(), gate = Gate()
        fixture.origin.become { request in
            await gate.wait()
            let date = TransportHeaders.Field("Date", "Sun, 09 Sep 2001 01:46:40 GMT")
            return Self.serve(request, Self.digits, "\"a\"", [Self.minute, date])
        }
        async let late = cached.answer(range("2-4"))
        try await eventually { fixture.origin.requests.count == 1 }
        fixture.clock.pass(5)
        fixture.origin.become(
            200, [Self.minute, .init("ETag", "\"b\""), .init("Date", "Sun, 09 Sep 2001 01:46:45 GMT")], "abcdefghij")
        #expect(try await cached.answer(get()).status.isStored)
        gate.open()
        let part = try await late
        #expect(part.response.body == Array("234".utf8) && !part.status.isStored)
        #expect(try await cached.answer(get()).text == "200 abcdefghij; hit; ttl=60")
    }

    /// A date of the server, a number of seconds after the clock's first one.
    private static func date(_ seconds: Int) -> TransportHeaders.Field {
        .init("Date", "Sun, 09 Sep 2001 01:46:4\(seconds) GMT")
    }

    @Test(
        "RFC 9111 §3.4: a part that arrives late is put together with later parts of its representation, and replaces none of another",
        arguments: ["\"a\"", "\"b\""])
    func latePartBesidePart(_ tag: String) async throws {
        let fixture = try ShelfFixture(Origin([])), cached = fixture.cached(), gate = Gate()
        fixture.origin.become { request in
            await gate.wait()
            return Self.serve(request, Self.digits, "\"a\"", [Self.minute, Self.date(0)])
        }
        async let late = cached.answer(range("2-4"))
        try await eventually { fixture.origin.requests.count == 1 }
        fixture.clock.pass(5)
        fixture.origin.become { Self.serve($0, Self.digits, tag, [Self.minute, Self.date(5)]) }
        #expect(try await cached.answer(range("5-9")).status.isStored)
        gate.open()
        let part = try await late
        #expect(part.response.body == Array("234".utf8) && part.status.isStored == (tag == "\"a\""))
        let kept = try await cached.answer(range("5-9"))
        #expect(kept.status.isHit && kept.response.body == Array("56789".utf8))
        #expect(try await cached.answer(range("2-4")).status.isHit == (tag == "\"a\""))
    }

    @Test("RFC 9111 §4.4: a part that arrives late takes the place of a later response that is invalid by then")
    func latePartAfterInvalidation() async throws {
        let fixture = try ShelfFixture(Origin([])), cached = fixture.cached(), gate = Gate()
        fixture.origin.become { request in
            await gate.wait()
            return Self.serve(request, Self.digits, "\"a\"", [Self.minute, Self.date(0)])
        }
        async let late = cached.answer(range("2-4"))
        try await eventually { fixture.origin.requests.count == 1 }
        fixture.clock.pass(5)
        fixture.origin.become(200, [Self.minute, .init("ETag", "\"b\""), Self.date(5)], "abcdefghij")
        #expect(try await cached.answer(get()).status.isStored)
        try await fixture.store.write { writer in
            var entries: [ResponseEntry] = []
            try writer.access.responses.forEach { view in
                if let entry = view.entry { entries.append(entry) }
                return true
            }
            for var entry in entries {
                entry.validation.isInvalidated = true
                try writer.putResponse(entry)
            }
        }
        gate.open()
        let part = try await late
        #expect(part.response.body == Array("234".utf8) && part.status.isStored)
    }

    @Test("a 206 that nobody asked for is passed on and not stored")
    func unaskedFor() async throws {
        let
            fixture = try ShelfFixture(
                Origin([Self.minute, Self.tag, .init("Content-Range", "bytes 0-1/10")], "01", status: 206)),
            cached = fixture.cached()
        #expect(try await cached.answer(get()).response.status == 206)
        #expect(try fixture.store.read { try $0.cacheTotals } == CacheTotals())
    }

    @Test(
        "RFC 9110 §13.2.2: a stale range is validated with its range: 304 answers from the store, a change brings the range alone",
        arguments: [true, false])
    func validated(_ isWhole: Bool) async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        _ = try await cached.answer(isWhole ? get() : range("0-4"))
        fixture.clock.pass(100)
        #expect(
            try await cached.answer(range("1-2")).text
                == "206 12; fwd=\(isWhole ? "stale" : "uri-miss"); fwd-status=304; stored")
        #expect(
            fixture.origin.requests.last?.headers["If-None-Match"] == "\"a\""
                && fixture.origin.requests.last?.headers["Range"] == "bytes=1-2")
        #expect(try await cached.answer(range("1-2")).text == "206 12; hit; ttl=60")
        fixture.clock.pass(100)
        fixture.origin.become { Self.serve($0, Array("abcdefghij".utf8), "\"b\"") }
        #expect(try await cached.answer(range("1-2")).response.body == Array("bc".utf8))
        #expect(try await cached.answer(range("1-2")).status.isHit)
        #expect(try await cached.answer(get()).response.body == Array("abcdefghij".utf8))
    }

    @Test(
        "RFC 9110 §13.1.5: If-Range with another validator is not answered from a part",
        arguments: ["\"a\"", "\"b\"", "W/\"a\""])
    func ifRange(_ tag: String) async throws {
        let fixture = try ShelfFixture(Origin { Self.serve($0, Self.digits, "\"a\"") }), cached = fixture.cached()
        _ = try await cached.answer(range("0-4"))
        let answer = try await cached.answer(range("0-1", .init("If-Range", tag)))
        #expect(answer.response.status == (tag == "\"a\"" ? 206 : 200) && answer.status.isHit == (tag == "\"a\""))
    }

    @Test("RFC 9111 §4.1, §3.5: parts of variants and of users stay apart")
    func apart() async throws {
        let fixture = try ShelfFixture(
            Origin { request in
                let text = request.headers["Accept-Language"] == "de" ? "neunzehn__" : "nineteen__"
                return Self.serve(request, Array(text.utf8), "\"a\"", [Self.minute, .init("Vary", "Accept-Language")])
            })
        let cached = fixture.cached()
        func body(_ text: String, _ language: String, _ cookie: String) async throws -> String {
            let answer = try await cached.answer(
                range(text, .init("Accept-Language", language), .init("Cookie", cookie)))
            return String(decoding: answer.response.body, as: UTF8.self) + (answer.status.isHit ? " hit" : "")
        }
        #expect(try await body("0-4", "de", "ada") == "neunz")
        #expect(try await body("0-4", "en", "ada") == "ninet")
        #expect(try await body("5-9", "de", "ada") == "ehn__")
        #expect(try await body("0-4", "de", "bob") == "neunz")
        #expect(try await body("0-9", "de", "ada") == "neunzehn__ hit")
        #expect(try await body("0-9", "en", "ada") == "nineteen__")
    }

    @Test(
        "parts around the chunks of the store come back as they were, in any order",
        arguments: [1, 65_519, 65_520, 65_521, 100_000])
    func chunks(_ step: Int) async throws {
        let size = step == 1 ? 200 : 300_001, bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        let fixture = try ShelfFixture(Origin { Self.serve($0, bytes, "\"a\"") }), cached = fixture.cached()
        var starts = Array(stride(from: 0, to: size, by: step))
        var generator = SystemRandomNumberGenerator()
        starts.shuffle(using: &generator)
        for (index, start) in starts.enumerated() {
            _ = try await cached.answer(range("\(start)-\(start + step - 1)"))
            let known = starts[Int.random(in: 0...index)], end = min(known + step, size)
            let answer = try await cached.answer(range("\(known)-\(end - 1)"))
            #expect(answer.status.isHit && answer.response.body == Array(bytes[known..<end]), "\(starts)")
        }
        let whole = try await cached.answer(get())
        #expect(whole.status.isHit == (starts.count <= BodyParts.limit) && whole.response.body == bytes)
        #expect(fixture.origin.requests.count == starts.count)
    }

    @Test("an entry has parts up to a limit, and begins anew beyond it; what does not fit is not stored")
    func limits() async throws {
        let bytes = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
        let fixture = try ShelfFixture(Origin { Self.serve($0, bytes, "\"a\"") }),
            cached = fixture.cached { $0.maximumBodySize = 1000 }
        for start in stride(from: 0, to: 1200, by: 4) { _ = try await cached.answer(range("\(start)-\(start + 1)")) }
        #expect(try await cached.answer(range("1196-1197")).status.isHit)
        #expect(try await cached.answer(range("0-1")).status.isHit == false)
        _ = try await cached.answer(range("0-1500"))
        #expect(try await cached.answer(range("0-1500")).status.isHit == false)
    }

    @Test("parts whose places cannot be right are not used, and a row with them is no trap")
    func damagedParts() throws {
        var parts = BodyParts(length: 100)
        let appended = [10..<20, 30..<40, 20..<30, 90..<101, 15..<16, 5..<5, 0..<10].map { parts.append($0) }
        #expect(appended == [true, true, true, false, false, false, true])
        #expect(
            parts.places(of: 5..<35) == [35..<40, 0..<10, 20..<30, 10..<15] && parts.places(of: 5..<41) == nil
                && parts.size == 40)
        #expect(parts.missing(in: 0..<100) == [40..<100] && parts.missing(in: 0..<40).isEmpty)
        func read(_ numbers: [UInt64], _ length: Int) -> BodyParts? {
            numbers.map(\.littleEndian).withUnsafeBytes { BodyParts(Bytes($0), length: length) }
        }
        #expect(read([10, 10, 30, 10], 100)?.ranges == [10..<20, 30..<40])
        for numbers in [
            [.max, 1], [1, .max], [UInt64(Int.max), UInt64(Int.max)], [10, 10, 15, 1], [0, 0], [90, 11],
        ] as [[UInt64]] {
            #expect(read(numbers, 100) == nil)
        }
        #expect(read([0, 1], -1) == nil)
    }

    // MARK: POST

    @Test(
        "RFC 9110 §9.3.3: an answer to POST that is what its URL has answers later GETs; what was stored before does not"
    )
    func post() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute], "old")), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.origin.become(
            200, [Self.minute, .init("Content-Location", "/x/../a"), .init("Set-Cookie", "a=1")], "new")
        let answer = try await cached.answer(TransportRequest(method: "POST", url: "http://api.example/a", body: [1]))
        #expect(
            answer.text == "200 new; fwd=method; fwd-status=200; stored"
                && answer.response.headers["Set-Cookie"] == "a=1")
        #expect(try await cached.answer(get()).text == "200 new; hit; ttl=60")
        fixture.origin.become(200, [Self.minute, .init("Content-Location", "/b")], "other")
        #expect(try await cached.answer(get(method: "POST")).status.isStored == false)
        #expect(try await cached.answer(get()).text == "200 other; fwd=stale; fwd-status=200; stored")
    }

    @Test("what a GET with a body asks for is not in its URL: it passes by the cache")
    func question() async throws {
        let
            fixture = try ShelfFixture(
                Origin { TransportResponse(status: 200, headers: TransportHeaders([Self.minute]), body: $0.body ?? []) }
            ),
            cached = fixture.cached()
        for text in ["a", "b"] {
            let answer = try await cached.answer(TransportRequest(url: "http://api.example/a", body: Array(text.utf8)))
            #expect(answer.text == "200 \(text); fwd=bypass; fwd-status=200")
        }
        #expect(try await cached.answer(get()).text == "200 ; fwd=uri-miss; fwd-status=200; stored")
    }

    // MARK: Users

    @Test("an unsafe method invalidates the entries of all users, and looks at no other URL's")
    func invalidation() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag])), cached = fixture.cached()
        for number in 0..<40 {
            let user = TransportHeaders.Field("Cookie", "\(number)")
            for path in [
                "/a", "/a/b", "/a?c", "/ab", "/" + String(repeating: "x", count: 500),
                "/" + String(repeating: "x", count: 501),
            ] {
                _ = try await cached.answer(get(path, user))
            }
        }
        // The entries of a URL lie together: there are not as many places to look as users.
        #expect(try fixture.store.read { try $0.access.responses.scopes() }.count <= 1)
        fixture.origin.become(204)
        _ = try await cached.answer(get(method: "DELETE"))
        _ = try await cached.answer(get("/" + String(repeating: "x", count: 500), method: "DELETE"))
        let invalidated = try fixture.store.read { reader in
            var urls: [String: Int] = [:]
            try reader.access.responses.forEach { view in
                if view.isInvalidated { urls[view.requestURL, default: 0] += 1 }
                return true
            }
            return urls
        }
        #expect(
            invalidated == ["http://api.example/a": 40, "http://api.example/" + String(repeating: "x", count: 500): 40])
    }

    @Test("what a version that did not tell users apart has stored is not used")
    func olderEntries() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute], "new")),
            moment = Timestamp(microseconds: Int64(fixture.clock.source.now().timeIntervalSince1970) * 1_000_000)
        try await fixture.store.write { writer in
            let entry = ResponseEntry(
                request: RequestKey(url: "http://api.example/a", endpoint: "*"),
                validation: .init(
                    status: 200, headers: ["Cache-Control", "max-age=6000"], fetchedAt: moment, validatedAt: moment),
                listing: .init(count: 0), caching: ResponseCaching(requestedAt: moment, usedAt: moment, bodySize: 3))
            try writer.putResponse(entry, body: Array("old".utf8))
        }
        #expect(try await fixture.cached().answer(get()).text == "200 new; fwd=uri-miss; fwd-status=200; stored")
    }

    @Test("a shared cache does not use what a private one in the same store has kept of everybody")
    func sharedAndPrivate() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "private, max-age=60")])),
            cached = fixture.cached()
        #expect(try await cached.answer(get()).status.isStored)
        #expect(try await cached.answer(get()).status.isHit)
        #expect(
            try await fixture.cached(isShared: true).answer(get()).status.description
                == "tarn; fwd=uri-miss; fwd-status=200")
    }

    @Test("a 304 that comes late confirms nothing: another transfer has stored another response meanwhile")
    func late() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, Self.tag], "one")), gate = Gate(), cached = fixture.cached()
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become { request in
            guard request.headers["If-None-Match"] != nil else {
                return TransportResponse(
                    status: 200, headers: TransportHeaders([Self.minute, .init("ETag", "\"b\"")]),
                    body: Array("two".utf8))
            }
            await gate.wait()
            return TransportResponse(status: 304, headers: TransportHeaders([Self.tag, Self.minute]))
        }
        async let slow = cached.answer(get())
        while fixture.origin.requests.count < 2 { await Task.yield() }
        // At the same moment, by a transport that does not know the other one's transfer; the clock
        // does not advance.
        let other = ClosureTransport { _ in
            TransportResponse(
                status: 200, headers: TransportHeaders([Self.minute, .init("ETag", "\"b\"")]), body: Array("two".utf8))
        }
        var options = CachedTransport.Options()
        options.time = fixture.clock.source
        _ = try await CachedTransport(other, store: fixture.store, options: options).answer(
            get("/a", .init("Cache-Control", "no-cache")))
        gate.open()
        #expect(try await slow.response.body == Array("two".utf8))
        #expect(try await cached.answer(get()).text == "200 two; hit; ttl=60")
    }

    @Test("a 304 that forbids to store takes the entry away, and the answer is given once more")
    func forbidden() async throws {
        let fixture = try ShelfFixture(Origin([.init("Cache-Control", "public, max-age=60"), Self.tag])),
            cached = fixture.cached(isShared: true)
        _ = try await cached.answer(get())
        fixture.clock.pass(100)
        fixture.origin.become(304, [Self.tag, .init("Cache-Control", "private, max-age=60")])
        #expect(try await cached.answer(get()).text == "200 hello; fwd=stale; fwd-status=304")
        #expect(try fixture.store.read { try $0.cacheTotals } == CacheTotals())
    }

    @Test(
        "RFC 9111 §4.1: a variant is neither confirmed nor replaced by what another one's date or an outage lets pass",
        arguments: [true, false])
    func otherVariants(_ isGone: Bool) async throws {
        let fixture = try ShelfFixture(
            Origin { request in
                if request.headers["If-Modified-Since"] != nil { return TransportResponse(status: 304) }
                let language = request.headers["Accept-Language"] ?? "none"
                let headers = TransportHeaders([
                    Self.minute, .init("Vary", "Accept-Language"),
                    .init("Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT"),
                ])
                return TransportResponse(status: 200, headers: headers, body: Array(language.utf8))
            })
        let cached = fixture.cached(), german = get("/a", .init("Accept-Language", "de"))
        #expect(try await cached.answer(german).text == "200 de; fwd=uri-miss; fwd-status=200; stored")
        let english = get("/a", .init("Accept-Language", "en"))
        if isGone {
            fixture.origin.goAway()
            await #expect(throws: TransportError.self) { try await cached.answer(english) }
        } else {
            #expect(try await cached.answer(english).text == "200 en; fwd=vary-miss; fwd-status=200; stored")
        }
        #expect(try await cached.answer(german).text == "200 de; hit; ttl=60")
    }

    @Test("RFC 9110 §14.4: a 200 with Content-Range is stored like any 200")
    func contentRangeOf200() async throws {
        let fixture = try ShelfFixture(Origin([Self.minute, .init("Content-Range", "bytes 0-4/5")])),
            cached = fixture.cached()
        _ = try await cached.answer(get())
        #expect(try await cached.answer(get()).text == "200 hello; hit; ttl=60")
    }
}
