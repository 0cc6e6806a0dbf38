// Creations that may have arrived, sent again after the description has listed other fields.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Outbox: repeated creations", .timeLimit(.minutes(2)))
struct RepeatedCreationTests {
    private func posts(_ fixture: OutboxFixture) -> [ModelAPI.Request] {
        fixture.server.with(\.requests).filter { $0.method == "POST" }
    }

    /// Creates an item with an outbox whose answer is lost, and sends it again with another outbox.
    private func repeated(
        _ fixture: OutboxFixture, _ first: Outbox, _ second: Outbox, losing fault: ModelAPI.Fault = .lost
    ) async throws -> OutboxReport {
        fixture.server.with { $0.fault = { _ in fault } }
        try await first.create("Item", [.init("title", .string("new")), .init("votes", .int(4))])
        #expect(try await first.drain().sent == 0)
        fixture.server.with { $0.fault = { _ in nil } }
        try await Task.sleep(for: .milliseconds(6))
        return try await second.drain()
    }

    /// The fields that are local changes of the stored records.
    private func localChanges(_ fixture: OutboxFixture) throws -> [[String]] {
        try fixture.store.read { reader in
            var found: [[String]] = []
            try reader.forEachLocalChange { change in
                found.append(change.fields)
                return true
            }
            return found
        }
    }

    @Test(
        "a repeated creation has the body of the attempt that may have arrived, although other fields are listed",
        arguments: [false, true])
    func body(isExtended: Bool) async throws {
        let fixture = try OutboxFixture(), whole = fixture.outbox(), short = try fixture.outbox(sending: ["title"])
        let (first, second) = isExtended ? (short, whole) : (whole, short)
        let report = try await repeated(fixture, first, second)
        #expect(report.sent == 1 && report.warnings.isEmpty, "\(report)")
        let body = isExtended ? #"{"title":"new"}"# : #"{"title":"new","votes":4}"#
        #expect(posts(fixture).count > 1 && Set(posts(fixture).map(\.text)) == [body])
        #expect(Set(posts(fixture).map { $0.fields["idempotency-key"] }).count == 1)
        #expect(fixture.effects == ["POST item 101 title=new"])
        // A field that was not sent stays a local change.
        #expect(try localChanges(fixture) == (isExtended ? [["votes"]] : []))
        #expect(try fixture.field("votes", of: RecordKey(101)) == .int(4))
    }

    @Test(
        "a creation that cannot have arrived is sent as the description lists its fields now", arguments: [false, true])
    func notArrived(isExtended: Bool) async throws {
        let fixture = try OutboxFixture(), whole = fixture.outbox(), short = try fixture.outbox(sending: ["title"])
        let (first, second) = isExtended ? (short, whole) : (whole, short)
        let report = try await repeated(fixture, first, second, losing: .status(429))
        #expect(report.sent == 1, "\(report)")
        let bodies = [#"{"title":"new","votes":4}"#, #"{"title":"new"}"#]
        let sent = posts(fixture).map(\.text)
        #expect([sent.first, sent.last] == (isExtended ? bodies.reversed() : bodies), "\(sent)")
    }

    @Test("the fields of a third attempt are those of the first one that may have arrived")
    func thirdAttempt() async throws {
        let fixture = try OutboxFixture(), whole = fixture.outbox(), short = try fixture.outbox(sending: ["title"])
        fixture.server.with { $0.fault = { _ in .lost } }
        try await whole.create("Item", [.init("title", .string("new")), .init("votes", .int(4))])
        for outbox in [whole, short, whole] {
            #expect(try await outbox.drain().sent == 0)
            try await Task.sleep(for: .milliseconds(12))
        }
        fixture.server.with { $0.fault = { _ in nil } }
        #expect(try await short.drain().sent == 1)
        #expect(posts(fixture).count > 3 && Set(posts(fixture).map(\.text)) == [#"{"title":"new","votes":4}"#])
    }
}
