// A store, a model server and an outbox between them.

import Tarn
import TarnDescription
import TestSupport
import Testing

struct OutboxFixture {
    let folder: TemporaryFolder
    let server: ModelServer
    let description: Description
    let store: Store
    let client: APIClient

    /// - Parameters:
    ///   - write: further lines of the item's `write`.
    init(
        _ api: ModelAPI = ModelAPI(), write: String = "", base: String? = nil, time: TimeSource = .system
    ) throws {
        folder = try TemporaryFolder()
        server = try ModelServer(api)
        var description = try Description.parse(
            ModelAPI.yaml(base: server.base, write: write), file: folder.path + "/tarn.yaml")
        if let base { description.api.base = base }
        self.description = description
        store = try Store.open(
            at: folder.path + "/model.tarn", schema: description.schema, options: Store.Options(durability: .relaxed))
        var options = APIClient.Options()
        options.time = time
        client = try APIClient(description, store: store, transport: CurlTransport(), options: options)
    }

    func outbox(_ policy: ConflictPolicy = .perField, concurrent: Int? = nil) -> Outbox {
        var options = Outbox.Options()
        options.concurrent = concurrent
        options.backOff = RetryPolicy(attempts: .max, firstDelay: .milliseconds(1), longestDelay: .milliseconds(5))
        options.failureLimit = 1000
        return client.outbox(conflicts: policy, options: options)
    }

    /// An outbox of the same store whose requests for items send some fields only.
    func outbox(_ policy: ConflictPolicy = .perField, sending fields: Set<String>) throws -> Outbox {
        var description = description
        description.writes["Item"]?.create?.fields = fields
        description.writes["Item"]?.update?.fields = fields
        try #require(description.writes["Item"]?.update?.fields == fields)
        let client = try APIClient(description, store: store, transport: CurlTransport())
        var options = Outbox.Options()
        options.backOff = RetryPolicy(attempts: .max, firstDelay: .milliseconds(1), longestDelay: .milliseconds(5))
        return client.outbox(conflicts: policy, options: options)
    }

    /// Fetches everything from the server.
    func sync() async throws {
        var options = APIMirror.Options()
        options.refetches = true
        let report = await APIMirror(client, options: options).sync()
        try #require(report.failures.isEmpty, "\(report)")
    }

    func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        try store.read { try $0.record(entity, key) }
    }

    func field(_ name: String, of key: RecordKey, _ entity: String = "Item") throws -> Value? {
        try record(entity, key)?[name]
    }

    func keys(_ entity: String) throws -> [Int64] {
        try store.read { reader in
            var keys: [Int64] = []
            try reader.forEach(entity) { record in
                if case .int(let key)? = record.key.components.first { keys.append(key) }
                return true
            }
            return keys
        }
    }

    /// An item that server and store have.
    func stored(_ id: Int, title: String = "a") async throws {
        server.with { $0.items[id] = ModelAPI.Item(title: title) }
        try await sync()
    }

    var effects: [String] { server.with(\.effects) }

    /// Whether a stored response that lists an item may be used.
    func hasUsableResponse(_ key: Int64) throws -> Bool {
        try store.read { reader in
            let root = try #require(reader.catalog.entity("Item")?.root)
            let record = ListedRecord(entity: root, storageKey: RecordKey(key).storageKey)
            return try reader.access.responses.ids(listing: record).contains {
                try reader.access.responses.view(id: $0).map { !$0.isInvalidated } ?? false
            }
        }
    }
}

/// Drains until nothing is pending, or a number of times.
func drained(_ outbox: Outbox, rounds: Int = 200) async throws -> OutboxReport {
    var total = OutboxReport()
    for _ in 0..<rounds {
        let report = try await outbox.drain()
        total.sent += report.sent
        total.dead += report.dead
        total.failed += report.failed
        total.conflicts += report.conflicts
        total.withdrawn += report.withdrawn
        total.problems += report.problems
        total.remaining = report.remaining
        total.stop = report.stop
        if report.remaining.pending + report.remaining.sending == 0 { break }
        try await Task.sleep(for: .milliseconds(6))
    }
    return total
}
