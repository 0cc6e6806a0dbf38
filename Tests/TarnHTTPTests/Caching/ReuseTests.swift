// RFC 9111 §4, §5.2.1, §5.2.2; RFC 5861; RFC 8246: reuse of stored responses.

import Testing

@testable import TarnHTTP

@Suite("RFC 9111 §4: answering from what is stored")
struct ReuseTests {
    /// The stored response, its age, the request, and the decision.
    typealias Case = (response: String, age: Int, request: String, decision: String)

    @Test("a decision names its rule and the paragraph")
    func reason() {
        #expect(CacheDecision(.fresh, .fresh).reason == "the age is below the lifetime (RFC 9111 §4.2)")
    }

    @Test(
        "§5.2.1: a request's directives",
        arguments: [
            // §5.2.1.1
            ("max-age=60", 10, "max-age=10", "fresh fresh"),
            ("max-age=60", 11, "max-age=10", "revalidate requestMaxAge"),
            ("max-age=60", 0, "max-age=0", "fresh fresh"), ("max-age=60", 1, "max-age=0", "revalidate requestMaxAge"),
            ("max-age=60", 1, "max-age=x", "revalidate requestMaxAge"),
            ("max-age=60", 11, "max-age=10, max-stale=100", "revalidate requestMaxAge"),
            ("max-age=60", 70, "max-age=65, max-stale=100", "revalidate requestMaxAge"),
            ("max-age=60", 65, "max-age=65, max-stale=100", "stale requestMaxStale"),
            ("max-age=60", 65, "max-age=65", "revalidate stale"),
            // §5.2.1.2
            ("max-age=60", 70, "max-stale", "stale requestMaxStale"),
            ("max-age=60", 70, "max-stale=10", "stale requestMaxStale"),
            ("max-age=60", 71, "max-stale=10", "revalidate stale"),
            ("max-age=60", 70, "max-stale=x", "revalidate stale"),
            ("max-age=60, must-revalidate", 70, "max-stale", "revalidate mustRevalidate"),
            ("no-cache", 0, "max-stale", "revalidate responseNoCache"),
            // §5.2.1.3
            ("max-age=60", 40, "min-fresh=20", "fresh fresh"),
            ("max-age=60", 41, "min-fresh=20", "revalidate requestMinFresh"),
            ("max-age=60", 41, "min-fresh=x", "fresh fresh"),
            ("max-age=60", 70, "min-fresh=1, max-stale=100", "stale requestMaxStale"),
            // §5.2.1.4
            ("max-age=60", 0, "no-cache", "revalidate requestNoCache"),
            ("max-age=60, immutable", 0, "no-cache", "revalidate requestNoCache"),
            // §5.2.1.5: is about storing, not about answering
            ("max-age=60", 0, "no-store", "fresh fresh"),
            // §5.2.1.6
            ("max-age=60", 0, "no-transform", "fresh fresh"),
            // §5.2.1.7
            ("max-age=60", 0, "only-if-cached", "fresh fresh"),
            ("max-age=60", 60, "only-if-cached", "unanswerable onlyIfCached"),
            ("max-age=60", 60, "only-if-cached, max-stale", "stale requestMaxStale"),
        ] as [Case])
    func requestDirectives(_ test: Case) {
        let response = stored("Cache-Control: \(test.response)")
        #expect(
            privateRules.decide(request("Cache-Control: \(test.request)"), response, at: t0 + test.age).text
                == test.decision)
    }

    @Test(
        "§5.2.2: a response's directives",
        arguments: [
            // §5.2.2.1, §5.2.2.2
            ("max-age=60", 59, "", "fresh fresh"), ("max-age=60, must-revalidate", 59, "", "fresh fresh"),
            ("max-age=60, must-revalidate", 60, "", "revalidate mustRevalidate"),
            // §5.2.2.4
            ("no-cache, max-age=60", 0, "", "revalidate responseNoCache"),
            (#"no-cache="x", max-age=60"#, 0, "", "fresh fresh"),
            // §5.2.2.7, §5.2.2.8, §5.2.2.9, §5.2.2.10: nothing to a private cache
            ("private, max-age=60", 0, "", "fresh fresh"),
            ("proxy-revalidate, max-age=60", 70, "max-stale", "stale requestMaxStale"),
            ("s-maxage=0, max-age=60", 0, "", "fresh fresh"), ("public, max-age=60", 0, "", "fresh fresh"),
            // RFC 8246 §2
            ("max-age=60, immutable", 10, "max-age=0", "fresh fresh"),
            ("max-age=60, immutable", 60, "max-age=0", "revalidate requestMaxAge"),
            ("max-age=60, immutable", 10, "max-age=5", "revalidate requestMaxAge"),
            // RFC 5861 §3
            ("max-age=60, stale-while-revalidate=30", 59, "", "fresh fresh"),
            ("max-age=60, stale-while-revalidate=30", 89, "", "stale-and-revalidate staleWhileRevalidate"),
            ("max-age=60, stale-while-revalidate=30", 90, "", "revalidate stale"),
            ("max-age=60, stale-while-revalidate=x", 61, "", "revalidate stale"),
            ("max-age=60, stale-while-revalidate=30, must-revalidate", 61, "", "revalidate mustRevalidate"),
            ("max-age=60, stale-while-revalidate=30", 61, "no-cache", "revalidate requestNoCache"),
            ("max-age=60, stale-while-revalidate=30", 61, "max-age=60", "revalidate requestMaxAge"),
            // RFC 5861 §4: has no effect until the server fails
            ("max-age=60, stale-if-error=30", 61, "", "revalidate stale"),
        ] as [Case])
    func responseDirectives(_ test: Case) {
        let response = stored("Cache-Control: \(test.response)")
        #expect(
            privateRules.decide(request("Cache-Control: \(test.request)"), response, at: t0 + test.age).text
                == test.decision)
    }

    @Test(
        "§5.2.2.8, §5.2.2.10: in a shared cache, proxy-revalidate and s-maxage forbid what is stale",
        arguments: [
            ("proxy-revalidate, max-age=60", 70, "max-stale", "revalidate proxyRevalidate"),
            ("s-maxage=60", 59, "", "fresh fresh"),
            ("s-maxage=60", 60, "max-stale", "revalidate proxyRevalidate"),
            ("max-age=60", 70, "max-stale", "stale requestMaxStale"),
            ("s-maxage=60, stale-while-revalidate=30", 61, "", "revalidate proxyRevalidate"),
        ] as [Case])
    func sharedDirectives(_ test: Case) {
        let response = stored("Cache-Control: \(test.response)")
        #expect(
            sharedRules.decide(request("Cache-Control: \(test.request)"), response, at: t0 + test.age).text
                == test.decision)
    }

    @Test(
        "§5.4: Pragma: no-cache counts in a request without Cache-Control",
        arguments: [
            ("Pragma: no-cache", "revalidate pragmaNoCache"), ("Pragma: x, No-Cache", "revalidate pragmaNoCache"),
            ("Pragma: x", "fresh fresh"),
            ("Pragma: no-cache | Cache-Control: max-age=60", "fresh fresh"),
        ])
    func pragma(_ headers: String, _ decision: String) {
        #expect(
            privateRules.decide(request(headers), stored("Cache-Control: max-age=60 | Pragma: no-cache"), at: t0).text
                == decision)
    }

    @Test(
        "§4: what is stored answers its own method, and HEAD",
        arguments: [
            ("GET", "GET", "fresh fresh"), ("GET", "HEAD", "fresh fresh"), ("HEAD", "HEAD", "fresh fresh"),
            ("HEAD", "GET", "miss methodDiffers"),
            ("GET", "POST", "miss methodNotCacheable"), ("GET", "PROPFIND", "miss methodNotCacheable"),
            ("GET", "get", "miss methodNotCacheable"),
        ])
    func methods(_ storedMethod: String, _ method: String, _ decision: String) {
        let response = stored("Cache-Control: max-age=60", method: storedMethod)
        #expect(privateRules.decide(request(method: method), response, at: t0).text == decision)
    }

    @Test("§4, §5.2.1.7: nothing stored is a miss, and 504 for who wants nothing else")
    func nothing() {
        #expect(privateRules.decide(request(), nil, at: t0).text == "miss nothingStored")
        #expect(
            privateRules.decide(request("Cache-Control: only-if-cached"), nil, at: t0).text
                == "unanswerable onlyIfCached")
    }

    @Test(
        "§4.3.2: conditions that only the server can judge go to it",
        arguments: ["If-Match: \"a\"", "If-Unmodified-Since: {0}"])
    func serversConditions(_ headers: String) {
        #expect(
            privateRules.decide(request(headers), stored("Cache-Control: max-age=60"), at: t0).text
                == "miss preconditionIsTheServers")
    }

    @Test(
        "§4.2.4, §4.3.3, RFC 5861 §4: when the server fails",
        arguments: [
            // Off line: stale is allowed where nothing forbids it.
            ("max-age=60", 70, "", nil, "stale disconnected"),
            ("max-age=60, must-revalidate", 70, "", nil, "unanswerable mustRevalidate"),
            ("no-cache", 0, "", nil, "unanswerable responseNoCache"),
            ("max-age=60", 70, "no-cache", nil, "unanswerable requestNoCache"),
            ("max-age=60", 70, "max-age=60", nil, "unanswerable requestMaxAge"),
            ("max-age=60", 70, "max-age=60, max-stale", nil, "stale disconnected"),
            ("max-age=60", 10, "min-fresh=55", nil, "fresh fresh"),
            // stale-if-error limits the time.
            ("max-age=60, stale-if-error=30", 89, "", nil, "stale staleIfError"),
            ("max-age=60, stale-if-error=30", 90, "", nil, "unanswerable disconnected"),
            ("max-age=60, stale-if-error=30", 89, "", 500, "stale staleIfError"),
            ("max-age=60, stale-if-error=30", 89, "", 502, "stale staleIfError"),
            ("max-age=60, stale-if-error=30", 89, "", 503, "stale staleIfError"),
            ("max-age=60, stale-if-error=30", 89, "", 504, "stale staleIfError"),
            ("max-age=60, stale-if-error=30", 90, "", 503, "unanswerable errorIsPassedOn"),
            ("max-age=60, stale-if-error=30", 89, "", 501, "unanswerable errorIsPassedOn"),
            ("max-age=60", 70, "", 503, "unanswerable errorIsPassedOn"),
            ("max-age=60", 70, "stale-if-error=30", 503, "stale staleIfError"),
            ("max-age=60", 95, "stale-if-error=30", 503, "unanswerable errorIsPassedOn"),
            ("max-age=60, stale-if-error=30, must-revalidate", 70, "", 503, "unanswerable mustRevalidate"),
        ] as [(String, Int, String, Int?, String)])
    func failures(_ response: String, _ age: Int, _ wants: String, _ status: Int?, _ decision: String) {
        let failure: CacheRules.Failure = status.map { .error(status: $0) } ?? .disconnected
        let made = privateRules.decide(
            request("Cache-Control: \(wants)"), stored("Cache-Control: \(response)"), at: t0 + age, after: failure)
        #expect(made.text == decision)
    }

    @Test("§4.4: what an unsafe method may have changed is validated before it answers, also off line")
    func invalidated() {
        var response = stored("Cache-Control: max-age=60")
        response.isInvalidated = true
        #expect(privateRules.decide(request(), response, at: t0).text == "revalidate unsafeMethod")
        #expect(
            privateRules.decide(request(), response, at: t0, after: .disconnected).text == "unanswerable unsafeMethod")
        let confirmed = privateRules.freshened(
            response, response.headers, to: TransportHeaders(), requestTime: t0, responseTime: t0)
        #expect(privateRules.decide(request(), confirmed, at: t0).text == "fresh fresh")
    }

    @Test("§4.2.4: a cache that is told so gives nothing stale off line")
    func strictOffLine() {
        var rules = privateRules
        rules.answersWhenDisconnected = false
        #expect(
            rules.decide(request(), stored("Cache-Control: max-age=60"), at: t0 + 70, after: .disconnected).text
                == "unanswerable disconnected")
        #expect(rules.decide(request(), nil, at: t0, after: .disconnected).text == "unanswerable nothingStored")
    }

    @Test("every decision tells the rules that led to it, the last of which decided")
    func explained() {
        let response = stored("Cache-Control: max-age=60, stale-while-revalidate=30")
        let steps = privateRules.decide(request(), response, at: t0 + 70, explains: true).steps
        #expect(steps.map(\.rule) == [.maxAge, .stale, .staleWhileRevalidate])
        #expect(steps.map(\.detail) == ["60 s", "age 70 s of 60 s", "stale for 10 s of 30 s"])
        #expect(privateRules.decide(request(), response, at: t0).steps.isEmpty)
        for rule in CacheRule.allCases { #expect(!rule.paragraph.isEmpty && !rule.meaning.isEmpty) }
    }
}
