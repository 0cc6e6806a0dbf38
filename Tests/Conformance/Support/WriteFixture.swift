// A server that logs the changes that it is sent, and an outbox that sends them.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

/// A local server whose answers to changes a test sets, and an outbox over a store of its own.
struct WriteFixture {
    /// The answers by method and target: `POST /tickets`. Others are answered with 204.
    final class Answers: Sendable {
        private let answers = Mutex<[String: ScriptedServer.Answer]>([:])

        func set(_ line: String, _ answer: ScriptedServer.Answer) { answers.withLock { $0[line] = answer } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            answers.withLock { $0["\(request.method) \(request.target)"] } ?? .init(status: "204 No Content")
        }
    }

    private let answers: Answers
    let server: ScriptedServer
    private let folder: TemporaryFolder
    let client: RecordClient
    let outbox: Outbox

    init(
        _ writes: [String: WriteRequests], conflicts: ConflictPolicy = .perField,
        _ make: (_ base: String, _ store: String) throws -> RecordClient
    ) throws {
        let answers = Answers()
        self.answers = answers
        server = try ScriptedServer { answers.answer($0) }
        folder = try TemporaryFolder()
        client = try make(server.base, folder("api.tarn"))
        outbox = client.outbox(writes: writes, conflicts: conflicts)
    }

    /// Sets the answer to a method and a target.
    func answer(_ line: String, _ body: String = "", status: String = "200 OK", _ fields: String...) {
        answers.set(line, .init(status: status, fields: fields, body: body))
    }

    /// The changes that arrived, as `POST /tickets {"title":"a"}`.
    var sent: [String] {
        server.requests.filter { $0.method != "GET" }.map {
            "\($0.method) \($0.target)" + ($0.body.isEmpty ? "" : " \($0.body)")
        }
    }

    /// Stores a record as the server has it.
    func put<Record: StoredRecord>(_ record: Record) throws { try client.store.write { try $0.put(record) } }

    func get<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws -> Record? {
        try client.store.read { try $0.get(type, key) }
    }

    func fetch<Record: TypedRecord>(_ query: TypedQuery<Record>) throws -> [Record] {
        try client.store.read { try $0.fetch(query) }
    }

    /// Sends everything, and checks that nothing is left.
    @discardableResult
    func drain() async throws -> OutboxReport {
        let report = try await outbox.drain()
        #expect(report.remaining.isEmpty && report.unread == 0, "\(report)")
        return report
    }
}
