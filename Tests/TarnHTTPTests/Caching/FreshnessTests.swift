// RFC 9111 §4.2: how long a response is fresh, and how old it is.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §4.2: freshness")
struct FreshnessTests {
    @Test(
        "§4.2.1: the lifetime is the first that is said",
        arguments: [
            ("Cache-Control: max-age=60", 60, .maxAge), ("Cache-Control: max-age=0", 0, .maxAge),
            ("Expires: {90}", 90, .expires),
            ("Cache-Control: max-age=60 | Expires: {-90}", 60, .maxAge),
            ("Cache-Control: max-age=60, s-maxage=5", 60, .maxAge),
            ("Cache-Control: s-maxage=5", 0, .noLifetime),
            ("Cache-Control: max-age=x | Expires: {90}", 0, .invalidLifetime),
            ("Cache-Control: public", 0, .noLifetime),
        ] as [(String, Int, CacheRule)])
    func lifetime(_ headers: String, _ seconds: Int, _ rule: CacheRule) {
        let freshness = privateRules.freshness(of: stored(headers), at: t0)
        #expect(freshness.lifetime == seconds)
        #expect(freshness.rule == rule)
    }

    @Test(
        "§5.2.2.10: s-maxage comes first in a shared cache",
        arguments: [
            ("Cache-Control: max-age=60, s-maxage=5", 5, .sharedMaxAge),
            ("Cache-Control: s-maxage=5 | Expires: {90}", 5, .sharedMaxAge),
            ("Cache-Control: s-maxage=x, max-age=60", 0, .invalidLifetime), ("Cache-Control: max-age=60", 60, .maxAge),
        ] as [(String, Int, CacheRule)])
    func sharedLifetime(_ headers: String, _ seconds: Int, _ rule: CacheRule) {
        let freshness = sharedRules.freshness(of: stored(headers), at: t0)
        #expect(freshness.lifetime == seconds)
        #expect(freshness.rule == rule)
    }

    @Test(
        "§5.3: Expires in any form of date; what is none, or two of them, has expired",
        arguments: [
            ("Expires: Sun, 09 Sep 2001 01:47:40 GMT", 60), ("Expires: Sunday, 09-Sep-01 01:47:40 GMT", 60),
            ("Expires: Sun Sep  9 01:47:40 2001", 60),
            ("Expires: 0", 0), ("Expires: -1", 0), ("Expires: never", 0), ("Expires: 2001-09-09T01:47:40Z", 0),
            ("Expires:", 0),
            ("Expires: Sun, 32 Sep 2001 01:47:40 GMT", 0), ("Expires: Sun, 09 Sep 2001 25:47:40 GMT", 0),
            ("Expires: Sun, 09 Sep 2001 01:47:40 PST", 0),
            ("Expires: sun, 09 SEP 2001 01:47:40 gmt", 60), ("Expires: Sun 09 Sep 2001 01:47:40 GMT", 0),
            ("Expires: Sun, 09-Sep-2001 01:47:40 GMT", 0),
            ("Expires: Sun, 09  Sep 2001 01:47:40 GMT", 0), ("Expires: Sun, 09 Sep 2001 01:47:40 UTC", 0),
            ("Expires: Sun, 9 Sep 2001 01:47:40 GMT", 0),
            ("Expires: {60} | Expires: {60}", 60), ("Expires: {60} | Expires: {90}", 0), ("Expires: {-60}", 0),
            ("Expires: Fri, 01 Jan 9999 00:00:00 GMT", 2_147_483_648), ("Expires: {60} | Date: {30}", 30),
            ("Expires: {60} | Date: nonsense", 60),
            ("Expires: {60} | X: no date", 60),
        ])
    func expires(_ headers: String, _ seconds: Int) {
        #expect(privateRules.freshness(of: stored(headers), at: t0).lifetime == seconds)
    }

