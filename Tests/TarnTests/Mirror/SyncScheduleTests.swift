// Schedules: when an endpoint is due, and a watch that syncs those that are.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: schedules")
struct SyncScheduleTests {
    private static let hour = 3600

    private static func at(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    private static func description(_ endpoint: String) throws -> Description {
        try Description.parse(
            """
            api: { base: 'https://a.example' }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page\(endpoint) }
            """, file: "tarn.yaml")
    }

    @Test("a daily time in UTC and in a local time zone, before and after a change to summer time")
    func daily() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        for (text, after, expected) in [
            ("03:00", "2026-11-23T02:59:59Z", "2026-11-23T03:00:00Z"),
            ("03:00", "2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"),
            ("3:05 UTC", "2026-12-31T23:00:00Z", "2027-01-01T03:05:00Z"),
            ("03:00 local", "2026-11-23T00:00:00Z", "2026-11-23T02:00:00Z"),
            ("03:00 local", "2026-07-01T00:00:00Z", "2026-07-01T01:00:00Z"),
            // 02:30 is left out on 2026-03-29, and occurs twice on 2026-10-25.
            ("02:30 local", "2026-03-28T23:30:00Z", "2026-03-29T01:00:00Z"),
            ("02:30 local", "2026-10-24T22:30:00Z", "2026-10-25T00:30:00Z"),
        ] {
            let time = try #require(DailyTime(text)), from = try Self.at(after)
            let next = time.next(after: Date(timeIntervalSince1970: Double(from.microseconds) / 1e6), in: berlin)
            #expect(Timestamp(next) == (try Self.at(expected)), "\(text) after \(after)")
        }
        // The clock is set back from midnight to 23:00: 23:30 occurs twice on 2026-04-04.
        let santiago = try #require(TimeZone(identifier: "America/Santiago")),
            late = try #require(DailyTime("23:30 local"))
        for (after, expected) in [
            ("2026-04-04T20:00:00Z", "2026-04-05T02:30:00Z"), ("2026-04-05T02:30:00Z", "2026-04-06T03:30:00Z"),
            ("2026-04-05T03:10:00Z", "2026-04-06T03:30:00Z"),
        ] {
            let from = Date(timeIntervalSince1970: Double(try Self.at(after).microseconds) / 1e6)
            #expect(Timestamp(late.next(after: from, in: santiago)) == (try Self.at(expected)), "after \(after)")
        }
        for wrong in ["", "3", "24:00", "03:60", "03:0", "03:00 CET", "03:00 UTC x", "-1:00", "٣:00", "03:00:00"] {
            #expect(DailyTime(wrong) == nil, "\(wrong)")
        }
    }

