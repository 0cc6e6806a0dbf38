// Records whose key has a parameter of the request: the answer to a write does not repeat it.

import Tarn
import TestSupport
import Testing

@Suite("Outbox: keys with a parameter", .timeLimit(.minutes(1)))
struct ParameterKeyTests {
    @Test("the answer to a creation or an update has the part of the key that is a parameter of the request")
    func answers() async throws {
        let scripted = try ScriptedOutbox(
            """
            Issue:
              key: [tenant, id]
              attributes: { tenant: { type: string, from: '@param.owner' }, id: int, title: string?, votes: int? }
              write: { create: 'POST /{tenant}/issues', update: 'PATCH /{tenant}/issues/{id}' }
            """
        ) { request in
            request.method == "POST"
                ? .init(status: "201 Created", body: #"{"id":7,"title":"new","votes":3}"#)
                : .init(body: #"{"id":7,"title":"other","votes":4}"#)
        }
        let outbox = scripted.outbox(), key = RecordKey([.string("acme"), .int(7)])
        try await outbox.create("Issue", [.init("tenant", .string("acme")), .init("title", .string("new"))])
        let created = try await outbox.drain()
        #expect(created.sent == 1 && created.unread == 0 && created.dead == 0, "\(created)")
        #expect(try scripted.field("votes", of: key) == .int(3))
        try await outbox.update("Issue", key, [.init("title", .string("other"))])
        let updated = try await outbox.drain()
        #expect(updated.sent == 1 && updated.unread == 0, "\(updated)")
        #expect(try scripted.field("votes", of: key) == .int(4))
        #expect(scripted.writes == ["POST /acme/issues", "PATCH /acme/issues/7"])
    }

    @Test("a kind of the entity inherits the parameter of its key")
    func kinds() async throws {
        let scripted = try ScriptedOutbox(
            """
            Issue:
              key: [tenant, id]
              attributes: { tenant: { type: string, from: '@param.owner' }, id: int, title: string?, votes: int? }
            Bug: { parent: Issue, write: { update: 'PATCH /{tenant}/bugs/{id}' } }
            """
        ) { _ in .init(body: #"{"id":7,"title":"other","votes":4}"#) }
        let key = RecordKey([.string("acme"), .int(7)])
        try await scripted.store.write { try $0.put("Bug", key, [.init("title", .string("a"))]) }
        try await scripted.outbox().update("Bug", key, [.init("title", .string("other"))])
        let report = try await scripted.outbox().drain()
        #expect(report.sent == 1 && report.unread == 0, "\(report)")
        #expect(try scripted.field("votes", of: key, "Bug") == .int(4))
    }

    @Test("a part of the key that the server assigns is no parameter of the answer")
    func assigned() async throws {
        let scripted = try ScriptedOutbox(
            """
            Issue:
              key: [tenant, id]
              attributes: { tenant: { type: string, from: ['@param.owner', tenant] }, id: int, title: string? }
              write: { create: 'POST /issues' }
            """
        ) { _ in .init(status: "201 Created", body: #"{"tenant":"acme","id":7,"title":"new"}"#) }
        let outbox = scripted.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 0, "\(report)")
        #expect(try scripted.field("title", of: RecordKey([.string("acme"), .int(7)])) == .string("new"))
    }
}
