// Answers to sent changes that bring records, or that cannot be read.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: answers")
struct OutboxAnswerTests {
    private func answering(_ status: Int, _ body: String, _ fields: [String: String] = [:]) -> ModelAPI {
        var api = ModelAPI()
        api.fault = { _ in .status(status, fields: fields, body: body) }
        return api
    }

    @Test(
        "a change whose answer is no record is done, and the report says so; responses with the record are not used any more",
        arguments: [
            "<ok/>", #"{"ok":true}"#, #"[{"id":7},{"id":8}]"#, #"{"id":8,"title":"another record"}"#,
        ])
    func unread(body: String) async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        #expect(try fixture.hasUsableResponse(7))
        fixture.server.with { $0.fault = { _ in .status(200, body: body) } }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        let warning = try #require(report.warnings.first)
        #expect(warning.record == OutboxRecord("Item", RecordKey(7)) && warning.failure.kind == "answer")
        #expect(warning.failure.message.contains("has no record") && warning.failure.excerpt == body)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("b"))
        #expect(try fixture.record("Item", RecordKey(8)) == nil)
        #expect(try fixture.store.read { try $0.localChange("Item", RecordKey(7)) } == nil)
        #expect(try !fixture.hasUsableResponse(7))
    }

    @Test("an answer with the record is no warning, and stored responses stay usable")
    func read() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 0 && report.warnings.isEmpty)
        #expect(try fixture.hasUsableResponse(7))
    }

    @Test("a created record with an answer that names no key is a dead letter with the reason and the answer")
    func unidentified() async throws {
        let fixture = try OutboxFixture(answering(201, #"{"ok":true}"#)), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1 && report.unread == 0)
        let failure = try #require(try outbox.operations().first?.failure)
        #expect(failure.kind == "unidentified" && failure.excerpt == #"{"ok":true}"#)
        #expect(failure.message.contains("names neither its key nor its URL"))
    }

    // MARK: 303

    @Test(
        "an update that is answered with 303 is sent once: the record is read at the URL, else there is a warning",
        arguments: [200, 404, 500, 403, 0])
    func seeOther(status: Int) async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        fixture.server.with { api in
            api.fault = { _ in .status(303, fields: ["Location": "/elsewhere/7"], body: "See there.") }
            api.readFault = { request in
                guard request.target == "/elsewhere/7" else { return nil }
                return status == 0 ? .dropped : .status(status, body: status == 200 ? #"{"id":7,"title":"B"}"# : "")
            }
        }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.remaining.isEmpty && report.stops.isEmpty, "\(report)")
        #expect(report.unread == (status == 200 ? 0 : 1), "\(report)")
        if status != 200 {
            #expect(report.warnings.first?.failure.message.contains("its result could not be read") == true)
            #expect(try !fixture.hasUsableResponse(7))
        }
        #expect(fixture.server.with(\.requests).count { $0.method == "PATCH" } == 1)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string(status == 200 ? "B" : "b"))
    }

    @Test("a deletion or the addition of a member that is answered with 303 is done")
    func seeOtherWithoutRecord() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels = [1: "one"] }
        try await fixture.stored(7)
        try await fixture.stored(8)
        fixture.server.with { api in
            api.fault = { _ in .status(303, fields: ["Location": "/items/7"]) }
            api.readFault = { $0.target == "/items/7" ? .status(500) : nil }
        }
        try await outbox.add([RecordKey(1)], to: "labels", of: "Item", RecordKey(7))
        try await outbox.delete("Item", RecordKey(8))
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.remaining.isEmpty && report.unread == 1, "\(report)")
        #expect(try fixture.keys("Item") == [7])
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(1)]))
    }

    @Test(
        "a change that is answered with 303 to another server, or without a URL, is a dead letter",
        arguments: [["Location": "https://login.example/"], [:]])
    func seeOtherElsewhere(fields: [String: String]) async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels = [1: "one"] }
        for id in 7...9 { try await fixture.stored(id) }
        fixture.server.with { $0.fault = { _ in .status(303, fields: fields) } }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        try await outbox.add([RecordKey(1)], to: "labels", of: "Item", RecordKey(8))
        try await outbox.delete("Item", RecordKey(9))
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 3, "\(report)")
        #expect(try outbox.operations().map { $0.failure?.kind } == ["partial", "partial", "partial"])
        for dead in try outbox.operations() { try await outbox.discard(dead.id) }
        #expect(try fixture.keys("Item") == [7, 8, 9])
    }

    @Test("a change that is answered with 303 is sent once if the content of that answer cannot be decoded")
    func seeOtherUndecodable() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        fixture.server.with { api in
            let fields = ["Location": "/elsewhere/7", "Content-Encoding": "unknown"]
            api.fault = { _ in .status(303, fields: fields, body: "See there.") }
            api.readFault = { request in
                request.target == "/elsewhere/7" ? .status(200, body: #"{"id":7,"title":"B"}"#) : nil
            }
        }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 0 && report.remaining.isEmpty, "\(report)")
        #expect(fixture.server.with(\.requests).count { $0.method == "PATCH" } == 1)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("B"))
    }

    // MARK: Location

    /// A server that has created item 101 at a URL from which the key does not follow.
    private func located(_ answers: ModelAPI.Fault...) throws -> OutboxFixture {
        let count = Counter()
        var api = answering(201, "", ["Location": "/elsewhere/9"])
        api.readFault = { request in
            guard request.target == "/elsewhere/9" else { return nil }
            return answers[min(count.next(), answers.count) - 1]
        }
        return try OutboxFixture(api)
    }

    private static let record = ModelAPI.Fault.status(
        200, body: #"{"id":101,"title":"new","state":"open","votes":3,"labels":[]}"#)

    private func created(_ fixture: OutboxFixture) -> Int {
        fixture.server.with(\.requests).filter { $0.method == "POST" }.count
    }

    @Test(
        "a record that cannot be read at its URL for a passing reason is read again, and not created again",
        arguments: [503, 429, 0])
    func locationLater(status: Int) async throws {
        let passing = status == 0 ? ModelAPI.Fault.dropped : .status(status)
        let fixture = try located(passing, passing, Self.record), outbox = fixture.client.outbox()
        let key = try await outbox.create("Item", [.init("title", .string("new"))])
        let first = try await outbox.drain()
        #expect(first.failed == 1 && first.dead == 0 && first.remaining.pending == 1, "\(first)")
        #expect(try outbox.operations().first?.location == fixture.server.base + "/elsewhere/9")
        try await outbox.retry(try #require(try outbox.operations().first).id)
        // The store keeps the URL: another process continues with it.
        let report = try await drained(fixture.outbox())
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(created(fixture) == 1)
        #expect(try fixture.keys("Item") == [101])
        #expect(try fixture.field("votes", of: RecordKey(101)) == .int(3))
        #expect(try fixture.record("Item", key)?.key == RecordKey(101))
    }

    @Test(
        "an answer of success whose content cannot be decoded is no reason to send the change again",
        arguments: ["none", "unknown", "gzip"])
    func undecodable(coding: String) async throws {
        let body = #"{"id":101,"title":"new","state":"open","votes":3,"labels":[]}"#
        var api = answering(201, body, ["Location": "/elsewhere/9", "Content-Encoding": coding])
        api.readFault = { $0.target == "/elsewhere/9" ? Self.record : nil }
        let fixture = try OutboxFixture(api), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        var report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.remaining.isEmpty, "\(report)")
        #expect(created(fixture) == 1)
        #expect(try fixture.keys("Item") == [101] && fixture.field("votes", of: RecordKey(101)) == .int(3))
        fixture.server.with { $0.fault = { _ in .status(200, fields: ["Content-Encoding": coding], body: body) } }
        try await outbox.update("Item", RecordKey(101), [.init("title", .string("b"))])
        report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == (coding == "none" ? 0 : 1), "\(report)")
        #expect(fixture.server.with(\.requests).filter { $0.method == "PATCH" }.count == 1)
    }

    @Test("a record that is not at its URL is a dead letter; its retry reads the URL, and creates nothing")
    func locationGone() async throws {
        let fixture = try located(.status(404), Self.record), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.dead == 1, "\(report)")
        let dead = try #require(try outbox.operations().first)
        #expect(dead.failure?.kind == "unidentified" && dead.failure?.message.contains("404") == true)
        try await outbox.retry(dead.id)
        #expect(try await outbox.drain().sent == 1)
        #expect(created(fixture) == 1)
        #expect(try fixture.keys("Item") == [101])
    }

    @Test("without credentials to read the record at its URL, the operation waits")
    func locationCredentials() async throws {
        let fixture = try located(.status(401), Self.record), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.stop != nil && report.dead == 0 && report.remaining.pending == 1, "\(report)")
        #expect(try await outbox.drain().sent == 1)
        #expect(created(fixture) == 1)
    }

    @Test("a record with a key of its own is done if its URL cannot be read, with a warning")
    func ownKey() async throws {
        let fixture = try located(.status(503)), outbox = fixture.client.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))], key: RecordKey(55))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.remaining.isEmpty, "\(report)")
        #expect(try fixture.keys("Item") == [55])
    }

    // MARK: Members

    private static let item = #"{"id":7,"title":"from the answer","state":"open","labels":[{"id":1,"name":"one"}]}"#

    @Test("the answer to a request for a member is imported: the record, the member or a list of members")
    func members() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels = [1: "one", 2: "two"] }
        try await fixture.stored(7)
        func send(_ body: String, _ member: Int64) async throws -> OutboxReport {
            fixture.server.with { $0.fault = { _ in .status(200, body: body) } }
            try await outbox.add([RecordKey(member)], to: "labels", of: "Item", RecordKey(7))
            return try await outbox.drain()
        }
        #expect(try await send(Self.item, 1).unread == 0)
        #expect(try fixture.field("title", of: RecordKey(7)) == .string("from the answer"))
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(1)]))
        #expect(try await send(#"{"id":2,"name":"renamed"}"#, 2).unread == 0)
        #expect(try fixture.field("name", of: RecordKey(2), "Label") == .string("renamed"))
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(1), RecordKey(2)]))
        fixture.server.with { $0.fault = { _ in .status(200, body: #"[{"id":2,"name":"alone"}]"#) } }
        try await outbox.remove([RecordKey(1)], from: "labels", of: "Item", RecordKey(7))
        #expect(try await outbox.drain().unread == 0)
        #expect(try fixture.field("name", of: RecordKey(2), "Label") == .string("alone"))
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(2)]))
    }

    @Test(
        "an answer to a request for a member that is neither of both, or may be both, is not imported",
        arguments: [#"{"id":991,"item":7,"label":1}"#, #"{"id":7,"name":"both"}"#])
    func foreignMember(body: String) async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels = [7: "seven"] }
        try await fixture.stored(7)
        fixture.server.with { $0.fault = { _ in .status(200, body: body) } }
        try await outbox.add([RecordKey(7)], to: "labels", of: "Item", RecordKey(7))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1, "\(report)")
        #expect(try fixture.keys("Item") == [7] && fixture.keys("Label") == [7])
        #expect(try fixture.field("name", of: RecordKey(7), "Label") == .string("seven"))
        #expect(try fixture.field("labels", of: RecordKey(7)) == .references([RecordKey(7)]))
    }

    // MARK: Several APIs

    @Test("if one API demands other credentials, only its operations wait", arguments: [false, true])
    func severalAPIs(isFirst: Bool) async throws {
        let folder = try TemporaryFolder(), refusing = try ModelServer(), other = try ModelServer()
        refusing.with { $0.fault = { _ in .status(401, body: #"{"message":"who are you"}"#) } }
        let (first, second) = isFirst ? (refusing, other) : (other, refusing)
        let description = try Description.parse(
            """
            apis: { forge: { base: '\(first.base)' }, people: { base: '\(second.base)' } }
            entities:
              Item: { key: id, attributes: { id: int, title: string }, write: { create: POST /items } }
              Label: { key: id, api: people, attributes: { id: int, name: string }, write: { create: POST /labels } }
            endpoints: { items: { path: /items, entity: Item, paginate: single_page } }
            """, file: folder("tarn.yaml"))
        let store = try Store.open(at: folder("two.tarn"), schema: description.schema)
        let outbox = try APIClient(description, store: store, transport: CurlTransport()).outbox()
        for number in 0..<20 {
            try await outbox.create("Item", [.init("title", .string("\(number)"))])
            try await outbox.create("Label", [.init("name", .string("\(number)"))])
        }
        let report = try await outbox.drain()
        #expect(report.sent == 20 && report.remaining.pending == 20 && report.dead == 0, "\(report)")
        #expect(Array(report.stops.keys) == [isFirst ? "forge" : "people"])
        #expect(report.stop?.message.contains("who are you") == true)
        #expect(Set(try outbox.operations().map(\.entity)) == [isFirst ? "Item" : "Label"])
        #expect(refusing.with(\.requests).count <= 8)
        refusing.with { $0.fault = { _ in nil } }
        #expect(try await outbox.drain().sent == 20)
    }

    @Test("run sends to the other API while one waits")
    func runWithStop() async throws {
        let folder = try TemporaryFolder(), refusing = try ModelServer(), other = try ModelServer()
        refusing.with { $0.fault = { _ in .status(401) } }
        let description = try Description.parse(
            """
            apis: { forge: { base: '\(refusing.base)' }, people: { base: '\(other.base)' } }
            entities:
              Item: { key: id, attributes: { id: int, title: string }, write: { create: POST /items } }
              Label: { key: id, api: people, attributes: { id: int, name: string }, write: { create: POST /labels } }
            endpoints: { items: { path: /items, entity: Item, paginate: single_page } }
            """, file: folder("tarn.yaml"))
        let store = try Store.open(at: folder("two.tarn"), schema: description.schema)
        let outbox = try APIClient(description, store: store, transport: CurlTransport()).outbox()
        try await outbox.create("Item", [.init("title", .string("a"))])
        let task = Task { try await outbox.run() }
        try await eventually("refused") { !refusing.with(\.requests).isEmpty }
        for number in 1...5 {
            try await outbox.create("Label", [.init("name", .string("\(number)"))])
            try await eventually("sent") { other.with(\.effects).count == number }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
