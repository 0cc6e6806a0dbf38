// Records that both sides change.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: conflicts")
struct OutboxConflictTests {
    private static let key = RecordKey(7)

    /// An item whose title or votes another client has changed since it was fetched.
    private func fixture(
        _ write: String = "", tags: Bool = true, seen: Bool = false, other: (inout ModelAPI.Item) -> Void
    ) async throws -> (OutboxFixture, (ConflictPolicy) async throws -> Outbox) {
        var api = ModelAPI()
        api.hasTags = tags
        let fixture = try OutboxFixture(api, write: write)
        try await fixture.stored(7)
        return (
            fixture,
            { policy in
                let outbox = fixture.outbox(policy)
                // A write of this process is answered with the validator of the next one.
                if tags {
                    try await outbox.update("Item", Self.key, [.init("state", .string("new"))])
                    _ = try await outbox.drain()
                }
                return outbox
            }
        )
    }

    private func change(_ fixture: OutboxFixture, _ body: (inout ModelAPI.Item) -> Void) {
        fixture.server.with { api in
            api.edit(7, body)
            api.clearLog()
        }
    }

    @Test("a field that only the other side has changed is merged")
    func disjoint() async throws {
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(.perField)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.votes = 5 }
        let report = try await drained(outbox)
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.title } == "mine")
        #expect(try fixture.field("votes", of: Self.key) == .int(5))
        let statuses = fixture.server.with(\.requests).map { $0.method + " " + ($0.fields["if-match"] ?? "-") }
        #expect(statuses == ["PATCH \"v2\"", "GET -", "PATCH \"v3\""])
    }

    @Test("a server that is busy when the record is read after a conflict is asked again when it wants to be")
    func busyRead() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        fixture.server.with { api in
            api.fault = { _ in .status(409) }
            api.readFault = { _ in .status(503, fields: ["Retry-After": "30"]) }
        }
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        let report = try await outbox.drain(), next = try #require(report.nextAttempt)
        #expect(report.failed == 1 && next.date.timeIntervalSinceNow > 20, "\(report)")
    }

    @Test("a field that both have changed is held: a retry sends the local value, a discard takes the server's")
    func held() async throws {
        for isRetried in [true, false] {
            let (fixture, prepare) = try await fixture { _ in }
            let outbox = try await prepare(.perField)
            try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
            change(fixture) { $0.title = "theirs" }
            let report = try await drained(outbox)
            #expect(report.dead == 1 && report.sent == 0, "\(report)")
            let dead = try #require(try outbox.operations().first)
            #expect(dead.failure?.kind == "conflict" && dead.failure?.message.contains("title") == true)
            #expect(try fixture.field("title", of: Self.key) == .string("mine"))
            if isRetried {
                try await outbox.retry(dead.id)
                #expect(try await drained(outbox).sent == 1)
            } else {
                try await outbox.discard(dead.id)
            }
            let expected = isRetried ? "mine" : "theirs"
            #expect(fixture.server.with { $0.items[7]?.title } == expected)
            #expect(try fixture.field("title", of: Self.key) == .string(expected))
        }
    }

    @Test("the values that the server gives a new record are no conflict with a change that is queued behind it")
    func defaultsOfCreation() async throws {
        let place = try ScriptedOutbox(
            """
            Label: { key: id, attributes: { id: int, name: string }, write: { create: 'POST /labels' } }
            Issue:
              key: id
              attributes: { id: int, title: string, state: string? }
              relationships: { labels: { to: [Label] } }
              write: { create: 'POST /issues', update: 'PATCH /issues/{id}' }
            """
        ) { request in
            switch "\(request.method) \(request.target)" {
            case "POST /labels": ScriptedServer.Answer(status: "201 Created", body: #"{"id":5,"name":"new"}"#)
            case "POST /issues":
                ScriptedServer.Answer(
                    status: "201 Created", body: #"{"id":7,"title":"x","state":"open","labels":[]}"#)
            default: ScriptedServer.Answer(body: #"{"id":7,"title":"x","state":"mine","labels":[5]}"#)
            }
        }
        let outbox = place.outbox()
        let issue = try await outbox.create("Issue", [.init("title", .string("x"))])
        let label = try await outbox.create("Label", [.init("name", .string("new"))])
        try await outbox.update(
            "Issue", issue, [.init("state", .string("mine")), .init("labels", .references([label]))])
        #expect(try outbox.operations().map(\.kind) == [.create, .create, .update])
        let report = try await outbox.drain()
        #expect(report.sent == 3 && report.conflicts == 0 && report.remaining.isEmpty, "\(report)")
        #expect(place.writes.last == "PATCH /issues/7")
        #expect(try place.field("state", of: RecordKey(7)) == .string("mine"))
        #expect(try place.field("labels", of: RecordKey(7)) == .references([RecordKey(5)]))
    }

    @Test(
        "the policies server and client, and the rules for an overlap",
        arguments: [
            ("server", "theirs", 0), ("client", "mine", 1), ("local", "mine", 1), ("overlap server", "theirs", 0),
        ])
    func policies(name: String, expected: String, sent: Int) async throws {
        let policy: ConflictPolicy =
            switch name {
            case "server": .server
            case "client": .client
            case "local": .perField(overlap: .local)
            default: .perField(overlap: .server)
            }
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(policy)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        let report = try await drained(outbox)
        #expect(report.remaining.isEmpty && report.dead == 0 && report.conflicts >= 1, "\(report)")
        #expect(report.sent == sent && report.withdrawn == 1 - sent, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.title } == expected)
        #expect(try fixture.field("title", of: Self.key) == .string(expected))
        #expect(try fixture.store.read { try $0.localChange("Item", Self.key) } == nil)
    }

    @Test(
        "an update of a record that the server has deleted: the policy server deletes it here, the others hold the change",
        arguments: [true, false], [true, false])
    func deletedAtServer(isServer: Bool, canBeRead: Bool) async throws {
        let (fixture, _) = try await fixture("read: '/items/{id}'") { _ in }
        let outbox = fixture.outbox(isServer ? .server : .perField)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        // An update that may not be found, of a record that is there, is refused.
        fixture.server.with { api in
            if canBeRead { api.fault = { $0.method == "PATCH" ? .status(404) : nil } } else { api.items[7] = nil }
        }
        let report = try await drained(outbox)
        let isDeleted = isServer && !canBeRead
        #expect(report.sent == 0 && report.dead == (isDeleted ? 0 : 1), "\(report)")
        #expect(report.withdrawn == (isDeleted ? 1 : 0), "\(report)")
        #expect(try (fixture.record("Item", Self.key) == nil) == isDeleted)
        #expect(try outbox.operations().first?.failure?.status == (isDeleted ? nil : 404))
    }

    @Test("a field that was changed here before, and that a response has brought since, is based on the server's value")
    func changedBefore() async throws {
        let (fixture, _) = try await fixture { _ in }
        let outbox = fixture.outbox(.perField)
        _ = try await fixture.store.updateLocally(Query("Item"), set: ["title": .string("draft")])
        try await fixture.sync()
        #expect(try fixture.field("title", of: Self.key) == .string("draft"))
        try await outbox.update("Item", Self.key, [.init("title", .string("final"))])
        #expect(try outbox.operations().first?.changes.first?.before == .string("a"))
        let report = try await drained(outbox)
        #expect(report.sent == 1 && report.dead == 0 && report.conflicts == 0, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.title } == "final")
        #expect(try fixture.store.read { try $0.localChange("Item", Self.key) } == nil)
    }

    @Test("a field that a policy takes from the server is named, and so is a whole change")
    func named() async throws {
        for isWhole in [false, true] {
            let (fixture, _) = try await fixture(tags: false) { _ in }
            let outbox = fixture.outbox(isWhole ? .server : .perField(overlap: .server))
            try await outbox.update("Item", Self.key, [.init("title", .string("mine")), .init("votes", .int(9))])
            change(fixture) { $0.title = "theirs" }
            try await fixture.sync()
            let report = try await outbox.drain()
            #expect(report.withdrawn == (isWhole ? 1 : 0) && report.sent == (isWhole ? 0 : 1), "\(report)")
            #expect(report.warnings.map(\.failure.kind) == ["withdrawn"], "\(report)")
            let message = report.warnings.first?.description ?? ""
            let fields = isWhole ? "title, votes" : "title"
            #expect(message.contains("update Item 7: the change of \(fields) is withdrawn"), "\(message)")
        }
    }

    @Test("code sees base, local and remote, and decides about the values")
    func code() async throws {
        let seen = Mutex<[[Value?]]>([])
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(
            .resolve { base, local, remote in
                seen.withLock { $0.append([base["title"], local["title"], remote["title"]]) }
                return [.init("title", .string("both"))]
            })
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        let report = try await drained(outbox)
        #expect(report.sent == 1 && report.remaining.isEmpty, "\(report)")
        #expect(seen.withLock(\.self) == [[.string("a"), .string("mine"), .string("theirs")]])
        #expect(fixture.server.with { $0.items[7]?.title } == "both")
        #expect(try fixture.field("title", of: Self.key) == .string("both"))
    }

    @Test("code that ends with the task that sends has decided nothing: the next one calls it again")
    func cancelledCode() async throws {
        let calls = Mutex(0)
        let (fixture, _) = try await fixture(tags: false) { _ in }
        let outbox = fixture.outbox(
            .resolve { _, local, _ in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call == 1 { try await Task.sleep(for: .seconds(3600)) }
                return [.init("title", local["title"] ?? .null)]
            })
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        try await fixture.sync()
        let first = Task { try await outbox.drain() }
        try await eventually("the code") { calls.withLock(\.self) == 1 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let left = try #require(try outbox.operations().first)
        #expect(left.state == .pending && left.failure == nil && left.attempts == 0, "\(left)")
        let report = try await drained(outbox)
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.title } == "mine" && calls.withLock(\.self) == 2)
    }

    @Test("a field that code returns and that no request sends stays a local change")
    func unsent() async throws {
        let (fixture, _) = try await fixture(tags: false) { _ in }
        let both = ConflictPolicy.resolve { _, _, _ in [.init("title", .string("both")), .init("votes", .int(5))] }
        let outbox = try fixture.outbox(both, sending: ["title"])
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        try await fixture.sync()
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.count == 1 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.title } == "both")
        #expect(try fixture.field("votes", of: Self.key) == .int(5))
        #expect(try fixture.store.read { try $0.localChange("Item", Self.key)?.fields } == ["votes"])
    }

    @Test("code that returns nil withdraws the change")
    func withdrawn() async throws {
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(.resolve { _, _, _ in nil })
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        let report = try await drained(outbox)
        #expect(report.withdrawn == 1 && report.remaining.isEmpty, "\(report)")
        #expect(try fixture.field("title", of: Self.key) == .string("theirs"))
    }

    @Test("a page that has brought another value decides before the first attempt")
    func page() async throws {
        let (fixture, _) = try await fixture(tags: false) { _ in }
        let outbox = fixture.outbox(.perField)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine")), .init("votes", .int(1))])
        change(fixture) { $0.title = "theirs" }
        try await fixture.sync()
        #expect(try fixture.field("title", of: Self.key) == .string("mine"))
        change(fixture) { _ in }
        let report = try await drained(outbox)
        #expect(report.dead == 1, "\(report)")
        #expect(fixture.effects.isEmpty)
    }

    @Test("the policy of the description has precedence")
    func declared() async throws {
        let (fixture, prepare) = try await fixture("conflicts: client") { _ in }
        let outbox = try await prepare(.server)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        change(fixture) { $0.title = "theirs" }
        #expect(try await drained(outbox).sent == 1)
        #expect(fixture.server.with { $0.items[7]?.title } == "mine")
    }

    @Test("a 409 for another reason than a change is a dead letter, and is not sent again and again")
    func other() async throws {
        var api = ModelAPI()
        api.fault = { $0.method == "PATCH" ? .status(409, body: #"{"message":"locked"}"#) : nil }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox(.client)
        try await fixture.stored(7)
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        let report = try await drained(outbox)
        #expect(report.dead == 1, "\(report)")
        #expect(report.problems.first?.failure.message.contains("locked") == true)
        #expect(fixture.server.with(\.requests).count { $0.method == "PATCH" } == 1)
    }

    @Test("a deletion of a record that was changed: held, sent, or withdrawn", arguments: ["hold", "client", "server"])
    func deletion(policy: String) async throws {
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(policy == "hold" ? .perField : policy == "client" ? .client : .server)
        try await outbox.delete("Item", Self.key)
        change(fixture) { $0.title = "theirs" }
        let report = try await drained(outbox)
        switch policy {
        case "hold":
            #expect(report.dead == 1 && fixture.server.with { $0.items[7] } != nil, "\(report)")
            try await outbox.discard(try #require(try outbox.operations().first).id)
            #expect(try fixture.field("title", of: Self.key) == .string("theirs"))
        case "client":
            #expect(report.sent == 1 && fixture.server.with { $0.items[7] } == nil, "\(report)")
        default:
            #expect(report.withdrawn == 1, "\(report)")
            #expect(try fixture.field("title", of: Self.key) == .string("theirs"))
        }
    }

    @Test("an operation that waits for one that is held is sent by the same drain")
    func unlocked() async throws {
        let (fixture, _) = try await fixture(tags: false) { _ in }
        let outbox = fixture.outbox(.perField)
        fixture.server.with { $0.fault = { _ in .status(422) } }
        try await outbox.update("Item", Self.key, [.init("title", .string("mine"))])
        _ = try await outbox.drain()
        try await outbox.update("Item", Self.key, [.init("votes", .int(3))])
        try await outbox.retry(try #require(try outbox.operations().first).id)
        change(fixture) { $0.title = "theirs" }
        try await fixture.sync()
        fixture.server.with { $0.fault = { _ in nil } }
        let report = try await outbox.drain()
        #expect(report.dead == 1 && report.sent == 1, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.votes } == 3)
    }

    @Test("several updates of one record are no conflict among themselves")
    func own() async throws {
        let (fixture, prepare) = try await fixture { _ in }
        let outbox = try await prepare(.perField)
        let gate = ThreadGate(), count = Counter()
        fixture.server.with { api in
            api.clearLog()
            api.fault = { _ in
                if count.next() == 1 { gate.wait() }
                return nil
            }
        }
        try await outbox.update("Item", Self.key, [.init("title", .string("b"))])
        let task = Task { try await outbox.drain() }
        try await gate.reached()
        // The first one is being sent: this one is not folded into it.
        try await outbox.update("Item", Self.key, [.init("title", .string("c"))])
        try await outbox.update("Item", Self.key, [.init("title", .string("d"))])
        #expect(try outbox.operations().map(\.state) == [.sending, .pending])
        gate.open()
        _ = try await task.value
        _ = try await drained(outbox)
        #expect(fixture.effects == ["PATCH item 7 title=b", "PATCH item 7 title=d"])
        #expect(fixture.server.with(\.requests).map { $0.fields["if-match"] ?? "-" } == ["\"v2\"", "\"v3\""])
        #expect(try fixture.field("title", of: Self.key) == .string("d"))
    }
}
