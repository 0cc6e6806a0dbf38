// A server whose answers a test sets, and a client of it.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

/// A local server whose answers a test sets, and a client of it over a store of its own.
struct APIFixture {
    /// The answers of a server, by the target of the request. Targets without one are answered with
    /// 404.
    final class Answers: Sendable {
        private let answers = Mutex<[String: ScriptedServer.Answer]>([:])

        func set(_ target: String, _ answer: ScriptedServer.Answer?) { answers.withLock { $0[target] = answer } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            guard var answer = answers.withLock({ $0[request.target] }) else {
                return .init(status: "404 Not Found", body: #"{"message":"no such page"}"#)
            }
            let base = "http://" + (request.field("Host") ?? "")
            answer.fields = answer.fields.map { $0.replacing("{base}", with: base) }
            answer.body = answer.body.replacing("{base}", with: base)
            let tag = answer.fields.first { $0.hasPrefix("ETag: ") }?.dropFirst(6)
            if let tag, request.field("If-None-Match") == String(tag) { return .notModified }
            return answer
        }
    }

    let answers: Answers
    let server: ScriptedServer
    let folder: TemporaryFolder
    let client: RecordClient

    /// Starts a server, and makes a client with its base URL and the path of a store.
    ///
    /// - Parameter bodies: the bodies of successful answers, by target.
    init(_ bodies: [String: String], _ make: (_ base: String, _ store: String) throws -> RecordClient) throws {
        let answers = Answers()
        for (target, body) in bodies { answers.set(target, .init(body: body)) }
        self.answers = answers
        server = try ScriptedServer { answers.answer($0) }
        folder = try TemporaryFolder()
        client = try make(server.base, folder("api.tarn"))
    }

    /// Sets the answer to a target. `{base}` in it is the base URL of the server.
    func answer(_ target: String, _ body: String, status: String = "200 OK", _ fields: String...) {
        answers.set(target, .init(status: status, fields: fields, body: body))
    }

    func fetch<Record: TypedRecord>(_ query: TypedQuery<Record>) throws -> [Record] {
        try client.store.read { try $0.fetch(query) }
    }

    func get<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws -> Record? {
        try client.store.read { try $0.get(type, key) }
    }

    func count(_ entity: String) throws -> Int { try client.store.read { try $0.count(entity) } }
}
