// The rate limit fields of servers, in the forms in use.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Rate limit fields")
struct RateLimitTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [String]
        /// Name, remaining, seconds to the reset.
        var limits: [(String, Int, Double?)]
        var testDescription: String { fields.joined(separator: " | ") }
    }

    static let rows: [Row] = [
        // draft-ietf-httpapi-ratelimit-headers-10 §4.1 and its examples
        Row(fields: [#"RateLimit: "default";r=50;t=30"#], limits: [("default", 50, 30)]),
        Row(
            fields: [#"RateLimit: "problemPolicy";r=0;t=10, "other";r=5"#],
            limits: [("problemPolicy", 0, 10), ("other", 5, nil)]),
        Row(fields: [#"RateLimit: "a,;b" ; r=1 ;t=2"#], limits: [("a,;b", 1, 2)]),
        Row(
            fields: [#"RateLimit: "one";r=1;t=1"#, #"RateLimit: "two";r=2;t=2"#],
            limits: [("one", 1, 1), ("two", 2, 2)]),
        Row(fields: [#"RateLimit: "default";t=30"#], limits: []),
        // draft 03 to 07
        Row(fields: ["RateLimit: limit=100, remaining=50, reset=5"], limits: [("", 50, 5)]),
        Row(
            fields: ["RateLimit-Limit: 100", "RateLimit-Remaining: 50", "RateLimit-Reset: 50"], limits: [("", 50, 50)]),
        Row(
            fields: ["RateLimit-Limit: 10, 10;w=1, 50;w=60", "RateLimit-Remaining: 9, 49", "RateLimit-Reset: 1"],
            limits: [("", 9, 1)]),
        // GitHub: seconds since 1970
        Row(
            fields: ["X-RateLimit-Limit: 5000", "X-RateLimit-Remaining: 4999", "X-RateLimit-Reset: 1800000060"],
            limits: [("", 4999, 60)]),
        // Milliseconds since 1970
        Row(fields: ["x-ratelimit-remaining: 0", "x-ratelimit-reset: 1800000060000"], limits: [("", 0, 60)]),
        // Twitter
        Row(fields: ["X-Rate-Limit-Remaining: 14", "X-Rate-Limit-Reset: 1800000900"], limits: [("", 14, 900)]),
        // Discord
        Row(
            fields: ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000001.5", "X-RateLimit-Reset-After: 1.5"],
            limits: [("", 0, 1.5)]),
        // A date
        Row(
            fields: ["X-RateLimit-Remaining: 1", "X-RateLimit-Reset: Fri, 15 Jan 2027 08:01:00 GMT"],
            limits: [("", 1, 60)]),
        Row(fields: ["X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 2027-01-15T08:01:00Z"], limits: [("", 1, 60)]),
        // Nothing that could be used
        Row(fields: ["X-RateLimit-Remaining: many", "X-RateLimit-Reset: 60"], limits: []),
        Row(fields: ["X-RateLimit-Remaining: 3", "X-RateLimit-Reset: later"], limits: [("", 3, nil)]),
        Row(fields: ["X-RateLimit-Remaining: 3", "X-RateLimit-Reset: -5"], limits: [("", 3, nil)]),
        Row(fields: ["X-RateLimit-Limit: 60"], limits: []),
        Row(fields: ["RateLimit: ;;,,=\";"], limits: []),
        Row(fields: [], limits: []),
    ]

    @Test(
        "a limit is read in the form of the IETF's draft, of its older versions and of what servers had before",
        arguments: rows)
    func forms(_ row: Row) throws {
        let headers = TransportHeaders(
            row.fields.compactMap { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                return .init(String(line[..<colon]), line[colon...].dropFirst().trimmingPrefix(" ").description)
            })
        let limits = RateLimit.all(in: headers, now: Self.now)
        #expect(limits.map(\.name) == row.limits.map(\.0))
        #expect(limits.map(\.remaining) == row.limits.map(\.1))
        #expect(limits.map { $0.resetsAt?.timeIntervalSince(Self.now) } == row.limits.map(\.2))
    }

    @Test("a wait is asked for by Retry-After on any answer, by a used-up limit on a refusal only, the last of several")
    func waits() {
        func wait(_ status: Int, _ fields: [String: String]) -> Duration? {
            RateLimit.wait(status: status, TransportHeaders(fields.map { .init($0.key, $0.value) }), now: Self.now)
        }
        #expect(wait(200, ["Retry-After": "3"]) == .seconds(3))
        #expect(wait(200, ["RateLimit": #""a";r=0;t=9"#]) == nil)
        #expect(wait(429, ["RateLimit": #""a";r=0;t=9, "b";r=0;t=90, "c";r=1;t=900"#]) == .seconds(90))
        #expect(wait(429, ["RateLimit": #""a";r=0;t=9"#, "Retry-After": "3"]) == .seconds(3))
        #expect(wait(429, [:]) == nil)
    }

    @Test("dates of a server are by its own clock, which Date and Age tell")
    func serverClock() {
        func wait(_ lead: Double, _ fields: [String: String], age: String? = nil) -> Double? {
            var headers = TransportHeaders(fields.map { .init($0.key, $0.value) })
            headers["Date"] = HTTPDate.text(Self.now.addingTimeInterval(lead))
            headers["Age"] = age
            return RateLimit.wait(status: 429, headers, now: Self.now)?.inSeconds
        }
        func date(_ seconds: Double) -> String { HTTPDate.text(Self.now.addingTimeInterval(seconds)) }
        for lead in [-3600.0, -10, 0, 10, 3600] {
            #expect(wait(lead, ["Retry-After": date(lead + 4)]) == 4)
            #expect(wait(lead, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": date(lead + 5)]) == 5)
            let reset = "\(1_800_000_006 + Int(lead))"
            #expect(wait(lead, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset]) == 6)
            // A number of seconds is no date.
            #expect(wait(lead, ["Retry-After": "7"]) == 7)
        }
        // A stored response.
        #expect(wait(-100, ["Retry-After": date(8)], age: "100") == 8)
        // Whole seconds and the time on the way are no difference of clocks.
        #expect(wait(-1, ["Retry-After": date(9)]) == 9)
    }

    @Test("a Date in another time zone delays no request by hours", arguments: [-7200.0, 3600])
    func wrongDate(lead: Double) {
        var headers = TransportHeaders([.init("Date", HTTPDate.text(Self.now.addingTimeInterval(lead)))])
        headers["X-RateLimit-Remaining"] = "0"
        headers["X-RateLimit-Reset"] = "1800000060"
        #expect(RateLimit.wait(status: 429, headers, now: Self.now) == .seconds(60))
        headers["Retry-After"] = HTTPDate.text(Self.now.addingTimeInterval(30))
        #expect(RateLimit.wait(status: 429, headers, now: Self.now) == .seconds(30))
    }
}
