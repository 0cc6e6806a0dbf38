// Entity tags, conditional requests, and the effects of a 304.

import Testing

@testable import TarnHTTP

@Suite("Validators")
struct ValidatorsTests {
    @Test(
        "a well-formed entity tag is read with its weakness",
        arguments: [
            (#""abc""#, false, "abc"), (#"W/"abc""#, true, "abc"), (#""""#, false, ""), (#"  "a\b"  "#, false, #"a\b"#),
            (#""é,;x""#, false, "é,;x"),
        ])
    func wellFormedTag(_ text: String, _ isWeak: Bool, _ opaque: String) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.isWeak == isWeak)
        #expect(tag.opaque == opaque)
    }

    @Test(
        "what is no entity tag is not taken for one",
        arguments: [
            "", "abc", #""abc"#, #"abc""#, #"w/"abc""#, #"W/abc"#, #""a"b""#, #""a b""#, #""a", "b""#, "*",
            "\"a\u{1}\"",
        ])
    func malformedTag(_ text: String) {
        #expect(EntityTag(text) == nil)
        #expect(Validators(TransportHeaders([.init("ETag", text)])).etag == nil)
    }

    @Test("weak comparison looks at the bytes alone")
    func weakComparison() throws {
        let strong = try #require(EntityTag(#""a""#))
        let weak = try #require(EntityTag(#"W/"a""#))
        #expect(strong.matchesWeakly(weak) && weak.matchesWeakly(weak))
        #expect(strong != weak)
        #expect(!strong.matchesWeakly(try #require(EntityTag(#""b""#))))
        // Equal letters for Swift's ==, but different bytes.
        #expect(EntityTag("\"\u{E9}\"") != EntityTag("\"e\u{301}\""))
    }

    @Test("validators are those of the response, as they came")
    func ofResponse() {
        let headers = TransportHeaders([
            .init("etag", #"W/"x""#), .init("Last-Modified", "Tue, 19 Jul 2022 04:38:40 GMT"),
        ])
        #expect(Validators(headers) == Validators(etag: #"W/"x""#, lastModified: "Tue, 19 Jul 2022 04:38:40 GMT"))
        #expect(Validators(TransportHeaders()).isEmpty)
        #expect(Validators(TransportHeaders([.init("Last-Modified", "")])).isEmpty)
    }

    @Test("a request is made conditional on the entity tag, on the date only without one")
    func apply() {
        var request = TransportRequest(url: "http://h/", headers: TransportHeaders([.init("Accept", "*/*")]))
        Validators(etag: #""x""#, lastModified: "yesterday").apply(to: &request)
        #expect(request.headers.fields == [.init("Accept", "*/*"), .init("If-None-Match", #""x""#)])
        Validators(lastModified: "yesterday").apply(to: &request)
        #expect(request.headers.fields == [.init("Accept", "*/*"), .init("If-Modified-Since", "yesterday")])
        Validators().apply(to: &request)
        #expect(request.headers["If-Modified-Since"] == "yesterday")
    }

    @Test("RFC 9110 §8.8.2.2: a date within a second of the response is no validator")
    func weakDate() {
        let modified = TransportHeaders.Field("Last-Modified", "Tue, 19 Jul 2022 04:38:40 GMT")
        for (second, isWeak) in [(40, true), (41, false)] {
            let headers = TransportHeaders([modified, .init("Date", "Tue, 19 Jul 2022 04:38:\(second) GMT")])
            #expect(Validators(headers).withoutWeakDate(of: headers, now: 0).isEmpty == isWeak)
        }
        let undated = TransportHeaders([modified])
        #expect(!Validators(undated).withoutWeakDate(of: undated, now: 0).isEmpty)
        let tagged = TransportHeaders([modified, .init("Date", modified.value), .init("ETag", "\"a\"")])
        #expect(Validators(tagged).withoutWeakDate(of: tagged, now: 0).etag == "\"a\"")
    }

    @Test("a 304 replaces fields in place, adds new ones, and leaves alone what speaks of the body or the connection")
    func updatedByNotModified() {
        let stored = TransportHeaders([
            .init("Date", "old"), .init("Content-Type", "application/json"), .init("Content-Length", "42"),
            .init("Link", "</1>; rel=a"), .init("ETag", #""1""#), .init("link", "</2>; rel=b"), .init("X-Kept", "1"),
        ])
        let update = TransportHeaders([
            .init("date", "new"), .init("Content-Length", "0"), .init("Content-Type", "text/html"),
            .init("Connection", "close, X-Hop"), .init("X-Hop", "1"), .init("Transfer-Encoding", "chunked"),
            .init("Link", "</3>; rel=c"), .init("Link", "</4>; rel=d"), .init("X-New", "2"),
            .init("Content-Encoding", "gzip"),
        ])
        #expect(
            stored.updated(byNotModified: update).fields == [
                .init("date", "new"), .init("Content-Type", "application/json"), .init("Content-Length", "42"),
                .init("Link", "</3>; rel=c"), .init("Link", "</4>; rel=d"), .init("ETag", #""1""#),
                .init("X-Kept", "1"), .init("X-New", "2"),
            ])
        #expect(stored.updated(byNotModified: TransportHeaders()) == stored)
    }

    @Test("header fields are found without case, and set once")
    func headerFields() {
        var headers = TransportHeaders([.init("A", "1"), .init("b", "2"), .init("a", "3")])
        #expect(headers["A"] == "1" && headers.all("a") == ["1", "3"] && headers["c"] == nil)
        headers["a"] = "4"
        #expect(headers.fields == [.init("b", "2"), .init("a", "4")])
        #expect(
            !TransportHeaders.same("a[", "a{") && !TransportHeaders.same("@", "`")
                && TransportHeaders.same("X-a", "x-A"))
    }

    @Test("a response of many fields, all of which Connection names, takes no quadratic time")
    func manyFields() {
        let names = (0..<50_000).map { "x\($0)" }, rest = TransportHeaders.Field("y", "1")
        var fields = names.map { TransportHeaders.Field($0, "1") }
        fields.append(TransportHeaders.Field("Connection", names.map { $0.uppercased() }.joined(separator: " , ")))
        fields.append(rest)
        let headers = TransportHeaders(fields), stored = TransportHeaders([rest])
        let time = ContinuousClock().measure {
            #expect(headers.withoutConnectionFields == stored)
            #expect(stored.updated(byNotModified: headers) == stored)
        }
        #expect(time < .seconds(3))
    }
}
