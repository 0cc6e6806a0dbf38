// RFC 9111 §4.1: which of several stored responses a request selects.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §4.1: Vary")
struct VaryTests {
    @Test(
        "§4.1: the fields that Vary names must match, as far as their meaning goes",
        arguments: [
            ("Accept", "Accept: a", "Accept: a", true), ("Accept", "Accept: a", "Accept: b", false),
            ("Accept", "Accept: a", "", false),
            ("Accept", "", "Accept: a", false), ("Accept", "", "", true), ("accept", "ACCEPT: a", "Accept: a", true),
            ("Foo, Bar", "Foo: 1 | Bar: 2", "Bar: 2 | Foo: 1", true),
            ("Foo, Bar", "Foo: 1 | Bar: 2", "Foo: 1 | Bar: 3", false),
            ("Foo", "Foo: 1", "Foo: 1 | Bar: 9", true), ("Foo", "Foo: a, b", "Foo: a | Foo: b", true),
            // The meaning of Foo is unknown: RFC 9111 §4.1 permits no more than to join its lines.
            ("Foo", "Foo: a,b", "Foo: a ,  b", false),
            ("Foo", "Foo: a, b", "Foo: b, a", false), ("Foo", "Foo: a", "Foo: A", false),
            ("Foo", "Foo: a,,b", "Foo: a, b", false), ("Foo", "Foo: \"a, b\"", "Foo: \"a,b\"", false),
            ("Foo", "Foo: Jos\u{E9}", "Foo: Jose\u{301}", false),
            ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: BR,gzip", true),
            ("Accept-Language", "Accept-Language: de;q=0.5, en", "Accept-Language: en,de; q=0.5", true),
            ("Accept-Language", "Accept-Language: de;q=0.5", "Accept-Language: de;q=0.6", false),
            ("Accept-Language", "Accept-Language: de;q=0.5, en", "Accept-Language: EN;q=1.0 , de ;Q=0.500", true),
            ("Accept-Language", "Accept-Language: de;q=1, en", "Accept-Language: de | Accept-Language: en, DE", true),
            ("Accept-Language", "Accept-Language: de;q=0", "Accept-Language: de;q=0.000", true),
            ("Accept-Language", "Accept-Language: de;q=0", "Accept-Language: de", false),
            ("Accept-Language", "Accept-Language: de;q=2", "Accept-Language: de;q=1", false),
            ("Accept-Language", "Accept-Language: de", "Accept-Language: de-AT", false),
            ("Accept-Encoding", "Accept-Encoding: gzip;q=1.0, br;q=0.8", "Accept-Encoding: br; q=0.800,x-gzip", true),
            ("Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip, br", false),
            ("Accept-Encoding", "Accept-Encoding:", "", false),
            ("Accept", "Accept: text/html;level=1;q=0.50", "Accept: TEXT/html; level=1; q=0.5", true),
            ("Accept", "Accept: a/b;p=\"x, y\", c/d", "Accept: C/D , a/b;P=\"x, y\"", true),
            ("Accept", "Accept: a/b;p=\"x, y\"", "Accept: a/b;p=\"x,y\"", false),
            ("Accept", "Accept: a/b;p=\"x;q=1\"", "Accept: a/b;p=\"x\"", false),
            ("Accept", "Accept: a/b;p=x", "Accept: a/b;p=X", false),
            ("", "Foo: 1", "Foo: 2", true),
            (", ,", "Foo: 1", "Foo: 2", true), ("*", "Foo: 1", "Foo: 1", false), ("Foo, *", "Foo: 1", "Foo: 1", false),
        ])
    func matching(_ vary: String, _ storedFor: String, _ asked: String, _ matches: Bool) {
        let response = stored("Vary: \(vary) | Cache-Control: max-age=60", selecting: storedFor)
        let decision = privateRules.decide(request(asked), response, at: t0)
        #expect(decision.isHit == matches)
        if !matches { #expect(decision.rule == (vary.contains("*") ? .variesByEverything : .varies)) }
    }

    @Test("§4.1: the request fields to be stored are those that Vary names, in any of its lines")
    func selecting() {
        let chosen = CacheRules.selectingFields(
            of: fields("A: 1 | B: 2 | a: 3 | C: 4"), by: fields("Vary: a | Vary: c, d"))
        #expect(chosen.fields == [.init("A", "1"), .init("a", "3"), .init("C", "4")])
        #expect(CacheRules.selectingFields(of: fields("A: 1"), by: fields("X: y")).fields.isEmpty)
    }

    @Test("§4: of several that match, the one with the latest date is used")
    func latest() {
        let responses = [
            stored("Date: {-10} | X: old"), stored("Date: {0} | Vary: Foo", selecting: "Foo: 1"),
            stored("Date: {-5} | X: newer"),
            stored("Date: {9}", method: "HEAD"),
        ]
        #expect(privateRules.select(responses, for: request(), at: t0) == 2)
        #expect(privateRules.select(responses, for: request("Foo: 1"), at: t0) == 1)
        #expect(privateRules.select(responses, for: request(method: "HEAD"), at: t0) == 3)
        #expect(privateRules.select([], for: request(), at: t0) == nil)
    }

    @Test("§4.1: more than 100 names count as *, and are read in linear time")
    func manyNames() {
        func vary(_ count: Int) -> String { "Vary: " + (0..<count).map { "X-\($0)" }.joined(separator: ", ") }
        let most = stored(vary(100) + " | Cache-Control: max-age=60", selecting: "X-7: 1")
        #expect(privateRules.decide(request("X-7: 1"), most, at: t0).isHit)
        #expect(privateRules.decide(request("X-7: 2"), most, at: t0).rule == .varies)
        let more = stored(vary(101) + " | Cache-Control: max-age=60", selecting: "X-7: 1")
        #expect(privateRules.decide(request("X-7: 1"), more, at: t0).rule == .variesByEverything)
        #expect(CacheRules.selectingFields(of: fields("X-7: 1"), by: fields(vary(101))).fields.isEmpty)
        let repeated = fields("Vary: " + Array(repeating: "Foo, bar", count: 200).joined(separator: ", "))
        #expect(Variance.names(repeated) == ["foo", "bar"])
        let time = ContinuousClock().measure { #expect(Variance.names(fields(vary(50_000))) == ["*"]) }
        #expect(time < .seconds(3))
    }
}
