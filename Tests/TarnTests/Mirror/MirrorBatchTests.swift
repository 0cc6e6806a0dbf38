// Groups of requests: side by side, with failures of their own, or as one change.

import Foundation
import Synchronization
import Tarn
import TarnHTTP
import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Mirror: batches", .timeLimit(.minutes(5)))
struct MirrorBatchTests {
    private static let yaml = """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Item: { key: id, attributes: { id: int, name: string } }
          User: { key: id, attributes: { id: int } }
        endpoints:
          items: { path: '/items/{kind}', with: { kind: all }, entity: Item, paginate: header_link, orphans: after_one_scan }
          users: { path: /users, entity: User }
        """

    private static func items(_ kind: String, _ ids: [Int], _ fields: String...) -> String {
        "GET /v1/items/\(kind)\nHTTP/1.1 200 OK\nETag: \"\(kind)\"\n" + fields.map { $0 + "\n" }.joined() + "\n["
            + ids.map { #"{"id":\#($0),"name":"\#(kind)"}"# }.joined(separator: ",") + "]"
    }

    private static let answers = [
        items("a", [1, 2], "Link: </v1/items/a2>; rel=next"), items("a2", [3]), items("b", [4]),
        recording("/v1/users", #"[{"id":9}]"#),
    ]
    private static let group = [
        BatchRequest("items", parameters: [.init("kind", "a")]),
        BatchRequest("items", parameters: [.init("kind", "b")]), BatchRequest("users"),
    ]

    private func mirror(_ store: MirrorStore, _ server: LocalServer, retry: RetryPolicy = .never) throws -> APIMirror {
        var options = SyncOptions()
        (options.base, options.retry) = (server.base + "/v1", retry)
        return try APIMirror(
            store.description, store: store.open(), transport: CurlTransport(),
            client: options.client, options: options.mirror)
    }

    @Test("a group is fetched side by side, reported in its order, and told of as it goes", arguments: [false, true])
    func group(isAtomic: Bool) async throws {
        let server = try LocalServer(Self.answers, "--latency", "100"), store = try MirrorStore(yaml: Self.yaml)
        let before = try store.read { try $0.sequence }
        let told = Mutex<[BatchProgress]>([])
        let started = ContinuousClock.now
        let report = try await mirror(store, server).sync(batch: Self.group, isAtomic: isAtomic) { progress in
            told.withLock { $0.append(progress) }
        }
        #expect(ContinuousClock.now - started < .seconds(30))
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            report.endpoints.map(\.name) == ["items", "items", "users"] && report.endpoints.map(\.pages) == [2, 1, 1])
        #expect(report.endpoints.map(\.listed) == [3, 1, 1])
        #expect(
            told.withLock { $0 } == (0..<3).map { BatchProgress(index: $0, hasFailed: false, done: $0 + 1, count: 3) })
        // The first pages of all were requested before the second page of the first.
        #expect(server.requests.last?.contains("/v1/items/a2") == true, "\(server.requests)")
        #expect(try store.count("Item") == 4 && store.count("User") == 1)
        #expect(try store.read { try $0.sequence } == before + (isAtomic ? 1 : 4))
        // Each has its own progress and entries.
        let again = try await mirror(store, server).sync(batch: Self.group, isAtomic: isAtomic)
        #expect(again.notModified == 3 && again.failures.isEmpty, "\(again.texts)")
        #expect(again.endpoints.map(\.confirmed) == [3, 1, 0])
    }

    @Test("each request of a group counts its own skipped records", arguments: [false, true])
    func skipped(isAtomic: Bool) async throws {
        let answers = [
            recording("/v1/items/a", #"[{"id":1,"name":"a"},{"name":"none"}]"#),
            recording("/v1/items/b", #"[{"id":2,"name":"b"},{"name":"none"},{"name":"none"}]"#),
            recording("/v1/users", #"[{"id":9}]"#),
        ]
        let server = try LocalServer(answers), store = try MirrorStore(yaml: Self.yaml)
        let report = try await mirror(store, server).sync(batch: Self.group, isAtomic: isAtomic)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.endpoints.map(\.skipped) == [1, 2, 0] && report.endpoints.map(\.listed) == [2, 3, 1])
    }

    @Test("a failure is that request's own: the others are stored; of an atomic group nothing is")
    func failures() async throws {
        var answers = Self.answers
        answers[2] = "GET /v1/items/b\nHTTP/1.1 500 No\n\n{\"message\":\"b is broken\"}"
        let server = try LocalServer(answers)
        let alone = try MirrorStore(yaml: Self.yaml)
        let report = try await mirror(alone, server).sync(batch: Self.group)
        #expect(report.endpoints.map(\.failures.count) == [0, 1, 0])
        #expect(try alone.count("Item") == 3 && alone.count("User") == 1)

        let together = try MirrorStore(yaml: Self.yaml)
        let failed = try await mirror(together, server).sync(batch: Self.group, isAtomic: true)
        #expect(
            failed.texts.contains { $0.contains("b is broken") }
                && failed.texts.contains { $0.contains("another request of the group") })
        #expect(
            try together.count("Item") == 0 && together.count("User") == 0
                && together.read { try $0.responseCount } == 0)
        #expect(try together.checkpoint("users") == nil)
        // And all of it when it is mended.
        let sound = try LocalServer(Self.answers)
        let mended = try await mirror(together, sound).sync(batch: Self.group, isAtomic: true)
        #expect(sound.requests.count == 4)
        #expect(mended.failures.isEmpty, "\(mended.texts)")
        #expect(try together.count("Item") == 4)
    }

