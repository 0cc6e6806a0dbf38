// The rate limits of services, as their responses state them.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Rate limits of services")
struct RateFieldsTests {
    private static let now = RateLimitTests.now

    struct Row: Sendable, CustomTestStringConvertible {
        var service: String
        var fields: [String]
        var status = 200
        var body = ""
        /// Remaining requests and the seconds to the reset, of each limit.
        var limits: [Limit] = []
        /// The wait in seconds that the response demands.
        var wait: Double?
        var testDescription: String { service }
    }

    struct Limit: Sendable, Equatable {
        var remaining: Int
        var seconds: Double?

        /// Dates are exact to less than a millisecond.
        init(_ remaining: Int, _ seconds: Double?) {
            (self.remaining, self.seconds) = (remaining, seconds.map { ($0 * 1000).rounded() / 1000 })
        }
    }

    private static let rows: [Row] = [
        Row(
            service: "GitHub", fields: ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000600"], status: 403,
            limits: [Limit(0, 600)], wait: 600),
        Row(
            service: "GitHub, secondary limit",
            fields: ["X-RateLimit-Remaining: 4000", "X-RateLimit-Reset: 1800000600"],
            status: 403, body: #"{"message":"You have exceeded a secondary rate limit. Please wait"}"#,
            limits: [Limit(4000, 600)], wait: 60),
        Row(
            service: "GitLab",
            fields: [
                "RateLimit-Remaining: 1", "RateLimit-Reset: 1800000060",
                "RateLimit-ResetTime: Fri, 15 Jan 2027 08:01:00 GMT",
            ], limits: [Limit(1, 60)]),
        Row(
            service: "Shopify REST", fields: ["X-Shopify-Shop-Api-Call-Limit: 40/40", "Retry-After: 2.0"], status: 429,
            wait: 2),
        Row(service: "Slack", fields: ["Retry-After: 30"], status: 429, wait: 30),
        Row(
            service: "Discord",
            fields: [
                "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000002.5", "X-RateLimit-Reset-After: 2.5",
                "X-RateLimit-Bucket: abcd",
            ], limits: [Limit(0, 2.5)]),
        Row(
            service: "Discord, global", fields: [], status: 429, body: #"{"retry_after":64.57,"global":true}"#,
            wait: 64.57),
        Row(
            service: "Reddit", fields: ["x-ratelimit-remaining: 598.0", "x-ratelimit-reset: 421"],
            limits: [Limit(598, 421)]),
        Row(
            service: "X", fields: ["x-rate-limit-remaining: 0", "x-rate-limit-reset: 1800000900"],
            limits: [Limit(0, 900)]),
        Row(
            service: "HubSpot",
            fields: [
                "X-HubSpot-RateLimit-Daily: 250000", "X-HubSpot-RateLimit-Daily-Remaining: 249000",
                "X-HubSpot-RateLimit-Interval-Milliseconds: 10000", "X-HubSpot-RateLimit-Remaining: 0",
            ], limits: [Limit(249_000, nil), Limit(0, 10)]),
        Row(
            service: "Jira", fields: ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2027-01-15T08:01Z"],
            limits: [Limit(0, 60)]),
        Row(
            service: "Jira, points", fields: [#"Beta-RateLimit: "global-app-quota";r=0;t=90"#, "Beta-Retry-After: 90"],
            status: 429, limits: [Limit(0, 90)], wait: 90),
        Row(
            service: "Zendesk", fields: ["X-Rate-Limit: 700", "X-Rate-Limit-Remaining: 699"], limits: [Limit(699, nil)]),
        Row(
            service: "Okta", fields: ["X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 1800000030"],
            limits: [Limit(0, 30)]),
        Row(
            service: "Linear",
            fields: [
                "X-RateLimit-Requests-Remaining: 0", "X-RateLimit-Requests-Reset: 1800003600000",
                "X-RateLimit-Complexity-Remaining: 9000", "X-RateLimit-Complexity-Reset: 1800000060000",
            ], limits: [Limit(0, 3600), Limit(9000, 60)]),
        Row(
            service: "Twitch", fields: ["Ratelimit-Remaining: 799", "Ratelimit-Reset: 1800000001"],
            limits: [Limit(799, 1)]),
        Row(
            service: "OpenAI",
            fields: [
                "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 8.64s",
                "x-ratelimit-remaining-tokens: 149984", "x-ratelimit-reset-tokens: 6m0s",
            ], limits: [Limit(0, 8.64), Limit(149_984, 360)]),
        Row(
            service: "Anthropic",
            fields: [
                "anthropic-ratelimit-requests-remaining: 0",
                "anthropic-ratelimit-requests-reset: 2027-01-15T08:00:07.000Z",
            ], limits: [Limit(0, 7)]),
        Row(service: "Azure Cosmos DB", fields: ["x-ms-retry-after-ms: 1500"], status: 429, wait: 1.5),
        Row(service: "Azure OpenAI", fields: ["retry-after-ms: 250"], status: 429, wait: 0.25),
        Row(service: "Azure Resource Manager", fields: ["Retry-After: 17"], status: 429, wait: 17),
        Row(
            service: "Imgur", fields: ["X-RateLimit-UserRemaining: 0", "X-RateLimit-UserReset: 1800000090"],
            limits: [Limit(0, 90)]),
        Row(
            service: "Trello",
            fields: ["X-Rate-Limit-Api-Token-Remaining: 0", "X-Rate-Limit-Api-Token-Interval-Ms: 10000"],
            limits: [Limit(0, 10)]),
        Row(
            service: "Fitbit", fields: ["Fitbit-Rate-Limit-Remaining: 0", "Fitbit-Rate-Limit-Reset: 1479"],
            limits: [Limit(0, 1479)]),
        Row(
            service: "Fastly", fields: ["Fastly-RateLimit-Remaining: 0", "Fastly-RateLimit-Reset: 1800000100"],
            limits: [Limit(0, 100)]),
        Row(
            service: "Yelp", fields: ["RateLimit-Remaining: 0", "RateLimit-ResetTime: 2027-01-15T09:00:00+00:00"],
            limits: [Limit(0, 3600)]),
        Row(
            service: "Vimeo", fields: ["X-RateLimit-Remaining: 9", "X-RateLimit-Reset: 2027-01-15T08:01:00+00:00"],
            limits: [Limit(9, 60)]),
        Row(service: "Docker Hub", fields: ["RateLimit-Remaining: 76;w=21600"], limits: [Limit(76, nil)]),
        Row(service: "Heroku", fields: ["RateLimit-Remaining: 4500"], limits: [Limit(4500, nil)]),
        Row(
            service: "monday.com", fields: [], status: 429,
            body: #"{"errors":[{"extensions":{"retry_in_seconds":20}}]}"#, wait: 20),
        Row(service: "X-Retry-In", fields: ["X-Retry-In: 12s"], status: 429, wait: 12),
        Row(
            service: "Google", fields: [], status: 429,
            body: #"{"error":{"details":[{"@type":"x.RetryInfo","retryDelay":"34.07s"}]}}"#, wait: 34.07),
        Row(
            service: "Cloudflare", fields: [#"Ratelimit: "default";r=0;t=30"#], status: 429, limits: [Limit(0, 30)],
            wait: 30),
        Row(service: "IETF draft 7", fields: ["RateLimit: limit=100, remaining=0, reset=5"], limits: [Limit(0, 5)]),
        // A moment is no length: read as one, it would be 57 years.
        Row(service: "Retry-After since 1970", fields: ["Retry-After: 1800000045"], status: 429, wait: 45),
        Row(service: "Retry-After of ISO 8601", fields: ["Retry-After: 2027-01-15T08:00:45Z"], status: 503, wait: 45),
        Row(service: "Airtable", fields: [], status: 429, body: #"{"errors":[{"error":"RATE_LIMIT_REACHED"}]}"#),
        Row(service: "nothing about a rate", fields: ["X-Generated-Remaining: 0", "X-Rate: 5"]),
        Row(service: "no number", fields: ["X-RateLimit-Requests-Remaining: many"]),
    ]

    @Test("the limit of a service, its reset and its wait are read in their units", arguments: rows)
    func service(_ row: Row) {
        let headers = TransportHeaders(
            row.fields.compactMap { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                return .init(String(line[..<colon]), line[colon...].dropFirst().trimmingPrefix(" ").description)
            })
        let limits = RateLimit.all(in: headers, now: Self.now)
        #expect(limits.map { Limit($0.remaining, $0.resetsAt?.timeIntervalSince(Self.now)) } == row.limits)
        #expect(Set(limits.map(\.name)).count == limits.count)
        let response = TransportResponse(status: row.status, headers: headers, body: Array(row.body.utf8))
        let stated = response.statingWait(now: Self.now)
        let wait = row.status == 200 ? nil : RateLimit.wait(status: row.status, stated.headers, now: Self.now)
        #expect(wait.map { ($0.inSeconds * 100).rounded() / 100 } == row.wait)
        if let wait = row.wait, row.status == 403 {
            #expect(wait > 0 && RetryPolicy.isPassing(.answer(status: 403, headers: stated.headers)))
        }
    }

    @Test("Shopify's bucket of points is waited for before the next query, not after a refusal")
    func points() {
        func pause(_ available: Int) -> Double? {
            let cost =
                #"{"requestedQueryCost":92,"throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":\#(available),"restoreRate":50}}"#
            return StatedWait.seconds(
                ofSuccess: TransportResponse(
                    status: 200, body: Array(#"{"data":{"x":1},"extensions":{"cost":\#(cost)}}"#.utf8)))
        }
        #expect(pause(908) == nil && pause(92) == nil)
        #expect(pause(42) == 1)
    }

    @Test(
        "a length is a number with its unit, and nothing else",
        arguments: [
            ("6m0s", 360), ("12ms", 0.012), ("1h2m3s", 3723), ("30 seconds", 30), ("1.5s", 1.5), ("", nil), ("5", nil),
            ("s", nil), ("1x", nil), ("1s later", nil), ("1..5s", nil), ("99999999999999999999999999h", 3.6e29),
        ] as [(String, Double?)])
    func lengths(text: String, seconds: Double?) {
        let found = DurationField.seconds(text)
        #expect(found == seconds || abs((found ?? 0) - (seconds ?? 0)) < abs(seconds ?? 1) * 1e-9)
    }

    @Test("a moment may lack its seconds and its zone, and have fractions behind a blank")
    func moments() {
        let expected = Date(timeIntervalSince1970: 1_800_000_060)
        for text in [
            "2027-01-15T08:01:00Z", "2027-01-15T08:01", "2027-01-15T08:01:00", "2027-01-15 08:01:00.25+00:00",
            "2027-01-15t08:01z",
        ] {
            #expect(DurationField.date(text).map { $0.timeIntervalSince(expected).rounded(.down) } == 0, "\(text)")
        }
        #expect(DurationField.date("2027-01-15") == nil && DurationField.date("T:.") == nil)
    }

    @Test("a number of seconds long ago is a length, and a response has a bounded number of limits")
    func bounds() {
        let past = TransportHeaders([.init("Retry-After", "150000000")])
        #expect(RateLimit.wait(status: 429, past, now: Self.now)?.inSeconds == 150_000_000)
        let many = TransportHeaders((0..<100).map { .init("X-RateLimit-L\($0)-Remaining", "1") })
        #expect(RateLimit.all(in: many, now: Self.now).count == 16)
    }

    @Test("a refusal is transient if any field states a wait; the text of a secondary limit is one of a 403")
    func refusals() {
        for field in ["Retry-After", "X-Retry-In", "Beta-Retry-After", "retry-after-ms"] {
            let headers = TransportHeaders([.init(field, "5")])
            #expect(RetryPolicy.isPassing(.answer(status: 403, headers: headers)), "\(field)")
        }
        #expect(!RetryPolicy.isPassing(.answer(status: 403, headers: TransportHeaders([.init("X-Retries", "5")]))))
        let body = Array(#"{"message":"You have exceeded a secondary rate limit"}"#.utf8)
        func wait(_ status: Int) -> Duration? {
            let stated = TransportResponse(status: status, body: body).statingWait(now: Self.now)
            return RateLimit.wait(status: status, stated.headers, now: Self.now)
        }
        #expect(wait(403)?.inSeconds == 60 && wait(503) == nil)
    }
}
