// A scan that fails in the middle keeps its pages, and the next one resumes there.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: interrupted walks")
struct MirrorResumeTests {
    /// The result of an uninterrupted sync: the same for all cases.
    private func uninterrupted(_ store: MirrorStore, _ directory: String, names: Set<String>?) async throws -> [String]
    {
        let other = try MirrorStore(store.description)
        let report = try await other.sync(nil, transport: try FixtureTransport(directory: directory), names: names)
        #expect(report.failures.isEmpty, "\(report.texts)")
        return try other.dump()
    }

    @Test(
        "a walk that fails at page 4 keeps three pages, names the request, and goes on at page 4 to the same store",
        arguments: ["status:500", "cut:1000", "close", "reset", "html", "stall:600"])
    func failedWalkGoesOn(fault: String) async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let failing = try LocalServer(directory: Repository.forge, "--fault", "&page=4:\(fault)")
        let transport = MirrorStore.impatient(idle: fault.hasPrefix("stall") ? .seconds(3) : .seconds(60))
        let first = try await store.sync(failing.base, transport: transport, names: ["issues"])
        let endpoint = try #require(first.endpoint("issues"))
        #expect(endpoint.pages == 3 && endpoint.listed == 150)
        let text = try #require(endpoint.failures.first?.description)
        #expect(endpoint.failures.count == 1)
        #expect(text.contains("GET \(failing.base)/repos/acme/anvil/issues?per_page=50&state=all&page=4"), "\(text)")
        #expect(!text.contains("\n"))
        #expect(try store.count("Issue") == 150)
        let checkpoint = try #require(try store.checkpoint("issues"))
        #expect(checkpoint.state == .underWay && checkpoint.pages == 3 && checkpoint.records == 150)
        #expect(checkpoint.completedAt == nil)

