// The commits of a mirror, and the hooks into its imports.

import Foundation
import Synchronization
import Tarn
import Testing

@Suite("Mirror: units of commits")
struct MirrorCommitTests {
    private func store(_ commit: String) throws -> MirrorStore {
        try MirrorStore(yaml: itemsYAML("paginate: header_link\n    commit: \(commit)"))
    }

    private static let pages = (1...5).map { [2 * $0 - 1, 2 * $0] }

    private func sequence(_ store: MirrorStore) throws -> UInt64 { try store.read { try $0.sequence } }

    @Test(
        "as many pages as the description says are one commit, with their entries and the progress; the last commit has the rest",
        arguments: [
            ("{ every: 2 }", UInt64(3)), ("{ every: 5 }", 1), ("{ every: 100 }", 1),
            ("walk", 1),
        ])
    func batches(commit: String, commits: UInt64) async throws {
        let store = try store(commit)
        let report = try await store.scan(Self.pages)
        #expect(
            report.failures.isEmpty && report.pages == 5 && report.listed == 10 && report.report.created == 10,
            "\(report.texts)")
        #expect(try sequence(store) == commits && store.items() == Array(1...10))
        #expect(try store.read { try $0.responseCount } == 5)
        #expect(
            try store.checkpoint("items").map { $0.state == .complete && $0.pages == 5 && $0.records == 10 } == true)
        // The last page is full: its 304 does not say that it is still the last one.
        #expect(try await store.scan(Self.pages).notModified == 4)
    }

    @Test(
        "by default, pages that arrive shortly after one another share commits; without concurrency, each is one",
        arguments: ["page", "{ every: 1 }"])
    func shared(commit: String) async throws {
        let store = try store(commit)
        #expect(try await store.scan(Self.pages).pages == 5)
        #expect(try (1...5).contains(sequence(store)) && store.items() == Array(1...10))
        #expect(try store.read { try $0.responseCount } == 5)
        let alone = try self.store(commit)
        #expect(try await alone.scan(Self.pages) { $0.concurrency = 1 }.pages == 5)
        #expect(try sequence(alone) == 5 && alone.items() == Array(1...10))
    }

    @Test("pages of one list are apart if a record without a key fails its unit, or if the first object counts")
    func apart() async throws {
        for policy in ["keyless: fail", "duplicates: first_wins"] {
            let store = try MirrorStore(yaml: itemsYAML("paginate: header_link", api: "  \(policy)"))
            #expect(try await store.scan(Self.pages).pages == 5)
            #expect(try sequence(store) == 5)
        }
    }

    @Test("a list that has only ended in a unit that is lost with another list is requested again")
    func endedListInLostUnit() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example, keyless: fail }
                entities:
                  Board: { key: id, attributes: { id: int } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards:
                    path: '/boards/{board.id}/cards'
                    for_each: Board
                    entity: Card
                    responses: [{ status: 404, then: ignore }]
                """)
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            log.withLock { $0.append(request.url.replacing("https://api.test.example", with: "")) }
            if request.url.hasSuffix("/1/cards") { return TransportResponse(status: 404) }
            let body = request.url.hasSuffix("/boards") ? #"[{"id":1},{"id":2}]"# : #"[{"text":"no key"}]"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport) { options in
            options.commitUnit = .pages(2)
            options.concurrency = 1
        }
        #expect(report.failures.count == 1 && report.endpoint("cards")?.ignored == 1, "\(report.texts)")
        #expect(
            log.withLock(\.self) == ["/boards", "/boards/1/cards", "/boards/2/cards", "/boards/1/cards"])
        #expect(try store.checkpoint("cards 1")?.failure?.kind == "ignored 404")
    }

    @Test("the lists of records whose keys only look the same have progress of their own in one commit")
    func equivalentKeys() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: slug, attributes: { slug: string } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards: { path: '/boards/{board.slug}/cards', for_each: Board, entity: Card }
                """)
        let transport = ClosureTransport { request in
            let body =
                if request.url.hasSuffix("/boards") {
                    #"[{"slug":"caf\u00e9"},{"slug":"cafe\u0301"}]"#
                } else {
                    request.url.contains("caf%C3%A9/") ? #"[{"id":1}]"# : #"[{"id":2},{"id":3}]"#
                }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport) { $0.commitUnit = .pages(100) }
        #expect(report.failures.isEmpty && report.pages == 3, "\(report.texts)")
        for (slug, count) in [("caf\u{E9}", 1), ("cafe\u{301}", 2)] {
            let list = try store.checkpoint("cards \(slug)")
            #expect(list?.state == .complete && list?.records == count)
        }
    }

    @Test("what a program says goes before the description")
    func option() async throws {
        let store = try store("page")
        try await store.scan(Self.pages) { $0.commitUnit = .pages(3) }
        #expect(try sequence(store) == 2)
    }

    @Test("what comes together is in the store together: in between, others see whole batches only")
    func wholeBatches() async throws {
        let store = try store("{ every: 2 }"), counts = Mutex<[Int]>([])
        let open = try store.open()
        let transport = try WrittenTransport(writtenPages(Self.pages)) { _ in
            let count = try? open.read { try $0.count("Item") }
            counts.withLock { $0.append(count ?? -1) }
        }
        try await store.sync(nil, transport: transport) { $0.prefetches = false }
        #expect(counts.withLock { $0 } == [0, 0, 4, 4, 8])
    }

    @Test(
        "a walk that fails keeps the pages before it and goes on behind them; one that is a single change keeps nothing and begins again",
        arguments: [
            ("{ every: 3 }", 3), ("{ every: 2 }", 3), ("walk", 0),
        ])
    func failure(commit: String, kept: Int) async throws {
        let store = try store(commit)
        let all = writtenPages(Self.pages)
        let failed = try await store.sync(nil, transport: try WrittenTransport(Array(all.prefix(3))))
        #expect(failed.failures.count == 1 && failed.pages == kept)
        #expect(try store.items().count == 2 * kept && store.read { try $0.responseCount } == kept)
        #expect(try store.checkpoint("items")?.pages == (kept == 0 ? nil : kept))
        let transport = try WrittenTransport(all)
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && transport.requests.count == 5 - kept)
        #expect(try store.items() == Array(1...10))
    }

    @Test("a sync that is cancelled before a batch is committed leaves nothing of it")
    func cancelled() async throws {
        let store = try store("{ every: 3 }")
        let task = Mutex<Task<SyncReport, any Error>?>(nil), gate = AsyncStream<Void>.makeStream()
        let transport = try WrittenTransport(writtenPages(Self.pages)) { url in
            if url.contains("page=5") { task.withLock { $0?.cancel() } }
        }
        let work = Task {
            for await _ in gate.stream { break }
            return try await store.sync(nil, transport: transport)
        }
        task.withLock { $0 = work }
        gate.continuation.yield()
        let report = try await work.value
        #expect(report.pages == 3 && report.failures.count == 1)
        #expect(try store.items() == Array(1...6) && store.checkpoint("items")?.pages == 3)
        let rest = try WrittenTransport(writtenPages(Self.pages))
        #expect(try await store.sync(nil, transport: rest).failures.isEmpty && rest.requests.count == 2)
        #expect(try store.items() == Array(1...10))
    }

    @Test(
        "an endpoint that is walked for every record counts the pages of all its requests",
        arguments: [
            ("page", UInt64(7)), ("{ every: 2 }", 4), ("{ every: 100 }", 2), ("walk", 5),
        ])
    func severalRequests(commit: String, commits: UInt64) async throws {
        let store = try MirrorStore.boxes("commit: \(commit)")
        let content = [[[1], [2]], [[3], [4]], [[5]], [[6]]]
        let recordings =
            writtenPages([[1, 2, 3, 4]], path: "/boxes")
            + content.enumerated().flatMap { writtenPages($1, path: "/boxes/\($0 + 1)/items") }
        let report = try await store.sync(nil, transport: try WrittenTransport(recordings)) { $0.concurrency = 1 }
        #expect(report.failures.isEmpty && report.pages == 7, "\(report.texts)")
        #expect(
            try sequence(store) == commits && store.keys("Box", 1, "items") == [1, 2]
                && store.keys("Box", 4, "items") == [6])
        var walks: [String] = []
        try store.read {
            try $0.forEachCheckpoint { name, checkpoint in walks += checkpoint.state == .complete ? [name] : [] }
        }
        // The sync's own is part of the last commit.
        #expect(walks.count == 6 && walks.contains("*"))
    }

    @Test("orphans are looked for when the batch with the end of the walk is committed")
    func orphans() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: header_link\n    commit: { every: 2 }\n    orphans: after_one_scan"))
        try await store.scan(Self.pages)
        #expect(try await store.scan([[1, 2], [3, 4], [5]]).orphans?.deleted == 5)
        #expect(try store.items() == Array(1...5))
    }

    @Test("a confirmed page whose record goes in the same batch is asked for without a condition the next time")
    func confirmedAndDeleted() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: header_link\n    commit: walk", attributes: "    deleted: gone"))
        let first = writtenPages([[1, 2], [3]])
        try await store.sync(nil, transport: try WrittenTransport(first))
        let gone = recording("/v1/items?page=2", #"[{"id":2,"gone":true}]"#, "ETag: \"gone\"")
        let report = try await store.sync(nil, transport: try WrittenTransport([first[0], gone]))
        #expect(report.notModified == 1 && report.report.deleted == 1 && report.failures.isEmpty)
        #expect(try store.items() == [1, 3] && store.read { try $0.responseCount } == 1)
        #expect(try await store.sync(nil, transport: try WrittenTransport([first[0], gone])).notModified == 1)
    }

    /// Pages of one unit; tells whether the first records are stored before the last page is answered.
    private func isStoredEarly(
        within seconds: Double = 30, pages: Int, records: Int, text: Int, api: String = ""
    ) async throws -> Bool {
        let store = try MirrorStore(
            yaml: itemsYAML(
                "paginate: header_link\n    commit: { every: 1000 }", api: api, attributes: "      text: string"))
        let isEarly = Mutex(false), name = String(repeating: "x", count: text)
        let transport = ClosureTransport { request in
            let page = request.url.split(separator: "=").last.flatMap { Int($0) } ?? 1
            if page == pages {
                for _ in 0..<Int(seconds * 200) where !isEarly.withLock({ $0 }) {
                    let count = try store.read { try $0.count("Item") }
                    isEarly.withLock { $0 = count > 0 }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            let items = (0..<records).map { number in
                #"{"id":\#(page * records + number),"name":"\#(page) \#(number)","text":"\#(name)"}"#
            }
            var response = TransportResponse(status: 200, body: Array("[\(items.joined(separator: ","))]".utf8))
            if page < pages {
                response.headers["Link"] = "<https://api.test.example/v1/items?page=\(page + 1)>; rel=\"next\""
            }
            return response
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.pages == pages && report.report.created == pages * records)
        #expect(try store.read { try $0.count("Item") } == pages * records)
        return isEarly.withLock { $0 }
    }

    @Test("the first rows that suffice for a dictionary are committed before the unit is complete")
    func firstDictionary() async throws {
        #expect(try await isStoredEarly(pages: 8, records: 250, text: 600))
    }

    @Test("a unit of large pages is committed in parts")
    func largePages() async throws {
        #expect(try await isStoredEarly(pages: 20, records: 1, text: 1 << 20))
    }

    @Test("a unit of few small records is one commit, also a large one whose import depends on what else is in it")
    func wholeUnits() async throws {
        #expect(try await !isStoredEarly(within: 0.5, pages: 8, records: 50, text: 600))
        #expect(try await !isStoredEarly(within: 0.5, pages: 8, records: 250, text: 600, api: "  keyless: fail"))
    }

    @Test("hooks look into the imports of the endpoints that have some, and into no others")
    func hooks() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: int, name: string } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: header_link }
                  others: { path: /others, entity: Item }
                """)
        let reports = Mutex<[String]>([])
        let recordings = writtenPages([[1, 2], [3, 4]]) + writtenPages([[5]], path: "/others")
        let report = try await store.sync(nil, transport: try WrittenTransport(recordings)) { options in
            options.hooks = { endpoint in
                guard endpoint.name == "items" else { return ImportHooks() }
                return ImportHooks(
                    beforeDraft: { _, json in json["id"] != .number("2") },
                    afterDraft: { draft in
                        draft.set("name", .string("hooked \(draft.key?.description ?? "")"))
                        return true
                    },
                    afterMerge: { report, writer in
                        reports.withLock { $0.append("\(report.created)") }
                        try writer.put("Item", RecordKey(100), [Record.Field("name", .string("after"))])
                    })
            }
        }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == [1, 3, 4, 5, 100])
        #expect(
            try store.record("Item", 3)["name"] == .string("hooked 3")
                && store.record("Item", 5)["name"] == .string("n5"))
        #expect(reports.withLock { $0 } == ["1", "2"])
    }

    @Test("a hook that throws fails its page, and nothing of it is in the store")
    func throwingHook() async throws {
        let store = try store("page")
        struct Stop: Error {}
        let report = try await store.scan(Self.pages) { options in
            options.hooks = { _ in
                ImportHooks(afterMerge: { _, writer in if try writer.access.settings.sequence == 1 { throw Stop() } })
            }
        }
        #expect(report.failures.count == 1 && report.pages == 1)
        #expect(try store.items() == [1, 2] && store.checkpoint("items")?.pages == 1)
    }
}