    @Test(
        "§4.2.2: a guess is a tenth of the time since the last change, a day at most, for statuses that allow it",
        arguments: [
            ("Last-Modified: {-1000}", 200, 100), ("Last-Modified: {-100000000}", 200, 86_400),
            ("Last-Modified: {-1000}", 302, 0),
            ("Last-Modified: {-1000}", 404, 100), ("Last-Modified: {-1000}", 410, 100),
            ("Last-Modified: {-1000}", 500, 0),
            ("Last-Modified: {-1000} | Cache-Control: public", 302, 100), ("Last-Modified: {1000}", 200, 0),
            ("Last-Modified: soon", 200, 0),
            ("Last-Modified: {-1000} | Cache-Control: max-age=5", 200, 5),
            ("Last-Modified: {-1000} | Expires: 0", 200, 0), ("ETag: \"a\"", 200, 0),
        ])
    func heuristic(_ headers: String, _ status: Int, _ seconds: Int) {
        #expect(privateRules.freshness(of: stored(headers, status: status), at: t0).lifetime == seconds)
        #expect(
            CacheRules(heuristicFraction: 0).freshness(of: stored(headers, status: status), at: t0).rule != .heuristic)
    }

    @Test(
        "§4.2.2: a guess by a fraction of any size is a day at most",
        arguments: [1, 1e10, Double.greatestFiniteMagnitude, .infinity])
    func fractions(_ fraction: Double) {
        let rules = CacheRules(heuristicFraction: fraction)
        for since in [-1_000_000_000, -100_000] {
            #expect(rules.freshness(of: stored("Last-Modified: {\(since)}"), at: t0).lifetime == 86_400)
        }
        #expect((0...86_400).contains(rules.freshness(of: stored("Last-Modified: {0}"), at: t0).lifetime))
        let unlimited = CacheRules(heuristicFraction: 1, heuristicLimit: .max)
        #expect(unlimited.freshness(of: stored("Last-Modified: {-1000}"), at: t0).lifetime == 1000)
    }

    @Test(
        "RFC 9110 §15.1: statuses that may be guessed about",
        arguments: [
            (200, true), (201, false), (203, true), (204, true), (206, true), (300, true), (301, true), (302, false),
            (303, false), (307, false),
            (308, true), (400, false), (403, false), (404, true), (405, true), (410, true), (414, true), (429, false),
            (500, false), (501, true),
            (503, false), (599, false),
        ])
    func statuses(_ status: Int, _ isHeuristic: Bool) {
        #expect(
            (privateRules.freshness(of: stored("Last-Modified: {-1000}", status: status), at: t0).rule == .heuristic)
                == isHeuristic)
    }

    @Test(
        "§4.2.3: the age is the greatest of what Date, Age and the time in store say",
        arguments: [
            ("X: y", 0, 0, 0), ("X: y", 0, 30, 30), ("Age: 10", 0, 30, 40), ("Date: {-20}", 0, 30, 50),
            ("Date: {-20} | Age: 10", 0, 0, 20),
            ("Date: {-20} | Age: 40", 0, 0, 40), ("Age: 10", 5, 0, 15), ("Date: {50}", 0, 7, 7),
            ("X: no date", 3, 4, 7), ("Age: 1", 0, -60, 1),
            // Received before the clock was set back.
            ("X: no date", 0, -30, 0), ("X: no date", 0, -100, 2_147_483_648), ("Age: 1", 0, -61, 2_147_483_648),
            ("Date: {50}", 0, -100, 2_147_483_648), ("Date: {-150}", 0, -100, 150),
            ("Age: 99999999999999", 9, 9, 2_147_483_648),
        ])
    func age(_ headers: String, _ delay: Int, _ since: Int, _ age: Int) {
        #expect(stored(headers, delay: delay).age(at: t0 + since) == age)
    }

    @Test(
        "§5.1: of several ages the first counts; what is no number does not",
        arguments: [
            ("Age: 10", 10), ("Age: 10, 20", 10), ("Age: 10 | Age: 20", 10), ("Age: -1", 0), ("Age: x", 0),
            ("Age: x, 10", 0), ("Age: 1.5", 0),
            ("Age:", 0), ("Age: 10;foo", 0), ("Age: 007", 7), ("Age:  8 ", 8), ("Age: , 5", 0),
        ])
    func ageForms(_ headers: String, _ age: Int) {
        #expect(stored(headers).age(at: t0) == age)
    }

    @Test("§4.2.3: what was received before the clock was set back is not fresh for as long, whatever its Date is")
    func clockSetBack() {
        let day = 86_400
        for date in ["Date: {0}", "Date: {99999999}", "X: no date"] {
            let response = stored("Cache-Control: max-age=60 | \(date)")
            #expect(privateRules.decide(request(), response, at: t0 + 59).text == "fresh fresh")
            #expect(privateRules.decide(request(), response, at: t0 - 365 * day).text == "revalidate stale")
        }
    }

    @Test("§4.2: what is as old as its lifetime is stale")
    func boundary() {
        let response = stored("Cache-Control: max-age=60")
        #expect(privateRules.decide(request(), response, at: t0 + 59).text == "fresh fresh")
        #expect(privateRules.decide(request(), response, at: t0 + 60).text == "revalidate stale")
    }

    @Test("RFC 9110 §5.6.7: the quick reading of dates agrees with the thorough one", arguments: 0..<60)
    func dates(_ index: Int) {
        let seconds = index * 86_399 * 211 + index
        #expect(HTTPDate.seconds(httpDate(seconds), now: t0) == seconds)
        #expect(HTTPDate.parse(httpDate(seconds))?.timeIntervalSince1970 == Double(seconds))
    }
}