    @Test(
        "the hooks of every endpoint are called for a group: those after merging once, if it is one change",
        arguments: [false, true])
    func hooks(isAtomic: Bool) async throws {
        let server = try LocalServer(Self.answers), store = try MirrorStore(yaml: Self.yaml),
            merged = Mutex<[String]>([])
        var options = SyncOptions()
        (options.base, options.retry) = (server.base + "/v1", .never)
        options.hooks = { endpoint in
            let name = endpoint.name
            // The users' hooks come last, and see a draft only if those of the items have kept it.
            return ImportHooks(
                beforeDraft: { _, json in name == "users" || json["id"] != .number("2") },
                afterDraft: { draft in
                    if name == "items", draft.entity == "Item" { draft.set("name", .string("hooked")) }
                    return name == "users" || draft.key != RecordKey(3)
                },
                afterMerge: { report, _ in merged.withLock { $0.append("\(name) \(report.created)") } })
        }
        let mirror = try APIMirror(
            store.description, store: store.open(), transport: CurlTransport(),
            client: options.client, options: options.mirror)
        let report = await mirror.sync(batch: Self.group, isAtomic: isAtomic)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 2 && store.count("User") == 1)
        #expect(try store.record("Item", 4)["name"] == .string("hooked"))
        #expect(
            merged.withLock { $0 }
                == (isAtomic ? ["items 3", "users 3"] : ["items 1", "items 0", "items 1", "users 1"]))
    }

    @Test("each request has options of its own: tries and limits")
    func options() async throws {
        let server = try LocalServer(
            Self.answers, "--fault", "/items/b:status:503:times=1", "--fault", "/users:status:503")
        let store = try MirrorStore(yaml: Self.yaml)
        let report = try await mirror(store, server).sync(batch: [
            BatchRequest("items", parameters: [.init("kind", "a")], limits: .init(pages: 1, stopsQuietly: true)),
            BatchRequest(
                "items", parameters: [.init("kind", "b")], retry: RetryPolicy(attempts: 3, firstDelay: .milliseconds(5))
            ),
            BatchRequest("users"),
        ])
        #expect(
            report.endpoints.map(\.failures.count) == [0, 0, 1] && report.endpoints.map(\.pages) == [1, 1, 0],
            "\(report.texts)")
    }

    @Test("complete syncs keep the progress and the responses of requests with parameters of their own")
    func keptBySyncs() async throws {
        let server = try LocalServer(Self.answers + [Self.items("all", [7, 8])]),
            store = try MirrorStore(yaml: Self.yaml)
        #expect(try await store.sync(server.base + "/v1").failures.isEmpty)
        _ = try await mirror(store, server).sync(batch: Self.group)
        for _ in 0..<3 { #expect(try await store.sync(server.base + "/v1").failures.isEmpty) }
        let again = try await mirror(store, server).sync(batch: Self.group)
        #expect(again.failures.isEmpty && again.notModified == 3, "\(again.texts)")
    }

    @Test("a part of a list makes nobody an orphan, and an endpoint that is not there is an error that names it")
    func noOrphans() async throws {
        let server = try LocalServer(Self.answers + [Self.items("all", [1, 4])]),
            store = try MirrorStore(yaml: Self.yaml)
        _ = try await store.sync(server.base + "/v1", names: ["items"])
        for _ in 0..<2 {
            _ = try await mirror(store, server).sync(batch: [BatchRequest("items", parameters: [.init("kind", "b")])])
        }
        #expect(try store.count("Item") == 2)
        let wrong = try await mirror(store, server).sync(batch: [BatchRequest("itms")])
        #expect(wrong.texts.first?.contains("unknown endpoint itms") == true)
    }
}