    @Test("the next run follows from the last complete scan, the schedule, the freshness and the last failure")
    func next() throws {
        var timing = SyncTiming()
        timing.timeZone = .gmt
        let now = try Self.at("2026-11-23T12:00:00Z"), last = try Self.at("2026-11-23T11:50:00Z")
        var status = EndpointStatus(named: "items")
        #expect(timing.next(of: status, .every(seconds: 60), now: now) == now, "never complete: due at once")
        status.completedAt = last
        #expect(timing.next(of: status, .every(seconds: 900), now: now) == (try Self.at("2026-11-23T12:05:00Z")))
        let times = try [#require(DailyTime("03:00")), #require(DailyTime("15:00"))]
        #expect(timing.next(of: status, .daily(times), now: now) == (try Self.at("2026-11-23T15:00:00Z")))
        #expect(timing.next(of: status, nil, now: now) == (try Self.at("2026-11-23T11:51:00Z")), "the floor")
        status.freshUntil = try Self.at("2026-11-23T13:00:00Z")
        #expect(timing.next(of: status, nil, now: now) == status.freshUntil)
        timing.interval = 120
        #expect(timing.next(of: status, nil, now: now) == (try Self.at("2026-11-23T11:52:00Z")))
        timing.interval = nil
        status.failure = .init(at: now, message: "x")
        #expect(timing.next(of: status, .every(seconds: 30), now: now) == (try Self.at("2026-11-23T12:00:30Z")))
        #expect(timing.next(of: status, .daily(times), now: now) == (try Self.at("2026-11-23T15:00:00Z")))
        status.completedAt = nil
        #expect(timing.next(of: status, .daily(times), now: now) == (try Self.at("2026-11-23T12:05:00Z")))
        #expect(timing.next(of: status, nil, now: now) == (try Self.at("2026-11-23T12:05:00Z")), "no schedule")
        timing.interval = 20
        #expect(timing.next(of: status, nil, now: now) == (try Self.at("2026-11-23T12:00:20Z")))
        // Times of a clock that was ahead.
        let ahead = try Self.at("2026-11-24T12:00:00Z")
        status.failure = .init(at: ahead, message: "x")
        status.completedAt = ahead
        for schedule in [nil, SyncSchedule.every(seconds: 900), .daily(times)] {
            #expect(timing.next(of: status, schedule, now: now) == now)
        }
        // A store may contain any time.
        status.failure = nil
        for time in [Int64.min, .max] {
            status.completedAt = Timestamp(microseconds: time)
            for schedule in [nil, SyncSchedule.every(seconds: DurationText.longest), .daily(times)] {
                _ = timing.next(of: status, schedule, now: now)
            }
        }
    }

    @Test("a file states schedules; what is wrong is reported")
    func description() throws {
        func schedule(_ text: String) throws -> SyncSchedule? { try Self.description(text).endpoints.first?.schedule }
        #expect(try schedule("") == nil)
        #expect(try schedule(", every: 15m") == .every(seconds: 900))
        #expect(try schedule(", at: '03:00'") == .daily([try #require(DailyTime("03:00 UTC"))]))
        #expect(try schedule(", at: ['03:00 local', 15:00]")?.hashValue != nil)
        for (text, expected) in [
            (", every: soon", "expected a duration such as 30s"), (", every: 0s", "expected a duration"),
            (", every: 367d", "2h or 1d, at most 366d, found"), (", at: '25:00'", "expected a time of the day"),
            (", at: []", "missing time"), (", every: 15m, at: '03:00'", "every and at exclude each other"),
        ] {
            let error = #expect(throws: DescriptionError.self) { try Self.description(text) }
            #expect("\(String(describing: error))".contains(expected), "\(text): \(String(describing: error))")
        }
    }

    /// A clock that only a wait moves, and the waits.
    private final class Clock: Sendable {
        let now = Mutex(Date(timeIntervalSince1970: 1_763_899_200))
        let slept = Mutex(0.0)

        var source: TimeSource {
            TimeSource(
                now: { self.now.withLock { $0 } },
                sleep: { duration in
                    try Task.checkCancellation()
                    self.now.withLock { $0 += duration.inSeconds }
                    self.slept.withLock { $0 += duration.inSeconds }
                }, random: { 0.5 })
        }
    }

    @Test("a watch syncs only what is due, waits for the next endpoint, and goes on where it was after a restart")
    func watch() async throws {
        let server = try ScriptedServer { request in
            if request.target == "/fresh" {
                return .init(fields: ["Cache-Control: max-age=7200"], body: #"[{"id":2}]"#)
            }
            return .init(body: #"[{"id":1}]"#)
        }
        let mirrored = try MirrorStore(
            yaml: """
                api: { base: '\(server.base)' }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  often: { path: /often, entity: Item, paginate: single_page, every: 30m }
                  fresh: { path: /fresh, entity: Item, paginate: single_page }
                """)
        let clock = Clock(), store = try mirrored.open(), started = clock.now.withLock { $0 }
        var options = APIClient.Options()
        options.time = clock.source
        let client = try APIClient(
            mirrored.description, store: store, transport: MirrorStore.impatient(), options: options)
        let runs = Mutex<[(after: Int, names: [String])]>([]), waits = Mutex<[String]>([])

        /// Runs a watch until it has synced some times.
        func watch(_ count: Int) async throws {
            let had = runs.withLock { $0.count }
            struct Enough: Error {}
            do {
                try await SyncWatch(mirrored.description, timing: SyncTiming(), time: clock.source).run(
                    status: { names in
                        if runs.withLock({ $0.count }) >= had + count { throw Enough() }
                        return try await client.status(of: names)
                    },
                    sync: { names in
                        var mirror = APIMirror.Options()
                        mirror.isScheduled = true
                        let report = await APIMirror(client, options: mirror).sync(names)
                        #expect(report.failures.isEmpty)
                        let after = Int(clock.now.withLock { $0 }.timeIntervalSince(started))
                        runs.withLock { $0.append((after, names.sorted())) }
                    }, wait: { _, names in waits.withLock { $0 += names } })
            } catch is Enough {}
        }
        try await watch(3)
        // Another process, which has only the store.
        try await watch(3)
        let found = runs.withLock { $0 }
        #expect(found.map(\.after) == [0, 1800, 3600, 5400, 7200, 9000])
        #expect(
            found.map(\.names) == [
                ["fresh", "often"], ["often"], ["often"], ["often"], ["fresh", "often"], ["often"],
            ])
        #expect(waits.withLock { $0 }.count >= 5, "each wait is told once")
        #expect(waits.withLock { $0 }.count < 12)
        #expect(try await client.status().allSatisfy { $0.nextRun != nil })
    }

    @Test(
        "a daily time soon after a complete scan is kept to the second; without one, a pause comes first",
        arguments: [true, false])
    func dailyWatch(isComplete: Bool) async throws {
        let clock = Clock(), started = Timestamp(clock.now.withLock { $0 })
        // The clock begins at 12:00:00.
        let description = try Self.description(", at: ['12:02 UTC', '12:03 UTC']")
        let runs = Mutex<[Int64]>([])
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await SyncWatch(description, timing: SyncTiming(), time: clock.source).run(
                status: { _ in
                    var status = EndpointStatus(named: "items")
                    if isComplete, let last = runs.withLock({ $0.last }) {
                        status.completedAt = Timestamp(microseconds: started.microseconds + last * 1_000_000)
                    }
                    return [status]
                },
                sync: { _ in
                    let after = Timestamp(clock.now.withLock { $0 }).elapsed(since: started) / 1_000_000
                    let count = runs.withLock {
                        $0.append(after)
                        return $0.count
                    }
                    if count == 3 { throw Enough() }
                }, wait: { _, _ in })
        }
        #expect(runs.withLock { $0 } == (isComplete ? [0, 120, 180] : [0, 300, 600]))
    }

    @Test("an endpoint that fails again and again, or that another sync holds, is not requested without a pause")
    func pauses() async throws {
        let description = try Self.description(", every: 10s"), clock = Clock()
        let attempts = Mutex(0)
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await SyncWatch(description, timing: SyncTiming(), time: clock.source).run(
                status: { _ in [EndpointStatus(named: "items")] },
                sync: { _ in
                    if attempts.withLock({
                        $0 += 1
                        return $0
                    }) == 4 {
                        throw Enough()
                    }
                }, wait: { _, _ in })
        }
        #expect(clock.slept.withLock { $0 } == 30)
    }

