// RFC 9111 §1.2.2 and §5.2: how Cache-Control is read, in every form that servers send.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §5.2: Cache-Control")
struct CacheControlTests {
    @Test(
        "§1.2.2: seconds are decimal digits, at most 2³¹",
        arguments: [
            ("0", 0), ("60", 60), ("007", 7), ("2147483648", 2_147_483_648), ("2147483649", 2_147_483_648),
            ("99999999999999999999999999999999", 2_147_483_648), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
            ("1e3", nil), (" 1", nil),
            ("0x10", nil), ("١", nil),
        ] as [(String, Int?)])
    func deltaSeconds(_ text: String, _ seconds: Int?) {
        #expect(DeltaSeconds.parse(text.utf8) == seconds)
    }

    @Test("§1.2.2: sums and differences stay between 0 and 2³¹")
    func saturating() {
        #expect(DeltaSeconds.sum(DeltaSeconds.greatest, 1) == DeltaSeconds.greatest)
        #expect(DeltaSeconds.sum(.max, .max) == DeltaSeconds.greatest)
        #expect(DeltaSeconds.sum(-5, 3) == 0)
        #expect(DeltaSeconds.difference(3, 5) == 0)
        #expect(DeltaSeconds.difference(.max, -1) == DeltaSeconds.greatest)
        #expect(DeltaSeconds.difference(.min, 1) == 0)
    }

    @Test(
        "§5.2: a number is read as a token and in quotes, in any case, with white space",
        arguments: [
            ("max-age=60", .seconds(60)), (#"max-age="60""#, .seconds(60)), ("MAX-AGE=60", .seconds(60)),
            ("public, max-age=60", .seconds(60)),
            ("max-age=60,public", .seconds(60)), (",,max-age=60 ,", .seconds(60)), ("max-age =60", .seconds(60)),
            ("max-age= 60", .seconds(60)),
            (#"max-age="6\0""#, .seconds(60)), ("foo=bar, max-age=60", .seconds(60)),
            (#"foo="a, max-age=1", max-age=60"#, .seconds(60)),
            (#"foo="a\", max-age=1", max-age=60"#, .seconds(60)), ("max-age=60, max-age=60", .seconds(60)),
            ("max-age=99999999999", .seconds(2_147_483_648)), ("xmax-age=60", nil), ("max-age-60", nil),
            ("@max-age=60", nil), ("", nil),
        ] as [(String, CacheControl.Seconds?)])
    func number(_ value: String, _ expected: CacheControl.Seconds?) {
        #expect(CacheControl(fields("Cache-Control: \(value)")).maxAge == expected)
    }

    @Test(
        "§4.2.1: a number that cannot be read, or two of them, is none that can be used",
        arguments: [
            "max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=60s", "max-age='60'", #"max-age="60"#,
            "max-age=abc", "max-age=6 0",
            "max-age=60, max-age=30", "max-age=60;public", #"max-age="""#,
        ])
    func badNumber(_ value: String) {
        #expect(CacheControl(fields("Cache-Control: \(value)")).maxAge == .invalid)
        #expect(
            privateRules.freshness(of: stored("Cache-Control: \(value)"), at: t0)
                == Freshness(age: 0, lifetime: 0, rule: .invalidLifetime))
    }

    @Test("§5.2: directives of several lines are one list")
    func lines() {
        let control = CacheControl(fields("Cache-Control: max-age=60 | Cache-Control: no-store, must-revalidate"))
        #expect(control.maxAge == .seconds(60) && control.noStore && control.mustRevalidate)
    }

    @Test(
        "§5.2: every directive is found by its name",
        arguments: [
            ("no-cache", \.noCache), ("no-store", \.noStore), ("private", \.isPrivate), ("public", \.isPublic),
            ("must-revalidate", \.mustRevalidate),
            ("proxy-revalidate", \.proxyRevalidate), ("must-understand", \.mustUnderstand), ("immutable", \.immutable),
            ("only-if-cached", \.onlyIfCached), ("no-transform", \.noTransform),
        ] as [(String, Swift.KeyPath<CacheControl, Bool> & Sendable)])
    func flags(_ name: String, _ path: Swift.KeyPath<CacheControl, Bool> & Sendable) {
        #expect(CacheControl(fields("Cache-Control: a=1, \(name.uppercased())"))[keyPath: path])
        #expect(
            CacheControl(fields("Cache-Control: \(name)=1"))[keyPath: path] == (name != "no-cache" && name != "private")
        )
        #expect(!CacheControl(fields("Cache-Control: \(name)x, x\(name), x=\"\(name)\""))[keyPath: path])
    }

    @Test(
        "§5.2.2.4, §5.2.2.7: with fields, no-cache and private are about these",
        arguments: [
            (#"no-cache="set-cookie""#, ["set-cookie"], false), (#"no-cache="a, b ,c""#, ["a", "b", "c"], false),
            ("no-cache=a", ["a"], false),
            (#"no-cache="", private"#, [], true), (#"no-cache="a", no-cache"#, ["a"], true),
            (#"no-cache="a"#, [], true), (#"no-cache=" , ""#, [], true),
        ])
    func limited(_ value: String, _ names: [String], _ whole: Bool) {
        let control = CacheControl(fields("Cache-Control: \(value)"))
        #expect(control.noCacheFields == names)
        #expect(control.noCache == whole)
    }

    @Test("§5.2.1.2: max-stale without a number is any staleness; with a bad one it is none")
    func maxStale() {
        #expect(CacheControl(fields("Cache-Control: max-stale")).maxStale == .seconds(DeltaSeconds.greatest))
        #expect(CacheControl(fields("Cache-Control: max-stale=5")).maxStale == .seconds(5))
        #expect(CacheControl(fields("Cache-Control: max-stale=x")).maxStale == .invalid)
    }

    @Test("§5.2: quotes without an end are read in linear time, and hide no directive")
    func quotesWithoutEnd() {
        let value = #"x""# + String(repeating: #"\""#, count: 200_000) + ", max-age=5"
        var control = CacheControl()
        let time = ContinuousClock().measure {
            control = CacheControl(TransportHeaders([.init("Cache-Control", value)]))
        }
        #expect(control.maxAge == .seconds(5))
        // It was more than ten seconds.
        #expect(time < .seconds(3))
    }
}
