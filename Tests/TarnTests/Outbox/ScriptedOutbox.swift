// A store, a server whose answers come from a closure, and an outbox between them.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

struct ScriptedOutbox {
    let folder: TemporaryFolder
    let server: ScriptedServer
    let store: Store
    let client: APIClient

    /// - Parameters:
    ///   - entities: the entities of the description, with lines that begin at the left margin.
    ///   - api: further keys of the API, as `, aliases: […]`.
    init(
        _ entities: String, api: String = "", time: TimeSource = .system,
        _ answer: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer
    ) throws {
        folder = try TemporaryFolder()
        server = try ScriptedServer(answer)
        let description = try Description.parse(
            """
            api: { base: '\(server.base)'\(api) }
            entities:
            \(entities.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }.joined(separator: "\n"))
            endpoints:
              issues:
                path: /issues
                entity: Issue
                paginate: single_page
                children: { issue: { path: '/issues/{id}', paginate: single_page } }
            """, file: folder("tarn.yaml"))
        store = try Store.open(
            at: folder("scripted.tarn"), schema: description.schema, options: Store.Options(durability: .relaxed))
        var options = APIClient.Options()
        options.time = time
        client = try APIClient(description, store: store, transport: CurlTransport(), options: options)
    }

    func outbox(_ policy: ConflictPolicy = .perField) -> Outbox {
        var options = Outbox.Options()
        options.backOff = RetryPolicy(attempts: .max, firstDelay: .milliseconds(1), longestDelay: .milliseconds(2))
        return client.outbox(conflicts: policy, options: options)
    }

    /// Fetches the list, and each record at its URL.
    ///
    /// - Parameter names: the endpoints; nil for both.
    func sync(_ names: Set<String>? = nil) async throws {
        var options = APIMirror.Options()
        options.refetches = true
        let report = await APIMirror(client, options: options).sync(names)
        try #require(report.failures.isEmpty, "\(report)")
    }

    /// The requests that are no reads, as `PATCH /issues/1`.
    var writes: [String] { changes.map { "\($0.method) \($0.target)" } }
    /// The requests that are no reads.
    var changes: [ScriptedServer.Request] { server.requests.filter { $0.method != "GET" } }

    func field(_ name: String, of key: RecordKey = RecordKey(1), _ entity: String = "Issue") throws -> Value? {
        try store.read { try $0.record(entity, key)?[name] }
    }

    /// Changes a record without an operation, as `tarn update` does.
    func draft(_ values: [String: Value], _ key: Int64 = 1, _ entity: String = "Issue") throws {
        let fields = values.sorted { $0.key < $1.key }.map { Record.Field($0.key, $0.value) }
        try store.write { try $0.putLocally(entity, RecordKey(key), fields) }
    }
}

/// A clock that is ahead, until it is set.
final class FastClock: Sendable {
    private let seconds = Mutex(7200.0)

    func set() { seconds.withLock { $0 = 0 } }

    var source: TimeSource {
        TimeSource(
            now: { Date() + self.seconds.withLock(\.self) }, sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) })
    }
}

/// Counts the calls of a closure.
final class CallCounter: Sendable {
    private let count = Mutex(0)

    /// The number of this call, from 1.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// A record that a scripted server keeps, with a version.
final class ScriptedRecord: Sendable {
    struct State: Sendable {
        var body: String
        var version = 1
        var isGone = false
    }

    let state: Mutex<State>

    init(_ body: String) { state = Mutex(State(body: body)) }

    /// Replaces the record, as another client does.
    func change(_ body: String) {
        state.withLock { state in
            state.body = body
            state.version += 1
        }
    }

    /// The answer to a read of the list or of the record, with its entity tag.
    func read(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        let state = state.withLock(\.self)
        if request.target == "/issues" { return ScriptedServer.Answer(body: state.isGone ? "[]" : "[\(state.body)]") }
        if state.isGone { return ScriptedServer.Answer(status: "404 Not Found") }
        return ScriptedServer.Answer(fields: ["ETag: \"v\(state.version)\""], body: state.body)
    }

    /// Whether a request has the precondition of an older version.
    func isStale(_ request: ScriptedServer.Request) -> Bool {
        state.withLock { state in request.field("If-Match").map { $0 != "\"v\(state.version)\"" } ?? false }
    }
}
