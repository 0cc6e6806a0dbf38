// The options of requests by call, against a local server.

import Foundation
import Logging
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Options of a request", .timeLimit(.minutes(2)))
struct RequestOptionsTests {
    private func stored(_ client: RecordClient) throws -> [Int64] {
        try client.store.read { try $0.fetch(Issue.all).map(\.id) }
    }

    private func isTimeout(_ error: any Error) -> Bool {
        if case .request(.transport(let error), _)? = error as? CacheError { error.kind == .timeout } else { false }
    }

    // MARK: The store

    @Test("records of a request that does not persist are returned, and the store has nothing of them")
    func notPersisting() async throws {
        let forge = try ForgeServer()
        let before = try forge.client.store.read { try $0.sequence }
        let issues = try await forge.client.all(.issues("acme/anvil").persisting(false))
        #expect(issues.map(\.id) == [1, 2, 3] && issues[0].author == Reference(5))
        #expect(try await forge.client.all(.search("x").persisting(false)).map(\.id) == [4])
        #expect(try stored(forge.client) == [])
        #expect(try forge.client.store.read { try $0.sequence } == before)
        _ = try await forge.client.all(.issues("acme/anvil"))
        #expect(forge.server.requests.allSatisfy { $0.field("If-None-Match") == nil })
    }

