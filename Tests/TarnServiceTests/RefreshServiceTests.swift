// A service in a real group, over a real store, with a local server.

import Foundation
import Locking
import ServiceLifecycle
import TarnMacros
import TarnService
import TestSupport
import Testing

@Suite("Refresh service", .timeLimit(.minutes(2)))
struct RefreshServiceTests {
    private func stored(_ client: RecordClient) throws -> [Int64] {
        try client.store.read { try $0.fetch(Issue.all).map(\.id) }
    }

    private func issues(_ client: RecordClient, every interval: Duration = .seconds(3600)) -> ScheduledRefresh {
        var refresh = ScheduledRefresh(.issues(), of: client, name: "issues", every: interval)
        refresh.staleAfter = .seconds(3600)
        return refresh
    }

    private func labels(_ client: RecordClient, every interval: Duration = .seconds(3600)) -> ScheduledRefresh {
        ScheduledRefresh(.labels(), of: client, name: "labels", every: interval)
    }

    @Test("requests are repeated on their schedules: all pages are stored, then confirmed")
    func schedule() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        let running = try RunningService([issues(client, every: .milliseconds(20)), labels(client)], .quick)
        try await eventually("three refreshes") { forge.server.targets.count { $0 == "/issues?page=3" } >= 3 }
        try await running.end()
        #expect(try stored(client) == [1, 2, 3])
        #expect(forge.server.targets.count { $0.hasPrefix("/labels") } == 1)
        let again = forge.server.requests.filter { $0.target == "/issues" }.dropFirst()
        #expect(!again.isEmpty && again.allSatisfy { $0.hasTag("p1") })
        #expect(running.service.health.status == .healthy)
        #expect(running.service.health.refreshes.map(\.name) == ["issues", "labels"])
    }

    @Test("a refresh that fails is retried after waits that double, does not stop others, and recovers")
    func failure() async throws {
        let works = Switch()
        let forge = try ForgeServer { target in
            target.hasPrefix("/labels") && !works.isOn ? .init(status: "500 Internal Server Error") : nil
        }
        let client = try forge.client()
        let running = try RunningService([labels(client), issues(client, every: .milliseconds(20))], .quick)
        try await eventually("four failures") { (running.item("labels")?.failures ?? 0) >= 4 }
        try await eventually("two refreshes") { forge.server.targets.count { $0 == "/issues?page=3" } >= 2 }
        let failed = try #require(running.item("labels"))
        #expect(failed.status == .unavailable && failed.lastComplete == nil && failed.age == nil)
        #expect(failed.failure?.contains("500") == true && failed.failure?.contains("s3cret") == false)
        #expect(running.service.health.status == .unavailable)
        works.turn(on: true)
        try await eventually("recovery") { running.service.health.status == .healthy }
        let recovered = try #require(running.item("labels"))
        #expect(recovered.failure == nil && recovered.failures == 0 && recovered.lastComplete != nil)
        try await running.end()
    }

    @Test("graceful shutdown ends a refresh after the page under way, which is stored")
    func shutdown() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { target in
            if target == "/issues?page=2" { gate.wait() }
            return nil
        }
        let client = try forge.client()
        let running = try RunningService([issues(client)], .quick)
        try await gate.reached()
        #expect(running.item("issues")?.isRunning == true)
        await running.beginShutdown()
        try await Task.sleep(for: .milliseconds(50))
        #expect(running.item("issues")?.isRunning == true)
        gate.open()
        try await running.end()
        #expect(try stored(client) == [1, 2])
        #expect(forge.server.targets == ["/issues", "/issues?page=2"])
        #expect(running.item("issues")?.lastComplete == nil && running.item("issues")?.failures == 0)
    }

    @Test("graceful shutdown ends a service that waits for its next refresh, or for a turn")
    func shutdownOfWaits() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { target in
            if target == "/issues" { gate.wait() }
            return nil
        }
        let client = try forge.client()
        var options = RefreshService.Options.quick
        options.concurrency = 1
        var later = labels(client)
        later.name = "later"
        let running = try RunningService([issues(client), labels(client), later], options)
        try await gate.reached()
        await running.beginShutdown()
        gate.open()
        try await running.end()
        #expect(!forge.server.targets.contains("/issues?page=2"))
    }

    @Test("graceful shutdown ends a refresh that waits for a limit of its server")
    func shutdownOfLimits() async throws {
        let forge = try ForgeServer { target in
            guard target == "/issues" else { return nil }
            return .init(
                fields: [
                    "Link: </issues?page=2>; rel=\"next\"", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 100",
                ],
                body: #"[{"id":1,"title":"t1","labels":[]}]"#)
        }
        let client = try forge.client()
        let running = try RunningService([issues(client)], .quick)
        try await eventually("the first page") { try stored(client) == [1] }
        try await Task.sleep(for: .milliseconds(50))
        let began = ContinuousClock.now
        try await running.end()
        #expect(ContinuousClock.now - began < .seconds(50))
        #expect(forge.server.targets == ["/issues"])
        #expect(running.item("issues")?.failures == 0 && running.item("issues")?.lastComplete == nil)
    }

    @Test("graceful shutdown does not wait for a program that prints no secret: a refresh that was complete stays so")
    func shutdownOfSecrets() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { target in
            if target == "/token" { return .init(body: #"{"access_token":"t","token_type":"bearer"}"#) }
            if target == "/issues?page=3" { gate.wait() }
            return nil
        }
        let client = try forge.client {
            $0.api.authentication = .oauth2(
                OAuth2(
                    tokenURL: forge.server.base + "/token",
                    clientID: .command([
                        "sh", "-c",
                        "[ -e '\(forge.folder("hang"))' ] || exec echo id; touch '\(forge.folder("hangs"))'; sleep 60",
                    ])))
        }
        let running = try RunningService([issues(client)], .quick)
        try await gate.reached()
        _ = try forge.folder.write("hang", "")
        gate.open()
        try await eventually("the program") { FileManager.default.fileExists(atPath: forge.folder("hangs")) }
        let began = ContinuousClock.now
        try await running.end()
        // The program would be killed after half a minute.
        #expect(ContinuousClock.now - began < .seconds(20))
        #expect(running.item("issues")?.lastComplete != nil && running.item("issues")?.failures == 0)
        #expect(try stored(client) == [1, 2, 3])
    }

    @Test("cancellation ends a transfer that the server does not answer")
    func cancellation() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { target in
            if target == "/issues?page=2" { gate.wait() }
            return nil
        }
        let client = try forge.client()
        let running = try RunningService([issues(client)], .quick)
        try await gate.reached()
        _ = await running.cancel()
        gate.open()
        #expect(try stored(client) == [1])
        #expect(running.item("issues")?.failures == 0 && running.item("issues")?.isRunning == false)
    }

    @Test("refreshes that wait for others start in the order of their priorities")
    func priorities() async throws {
        let queue = RefreshQueueProbe()
        #expect(try await queue.order(of: [.low, .normal, .high, .normal]) == [.high, .normal, .normal, .low])
    }

    @Test("a shutdown that comes while refreshes ask for their turns ends all of them")
    func shutdownAmongTurns() async {
        // In a process of its own: threads that wait for one another would stop all other tests.
        await #expect(processExitsWith: .success) {
            alarm(100)
            try await RefreshQueueProbe.shutDown(rounds: 500)
        }
    }

    @Test("refreshes of one API do not wait for those of another")
    func turnsOfAPIs() async throws {
        let gate = ThreadGate()
        let slow = try ForgeServer { target in
            if target == "/issues" { gate.wait() }
            return nil
        }
        let quick = try ForgeServer()
        let slowClient = try slow.client(), client = try quick.client()
        var options = RefreshService.Options.quick
        options.concurrency = 1
        let running = try RunningService([issues(slowClient), labels(client)], options)
        try await gate.reached()
        try await eventually("the other API") { running.item("labels")?.lastComplete != nil }
        gate.open()
        try await running.end()
    }

    @Test("at most as many refreshes run at once as the options say")
    func concurrency() async throws {
        let running = Guarded((now: 0, most: 0))
        let forge = try ForgeServer { target in
            guard target.hasPrefix("/slow") else { return nil }
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            // The first request waits for a second one.
            for _ in 0..<1000 where running.withLock({ $0.most < 2 }) { Thread.sleep(forTimeInterval: 0.01) }
            Thread.sleep(forTimeInterval: 0.02)
            running.withLock { $0.now -= 1 }
            return .init(body: "[]")
        }
        let client = try forge.client()
        var options = RefreshService.Options.quick
        options.concurrency = 2
        let refreshes = (0..<6).map { place in
            ScheduledRefresh(
                RecordRequest<Label>.get("/slow/\(place)"), of: client, every: .seconds(3600))
        }
        let service = try RunningService(refreshes, options)
        try await eventually("six refreshes") { service.service.health.status == .healthy }
        try await service.end()
        #expect(running.withLock { $0.most } == 2)
    }

    @Test("a new process knows when a refresh was complete, and waits until it is due")
    func restart() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        let first = try RunningService([issues(client)], .quick)
        try await eventually("a refresh") { first.service.health.status == .healthy }
        try await first.end()
        let requests = forge.server.targets.count
        let second = try RunningService([issues(client)])
        #expect(second.service.health.status == .healthy)
        #expect(second.item("issues")?.lastComplete.map { abs($0.timeIntervalSinceNow) < 60 } == true)
        try await eventually("a plan") { second.item("issues")?.nextStart != nil }
        #expect((second.item("issues")?.nextStart?.timeIntervalSinceNow ?? 0) > 3000)
        try await second.end()
        #expect(forge.server.targets.count == requests)
        // One that is due, or must not wait, starts at once.
        for options in [RefreshService.Options(), .quick] {
            let due = try RunningService(
                [issues(client, every: options.start == .whenDue ? .milliseconds(1) : .seconds(3600))], options)
            let known = forge.server.targets.count
            try await eventually("a request") { forge.server.targets.count > known }
            try await due.end()
        }
    }

    @Test("the endpoints of a mirror are synced on a schedule, and a failure is one")
    func mirror() async throws {
        let fails = Switch()
        let forge = try ForgeServer { _ in fails.isOn ? .init(status: "400 Bad Request") : nil }
        let mirror = try forge.mirror()
        var refresh = ScheduledRefresh(endpoints: ["issues"], of: mirror, every: .milliseconds(20))
        refresh.staleAfter = .seconds(3600)
        let running = try RunningService([refresh], .quick)
        try await eventually("a refresh") { running.service.health.status == .healthy }
        #expect(try mirror.client.store.read { try $0.count("Issue") } == 3)
        fails.turn(on: true)
        try await eventually("a failure") { running.service.health.status == .degraded }
        #expect(running.item("issues")?.failure?.contains("400") == true)
        try await running.end()
    }

    /// An issue with one more field than those of the store.
    @Record("Issue") struct LongIssue {
        @Key var id: Int64
        var title: String
        var body: String?
        var labels: References<Label>
    }

    @Test("a refresh of the same name is complete only if an earlier one asked for the same, with the same fields")
    func otherRequests() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        let running = try RunningService([issues(client)], .quick)
        try await eventually("a complete refresh") { running.service.health.status == .healthy }
        try await running.end()
        func health(_ request: RecordRequest<Issue>, _ client: RecordClient) throws -> RefreshHealth.Status {
            let refresh = ScheduledRefresh(request, of: client, name: "issues", every: .seconds(3600))
            return try RefreshService([refresh]).health.status
        }
        #expect(try health(.issues(), client) == .healthy)
        #expect(try health(.get("/issues", ["page": "2"]), client) == .unavailable)
        #expect(try health(.get("/labels"), client) == .unavailable)
        #expect(try health(.issues().limit(pages: 1), client) == .unavailable)
        let path = forge.folder("forge.tarn")
        let elsewhere = try RecordClient(
            base: forge.server.base + "/v2", records: Issue.self, Label.self, store: path)
        #expect(try health(.issues(), elsewhere) == .unavailable)
        let upgraded = try RecordClient(
            base: forge.server.base, records: LongIssue.self, Label.self, store: forge.folder("forge.tarn"))
        let long = ScheduledRefresh(
            RecordRequest<LongIssue>.get("/issues"), of: upgraded, name: "issues", every: .seconds(3600))
        #expect(try RefreshService([long]).health.status == .unavailable)
    }

    @Test("a refresh that was complete with other credentials starts at once")
    func otherCredentials() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        let first = try RunningService([issues(client)], .quick)
        try await eventually("a complete refresh") { first.service.health.status == .healthy }
        try await first.end()
        let known = forge.server.targets.count
        let token = try forge.folder.write("other", "0ther")
        let other = try RecordClient(
            base: forge.server.base, records: Issue.self, Label.self, store: forge.folder("forge.tarn")
        ) {
            $0.api.authentication = .bearer(.file(token))
        }
        let second = try RunningService([issues(other)])
        try await eventually("the last page") { forge.server.targets.dropFirst(known).contains("/issues?page=3") }
        try await second.end()
    }

    @Test("refreshes of one name with other parameters do not replace each other's times")
    func otherParameters() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        let page = ScheduledRefresh(
            RecordRequest<Issue>.get("/issues", ["page": "3"]), of: client, name: "issues", every: .seconds(3600))
        for refresh in [issues(client), page] {
            let running = try RunningService([refresh], .quick)
            try await eventually("a complete refresh") { running.service.health.status == .healthy }
            try await running.end()
        }
        #expect(try RefreshService([issues(client)]).health.status == .healthy)
        #expect(try RefreshService([page]).health.status == .healthy)
    }

    @Test("a record that does not fit its struct does not stop a refresh")
    func misfit() async throws {
        let forge = try ForgeServer { target in
            guard target == "/issues" else { return nil }
            return .init(
                fields: ["Link: </issues?page=2>; rel=\"next\""], body: #"[{"id":1,"title":null,"labels":[]}]"#)
        }
        let client = try forge.client()
        let running = try RunningService([issues(client)], .quick)
        try await eventually("a complete refresh") { running.service.health.status == .healthy }
        try await running.end()
        #expect(forge.server.targets == ["/issues", "/issues?page=2", "/issues?page=3"])
    }

    @Test("a refresh that waits for others has no next start")
    func waiting() async throws {
        let mayAnswer = Switch()
        let forge = try ForgeServer { _ in
            while !mayAnswer.isOn { usleep(1000) }
            return nil
        }
        let client = try forge.client()
        var options = RefreshService.Options.quick
        options.concurrency = 1
        let running = try RunningService([labels(client), issues(client)], options)
        try await eventually("a refresh that runs, and one that waits") {
            let items = running.service.health.refreshes
            return items.count { $0.isRunning } == 1 && items.allSatisfy { $0.nextStart == nil }
        }
        mayAnswer.turn(on: true)
        try await running.end()
    }

    @Test("an interval may be as long as a duration can be")
    func longIntervals() async throws {
        let forge = try ForgeServer(), client = try forge.client()
        var options = RefreshService.Options.quick
        options.ageInterval = .seconds(Int64.max)
        let running = try RunningService([issues(client, every: .seconds(Int64.max))], options)
        try await eventually("the next start") {
            running.item("issues")?.nextStart != nil && running.item("issues")?.lastComplete != nil
        }
        #expect(running.item("issues")?.nextStart ?? .distantPast > Date() + 1e9)
        try await running.end()
    }
}
