// The rule of health, and the waits between refreshes.

import Foundation
import TarnDescription
import TarnMacros
import TestSupport
import Testing
import Tracing

@testable import TarnService

@Suite("Refresh health")
struct RefreshHealthTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let state: RefreshState

    init() throws {
        let forge = try ForgeServer(), client = try forge.client()
        var refresh = ScheduledRefresh(.issues(), of: client, every: .seconds(100))
        refresh.jitter = 0
        state = RefreshState(refresh)
    }

    private func state(completeBefore seconds: Double?, failures: Int = 0, isRequired: Bool = true) -> RefreshState {
        var refresh = state.refresh
        refresh.isRequired = isRequired
        var state = RefreshState(refresh)
        state.lastComplete = seconds.map { now - $0 }
        state.failures = failures
        return state
    }

    @Test("a refresh is healthy for twice its interval, then degraded; after a failure it is degraded at once")
    func items() {
        #expect(state(completeBefore: nil).health(at: now).status == .unavailable)
        #expect(state(completeBefore: 200).health(at: now).status == .healthy)
        #expect(state(completeBefore: 201).health(at: now).status == .degraded)
        #expect(state(completeBefore: 201).health(at: now).age == 201)
        #expect(state(completeBefore: 1, failures: 1).health(at: now).status == .degraded)
        #expect(state(completeBefore: nil, failures: 1).health(at: now).status == .unavailable)
    }

    @Test("a service is unavailable while a required refresh has never been complete, healthy if all are")
    func overall() {
        func status(_ states: RefreshState...) -> RefreshHealth.Status { RefreshHealth(states, at: now).status }
        let fresh = state(completeBefore: 1), old = state(completeBefore: 500)
        #expect(status(fresh, fresh) == .healthy && status() == .healthy)
        #expect(status(fresh, old) == .degraded)
        #expect(status(fresh, state(completeBefore: nil)) == .unavailable)
        #expect(status(fresh, state(completeBefore: nil, isRequired: false)) == .degraded)
    }

    @Test("health is JSON with the names and states of the refreshes")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let health = RefreshHealth([state(completeBefore: nil, failures: 2)], at: now)
        #expect(
            String(decoding: try encoder.encode(health), as: UTF8.self)
                == #"{"refreshes":[{"failures":2,"isRunning":false,"name":"GET \/issues","status":"unavailable"}],"status":"unavailable"}"#
        )
    }

    @Test("the waits after failures double up to the longest, and begin with at most the interval")
    func waits() {
        let retry = RefreshService.Retry(first: .seconds(30), maximum: .seconds(600))
        let waits = (0...7).map { state(completeBefore: 1, failures: $0).nextWait(retry) }
        #expect(waits == [100, 30, 60, 120, 240, 480, 600, 600].map { .seconds($0) })
        #expect(state(completeBefore: 1, failures: 1000).nextWait(retry) == .seconds(600))
        let slow = RefreshService.Retry(first: .seconds(300), maximum: .seconds(600))
        #expect(state(completeBefore: 1, failures: 1).nextWait(slow) == .seconds(100))
    }

    @Test("the first refresh starts at once, after the interval, or for the rest of it")
    func firstWaits() {
        #expect(state(completeBefore: 30).firstWait(.immediately, now: now) == .zero)
        #expect(state(completeBefore: 30).firstWait(.afterInterval, now: now) == .seconds(100))
        #expect(state(completeBefore: 30).firstWait(.whenDue, now: now) == .seconds(70))
        #expect(state(completeBefore: 130).firstWait(.whenDue, now: now) == .zero)
        #expect(state(completeBefore: nil).firstWait(.whenDue, now: now) == .zero)
        // The clock was set back.
        #expect(state(completeBefore: -5000).firstWait(.whenDue, now: now) == .seconds(100))
    }

    @Test("a sync that has continued an interrupted one counts from the beginning of that one")
    func continued() {
        var item = state(completeBefore: nil), totals = RefreshRun.Totals()
        totals.continuedFrom = now - 70
        item.note(.complete, totals, at: now)
        #expect(item.health(at: now).age == 70)
        #expect(item.nextWait(RefreshService.Retry(), now: now) == .seconds(30))
        item.note(.complete, RefreshRun.Totals(), at: now)
        #expect(item.health(at: now).age == 0)
        #expect(item.nextWait(RefreshService.Retry(), now: now) == .seconds(100))
    }

    @Test("refusals that recur wait for the interval, other failures for their doubling waits")
    func refusals() {
        let retry = RefreshService.Retry(first: .seconds(5), maximum: .seconds(600))
        var item = state(completeBefore: 1), totals = RefreshRun.Totals()
        totals.refusals = "403 GET /a"
        item.note(.failed("refused"), totals, at: now)
        #expect(item.nextWait(retry, now: now) == .seconds(5))
        item.note(.failed("refused"), totals, at: now)
        #expect(item.nextWait(retry, now: now) == .seconds(100))
        totals.refusals = "403 GET /b"
        item.note(.failed("refused"), totals, at: now)
        #expect(item.nextWait(retry, now: now) == .seconds(20))
        totals.refusals = nil
        for _ in 0..<2 { item.note(.failed("no connection"), totals, at: now) }
        #expect(item.nextWait(retry, now: now) == .seconds(80))
    }

    @Test(
        "a sync whose refused request has stopped other endpoints has not refreshed all else",
        arguments: ["401 Unauthorized", "403 Forbidden", "404 Not Found"])
    func stopped(status: String) async throws {
        let answers: [String: ScriptedServer.Answer] = [
            "/secret": .init(status: status, body: "{}"), "/last": .init(body: "[]"),
        ]
        let forge = try ForgeServer { answers[$0] }
        let file = try forge.folder.write(
            "tarn.yaml",
            """
            api: { base: '\(forge.server.base)' }
            entities:
              Issue: { key: id, attributes: { id: int, title: string }, ignore: [labels] }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: header_link }
              secret: { path: /secret, entity: Issue }
              last: { path: /last, entity: Issue }
            """)
        let description = try Description.load(path: file)
        let store = try Store.open(at: forge.folder("mirror.tarn"), schema: description.schema)
        var options = APIMirror.Options()
        options.concurrency = 1
        let mirror = try APIMirror(description, store: store, transport: CurlTransport(), options: options)
        let run = RefreshRun(NoOpTracer())
        await #expect(throws: MirrorError.self) { _ = try await run.sync(mirror, nil) }
        #expect((run.totals.refusals == nil) == status.hasPrefix("401"))
    }

    @Test(
        "a complete refresh that skips a record is degraded, and says so, also in a new process",
        arguments: [false, true])
    func skipped(isMirror: Bool) async throws {
        let isBroken = Switch()
        let forge = try ForgeServer { target in
            guard target == "/issues", isBroken.isOn else { return nil }
            return .init(body: #"[{"id":1,"title":"a","labels":[]},{"title":"without a key","labels":[]}]"#)
        }
        let client = try forge.client(), mirror = try forge.mirror()
        let refresh =
            isMirror
            ? ScheduledRefresh(endpoints: ["issues"], of: mirror, every: .seconds(3600))
            : ScheduledRefresh(.issues(), of: client, name: "issues", every: .seconds(3600))
        isBroken.turn(on: true)
        let running = try RunningService([refresh], .quick)
        try await eventually("a complete refresh") { running.item("issues")?.lastComplete != nil }
        #expect(running.service.health.status == .degraded)
        #expect(running.item("issues")?.finding == "skipped 1 record that cannot be stored")
        #expect(running.item("issues")?.failures == 0)
        try await running.end()
        let again = try RefreshService([refresh]).health
        #expect(again.status == .degraded)
        #expect(again.refreshes.first?.finding == "skipped 1 record that cannot be stored")
        isBroken.turn(on: false)
        let mended = try RunningService([refresh], .quick)
        try await eventually("all records") { mended.service.health.status == .healthy }
        try await mended.end()
    }

    @Test("a sync that continues behind a page with a skipped record is degraded by it")
    func skippedBefore() async throws {
        let refuses = Switch()
        let forge = try ForgeServer { target in
            switch target {
            case "/issues":
                .init(
                    fields: ["Link: </issues?page=2>; rel=\"next\""],
                    body: #"[{"id":1,"title":"a"},{"title":"without a key"}]"#)
            case "/issues?page=2":
                refuses.isOn
                    ? .init(status: "400 Bad Request", body: "{}") : .init(body: #"[{"id":2,"title":"b"}]"#)
            default: nil
            }
        }
        let mirror = try forge.mirror(), first = RefreshRun(NoOpTracer()), second = RefreshRun(NoOpTracer())
        refuses.turn(on: true)
        await #expect(throws: MirrorError.self) { _ = try await first.sync(mirror, nil) }
        #expect(first.totals.skipped == 1 && first.totals.skippedBefore == 0)
        refuses.turn(on: false)
        #expect(try await second.sync(mirror, nil))
        #expect(forge.server.requests.map(\.target) == ["/issues", "/issues?page=2", "/issues?page=2"])
        #expect(second.totals.skipped == 0 && second.totals.finding == "skipped 1 record that cannot be stored")
        var item = state(completeBefore: nil)
        item.note(.complete, second.totals, at: now)
        #expect(item.health(at: now).status == .degraded)
    }

    @Test("records without a value for the path of their list are counted, and leave the health as it is")
    func withoutValue() async throws {
        let forge = try ForgeServer { target in
            target == "/issues"
                ? .init(body: #"[{"id":1,"title":"a"},{"id":2},{"id":3,"title":null}]"#) : .init(body: "[]")
        }
        let file = try forge.folder.write(
            "tarn.yaml",
            """
            api: { base: '\(forge.server.base)' }
            entities:
              Issue: { key: id, attributes: { id: int, title: string? } }
              Label: { key: id, attributes: { id: int } }
            endpoints:
              issues: { path: /issues, entity: Issue }
              labels: { path: '/labels/{issue.title}', for_each: Issue, entity: Label }
            """)
        let description = try Description.load(path: file)
        let store = try Store.open(at: forge.folder("mirror.tarn"), schema: description.schema)
        let run = RefreshRun(NoOpTracer())
        let mirror = try APIMirror(description, store: store, transport: CurlTransport())
        #expect(try await run.sync(mirror, nil))
        #expect(run.totals.withoutValue == 2 && run.totals.finding == nil)
        #expect(forge.server.requests.map(\.target) == ["/issues", "/labels/a"])
    }

    @Test("jitter lengthens waits by at most its fraction, and differs")
    func jitter() {
        var refresh = state.refresh
        refresh.jitter = 0.5
        let waits = (0..<200).map { _ in refresh.jittered(.seconds(10)) }
        #expect(waits.allSatisfy { $0 >= .seconds(10) && $0 <= .seconds(15) })
        #expect(Set(waits).count > 100)
    }

    @Test(
        "a list that the server may have cut off does not end at a limit of its request; stored pages skip records, too"
    )
    func pagesOfRun() async throws {
        let forge = try ForgeServer { target in
            if target == "/mixed" {
                return .init(
                    fields: ["Cache-Control: max-age=600"],
                    body: #"[{"id":1,"title":"a","labels":[]},{"title":"without a key","labels":[]}]"#)
            }
            guard target.hasPrefix("/capped") else { return nil }
            return .init(
                body: #"{"total":{"value":1,"relation":"gte"},"items":[{"id":1,"title":"a","labels":[]}]}"#)
        }
        let client = try forge.client()
        let capped = RecordRequest<Issue>.get(
            "/capped", records: "items", pagination: .pageNumber(.query("page"), total: "total.value"))
        func totals(_ request: RecordRequest<Issue>) async throws -> RefreshRun.Totals {
            let run = RefreshRun(NoOpTracer())
            #expect(try await run.follow(client.pages(request)))
            return run.totals
        }
        let doubtful = try await totals(capped), limited = try await totals(.issues().limit(pages: 1))
        #expect(doubtful.cutOff == 0 && doubtful.doubts.count == 1, "\(doubtful)")
        #expect(limited.cutOff == 1 && limited.doubts.isEmpty, "\(limited)")
        for _ in 0..<2 { #expect(try await totals(.get("/mixed")).skipped == 1) }
        #expect(forge.server.requests.filter { $0.target == "/mixed" }.count == 1)
    }
}
