// Answers of servers that redirect a request without valid credentials to a login page.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: answers of a login page")
struct MisledAnswerTests {
    private static let page = ModelAPI.Fault.status(200, body: "\u{FEFF}\n<!DOCTYPE html><form>…</form>")

    /// A server with items 7 to 9 that answers every write, and reads of its login page, as given.
    private func fixture(
        _ answer: ModelAPI.Fault, login: ModelAPI.Fault = Self.page
    ) async throws -> OutboxFixture {
        let fixture = try OutboxFixture()
        fixture.server.with { $0.labels = [1: "one"] }
        for id in 7...9 { try await fixture.stored(id) }
        fixture.server.with { api in
            api.fault = { _ in answer }
            api.readFault = { request in
                switch request.target {
                case "/login": login
                case "/signin": Self.page
                default: nil
                }
            }
        }
        return fixture
    }

    private static let toLogin = ModelAPI.Fault.status(303, fields: ["Location": "/login"])

    /// Queues an update, a deletion and the addition of a member.
    private func queue(_ outbox: Outbox) async throws {
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        try await outbox.add([RecordKey(1)], to: "labels", of: "Item", RecordKey(8))
        try await outbox.delete("Item", RecordKey(9))
    }

    @Test(
        "a change that is answered with 303 to a web page, or to one that wants other credentials, is dead; it is retried",
        arguments: [
            page, .status(302, fields: ["Location": "/signin"]),
            .status(302, fields: ["Location": "https://sso.example/"]), .status(401, body: "{}"),
        ])
    func seeOther(login: ModelAPI.Fault) async throws {
        let fixture = try await fixture(Self.toLogin, login: login), outbox = fixture.outbox()
        try await queue(outbox)
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 3 && report.stops.isEmpty, "\(report)")
        let dead = try outbox.operations()
        #expect(dead.map { $0.failure?.kind } == ["partial", "partial", "partial"])
        #expect(dead.allSatisfy { $0.failure?.message.contains("may have carried out the change") == true })
        fixture.server.with { $0.fault = { _ in nil } }
        for operation in dead { try await outbox.retry(operation.id) }
        #expect(try await drained(outbox).sent == 3)
        #expect(Set(fixture.effects) == ["PATCH item 7 title=b", "PUT item 8 label 1", "DELETE item 9"])
    }

    @Test("a change that is answered with 303 to a web page of the record itself is done, with a warning")
    func ownPage() async throws {
        let fixture = try await fixture(.status(303, fields: ["Location": "/items/7"])), outbox = fixture.outbox()
        fixture.server.with { $0.readFault = { $0.target == "/items/7" ? Self.page : nil } }
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.dead == 0, "\(report)")
    }

    @Test("a repeated change is dead, too, if its answer leads to a web page")
    func repeated() async throws {
        let fixture = try await fixture(.lost), outbox = fixture.client.outbox()
        try await outbox.update("Item", RecordKey(7), [.init("title", .string("b"))])
        #expect(try await outbox.drain().failed == 1)
        fixture.server.with { $0.fault = { _ in Self.toLogin } }
        try await outbox.retry(try #require(try outbox.operations().first).id)
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1, "\(report)")
    }

    @Test(
        "a creation that is answered with 303 to a web page is dead, and its retry sends it again",
        arguments: [false, true])
    func creation(hasKey: Bool) async throws {
        let fixture = try await fixture(Self.toLogin), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))], key: hasKey ? RecordKey(101) : nil)
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1 && report.unread == 0, "\(report)")
        let dead = try #require(try outbox.operations().first)
        #expect(dead.failure?.kind == "partial" && dead.location == nil)
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
        fixture.server.with { $0.fault = { _ in nil } }
        try await outbox.retry(dead.id, evenIfAccepted: true)
        #expect(try await drained(outbox).sent == 1)
        #expect(fixture.effects.count == 1 && fixture.server.with(\.items)[101]?.title == "new", "\(fixture.effects)")
        #expect(try fixture.keys("Item") == [7, 8, 9, 101])
    }

    @Test(
        "a creation with a key of its own is dead if a 303 names no URL, or that of another server",
        arguments: [[:], ["Location": "https://login.example/"], ["Location": "http://["]])
    func ownKeyElsewhere(fields: [String: String]) async throws {
        let fixture = try await fixture(.status(303, fields: fields)), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))], key: RecordKey(55))
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 1, "\(report)")
        #expect(try outbox.operations().first?.failure?.kind == "partial")
    }

    @Test("a creation with a key of its own is done if the result behind a 303 is missing, with a warning")
    func ownKey() async throws {
        let fixture = try await fixture(Self.toLogin, login: .status(404)), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))], key: RecordKey(55))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.dead == 0, "\(report)")
    }

    @Test("a rule `ignore` for 303 makes changes done, whatever is behind it")
    func ignored() async throws {
        let entities = """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { create: 'POST /issues', update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}' }
            """
        let place = try ScriptedOutbox(entities, api: ", responses: [{ status: 303, then: ignore }]") { request in
            switch request.target {
            case "/issues" where request.method == "GET": .init(body: #"[{"id":1,"title":"a"},{"id":2,"title":"b"}]"#)
            case "/issues/1" where request.method == "GET", "/issues/2" where request.method == "GET":
                .init(body: #"{"id":\#(request.target.last!),"title":"a"}"#)
            case "/login": .init(body: "<html>")
            default: .init(status: "303 See Other", fields: ["Location: /login"])
            }
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("x"))])
        try await outbox.delete("Issue", RecordKey(2))
        try await outbox.create("Issue", [.init("title", .string("new"))], key: RecordKey(5))
        let report = try await outbox.drain()
        #expect(report.sent == 3 && report.unread == 2 && report.remaining.isEmpty, "\(report)")
    }

    @Test("the validator of a result at another URL (303) is not that of the record")
    func validatorOfResult() async throws {
        let entities = """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { update: 'PATCH /issues/{id}' }
            """
        let place = try ScriptedOutbox(entities) { request in
            guard request.method == "PATCH" else {
                return .init(fields: ["ETag: \"\(request.target)\""], body: #"{"id":1,"title":"theirs"}"#)
            }
            let location = request.body.contains("first") ? "/jobs/17" : "/issues/1"
            return .init(status: "303 See Other", fields: ["Location: \(location)", "ETag: \"other\""])
        }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("old"))]) }
        let outbox = place.outbox()
        for title in ["first", "second", "third"] {
            try await outbox.update("Issue", RecordKey(1), [.init("title", .string(title))])
            #expect(try await outbox.drain().sent == 1)
        }
        #expect(place.changes.map { $0.field("If-Match") } == [nil, nil, #""/issues/1""#])
    }

    // MARK: Redirects that keep the method

    @Test(
        "a change that is redirected to a web page, or a deletion to another resource that is missing, is dead",
        arguments: [302, 307, 308])
    func redirected(status: Int) async throws {
        let fixture = try await fixture(.dropped), outbox = fixture.outbox()
        fixture.server.with { api in
            api.fault = { request in
                guard request.target.hasPrefix("/login") else {
                    return .status(status, fields: ["Location": "/login?next=/items/9"])
                }
                return request.method == "DELETE" ? .status(404) : Self.page
            }
        }
        try await queue(outbox)
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 3, "\(report)")
        // With 302, no change is repeated.
        let kinds = try outbox.operations().compactMap { $0.failure?.kind }
        #expect(kinds.count == 3 && Set(kinds) == [status == 302 ? "url" : "partial"], "\(kinds)")
        for dead in try outbox.operations() { try await outbox.discard(dead.id) }
        #expect(try fixture.keys("Item") == [7, 8, 9])
    }

    @Test("a deletion that is redirected to the new address of the record is done if that is missing")
    func moved() async throws {
        let fixture = try await fixture(.dropped), outbox = fixture.outbox()
        fixture.server.with { api in
            api.fault = { request in
                request.target == "/v2/items/9" ? .status(410) : .status(308, fields: ["Location": "/v2/items/9"])
            }
        }
        try await outbox.delete("Item", RecordKey(9))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.unread == 0, "\(report)")
    }

    @Test("a login page that is missing does not say that the record of an update is gone")
    func missingLogin() async throws {
        let entities = """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { update: 'PATCH /issues/{id}', read: '/issues/{id}' }
            """
        let place = try ScriptedOutbox(entities) { request in
            request.target == "/login"
                ? .init(status: "404 Not Found")
                : .init(status: "307 Temporary Redirect", fields: ["Location: /login"])
        }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        let outbox = place.outbox(.server)
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(try place.store.read { try $0.record("Issue", RecordKey(1))?["title"] } == .string("b"))
    }

    @Test("a redirect that adds a slash is none to a login page: a web page there is an answer, with a warning")
    func slash() async throws {
        let fixture = try await fixture(.dropped), outbox = fixture.outbox()
        fixture.server.with { api in
            api.fault = { request in
                request.target.hasSuffix("/") ? Self.page : .status(308, fields: ["Location": request.target + "/"])
            }
        }
        try await queue(outbox)
        let report = try await outbox.drain()
        #expect(report.sent == 3 && report.unread == 3 && report.dead == 0, "\(report)")
    }

    @Test(
        "a deletion that is redirected to another encoding of its path is sent there, and done if that is missing",
        arguments: ["301 Moved Permanently", "308 Permanent Redirect"], ["204 No Content", "404 Not Found"])
    func otherEncoding(redirect: String, status: String) async throws {
        let entities = """
            Issue:
              key: id
              attributes: { id: string }
              write: { delete: 'DELETE /issues/{id}' }
            """
        let place = try ScriptedOutbox(entities) { request in
            request.target == "/issues/urn%3A1"
                ? .init(status: redirect, fields: ["Location: /issues/urn:1/"]) : .init(status: status)
        }
        try await place.store.write { try $0.put("Issue", RecordKey("urn:1"), []) }
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey("urn:1"))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
    }

    @Test("a deletion that is answered with XML is done, with a warning that names the content")
    func deletion() async throws {
        let fixture = try await fixture(.status(200, body: "<?xml version='1.0'?><ok/>")), outbox = fixture.outbox()
        try await outbox.delete("Item", RecordKey(9))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.dead == 0, "\(report)")
        #expect(report.warnings.first?.failure.message.contains("it is an XML document") == true, "\(report)")
    }

    @Test(
        "the declared type of an answer tells what it is instead of JSON",
        arguments: [("application/xml", "an XML document"), ("text/plain", "markup, and no JSON")])
    func declaredType(type: String, name: String) async throws {
        let place = try ScriptedOutbox(
            "Issue: { key: id, attributes: { id: int, title: string }, write: { delete: 'DELETE /issues/{id}' } }"
        ) { _ in
            ScriptedServer.Answer(fields: ["Content-Type: \(type)"], body: "<answer>done</answer>")
        }
        try await place.store.write { try $0.put("Issue", RecordKey(1), [.init("title", .string("a"))]) }
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.first?.description.contains("it is \(name)") == true, "\(report)")
    }
}