    @Test("a sync of one API that lasts delays none of another; APIs that wait for one another are synced together")
    func severalAPIs() async throws {
        let description = try Description.parse(
            """
            apis: { a: { base: 'https://a.example' }, b: { base: 'https://b.example' }, c: { base: 'https://c.example' } }
            entities:
              Item: { key: id, attributes: { id: int } }
              Other: { api: b, key: id, attributes: { id: int } }
              Detail: { api: c, key: id, attributes: { id: int } }
            endpoints:
              slow: { path: /slow, entity: Item, paginate: single_page, every: 10s }
              quick: { api: b, path: /quick, entity: Other, paginate: single_page, every: 10s }
              detail: { api: c, path: '/of/{item.id}', for_each: Item, entity: Detail, paginate: single_page, every: 10s }
            """, file: "tarn.yaml")
        let clock = Clock(), runs = Mutex<[String]>([])
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await SyncWatch(description, timing: SyncTiming(), time: clock.source).run(
                status: { _ in ["slow", "quick", "detail"].map { EndpointStatus(named: $0) } },
                sync: { names in
                    runs.withLock { $0.append(names.sorted().joined(separator: " ")) }
                    guard names.contains("slow") else { return await Task.yield() }
                    for _ in 0..<1000 where runs.withLock({ $0.filter { $0 == "quick" }.count }) < 3 {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    throw Enough()
                }, wait: { _, _ in })
        }
        let found = runs.withLock(\.self)
        #expect(found.filter { $0 == "quick" }.count >= 3 && found.contains("detail slow"), "\(found)")
    }

