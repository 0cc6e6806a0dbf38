// Creations that the server answers with the key of a record that is here already.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: created records with known keys", .timeLimit(.minutes(2)))
struct KnownKeyTests {
    @Test(
        "a creation that is answered with the key of a record that was here is reported, and responses with the record are not used any more",
        arguments: [
            ModelAPI.Fault.status(201, body: #"{"id":7,"title":"new","state":"open","labels":[]}"#),
            .status(201, fields: ["Location": "/items/7"]),
        ])
    func merged(answer: ModelAPI.Fault) async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        #expect(try fixture.hasUsableResponse(7))
        fixture.server.with { $0.fault = { _ in answer } }
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.merged == 1 && report.unread == 0 && report.dead == 0, "\(report)")
        let warning = try #require(report.warnings.first)
        #expect(report.warnings.count == 1 && warning.failure.kind == OutboxReport.merged)
        #expect(warning.record == OutboxRecord("Item", RecordKey(7)) && warning.kind == .create)
        #expect(warning.failure.message.contains("the key of a record that was here before"))
        #expect(try fixture.keys("Item") == [7])
        #expect(try !fixture.hasUsableResponse(7))
    }

    @Test("a creation that is answered with the key of a record whose deletion is queued is reported")
    func deleted() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await fixture.stored(7)
        fixture.server.with {
            $0.fault = { request in
                if request.method == "DELETE" { return .status(503) }
                return .status(201, body: #"{"id":7,"title":"new","state":"open","labels":[]}"#)
            }
        }
        try await outbox.delete("Item", RecordKey(7))
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(
            report.merged == 1 && report.warnings.map(\.record) == [OutboxRecord("Item", RecordKey(7))], "\(report)")
    }

    @Test("a created record that a sync has brought after a lost answer is no other record")
    func lostAnswer() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.fault = { $0.method == "POST" ? .lost : nil } }
        try await outbox.create("Item", [.init("title", .string("new"))])
        #expect(try await outbox.drain().sent == 0)
        try await fixture.sync()
        fixture.server.with { $0.fault = { _ in nil } }
        try await Task.sleep(for: .milliseconds(6))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.merged == 0 && report.warnings.isEmpty, "\(report)")
        #expect(try fixture.keys("Item") == [101] && fixture.effects == ["POST item 101 title=new"])
    }

    @Test("a created record that a response lists before the answer arrives is no other record")
    func newerResponse() async throws {
        let isCreated = Mutex(false), isReleased = Mutex(false)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { create: 'POST /issues' }
            """
        ) { request in
            let record = #"{"id":1,"title":"new"}"#
            if request.method == "POST" {
                isCreated.withLock { $0 = true }
                while !isReleased.withLock(\.self) { Thread.sleep(forTimeInterval: 0.002) }
                return .init(status: "201 Created", body: record)
            }
            return .init(body: request.target != "/issues" ? record : isCreated.withLock(\.self) ? "[\(record)]" : "[]")
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let sending = Task { try await outbox.drain() }
        try await eventually("the creation arrives") { isCreated.withLock(\.self) }
        defer { isReleased.withLock { $0 = true } }
        try await place.sync()
        #expect(try place.store.read { try $0.count("Issue") } == 2)
        isReleased.withLock { $0 = true }
        let report = try await sending.value
        #expect(report.sent == 1 && report.merged == 0 && report.warnings.isEmpty, "\(report)")
        #expect(try place.store.read { try $0.count("Issue") } == 1)
    }

    @Test("a created record that the answer to another operation brings first is no other record")
    func answerToAnother() async throws {
        let isBrought = Mutex(false)
        let place = try ScriptedOutbox(
            """
            Comment:
              key: id
              attributes: { id: int, text: string }
              relationships: { others: { to: [Comment] } }
              write: { create: 'POST /comments' }
            Issue: { key: id, attributes: { id: int } }
            """
        ) { request in
            // The second comment's answer has the first one, whose own answer comes last.
            guard request.method == "POST" else { return .init(body: "[]") }
            if request.body.contains("second") {
                isBrought.withLock { $0 = true }
                return .init(
                    status: "201 Created", body: #"{"id":2,"text":"second","others":[{"id":1,"text":"first"}]}"#)
            }
            while !isBrought.withLock(\.self) { Thread.sleep(forTimeInterval: 0.002) }
            Thread.sleep(forTimeInterval: 0.3)
            return .init(status: "201 Created", body: #"{"id":1,"text":"first"}"#)
        }
        let outbox = place.outbox()
        for text in ["first", "second"] { try await outbox.create("Comment", [.init("text", .string(text))]) }
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.merged == 0 && report.warnings.isEmpty, "\(report)")
        #expect(try place.store.read { try $0.count("Comment") } == 2)
    }

    @Test("two new records that the server answers with one key, at the same time, are reported")
    func sharedKey() async throws {
        let count = Mutex(0)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { create: 'POST /issues' }
            """
        ) { request in
            guard request.method == "POST" else { return .init(body: "[]") }
            count.withLock { $0 += 1 }
            for _ in 0..<2000 where count.withLock(\.self) < 2 { Thread.sleep(forTimeInterval: 0.005) }
            return .init(status: "200 OK", body: #"{"id":1,"title":"found"}"#)
        }
        let outbox = place.outbox()
        for title in ["first", "second"] { try await outbox.create("Issue", [.init("title", .string(title))]) }
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.merged == 1 && report.dead == 0, "\(report)")
        #expect(report.warnings.map(\.record) == [OutboxRecord("Issue", RecordKey(1))])
        #expect(try place.store.read { try $0.count("Issue") } == 1)
    }
}
