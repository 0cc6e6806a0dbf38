// Sending local changes to a server that keeps them.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: sending")
struct OutboxSendingTests {
    @Test(
        "a created record is visible at once, is sent once, and has the server's key afterwards",
        arguments: ModelAPI.AnswerForm.allCases)
    func create(form: ModelAPI.AnswerForm) async throws {
        var api = ModelAPI()
        api.form = form
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        let key = try await outbox.create("Item", [.init("title", .string("new")), .init("state", .string("open"))])
        #expect(try fixture.field("title", of: key) == .string("new"))
        #expect(try outbox.operations().map(\.kind) == [.create])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.effects == ["POST item 101 title=new"])
        #expect(try fixture.keys("Item") == [101])
        #expect(try fixture.field("title", of: RecordKey(101)) == .string("new"))
        #expect(try fixture.store.read { try $0.localChange("Item", RecordKey(101)) } == nil)
    }

    @Test(
        "an update sends what changed, with the idempotency key of its operation",
        arguments: ModelAPI.AnswerForm.allCases)
    func update(form: ModelAPI.AnswerForm) async throws {
        var api = ModelAPI()
        api.form = form
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await fixture.stored(7)
        fixture.server.with { $0.clearLog() }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b")), .init("state", .string("open"))])
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("b"))
        let operation = try #require(try outbox.operations().first)
        #expect(operation.changes == [.init("title", before: .string("a"), after: .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.remaining.isEmpty, "\(report)")
        let request = try #require(fixture.server.with(\.requests).first)
        #expect(request.text == #"{"title":"b"}"# && request.fields["content-type"] == "application/json")
        #expect(request.fields["idempotency-key"] == operation.idempotencyKey.uuidString.lowercased())
        #expect(fixture.server.with { $0.items[7]?.title } == "b")
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("b"))
        #expect(try fixture.store.read { try $0.localChange("Item", RecordKey(7)) } == nil)
    }

    @Test("a deletion that the server answers with 404 is done")
    func delete() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await outbox.delete("Item", RecordKey(7))
        #expect(try fixture.record("Item", RecordKey(7)) == nil)
        fixture.server.with { $0.items[7] = nil }
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
    }

    @Test("a comment waits for its new item, and refers to the server's key")
    func dependency() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        let item = try await outbox.create("Item", [.init("title", .string("new"))])
        let comment = try await outbox.create(
            "Comment", [.init("text", .string("c")), .init("item", .reference(item))])
        let waits = try outbox.waits(of: try #require(try outbox.operations().last).id)
        #expect(waits.values.sorted { !$0 && $1 } == [false])
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.effects == ["POST item 101 title=new", "POST comment 102 text=c item=101"])
        #expect(try fixture.field("item", of: RecordKey(102), "Comment") == .reference(RecordKey(101)))
        // The temporary key leads to the same record.
        #expect(try fixture.record("Comment", comment)?.key == RecordKey(102))
    }

    @Test("members are added and removed by their own requests")
    func members() async throws {
        var api = ModelAPI()
        api.labels = [1: "one", 2: "two"]
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await outbox.add([RecordKey(1), RecordKey(2)], to: "labels", of: "Item", RecordKey(7))
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(1), RecordKey(2)]))
        _ = try await outbox.drain()
        #expect(fixture.server.with { $0.items[7]?.labels } == [1, 2])
        try await outbox.remove([RecordKey(1)], from: "labels", of: "Item", RecordKey(7))
        let report = try await outbox.drain()
        #expect(report.remaining.isEmpty, "\(report)")
        #expect(fixture.server.with { $0.items[7]?.labels } == [2])
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(2)]))
    }

    @Test("a lost answer is no second effect where the server honours the key")
    func lostAnswer() async throws {
        let count = Counter()
        var api = ModelAPI()
        api.fault = { _ in count.next() <= 2 ? .lost : nil }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await drained(outbox)
        #expect(report.failed == 2 && report.sent == 1 && report.remaining.isEmpty, "\(report)")
        #expect(Set(fixture.server.with(\.requests).map { $0.fields["idempotency-key"] }).count == 1)
        #expect(fixture.effects == ["POST item 101 title=new"])
        #expect(try fixture.keys("Item") == [101])
    }

    @Test("a refusal is a dead letter with the reason; it does not block others, and can be retried or discarded")
    func refusal() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await fixture.stored(8)
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("refuse"))])
        try await outbox.update("Item", RecordKey(8), [.init("title", .string("fine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 1 && report.remaining.dead == 1, "\(report)")
        let dead = try #require(try outbox.operations().first)
        #expect(dead.state == .dead && dead.failure?.status == 422)
        #expect(dead.failure?.message.contains("the text is refused") == true)
        #expect(dead.failure?.excerpt == #"{"message":"the text is refused"}"#)
        #expect(fixture.server.with { $0.items[8]?.title } == "fine")
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("refuse"))
        try await outbox.discard(dead.id)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("a"))
        #expect(try outbox.operations().isEmpty)
    }

    @Test("a server that cannot be reached stops the drain, and nothing dies")
    func unreachable() async throws {
        let fixture = try OutboxFixture(base: "http://127.0.0.1:1"), outbox = fixture.outbox(concurrent: 1)
        for number in 0..<3 { try await outbox.create("Item", [.init("title", .string("\(number)"))]) }
        let report = try await outbox.drain()
        guard case .unreachable? = report.stop else {
            Issue.record("\(report)")
            return
        }
        #expect(report.failed == 1 && report.remaining.pending == 3 && report.remaining.dead == 0)
    }

    @Test("missing credentials stop the drain without a failure of the operation")
    func authentication() async throws {
        var api = ModelAPI()
        api.fault = { _ in .status(401, body: #"{"message":"who are you"}"#) }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox(concurrent: 1)
        for number in 0..<3 { try await outbox.create("Item", [.init("title", .string("\(number)"))]) }
        let report = try await outbox.drain()
        #expect(report.stop?.message.contains("who are you") == true)
        #expect(report.failed == 0 && report.remaining.pending == 3 && report.remaining.failed == 0, "\(report)")
        #expect(fixture.server.with(\.requests).count == 1)
    }

    @Test("what was claimed ahead and not sent goes back to the queue, without an attempt")
    func claimedAhead() async throws {
        let count = Counter(), refused = Counter()
        let fixture = try OutboxFixture(ModelAPI()), outbox = fixture.outbox(concurrent: 4)
        fixture.server.with { api in
            for id in 1...200 { api.items[id] = ModelAPI.Item(title: "a") }
        }
        try await fixture.sync()
        fixture.server.with { api in
            // Answers without a record are applied several at a time, so that claims run ahead.
            api.fault = { _ in
                if count.next() <= 120 { return .status(204) }
                _ = refused.next()
                return .status(401, body: #"{"message":"who are you"}"#)
            }
        }
        for id in 1...200 { try await outbox.update("Item", RecordKey(Int64(id)), [.init("title", .string("b"))]) }
        let report = try await outbox.drain()
        #expect(report.sent == 120 && report.stop?.message.contains("who are you") == true, "\(report)")
        let left = try outbox.operations()
        #expect(left.count == 80 && left.allSatisfy { $0.state == .pending })
        let attempted = left.count { $0.attempts > 0 }, sent = refused.next() - 1
        #expect(attempted == sent && (1...4).contains(sent), "\(attempted) attempts of \(sent) requests")
        fixture.server.with { $0.fault = { _ in nil } }
        #expect(try await outbox.drain().sent == 80)
        #expect(fixture.effects.count == 80)
    }

    @Test("the server's Retry-After delays the operation")
    func retryAfter() async throws {
        let count = Counter()
        var api = ModelAPI()
        api.fault = { _ in count.next() == 1 ? .status(503, fields: ["Retry-After": "3600"]) : nil }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("a"))])
        let start = Timestamp(Date())
        let report = try await outbox.drain()
        let next = try #require(report.nextAttempt)
        #expect(next.microseconds - start.microseconds > 3500 * 1_000_000)
        #expect(try await outbox.drain().sent == 0)
        try await outbox.retry(try #require(try outbox.operations().first).id)
        #expect(fixture.effects.isEmpty)
    }

    @Test("one drain at a time; its process is named")
    func busy() async throws {
        let gate = ThreadGate()
        var api = ModelAPI()
        api.fault = { _ in
            gate.wait()
            return nil
        }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("a"))])
        let first = Task { try await outbox.drain() }
        try await gate.reached()
        #expect(outbox.sender == ProcessInfo.processInfo.processIdentifier)
        await #expect(throws: WriteError.busy(processID: ProcessInfo.processInfo.processIdentifier)) {
            try await outbox.drain()
        }
        gate.open()
        #expect(try await first.value.sent == 1)
        #expect(outbox.sender == nil)
    }

    @Test("run sends what is queued while it runs, and ends when it is cancelled")
    func running() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        let task = Task { try await outbox.run() }
        for number in 0..<5 {
            try await outbox.create("Item", [.init("title", .string("\(number)"))])
            try await eventually("sent") { fixture.effects.count == number + 1 }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("the status reports every change")
    func status() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        var iterator = outbox.status.makeAsyncIterator()
        #expect(try await iterator.next()?.value == OutboxCounts())
        try await outbox.create("Item", [.init("title", .string("refuse"))])
        #expect(try await iterator.next()?.value.pending == 1)
        _ = try await outbox.drain()
        var last = try await iterator.next()?.value
        while last?.dead != 1 { last = try await iterator.next()?.value }
        #expect(last?.pending == 0 && last?.sending == 0)
    }

    @Test("a change that a killed process was sending, and that no request is declared for any more, is reported")
    func undeclaredAfterKill() async throws {
        let fixture = try OutboxFixture()
        try await fixture.stored(7)
        try await fixture.outbox().update("Item", RecordKey(7), [.init("title", .string("b"))])
        let id = try #require(try fixture.outbox().operations().first).id
        // The state that a killed process leaves.
        try await fixture.store.write { _ = try $0.claimOperations([id]) }
        var description = fixture.description
        description.writes["Item"] = nil
        let outbox = try APIClient(description, store: fixture.store, transport: CurlTransport()).outbox()
        let report = try await outbox.drain()
        #expect(report.undeclared == ["Item": 1] && report.remaining.sending == 1, "\(report)")
    }

    @Test("all changes without a request are counted, however many there are")
    func manyUndeclared() async throws {
        let fixture = try OutboxFixture()
        try await fixture.store.write { writer in
            for id: Int64 in 1...2001 { try writer.put("Item", RecordKey(id), [.init("title", .string("a"))]) }
        }
        _ = try await fixture.outbox().updates(Query("Item"), set: ["title": .string("b")])
        var description = fixture.description
        description.writes["Item"] = nil
        let outbox = try APIClient(description, store: fixture.store, transport: CurlTransport()).outbox()
        let report = try await outbox.drain()
        #expect(report.undeclared == ["Item": 2001] && report.remaining.pending == 2001, "\(report)")
        // One that runs drains with each change, and looks at the first ones.
        let first = Mutex<OutboxReport?>(nil)
        let running = Task { try await outbox.run { report in first.withLock { $0 = $0 ?? report } } }
        try await eventually("a report") { first.withLock { $0 != nil } }
        running.cancel()
        _ = await running.result
        #expect(first.withLock { $0?.undeclared } == ["Item": 1000])
    }

    @Test("what no request is declared for is refused when it is queued")
    func undeclared() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        await #expect(throws: WriteError.noRequest(entity: "Label", operation: "update")) {
            try await outbox.update("Label", RecordKey(1), [.init("name", .string("x"))])
        }
    }
}

/// A count that several threads share.
final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