        let sound = try LocalServer(directory: Repository.forge)
        let second = try await store.sync(sound.base, names: ["issues"])
        #expect(second.failures.isEmpty, "\(second.texts)")
        let resumed = try #require(second.endpoint("issues"))
        #expect(resumed.isResumed && resumed.pages == 4 && resumed.notModified == 0)
        #expect(sound.requests.count == 4)
        #expect(
            sound.requests.first?.hasPrefix("GET /repos/acme/anvil/issues?per_page=50&state=all&page=4 200") == true)
        #expect(try store.checkpoint("issues")?.state == .complete)
        #expect(try store.checkpoint("issues")?.records == 330)
        #expect(try store.dump() == (try await uninterrupted(store, Repository.forge, names: ["issues"])))

        let third = try await store.sync(sound.base, names: ["issues"])
        #expect(third.endpoint("issues").map { !$0.isResumed && $0.pages == 7 && $0.notModified == 7 } == true)
    }

    @Test("a walk over page numbers goes on at the number where it failed", arguments: 1...3)
    func numberedWalkGoesOn(page: Int) async throws {
        var pages: [String] = []
        for number in 1...3 {
            let ids = number < 3 ? [2 * number - 1, 2 * number] : [5]
            let items = ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            pages.append(recording("/v1/items?page=\(number)&size=2", "[\(items)]", "ETag: \"\(number)\""))
        }
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: { page_number: { param: page, per_page: { size: 2 } } }"))
        let failing = try LocalServer(pages, "--fault", "page=\(page):status:503")
        _ = try await store.sync(failing.base + "/v1")
        #expect(try store.count("Item") == 2 * (page - 1))
        let sound = try LocalServer(pages)
        let report = try await store.sync(sound.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(sound.requests.count == 4 - page)
        #expect(try store.count("Item") == 5)
    }

    @Test("an interrupted walk does not go on with another page size: its pages would seem to be short ones")
    func otherPageSize() async throws {
        let pages = [2, 4].flatMap { size in
            (1...(8 / size)).map { number -> String in
                let ids = (1...7).filter { ($0 - 1) / size == number - 1 }
                let items = ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
                return recording("/v1/items?page=\(number)&size=\(size)", "[\(items)]")
            }
        }
        func yaml(_ size: Int) -> String {
            itemsYAML("paginate: { page_number: { param: page, per_page: { size: \(size) } } }")
        }
        var store = try MirrorStore(yaml: yaml(2))
        let failing = try LocalServer(pages, "--fault", "page=3:status:503")
        _ = try await store.sync(failing.base + "/v1")
        #expect(try store.count("Item") == 4)
        let path = store.path
        store.description = try Description.parse(yaml(4), file: "tarn.yaml")
        store.description.storePath = path
        let sound = try LocalServer(pages)
        let report = try await store.sync(sound.base + "/v1")
        #expect(report.failures.isEmpty && report.endpoints.first?.isResumed == false, "\(report.texts)")
        #expect(try store.count("Item") == 7)
    }

    @Test("the limit that an endpoint declares may be larger than that of a mirror, and the error names it")
    func declaredPageLimit() async throws {
        let pages = (1...6).map { number in
            recording("/v1/items?page=\(number)", number < 6 ? #"[{"id":\#(number),"name":"n"}]"# : "[]")
        }
        let paginate = "paginate: { page_number: { param: page } }", server = try LocalServer(pages)
        let store = try MirrorStore(yaml: itemsYAML(paginate + "\n    limit: { pages: 4 }"))
        let stopped = try await store.sync(server.base + "/v1", options: { $0.pageLimit = 2 })
        let text = try #require(stopped.failures.first?.description)
        #expect(text.contains("more than 4 pages") && text.contains("limit: { pages: … } at the endpoint allows more"))
        #expect(try store.count("Item") == 4)
        let longer = try MirrorStore(yaml: itemsYAML(paginate + "\n    limit: { pages: 10 }"))
        let report = try await longer.sync(server.base + "/v1", options: { $0.pageLimit = 2 })
        #expect(try report.failures.isEmpty && longer.count("Item") == 5, "\(report.texts)")
    }

    @Test("a walk that hit its limit of pages leaves out none when it goes on with a larger one")
    func pageLimitLosesNoPage() async throws {
        let pages = (1...6).map { number in
            recording("/v1/items?page=\(number)", number < 6 ? #"[{"id":\#(number),"name":"n"}]"# : "[]")
        }
        let store = try MirrorStore(yaml: itemsYAML("paginate: { page_number: { param: page } }"))
        let server = try LocalServer(pages)
        let stopped = try await store.sync(server.base + "/v1", options: { $0.pageLimit = 2 })
        #expect(stopped.failures.first?.description.contains("more than 2 pages, the limit of one scan") == true)
        #expect(try store.count("Item") == 2)
        let again = try await store.sync(server.base + "/v1", options: { $0.pageLimit = 2 })
        #expect(again.failures.count == 1)
        #expect(try store.count("Item") == 2)
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            try store.read { reader in
                var keys: [String] = []
                try reader.forEach("Item") { record in
                    keys.append(record.key.description)
                    return true
                }
                return keys
            } == ["1", "2", "3", "4", "5"])
        #expect(try store.checkpoint("items")?.records == 5)
    }

    @Test("told to begin again, an interrupted walk asks for the first page, with the validators that it has")
    func restartBeginsAtTheFirstPage() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let failing = try LocalServer(directory: Repository.forge, "--fault", "&page=4:status:500")
        _ = try await store.sync(failing.base, names: ["issues"])
        let sound = try LocalServer(directory: Repository.forge)
        let report = try await store.sync(sound.base, names: ["issues"], options: { $0.restarts = true })
        #expect(report.endpoint("issues").map { !$0.isResumed && $0.pages == 7 && $0.notModified == 3 } == true)
        #expect(sound.requests.count == 7)
        #expect(try store.dump() == (try await uninterrupted(store, Repository.forge, names: ["issues"])))
    }

    @Test("fetching everything again means everything, also after an interrupted walk")
    func refetchBeginsAtTheFirstPage() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let failing = try LocalServer(directory: Repository.forge, "--fault", "&page=4:status:500")
        _ = try await store.sync(failing.base, names: ["issues"])
        let sound = try LocalServer(directory: Repository.forge)
        let report = try await store.sync(sound.base, names: ["issues"], options: { $0.refetches = true })
        #expect(report.endpoint("issues").map { $0.pages == 7 && $0.notModified == 0 } == true)
        #expect(sound.requests.count == 7)
        #expect(!sound.requests.contains { $0.contains("conditional") })
    }

    @Test("a cancelled sync stops, says so, and the next one goes on")
    func cancelledWalkGoesOn() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let stalling = try LocalServer(directory: Repository.forge, "--fault", "&page=3:stall:600")
        let (requests, continuation) = AsyncStream.makeStream(of: String.self)
        let base = stalling.base
        let sync = Task {
            try await store.sync(
                base, names: ["issues", "comments"], options: { $0.concurrency = 1 },
                progress: { progress in
                    if let url = progress.requesting { continuation.yield(url) }
                })
        }
        for await url in requests where url.contains("page=3") { break }
        // The previous page is being stored when the next one is requested.
        while (try? store.read { try $0.count("Issue") }) ?? 0 < 100 { try await Task.sleep(for: .milliseconds(5)) }
        sync.cancel()
        let report = try await sync.value
        #expect(report.endpoints.map(\.name) == ["issues"])
        #expect(report.endpoint("issues")?.pages == 2)
        guard case .cancelled? = report.failures.first else {
            Issue.record("not cancelled: \(report.texts)")
            return
        }
        let sound = try LocalServer(directory: Repository.forge)
        let second = try await store.sync(sound.base, names: ["issues"])
        #expect(second.failures.isEmpty)
        #expect(sound.requests.count == 5)
        #expect(try store.dump() == (try await uninterrupted(store, Repository.forge, names: ["issues"])))
    }

    @Test("a scan that other credentials have interrupted begins anew, and says so", arguments: ["a", "b"])
    func otherCredentials(key: String) async throws {
        func yaml(_ key: String) -> String {
            itemsYAML("paginate: { page_number: { param: page } }", api: "  headers: { X-Api-Key: \(key) }")
        }
        let failing = Mutex(3)
        let server = try ScriptedServer { request in
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
            if failing.withLock({ $0 }) == page { return .init(status: "500 Internal Server Error") }
            let ids = page > 3 ? 0..<0 : (page * 10)..<(page * 10 + 10)
            return .init(body: "[" + ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",") + "]")
        }
        var store = try MirrorStore(yaml: yaml("a"))
        #expect(try await store.sync(server.base + "/v1").failures.count == 1)
        failing.withLock { $0 = 0 }
        let path = store.path
        store.description = try Description.parse(yaml(key), file: "tarn.yaml")
        store.description.storePath = path
        let report = try await store.sync(server.base + "/v1"), items = try #require(report.endpoint("items"))
        #expect(report.failures.isEmpty && items.hasOtherCredentials == (key == "b"), "\(report.texts)")
        #expect(items.isResumed == (key == "a"), "\(server.targets)")
        #expect(try store.count("Item") == 30)
    }

    @Test("a limit that is always used up does not hold up finished endpoints because the clock was ahead once")
    func limitedAhead() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  A: { key: id, attributes: { id: int } }
                  B: { key: id, attributes: { id: int } }
                endpoints:
                  a: { path: /a, entity: A, paginate: single_page }
                  b: { path: /b, entity: B, paginate: single_page }
                """)
        let asked = Mutex(0)
        let transport = ClosureTransport { request in
            guard request.url.hasSuffix("/a") else { return TransportResponse(status: 429) }
            asked.withLock { $0 += 1 }
            return TransportResponse(status: 200, body: Array(#"[{"id":1}]"#.utf8))
        }
        var counts: [Int] = []
        for ahead in [3 * 86_400.0, 0, 0] {
            _ = try await store.sync(nil, transport: transport) { $0.time.now = { Date() + ahead } }
            counts.append(asked.withLock { $0 })
        }
        #expect(counts == [1, 1, 2])
    }
}