    @Test("a watch whose description has changed ends before its next sync, and says so")
    func outdated() async throws {
        let description = try Self.description(", every: 10s"), clock = Clock(), runs = Mutex(0)
        let hasChanged = try await SyncWatch(description, timing: SyncTiming(), time: clock.source).run(
            status: { _ in [EndpointStatus(named: "items")] }, sync: { _ in runs.withLock { $0 += 1 } },
            isOutdated: { runs.withLock { $0 } == 2 }, wait: { _, _ in })
        #expect(hasChanged)
        #expect(runs.withLock { $0 } == 2)
    }

    @Test("after a change, other APIs are synced until the syncs that were under way have ended")
    func outdatedOfSeveral() async throws {
        let description = try Description.parse(
            """
            apis: { a: { base: 'https://a.example' }, b: { base: 'https://b.example' } }
            entities:
              Item: { key: id, attributes: { id: int } }
              Other: { api: b, key: id, attributes: { id: int } }
            endpoints:
              slow: { path: /slow, entity: Item, paginate: single_page, every: 10s }
              quick: { api: b, path: /quick, entity: Other, paginate: single_page, every: 10s }
            """, file: "tarn.yaml")
        let clock = Clock(), runs = Mutex<[String]>([])
        let hasChanged = try await SyncWatch(description, timing: SyncTiming(), time: clock.source).run(
            status: { _ in ["slow", "quick"].map { EndpointStatus(named: $0) } },
            sync: { names in
                runs.withLock { $0 += names.sorted() }
                guard names.contains("slow") else { return await Task.yield() }
                let before = runs.withLock { $0.count }
                for _ in 0..<1000 where runs.withLock({ $0.count }) < before + 3 {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }, isOutdated: { runs.withLock { $0.contains("slow") } }, wait: { _, _ in })
        let found = runs.withLock(\.self)
        #expect(hasChanged && found.filter { $0 == "slow" }.count == 1, "\(found)")
        #expect(found.drop { $0 != "slow" }.count >= 4, "\(found)")
    }

    @Test("a watch ends when its task is cancelled, and without endpoints at once")
    func ends() async throws {
        let description = try Self.description("")
        try await SyncWatch(description, timing: SyncTiming()).run(
            status: { _ in [] }, sync: { _ in }, wait: { _, _ in })
        let begun = Mutex(false)
        let task = Task {
            var status = EndpointStatus(named: "items")
            status.completedAt = Timestamp(Date())
            let fixed = status
            try await SyncWatch(description, timing: SyncTiming()).run(
                status: { _ in [fixed] }, sync: { _ in }, wait: { _, _ in begun.withLock { $0 = true } })
        }
        try await eventually { begun.withLock { $0 } }
        task.cancel()
        try await task.value
    }
}