    @Test("without persisting, a confirmed answer is returned from the store, whose entries stay as they are")
    func notPersistingConfirmed() async throws {
        let isGone = Mutex(false)
        let forge = try ForgeServer { request in
            request.target == "/issues/7" && isGone.withLock(\.self) ? .init(status: "404 Not Found") : nil
        }
        _ = try await forge.client.one(.issue(7))
        let before = try forge.client.store.read { try $0.sequence }
        let page = try await forge.client.page(.issue(7).persisting(false))
        #expect(page.source == .revalidated && page.records.map(\.id) == [7])
        isGone.withLock { $0 = true }
        await #expect(throws: CacheError.self) { _ = try await forge.client.one(.issue(7).persisting(false)) }
        await #expect(throws: CacheError.self) {
            _ = try await forge.client.all(RecordRequest<Issue>.post("/none", body: .json(.null)).persisting(false))
        }
        #expect(try forge.client.store.read { try $0.sequence } == before)
        #expect(try await forge.client.one(.issue(7).policy(.cacheOnly)).id == 7)
    }

    @Test("a request that is imported in another way does not share the transfer of one that is under way")
    func ownTransfers() async throws {
        let server = try HoldingServer(), folder = try TemporaryFolder()
        let client = try ForgeServer.client(server.base, folder)
        let plain = Task { try await client.one(.issue(1)) }
        try await eventually("the first request") { server.held == 1 }
        let shared = Task { try await client.one(.issue(1)) }
        let shown = Task { try await client.one(.issue(1).persisting(false)) }
        let edited = Task {
            try await client.one(.issue(1).editing { _, json in json["title"] = .string("edited") }.persisting(false))
        }
        try await eventually("the other requests") { server.held == 3 }
        server.answer(ForgeServer.issue(1))
        #expect(try await [plain.value, shared.value, shown.value].map(\.title) == ["t1", "t1", "t1"])
        #expect(try await edited.value.title == "edited" && server.held == 3)
        #expect(try client.store.read { try $0.get(Issue.self, 1)?.title } == "t1")
    }

    // MARK: Hooks

    @Test("a request completes keys, edits and leaves out elements, and edits drafts, after the client's hooks")
    func hooks() async throws {
        let forge = try ForgeServer { request in
            request.target == "/labels"
                ? .init(
                    fields: ["Cache-Control: max-age=60"],
                    body: #"[{"name":"a","nr":1},{"name":"b","nr":2},{"name":"c","nr":3}]"#) : nil
        }
        var options = RecordCache.Options()
        options.hooks = { _ in
            ImportHooks(
                beforeDraft: { _, json in
                    if case .string(let name)? = json["name"] { json["name"] = .string("client " + name) }
                    return true
                },
                injectKey: { _, _, _ in ["id": .number("99")] },
                afterDraft: { draft in
                    draft.set("name", .string("draft"))
                    return draft.key != RecordKey(3)
                })
        }
        let client = RecordClient(forge.client.client, options: options)
        let labels = RecordRequest<Label>.get("/labels")
            .injectingKeys { _, json, _ in json["nr"].map { ["id": $0] } ?? [:] }
            .editing { entity, json in
                guard case .string(let name)? = json["name"] else { return }
                json["name"] = .string("\(entity) \(name)")
            }
            .filtering { _, json in json["name"] != .string("Label client b") }
        #expect(try await client.all(labels).map(\.id) == [1])
        #expect(try await client.all(labels).map(\.name) == ["draft"])
        let edited = labels.editingDrafts { draft in draft.set("name", .string("mine")) }
        #expect(try await client.all(edited).map(\.name) == ["mine"])
        #expect(forge.server.requests.count == 2)
        let plain = RecordClient(forge.client.client)
        #expect(try await plain.all(labels.policy(.networkOnly)).map(\.name) == ["Label a", "Label b", "Label c"])
    }

    @Test("the answers of a request with hooks are those that its hooks have made, also later on")
    func answersWithHooks() async throws {
        let forge = try ForgeServer()
        let request = RecordRequest.issue(7).editing { _, json in json["title"] = .string("edited") }
        var titles: [[String]] = []
        for try await answer in forge.client.answers(request) {
            titles.append(answer.records.map(\.title))
            if titles.count == 2 {
                try await forge.client.store.write { _ = try $0.patch(Issue.self, 7) { $0.set(.title, "changed") } }
            }
            if titles.count == 3 { break }
        }
        #expect(titles == [[], ["edited"], ["changed"]])
    }

    // MARK: The call

    @Test(
        "a request of a higher priority is sent before those that wait already, for the pace or for a connection",
        arguments: [true, false])
    func priority(_ isPaced: Bool) async throws {
        let gate = ThreadGate(), folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.target == "/issues/1" { gate.wait() }
            return .init(body: ForgeServer.issue(1))
        }
        let client = try RecordClient(
            base: server.base, records: Issue.self, User.self, Label.self, Milestone.self, store: folder("a.tarn")
        ) { description in
            if isPaced { description.api.pace = Pace(concurrent: 1) }
            description.api.transport.concurrencyPerHost = isPaced ? 8 : 1
        }
        var tasks: [Task<Issue, any Error>] = []
        func start(_ number: Int, _ priority: TaskPriority) async throws {
            tasks.append(Task { try await client.one(.issue(number).priority(priority)) })
            try await Task.sleep(for: .milliseconds(200))
        }
        try await start(1, .medium)
        try await gate.reached()
        try await start(2, .low)
        try await start(3, .medium)
        try await start(4, .high)
        try await start(5, .high)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(server.targets == [1, 4, 5, 3, 2].map { "/issues/\($0)" })
    }

    @Test("a batch of one type returns a list for each request; without atomic, a failure loses none of the others")
    func batchOfOneType() async throws {
        let forge = try ForgeServer()
        let lists = try await forge.client.batch([.issues("acme/anvil"), .issue(7)])
        #expect(lists.map { $0.map(\.id) } == [[1, 2, 3], [7]])
        let other = try ForgeServer()
        await #expect(throws: CacheError.self) {
            _ = try await other.client.batch([.issue(6), .issues("acme/anvil"), .issue(7)])
        }
        #expect(try stored(other.client) == [1, 2, 3, 7])
        let results = await other.client.results(of: [.issue(7), .issue(6), .issues("acme/anvil")])
        #expect(try results[0].get().map(\.id) == [7] && results[2].get().map(\.id) == [1, 2, 3])
        #expect(throws: CacheError.self) { try results[1].get() }
        let whole = try ForgeServer()
        await #expect(throws: MirrorError.self) {
            _ = try await whole.client.batch([.issues("acme/anvil"), .issue(6)], atomic: true)
        }
        for request in [RecordRequest.search("x"), .issue(7).persisting(false)] {
            await #expect(throws: MirrorError.self) { _ = try await whole.client.batch([request], atomic: true) }
        }
        #expect(try stored(whole.client) == [])
        let both = try await whole.client.batch([.issues("acme/anvil"), .issue(7)], atomic: true)
        #expect(both.map { $0.map(\.id) } == [[1, 2, 3], [7]])
    }

    @Test("an atomic batch has the hooks of the client and of each request, also for equal paths")
    func hooksOfBatch() async throws {
        let forge = try ForgeServer { request in
            request.target.hasPrefix("/labels?")
                ? .init(body: #"[{"id":\#(request.target.suffix(1)),"name":"x"}]"#) : nil
        }
        let calls = Mutex<[String]>([])
        var options = RecordCache.Options()
        options.hooks = { _ in
            ImportHooks(
                beforeDraft: { _, json in
                    json["name"] = .string("client")
                    return true
                },
                afterDraft: { _ in
                    calls.withLock { $0.append("client") }
                    return true
                })
        }
        let client = RecordClient(forge.client.client, options: options)
        func labels(_ id: Int) -> RecordRequest<Label> {
            .get("/labels", ["id": "\(id)"]).editing { _, json in
                if case .string(let name)? = json["name"] { json["name"] = .string("\(name) \(id)") }
            }
            .editingDrafts { _ in calls.withLock { $0.append("\(id)") } }
        }
        let lists = try await client.batch([labels(1), labels(2)], atomic: true)
        #expect(lists.map { $0.map(\.name) } == [["client 1"], ["client 2"]])
        #expect(calls.withLock(\.self) == ["client", "1", "2", "client", "1", "2"])
    }

    @Test("a domain cancels its requests and batches with their transfers; others go on")
    func domain() async throws {
        let server = try HoldingServer(), folder = try TemporaryFolder()
        let client = try ForgeServer.client(server.base, folder)
        let one = Task { try await client.one(.issue(1).domain("screen")) }
        let batch = Task { try await client.batch([.issue(2).domain("screen")], atomic: true) }
        let several = Task { await client.results(of: [.issue(3).domain("screen"), .issue(4).domain("other")]) }
        try await eventually("the requests") { server.held == 4 }
        #expect(client.cancel(domain: "screen") == 3)
        await #expect { _ = try await one.value } throws: { ($0 as? CacheError)?.isCancelled ?? false }
        await #expect { _ = try await batch.value } throws: { ($0 as? CacheError)?.isCancelled ?? false }
        try await eventually("closed connections") { server.leftByClient == 3 }
        server.answer(ForgeServer.issue(4))
        let results = await several.value
        #expect(throws: CacheError.self) { try results[0].get() }
        #expect(try results[1].get().map(\.id) == [4])
        #expect(client.cancel(domain: "screen") == 0 && client.cancel(domain: "unknown") == 0)
        #expect(try await client.one(.issue(5).domain("screen")).id == 4)
    }

    @Test("an atomic batch that is cancelled while it waits for the writer ends at once, and stores nothing")
    func cancelledAtomicBatch() async throws {
        let forge = try ForgeServer(), client = forge.client, gate = DispatchSemaphore(value: 0)
        let holder = Task.detached { try client.store.write(alone: true) { _ in gate.wait() } }
        for isDomain in [false, true] {
            let before = forge.server.requests.count
            let batch = Task {
                try await client.batch(
                    .issues("acme/anvil").domain("screen"), .labels("acme/anvil").domain("screen"), atomic: true)
            }
            try await eventually("the responses") { forge.server.requests.count == before + 3 }
            try await Task.sleep(for: .milliseconds(200))
            if isDomain { client.cancel(domain: "screen") } else { batch.cancel() }
            // The writer is still held.
            await #expect { _ = try await batch.value } throws: { ($0 as? CacheError)?.isCancelled ?? false }
        }
        gate.signal()
        try await holder.value
        try await client.store.write { _ in }
        #expect(try client.store.read { try $0.count(Issue.all) } == 0)
        await #expect(throws: CacheError.self) { _ = try await client.all(.labels("acme/anvil").policy(.cacheOnly)) }
        let (issues, labels) = try await client.batch(.issues("acme/anvil"), .labels("acme/anvil"), atomic: true)
        #expect(issues.count == 3 && labels.count == 2)
    }

    @Test("an atomic batch whose cancellation comes at any moment is stored and returned, or neither")
    func cancellationOfAtomicBatches() async throws {
        for step in 0..<40 {
            let forge = try ForgeServer(), client = forge.client
            let batch = Task { try await client.batch(.issues("acme/anvil"), .labels("acme/anvil"), atomic: true) }
            try await Task.sleep(for: .microseconds(step * 700))
            batch.cancel()
            let result = await batch.result
            try await client.store.write { _ in }
            let stored = try client.store.read { (try $0.count(Issue.all), try $0.count(Label.all)) }
            switch result {
            case .success: #expect(stored == (3, 2), "step \(step)")
            case .failure(let error):
                #expect((error as? CacheError)?.isCancelled == true && stored == (0, 0), "step \(step): \(error)")
            }
        }
    }

    @Test("a domain ends a sequence of pages that is between two pages")
    func domainOfPages() async throws {
        let forge = try ForgeServer()
        var seen = 0
        await #expect {
            for try await page in forge.client.pages(.issues("acme/anvil").domain("list")) {
                seen += page.records.count
                #expect(forge.client.cancel(domain: "list") == 1)
            }
        } throws: {
            ($0 as? CacheError)?.isCancelled ?? false
        }
        #expect(seen == 2 && forge.server.requests.count == 1)
        #expect(forge.client.cancel(domain: "list") == 0)
    }

    @Test("at its deadline a call ends with its transfer, whether it waits for an answer or for a retry")
    func deadline() async throws {
        let server = try HoldingServer(), folder = try TemporaryFolder()
        let client = try ForgeServer.client(server.base, folder), start = ContinuousClock.now
        await #expect { _ = try await client.one(.issue(1).deadline(.milliseconds(150))) } throws: { isTimeout($0) }
        await #expect { _ = try await client.all(.search("x").deadline(.milliseconds(150))) } throws: { isTimeout($0) }
        await #expect {
            _ = try await client.batch(.issue(2).deadline(.milliseconds(150)), .issue(3), atomic: true)
        } throws: { isTimeout($0) }
        try await eventually("closed connections") { server.leftByClient == server.held }
        let busy = try ScriptedServer { _ in .init(status: "503 Busy", fields: ["Retry-After: 60"]) }
        let patient = try RecordClient(base: busy.base, records: User.self, store: folder("b.tarn"))
        await #expect {
            _ = try await patient.all(RecordRequest<User>.get("/users").deadline(.milliseconds(150)))
        } throws: { isTimeout($0) }
        #expect(ContinuousClock.now - start < .seconds(55))
    }

    @Test("the deadline of all covers every page, and that of pages is for each")
    func deadlineOfPages() async throws {
        let forge = try ForgeServer { request in
            Thread.sleep(forTimeInterval: 4)
            return nil
        }
        // Two seconds from the end of a page, and two from that of both: the machine may be busy.
        let request = RecordRequest.issues("acme/anvil").deadline(.seconds(6))
        await #expect { _ = try await forge.client.all(request) } throws: { isTimeout($0) }
        var pages = 0
        for try await _ in forge.client.pages(request) { pages += 1 }
        #expect(pages == 2)
    }

    @Test("a stale response answers at the deadline, if it is permitted")
    func deadlineWithStaleAnswer() async throws {
        let gate = ThreadGate(), isFirst = Mutex(true)
        let forge = try ForgeServer { request in
            guard request.target == "/issues/7" else { return nil }
            let isHeld = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if isHeld { gate.wait() }
            return .init(fields: ["ETag: \"x\"", "Cache-Control: max-age=0"], body: ForgeServer.issue(7))
        }
        _ = try await forge.client.one(.issue(7))
        let request = RecordRequest.issue(7).deadline(.milliseconds(200))
        let page = try await forge.client.page(request.staleIfError(seconds: 60))
        #expect(page.source == .stale && page.records.map(\.id) == [7])
        #expect(page.failure.map { isTimeout($0) } == true)
        await #expect {
            _ = try await forge.client.page(request.policy(.networkOnly))
        } throws: { isTimeout($0) }
        for _ in 0..<2 { gate.open() }
    }

    @Test("a request is logged with its status, the cache's decision and its counts, and without secrets")
    func logging() async throws {
        let forge = try ForgeServer(), logs = LogStore(), logger = logs.logger(.debug)
        let request = RecordRequest<Issue>.get("/issues/{number}", ["number": "7", "access_token": "hidden"])
        await #expect(throws: CacheError.self) { _ = try await forge.client.one(request.logging(to: logger)) }
        _ = try await forge.client.one(.issue(7).logging(to: logger))
        _ = try await forge.client.one(.issue(7).logging(to: logger))
        _ = try await forge.client.one(.issue(8))
        let texts = logs.lines
        #expect(texts.count == 3, "\(texts)")
        #expect(texts[0].hasPrefix("notice no answer") && texts[0].contains("404") && !texts[0].contains("hidden"))
        #expect(texts[1].contains("status=200") && texts[1].contains("created=2") && texts[1].contains("records=1"))
        #expect(texts[1].contains("/issues/7") && texts[1].contains("source=fetched"))
        #expect(texts[2].contains("source=revalidated") && texts[2].contains("decision="))
    }
}
