// Web pages in place of answers to changes, such as the login page of a network.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: web pages in place of answers")
struct WebPageAnswerTests {
    private static let loginPage: String = "<HTML><head><title>Welcome to the hotel</title></head></HTML>"
    private static let issue: String = """
        Issue:
          key: id
          attributes: { id: int, title: string }
          write:
            create: { request: 'PUT /issues/{id}' }
            update: { request: 'PATCH /issues/{id}' }
            delete: { request: 'DELETE /issues/{id}' }
        """

    /// An outbox whose server answers each change alike, and an issue 1.
    private func place(
        _ answer: ScriptedServer.Answer, entities: String = Self.issue, api: String = ""
    ) async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(entities, api: api) { _ in answer }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        return place
    }

    @Test("a network that answers with its login page takes no change: all wait, and are sent when it has gone")
    func portal() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox(concurrent: 1)
        fixture.server.with { $0.labels = [1: "one"] }
        for id in 7...9 { try await fixture.stored(id) }
        fixture.server.with { api in
            api.clearLog()
            api.fault = { _ in .status(200, fields: ["Content-Type": "text/html"], body: Self.loginPage) }
        }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        try await outbox.add([RecordKey(1)], to: "labels", of: "Item", RecordKey(8))
        try await outbox.delete("Item", RecordKey(9))
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        guard case .unreachable(let text)? = report.stop else {
            Issue.record("\(report)")
            return
        }
        #expect(text.contains("(200) is a web page, such as the login page of a network"))
        #expect(
            report.sent == 0 && report.dead == 0 && report.failed == 1 && report.remaining.pending == 4, "\(report)")
        #expect(fixture.server.with(\.requests).count == 1)
        let operations = try outbox.operations(), first = try #require(operations.first)
        #expect(first.failure?.status == 200 && first.failure?.excerpt == Self.loginPage)
        // The server may be the one that has answered.
        #expect(first.mayHaveArrived && operations.dropFirst().allSatisfy { !$0.mayHaveArrived })
        fixture.server.with { $0.fault = { _ in nil } }
        #expect(try await drained(outbox).sent == 4)
        let effects = ["PATCH item 7 title=b", "PUT item 8 label 1", "DELETE item 9", "POST item 101 title=new"]
        #expect(Set(fixture.effects) == Set(effects) && fixture.effects.count == 4, "\(fixture.effects)")
    }

    @Test(
        "each kind of change waits, also one whose page cannot be decoded, or begins with a text",
        arguments: [
            ScriptedServer.Answer(fields: ["Content-Type: application/json"], body: loginPage),
            .init(fields: ["Content-Type: text/html"], body: "Please <a href='/login'>log in</a>"),
            .init(fields: ["Content-Type: text/html", "Content-Encoding: gzip"], body: "no gzip"),
            .init(status: "201 Created", body: "\n<!doctype html><p>"),
        ], [OutboxOperation.Kind.create, .update, .delete])
    func waits(answer: ScriptedServer.Answer, kind: OutboxOperation.Kind) async throws {
        let place = try await place(answer), outbox = place.outbox()
        switch kind {
        case .create: try await outbox.create("Issue", [.init("title", .string("new"))], key: RecordKey(2))
        case .update: try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        default: try await outbox.delete("Issue", RecordKey(1))
        }
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 0 && report.remaining.pending == 1, "\(report)")
        #expect(try outbox.operations().first?.failure?.kind == "temporary")
    }

    @Test(
        "JSON and plain texts that are declared as a web page are answers, as is an empty one",
        arguments: [#"{"id":1,"title":"<b>"}"#, #"[{"id":1,"title":"<b>"}]"#, "OK", ""])
    func declaredOnly(body: String) async throws {
        let place = try await place(.init(fields: ["Content-Type: text/html; charset=utf-8"], body: body))
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("<b>"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == (body == "OK" ? 1 : 0), "\(report)")
        try await outbox.delete("Issue", RecordKey(1))
        #expect(try await outbox.drain().sent == 1)
    }

    @Test("a web page that the description expects is an answer, with a warning", arguments: [true, false])
    func expected(isRule: Bool) async throws {
        let expecting = Self.issue.replacingOccurrences(of: "' }", with: "', headers: { Accept: text/html } }")
        let place = try await place(
            .init(fields: ["Content-Type: text/html"], body: Self.loginPage), entities: isRule ? Self.issue : expecting,
            api: isRule ? ", responses: [{ contains: '<title>', then: ignore }]" : "")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.remaining.isEmpty, "\(report)")
    }

    @Test("a web page that comes with the URL of a created record is an answer")
    func created() async throws {
        let place = try await place(
            .init(
                status: "201 Created", fields: ["Content-Type: text/html", "Location: /issues/2"], body: Self.loginPage)
        )
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))], key: RecordKey(2))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.remaining.isEmpty, "\(report)")
    }

    @Test(
        "a web page at the URL of a created record is no answer to a later attempt, which waits and creates nothing",
        arguments: [true, false])
    func locatedLater(isRedirected: Bool) async throws {
        let entities = "Issue: { key: id, attributes: { id: int, title: string }, write: { create: 'POST /issues' } }"
        let state = Mutex("503 Service Unavailable")
        let place = try ScriptedOutbox(entities) { request in
            if request.method == "POST" { return .init(status: "201 Created", fields: ["Location: /made/5"]) }
            let status = state.withLock(\.self)
            if status == "302 Found", request.target == "/made/5" {
                return .init(status: status, fields: ["Location: /p"])
            }
            let isPage = status == "302 Found" || status == "200 Portal"
            return .init(status: isPage ? "200 OK" : status, body: isPage ? Self.loginPage : #"{"id":5,"title":"new"}"#)
        }
        // Its attempts are far from each other, unless an operation is retried.
        let outbox = place.client.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        #expect(try await outbox.drain().failed == 1)
        let id = try #require(try outbox.operations().first).id
        state.withLock { $0 = isRedirected ? "302 Found" : "200 Portal" }
        try await outbox.retry(id)
        let report = try await outbox.drain()
        #expect(report.failed == 1 && report.dead == 0 && report.stops.isEmpty, "\(report)")
        #expect(try outbox.operations().first?.failure?.message.contains("the server has created the record") == true)
        state.withLock { $0 = "200 OK" }
        try await outbox.retry(id)
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.writes == ["POST /issues"] && place.field("title", of: RecordKey(5)) == .string("new"))
    }

    @Test(
        "a web page right behind the answer of the server is its own: the change becomes a dead letter",
        arguments: ["201 Created", "412 Precondition Failed"])
    func behindAnswer(status: String) async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { create: 'POST /issues', update: 'PATCH /issues/{id}' }
            """
        ) { request in
            request.method == "GET"
                ? .init(body: Self.loginPage) : .init(status: status, fields: ["Location: /made/5"])
        }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        let outbox = place.outbox()
        if status.hasPrefix("201") {
            try await outbox.create("Issue", [.init("title", .string("new"))])
        } else {
            try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        }
        let report = try await outbox.drain()
        #expect(report.dead == 1 && report.stops.isEmpty, "\(report)")
        #expect(
            try outbox.operations().first?.location == (status.hasPrefix("201") ? place.server.base + "/made/5" : nil))
    }

    @Test(
        "a deletion of a missing record is done, also if a web page says so; it is refused if the record is there",
        arguments: [
            (ScriptedServer.Answer(status: "404 Not Found", body: loginPage), false), (.init(body: loginPage), false),
            (.init(status: "405 Method Not Allowed"), false), (.init(body: #"{"id":2}"#), false),
            (.init(body: #"{"id":1,"title":"a"}"#), true),
        ])
    func missing(read: ScriptedServer.Answer, isThere: Bool) async throws {
        let page = "<!DOCTYPE html><html><body><pre>Cannot DELETE /issues/1</pre></body></html>"
        let place = try ScriptedOutbox(Self.issue) { request in
            request.method == "GET" ? read : .init(status: "404 Not Found", body: page)
        }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        let report = try await outbox.drain()
        #expect(report.sent == (isThere ? 0 : 1) && report.dead == (isThere ? 1 : 0), "\(report)")
        #expect(place.server.requests.map(\.method) == ["DELETE", "GET"])
        let failure = try outbox.operations().first?.failure
        #expect(failure?.message.contains("the server has the record") ?? false == isThere)
    }

    @Test("a change whose record has to be read first waits, too, if a web page is in its place")
    func readFirst() async throws {
        let entities = """
            Issue:
              key: id
              attributes: { id: int, number: int, title: string, body: string? }
              write: { update: 'PUT /issues/{id}', read: '/issues/{id}' }
            """
        let isPortal = Mutex(true)
        let place = try ScriptedOutbox(entities) { _ in
            .init(
                body: isPortal.withLock(\.self) ? Self.loginPage : #"{"id":1,"number":11,"title":"a","body":"theirs"}"#)
        }
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a"))], isComplete: false)
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.dead == 0 && report.remaining.pending == 1 && place.writes.isEmpty, "\(report)")
        #expect(report.stop?.message.hasPrefix("GET ") == true, "\(report)")
        isPortal.withLock { $0 = false }
        #expect(try await drained(outbox).sent == 1)
        #expect(place.writes == ["PUT /issues/1"] && place.changes[0].body.contains("theirs"))
    }
}
