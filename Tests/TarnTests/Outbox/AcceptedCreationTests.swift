// Creations that the server has accepted: they are never sent again by mistake.

import Foundation
import Synchronization
import TarnHTTP
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: accepted creations", .timeLimit(.minutes(2)))
struct AcceptedCreationTests {
    private static let record = #"{"id":101,"title":"new","state":"open","votes":3,"labels":[]}"#

    private func posts(_ fixture: OutboxFixture) -> [ModelAPI.Request] {
        fixture.server.with(\.requests).filter { $0.method == "POST" }
    }

    // MARK: Retries

    @Test("a retry of an accepted creation is an error; forced, it has the same idempotency key and body")
    func retried() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.fault = { _ in .status(201, body: #"{"ok":true}"#) } }
        try await outbox.create("Item", [.init("title", .string("new")), .init("votes", .int(3))])
        #expect(try await outbox.drain().dead == 1)
        let dead = try #require(try outbox.operations().first)
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
        #expect(OutboxError.accepted(id: 1).description.contains("discard it, and fetch the record"))
        #expect(try await outbox.drain().sent == 0)
        #expect(posts(fixture).count == 1)
        #expect(try await outbox.retry(dead.id, evenIfAccepted: true))
        fixture.server.with { $0.fault = { _ in .status(201, body: Self.record) } }
        // Other fields are listed by now.
        #expect(try await fixture.outbox(sending: ["title"]).drain().sent == 1)
        let sent = posts(fixture)
        #expect(sent.count == 2 && Set(sent.map(\.text)).count == 1, "\(sent.map(\.text))")
        #expect(Set(sent.map { $0.fields["idempotency-key"] }).count == 1)
        #expect(try fixture.keys("Item") == [101])
    }

    @Test("a retry of a refused creation is none of an accepted one")
    func refused() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("refuse me"))])
        #expect(try await outbox.drain().dead == 1)
        #expect(try await outbox.retry(try #require(try outbox.operations().first).id))
    }

    // MARK: 303

    /// A server that answers a creation with 303, and reads at the URL with the faults in turn, then
    /// with the record.
    private func redirecting(_ location: String = "/elsewhere/9", _ faults: ModelAPI.Fault...) throws -> OutboxFixture {
        let left = Mutex(faults)
        var api = ModelAPI()
        api.fault = { _ in .status(303, fields: ["Location": location], body: "See there.") }
        api.readFault = { request in
            guard request.target == location else { return nil }
            return left.withLock { $0.isEmpty ? .status(200, body: Self.record) : $0.removeFirst() }
        }
        return try OutboxFixture(api)
    }

    @Test("a creation that is answered with 303 takes the record at the URL")
    func seeOther() async throws {
        let fixture = try redirecting(), outbox = fixture.outbox()
        let key = try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.warnings.isEmpty && report.remaining.isEmpty, "\(report)")
        #expect(try fixture.keys("Item") == [101] && fixture.field("votes", of: RecordKey(101)) == .int(3))
        #expect(try fixture.record("Item", key)?.key == RecordKey(101))
        let read = try #require(fixture.server.with(\.requests).last)
        #expect(read.method == "GET" && read.body.isEmpty && read.fields["idempotency-key"] == nil)
    }

    @Test(
        "a record behind a 303 that cannot be read is read by the next attempt, and not created again",
        arguments: [404, 429, 500, 0, 401, 403])
    func unreadable(status: Int) async throws {
        // A read whose connection ends is sent once more.
        let fault = status == 0 ? ModelAPI.Fault.dropped : .status(status)
        let fixture = try status == 0 ? redirecting("/elsewhere/9", fault, fault) : redirecting("/elsewhere/9", fault)
        let outbox = fixture.client.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.remaining.total == 1, "\(report)")
        #expect(report.dead == (status == 404 || status == 403 ? 1 : 0), "\(report)")
        let kept = try #require(try outbox.operations().first)
        #expect(kept.location == fixture.server.base + "/elsewhere/9")
        try await outbox.retry(kept.id)
        // The store keeps the URL: another process continues with it.
        #expect(try await fixture.outbox().drain().sent == 1)
        #expect(posts(fixture).count == 1)
        #expect(try fixture.keys("Item") == [101] && fixture.field("votes", of: RecordKey(101)) == .int(3))
    }

    @Test(
        "if the URL of a 303 has the key, the creation is done although the record cannot be read, with a warning",
        arguments: [404, 500, 401])
    func keyOfURL(status: Int) async throws {
        let fixture = try redirecting("/items/101", .status(status), .status(status)), outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 1 && report.merged == 0, "\(report)")
        #expect(report.warnings.first?.failure.message.contains("it could not be read") == true, "\(report)")
        #expect(posts(fixture).count == 1)
        #expect(try fixture.keys("Item") == [101] && fixture.field("title", of: RecordKey(101)) == .string("new"))
    }

    @Test("a 303 without a URL is an accepted creation whose key is not known")
    func withoutURL() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.fault = { _ in .status(303) } }
        try await outbox.create("Item", [.init("title", .string("new"))])
        #expect(try await outbox.drain().dead == 1)
        let dead = try #require(try outbox.operations().first)
        #expect(dead.failure?.kind == OutboxFailure.unidentified)
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
        #expect(posts(fixture).count == 1)
    }

    private static let entities = """
        Issue:
          key: id
          attributes: { id: int, title: string }
          write: { create: 'POST /issues' }
        """

    @Test("new credentials for the record behind a 303 do not repeat the creation")
    func renewedCredentials() async throws {
        let secrets = try TemporaryFolder(), file = try secrets.write("token", "first")
        let place = try ScriptedOutbox(Self.entities, api: ", auth: { bearer: { file: '\(file)' } }") { request in
            guard request.method == "GET" else {
                return .init(status: "303 See Other", fields: ["Location: /made/1"])
            }
            guard request.field("Authorization") != "Bearer second" else {
                return .init(body: #"{"id":1,"title":"new"}"#)
            }
            _ = try? secrets.write("token", "second")
            return .init(status: "401 Unauthorized")
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1, "\(report)")
        #expect(place.writes == ["POST /issues"])
        #expect(place.server.targets == ["/issues", "/made/1", "/made/1"])
        #expect(try place.field("title") == .string("new"))
    }

    @Test("a 303 leads to a server of `follow` without credentials, and to no other one", arguments: [true, false])
    func otherServer(isDeclared: Bool) async throws {
        let other = try ScriptedServer { _ in .init(body: #"{"id":1,"title":"new"}"#) }
        let secrets = try TemporaryFolder(), file = try secrets.write("token", "first")
        let follow = isDeclared ? ", follow: ['\(other.base)']" : ""
        let place = try ScriptedOutbox(Self.entities, api: ", auth: { bearer: { file: '\(file)' } }\(follow)") {
            request in
            .init(status: "303 See Other", fields: ["Location: \(other.base)/made/1"])
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == (isDeclared ? 1 : 0) && report.dead == (isDeclared ? 0 : 1), "\(report)")
        #expect(other.requests.count == (isDeclared ? 1 : 0))
        #expect(other.requests.allSatisfy { $0.field("Authorization") == nil })
        #expect(place.writes == ["POST /issues"])
    }

    @Test(
        "the URL of a created record may be below an alias: the record is read at the API, with credentials",
        arguments: ["201 Created", "303 See Other"])
    func alias(status: String) async throws {
        let secrets = try TemporaryFolder(), file = try secrets.write("token", "first")
        let api = ", auth: { bearer: { file: '\(file)' } }, aliases: ['https://old.example/v1']"
        let place = try ScriptedOutbox(Self.entities, api: api) { request in
            guard request.method == "GET" else {
                return .init(status: status, fields: ["Location: https://old.example/v1/made/1"])
            }
            guard request.field("Authorization") == "Bearer first" else { return .init(status: "401 Unauthorized") }
            return .init(body: #"{"id":1,"title":"new"}"#)
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.remaining.isEmpty, "\(report)")
        #expect(place.server.targets == ["/issues", "/made/1"])
    }

    @Test("a server of `follow` that wants credentials does not stop the outbox: the creation is a dead letter")
    func otherServerRefuses() async throws {
        let other = try ScriptedServer { _ in .init(status: "401 Unauthorized") }
        let place = try ScriptedOutbox(Self.entities, api: ", follow: ['\(other.base)']") { request in
            .init(status: "303 See Other", fields: ["Location: \(other.base)/made/1"])
        }
        let outbox = place.outbox()
        for title in ["one", "two"] { try await outbox.create("Issue", [.init("title", .string(title))]) }
        let report = try await outbox.drain()
        #expect(report.dead == 2 && report.stop == nil, "\(report)")
        #expect(place.writes == ["POST /issues", "POST /issues"])
    }

    @Test("a record whose URL is too long to be kept is not created again if it cannot be read")
    func longURL() async throws {
        let fixture = try redirecting("/elsewhere/" + String(repeating: "9", count: 9000), .status(503))
        let outbox = fixture.outbox()
        try await outbox.create("Item", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.dead == 1, "\(report)")
        let dead = try #require(try outbox.operations().first)
        #expect(dead.failure?.message.contains("its URL is too long to keep") == true)
        await #expect(throws: OutboxError.accepted(id: dead.id)) { try await outbox.retry(dead.id) }
        #expect(posts(fixture).count == 1)
    }
}
