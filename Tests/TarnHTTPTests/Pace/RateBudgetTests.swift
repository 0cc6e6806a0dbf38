// When the next request may go: the budget as a value, with a clock that the test sets.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Rate budget")
struct RateBudgetTests {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private func at(_ seconds: Double) -> Date { Self.start.addingTimeInterval(seconds) }
    private func wait(_ admission: RateBudget.Admission) -> Double? {
        if case .later(let duration, _) = admission { (duration.inSeconds * 100).rounded() / 100 } else { nil }
    }

    @Test("so many requests a second: a burst at first, then one after the other")
    func perSecond() {
        var budget = RateBudget()
        let pace = Pace(perSecond: 10, burst: 3)
        for _ in 0..<3 { #expect(budget.admit(pace, now: at(0)) == .now) }
        #expect(wait(budget.admit(pace, now: at(0))) == 0.1)
        #expect(wait(budget.admit(pace, now: at(0.05))) == 0.05)
        #expect(budget.admit(pace, now: at(0.1)) == .now)
        #expect(wait(budget.admit(pace, now: at(0.1))) == 0.1)
        // Unused requests are not saved up beyond the burst.
        for _ in 0..<3 { #expect(budget.admit(pace, now: at(100)) == .now) }
        #expect(wait(budget.admit(pace, now: at(100))) == 0.1)
    }

    @Test(
        "over any time no more requests go than the pace and its burst allow, whatever the moments at which it is asked"
    )
    func neverFaster() {
        let seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededRandom(seed: seed)
        var budget = RateBudget(), time = 0.0, sent: [Double] = []
        let pace = Pace(perSecond: 5, burst: 4)
        while sent.count < 500 {
            if budget.admit(pace, now: at(time)) == .now { sent.append(time) }
            time += Double.random(in: 0...0.3, using: &generator)
        }
        for (index, time) in sent.enumerated() {
            let count = sent[index...].prefix { $0 < time + 2 }.count
            #expect(count <= 4 + 2 * 5 + 1, "seed \(seed)")
        }
    }

    @Test(
        "whatever a server says, it is believed for a day at most, or as long as the pace says",
        arguments: [
            (429, ["Retry-After": "999999999999"]), (429, ["Retry-After": "1e308"]),
            (503, ["Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2800000000"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9223372036854775807"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1e307"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "1e308"]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9999-12-31T00:00:00Z"]),
            (200, ["RateLimit": "\"d\";r=0;t=9223372036854775807"]),
            (200, ["RateLimit": "limit=1, remaining=0, reset=9223372036854775807"]),
            (
                403,
                ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2800000000", "Retry-After": "9223372036854775808"]
            ),
        ] as [(Int, [String: String])])
    func farAhead(status: Int, fields: [String: String]) throws {
        let headers = TransportHeaders(fields.map { .init($0.key, $0.value) })
        for (pace, most) in [(Pace(), 86_400.0), (Pace(longestLimit: .seconds(600)), 600)] {
            var budget = RateBudget()
            #expect(budget.admit(pace, now: at(0)) == .now)
            budget.answered(status: status, headers, now: at(0), longestLimit: pace.longestLimit)
            #expect(abs((wait(budget.admit(pace, now: at(0))) ?? 0) - most) < 0.1)
            // The stored wait is as short.
            budget = try JSONDecoder().decode(RateBudget.self, from: JSONEncoder().encode(budget))
            budget.forgetLimits(beyond: pace.longestLimit, now: at(1))
            #expect(abs((wait(budget.admit(pace, now: at(1))) ?? 0) - (most - 1)) < 0.1)
            #expect(budget.admit(pace, now: at(most + 1)) == .now)
        }
    }

    @Test("numbers of a header that are no numbers, or too large for one, say nothing and trap nothing")
    func hostileNumbers() {
        let seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededRandom(seed: seed)
        let numbers = [
            "0", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e308", "1e309", "-1e308",
            "nan", "inf", "0x10", "",
            " ", "1.5", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:60 GMT", "0000-00-00", "+5", "٣",
            "1e-320",
        ]
        let names = [
            "Retry-After", "RateLimit", "RateLimit-Remaining", "RateLimit-Reset", "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
            "X-RateLimit-Reset-After", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset",
        ]
        var budget = RateBudget()
        for step in 0..<20_000 {
            func number() -> String { numbers.randomElement(using: &generator) ?? "" }
            let fields = (0..<3).map { _ -> TransportHeaders.Field in
                let name = names.randomElement(using: &generator) ?? ""
                return .init(
                    name,
                    name == "RateLimit"
                        ? "\"a\";r=\(number());t=\(number()), reset=\(number()), remaining=\(number())" : number())
            }
            let now = at(Double(step))
            if let wait = wait(budget.admit(Pace(), now: now)) { #expect(wait <= 86_401, "seed \(seed): \(fields)") }
            budget.answered(
                status: [200, 403, 429, 503].randomElement(using: &generator) ?? 200, TransportHeaders(fields), now: now
            )
            _ = RateLimit.wait(status: 429, TransportHeaders(fields), now: now)
            if step % 50 == 0 { budget = RateBudget() }
        }
    }

    @Test("limits that were kept with an end beyond belief, or without one, are forgotten")
    func keptBeyondBelief() throws {
        let now = Date()
        let text =
            #"{"limits":[{"name":"a","remaining":-9223372036854775808,"resetsAt":1e300},{"name":"b","remaining":0},{"name":"c","remaining":-9223372036854775808,"resetsAt":\#(now.timeIntervalSinceReferenceDate + 60)}],"pausedUntil":1e300,"tokens":0}"#
        var budget = try JSONDecoder().decode(RateBudget.self, from: Data(text.utf8))
        budget.forgetLimits(beyond: .seconds(86_400), now: now)
        #expect(budget.pausedUntil == nil && budget.limits.map(\.name) == ["c"])
        #expect(abs((wait(budget.admit(Pace(), now: now)) ?? 0) - 60) < 0.1)
        #expect(budget.admit(Pace(obeysHeaders: false), now: now) == .now)
    }

    @Test("a limit that was noted while the clock was ahead is forgotten, also one that was kept")
    func notedAhead() throws {
        for isKept in [false, true] {
            var budget = RateBudget()
            #expect(budget.admit(Pace(), now: at(72_000)) == .now)
            budget.answered(
                status: 200,
                TransportHeaders([
                    .init("X-RateLimit-Limit", "1"), .init("X-RateLimit-Remaining", "0"),
                    .init("X-RateLimit-Reset", "20"),
                ]),
                now: at(72_000))
            #expect(wait(budget.admit(Pace(), now: at(72_001))) != nil)
            // A clock that differs by seconds is no reason.
            #expect(wait(budget.admit(Pace(), now: at(71_990))) != nil)
            if isKept {
                budget = try JSONDecoder().decode(RateBudget.self, from: JSONEncoder().encode(budget))
                budget.forgetLimits(beyond: .seconds(86_400), now: at(30))
                #expect(budget.limits.isEmpty)
            }
            #expect(budget.admit(Pace(), now: at(30)) == .now)
        }
    }

    @Test("a clock that is set back stops nothing and gives nothing")
    func clockSetBack() {
        var budget = RateBudget()
        let pace = Pace(perSecond: 1)
        #expect(budget.admit(pace, now: at(0)) == .now)
        #expect(wait(budget.admit(pace, now: at(-3600))) == 1)
        #expect(budget.admit(pace, now: at(-3598.9)) == .now)
    }

    @Test("only so many are under way at once, and one that fails makes room too")
    func concurrency() {
        var budget = RateBudget()
        let pace = Pace(concurrent: 2)
        #expect(budget.admit(pace, now: at(0)) == .now)
        #expect(budget.admit(pace, now: at(0)) == .now)
        #expect(budget.admit(pace, now: at(0)) == .whenAnswered)
        budget.answered(nil, now: at(1))
        #expect(budget.admit(pace, now: at(1)) == .now)
        #expect(budget.admit(pace, now: at(1)) == .whenAnswered)
    }

    @Test("what the server says is left is spent, and no more until there is more again")
    func learned() {
        var budget = RateBudget()
        let pace = Pace()
        #expect(budget.admit(pace, now: at(0)) == .now)
        budget.answered(status: 200, TransportHeaders([.init("RateLimit", #""a";r=2;t=30"#)]), now: at(0))
        #expect(budget.admit(pace, now: at(0)) == .now)
        #expect(budget.admit(pace, now: at(0)) == .now)
        #expect(wait(budget.admit(pace, now: at(10))) == 20)
        #expect(budget.admit(pace, now: at(30)) == .now)
    }

    @Test("requests under way when the server counted are taken off what it says is left")
    func underWay() {
        var budget = RateBudget()
        for _ in 0..<3 { #expect(budget.admit(Pace(), now: at(0)) == .now) }
        budget.answered(status: 200, TransportHeaders([.init("RateLimit", #""a";r=2;t=30"#)]), now: at(0))
        #expect(wait(budget.admit(Pace(), now: at(0))) == 30)
    }

    @Test("responses in another order than the server counted: the lowest number counts, and newer ones later")
    func otherOrder() {
        var budget = RateBudget()
        func told(_ left: Int, _ reset: Int = 1_800_000_030) -> TransportHeaders {
            TransportHeaders([
                .init("X-RateLimit-Remaining", "\(left)"), .init("X-RateLimit-Reset", "\(reset)"),
            ])
        }
        var steps: [UInt64] = []
        for _ in 0..<3 {
            #expect(budget.admit(Pace(), now: at(0)) == .now)
            steps.append(budget.step)
        }
        // The server has counted the third request first.
        budget.answered(status: 200, told(7), admitted: steps[1], now: at(0))
        budget.answered(status: 200, told(8), admitted: steps[0], now: at(0))
        budget.answered(status: 200, told(9), admitted: steps[2], now: at(0))
        #expect(budget.limits.map(\.remaining) == [7])
        // A request that was sent later knows better: the server may not count every request.
        #expect(budget.admit(Pace(), now: at(1)) == .now)
        budget.answered(status: 200, told(9), admitted: budget.step, now: at(1))
        #expect(budget.limits.map(\.remaining) == [9])
        // A late response of the window before says nothing of this one.
        #expect(budget.admit(Pace(), now: at(2)) == .now)
        let late = budget.step
        #expect(budget.admit(Pace(), now: at(2)) == .now)
        budget.answered(status: 200, told(5, 1_800_000_060), admitted: budget.step, now: at(2))
        budget.answered(status: 200, told(0), admitted: late, now: at(2))
        #expect(budget.limits.map(\.remaining) == [4])
    }

    @Test("several limits hold side by side; one without an end is not believed for ever")
    func severalLimits() {
        var budget = RateBudget()
        #expect(budget.admit(Pace(), now: at(0)) == .now)
        budget.answered(
            status: 200, TransportHeaders([.init("RateLimit", #""second";r=0;t=1, "hour";r=1;t=3600, "ever";r=0"#)]),
            now: at(0))
        #expect(wait(budget.admit(Pace(), now: at(0))) == 1)
        #expect(budget.admit(Pace(), now: at(1)) == .now)
        #expect(wait(budget.admit(Pace(), now: at(1))) == 3599)
    }

    @Test("a refusal with a time stops everything until then, and a later one does not shorten it")
    func refusals() {
        var budget = RateBudget()
        for _ in 0..<2 { #expect(budget.admit(Pace(), now: at(0)) == .now) }
        budget.answered(status: 429, TransportHeaders([.init("Retry-After", "60")]), now: at(0))
        budget.answered(status: 503, TransportHeaders([.init("Retry-After", "10")]), now: at(0))
        #expect(wait(budget.admit(Pace(), now: at(0))) == 60)
        #expect(budget.admit(Pace(obeysHeaders: false), now: at(0)) == .now)
        #expect(budget.admit(Pace(), now: at(60)) == .now)
    }

    @Test("a budget that was kept says the same after a restart, without the requests that were under way")
    func keptAndGivenBack() throws {
        var budget = RateBudget()
        let pace = Pace(perSecond: 1, concurrent: 1)
        #expect(!budget.isWorthKeeping)
        #expect(budget.admit(pace, now: at(0)) == .now)
        budget.answered(
            status: 429, TransportHeaders([.init("Retry-After", "60"), .init("RateLimit", #""a";r=1;t=100"#)]),
            now: at(0))
        #expect(budget.isWorthKeeping)
        #expect(budget.admit(pace, now: at(61)) == .now)
        var restored = try JSONDecoder().decode(RateBudget.self, from: JSONEncoder().encode(budget))
        #expect(budget.admit(pace, now: at(62)) == .whenAnswered)
        #expect(wait(restored.admit(pace, now: at(62))) == 38)
        #expect(restored.admit(pace, now: at(100)) == .now)
    }
}
