// Typed requests against a local server: what they return, what the store has afterwards.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Typed requests", .timeLimit(.minutes(2)))
struct RecordClientTests {
    private func stored(_ client: RecordClient) throws -> [Int64] {
        try client.store.read { try $0.fetch(Issue.all).map(\.id) }
    }

    @Test("all returns the records of every page, in the server's order; again, pages are confirmed and not imported")
    func all() async throws {
        let forge = try ForgeServer()
        #expect(try await forge.client.all(.issues("acme/anvil")).map(\.id) == [1, 2, 3])
        #expect(try stored(forge.client) == [1, 2, 3])
        #expect(
            forge.server.targets == [
                "/repos/acme/anvil/issues?per_page=2", "/repos/acme/anvil/issues?per_page=2&page=2",
            ])
        var sources: [CachedAnswer.Source] = []
        for try await page in forge.client.pages(.issues("acme/anvil").policy(.networkFirst)) {
            sources.append(page.source)
            #expect(page.report == nil)
        }
        #expect(sources == [.revalidated, .revalidated])
    }

    @Test("a parameter without a value is left out, and with it an optional group of the path")
    func absentParameters() async throws {
        let forge = try ForgeServer()
        #expect(try await forge.client.all(.issues("acme/anvil", state: .closed)).isEmpty)
        #expect(try await forge.client.all(.labels("acme/anvil")).map(\.name) == ["bug", "ui"])
        #expect(try await forge.client.one(.labels("acme/anvil", name: "ui")).id == 2)
        #expect(
            forge.server.targets == [
                "/repos/acme/anvil/issues?state=closed&per_page=2", "/repos/acme/anvil/labels",
                "/repos/acme/anvil/labels/ui",
            ])
    }

    @Test("groups of a path may be nested, and parentheses alone stay")
    func pathGroups() throws {
        func path(_ path: String, _ values: RecordRequest<Label>.Parameters) -> String {
            RecordRequest<Label>.get(path, values).description
        }
        #expect(path("/a(/{b}(/{c}))/d", ["b": "1", "c": "2"]) == "GET /a/{b}/{c}/d")
        #expect(path("/a(/{b}(/{c}))/d", ["b": "1", "c": nil]) == "GET /a/{b}/d")
        #expect(path("/a(/{b}(/{c}))/d", ["c": "1"]) == "GET /a/d")
        #expect(path("/a(x", [:]) == "GET /a(x" && path("/a)x", [:]) == "GET /a)x")
        #expect(path("/a(/{+b*})", ["b": "x/y"]) == "GET /a/{+b*}")
    }

    @Test("one returns the record of a response; none, or several, are errors")
    func one() async throws {
        let forge = try ForgeServer()
        #expect(try await forge.client.one(.issue(7)).title == "t7")
        await #expect {
            _ = try await forge.client.one(.issue(6))
        } throws: {
            if case .request(.status(404, _, _, _), _)? = $0 as? CacheError { true } else { false }
        }
        await #expect(throws: MirrorError.self) { _ = try await forge.client.one(.issue(9)) }
    }

    @Test("a loop over pages that is left has imported what it saw, and requests no more")
    func leaving() async throws {
        let forge = try ForgeServer()
        for try await page in forge.client.pages(.issues("acme/anvil")) {
            #expect(page.records.count == 2 && page.report?.created == 3 && page.next != nil)
            break
        }
        #expect(try stored(forge.client) == [1, 2])
        #expect(forge.server.targets.count == 1)
        #expect(try await forge.client.all(.issues("acme/anvil").limit(pages: 1)).map(\.id) == [1, 2])
    }

    @Test("a POST request imports the records of its response, and is sent again the next time")
    func post() async throws {
        let forge = try ForgeServer()
        for _ in 0..<2 { #expect(try await forge.client.all(.search("x")).map(\.id) == [4]) }
        #expect(forge.server.requests.map(\.method) == ["POST", "POST"])
        #expect(try stored(forge.client) == [4])
    }

    @Test("a response that must not be stored is returned, and leaves nothing in the store")
    func noStore() async throws {
        let forge = try ForgeServer()
        let issue = try await forge.client.one(.issue(8))
        #expect(issue.number == 80 && issue.author == Reference(5))
        #expect(try stored(forge.client) == [])
    }

    @Test("without the network the store answers, and says why")
    func offLine() async throws {
        var server: ForgeServer? = try ForgeServer()
        let base = try #require(server).server.base, folder = try #require(server).folder
        _ = try await server?.client.all(.issues("acme/anvil"))
        server = nil
        let client = try ForgeServer.client(base, folder)
        var ids: [Int64] = []
        for try await page in client.pages(.issues("acme/anvil")) {
            ids += page.records.map(\.id)
            #expect(page.source == .stale && page.failure != nil)
        }
        #expect(ids == [1, 2, 3])
        await #expect(throws: CacheError.self) { _ = try await client.one(.issue(7)) }
    }

    @Test("answers are those of the store, of the server, and of every change")
    func answers() async throws {
        let forge = try ForgeServer()
        let query = Issue.where { $0.state == .open }.order(by: \.number, .descending)
        var seen: [String] = []
        for try await answer in forge.client.answers(.issues("acme/anvil"), local: query) {
            switch answer {
            case .local(let issues): seen.append("local \(issues.map(\.id))")
            case .remote(let issues, let reports):
                seen.append("remote \(issues.map(\.id)) \(reports.map(\.created))")
                _ = try await forge.client.store.write { try $0.patch(Issue.self, 2) { $0.set(.state, State.closed) } }
            case .failed(let error, _): seen.append("failed \(error)")
            case .changed(let issues): seen.append("changed \(issues.map(\.id))")
            }
            if seen.count == 3 { break }
        }
        #expect(seen == ["local []", "remote [3, 2, 1] [3, 1]", "changed [3, 1]"])
    }

    @Test("a failure of the server is an answer, with the records that the store keeps")
    func failedAnswer() async throws {
        let forge = try ForgeServer()
        _ = try await forge.client.one(.issue(7))
        var seen: [[Int64]] = []
        for try await answer in forge.client.answers(.issue(6), local: Issue.all) {
            seen.append(answer.records.map(\.id))
            if case .failed(let error, _) = answer {
                #expect("\(error)".contains("404"))
                break
            }
        }
        #expect(seen == [[7], [7]])
    }

    @Test("the server is asked only if the local query, or the age of its answer, demands it")
    func remoteFetch() async throws {
        let forge = try ForgeServer()
        /// The requests that are sent until there are so many answers.
        func count(_ fetch: RemoteFetch, answers: Int) async throws -> Int {
            let before = forge.server.requests.count
            var seen = 0
            for try await _ in forge.client.answers(.issue(7), local: Issue.all, fetch: fetch) {
                seen += 1
                if seen == answers { break }
            }
            return forge.server.requests.count - before
        }
        #expect(try await count(.never, answers: 1) == 0)
        #expect(try await count(.ifNoLocalRecords, answers: 2) == 1)
        #expect(try await count(.ifNoLocalRecords, answers: 1) == 0)
        #expect(try await count(.olderThan(seconds: 60), answers: 2) == 0)
        #expect(try await count(.always, answers: 2) == 1)
    }

    @Test("a batch returns the records of each request; an atomic one stores all of them or nothing")
    func batch() async throws {
        let forge = try ForgeServer()
        let (issues, labels) = try await forge.client.batch(.issues("acme/anvil"), .labels("acme/anvil"))
        #expect(issues.map(\.id) == [1, 2, 3] && labels.map(\.name) == ["bug", "ui"])
        let other = try ForgeServer()
        await #expect(throws: MirrorError.self) {
            _ = try await other.client.batch(.issues("acme/anvil"), .labels("unknown"), atomic: true)
        }
        #expect(try stored(other.client) == [])
        let (whole, more) = try await other.client.batch(.issues("acme/anvil"), .labels("acme/anvil"), atomic: true)
        #expect(whole.map(\.id) == [1, 2, 3] && more.count == 2)
        let sequences = try other.client.store.read { reader in
            (try reader.get(Issue.self, 1, version: ()), try reader.get(Issue.self, 3, version: ()))
        }
        #expect(sequences.0 == sequences.1 && sequences.0 != nil)
    }

    @Test("a response that another client has fetched is imported, and confirmed later with its validators")
    func acceptance() async throws {
        let forge = try ForgeServer()
        let page = try await forge.client.accept(
            .issue(7), headers: TransportHeaders([.init("ETag", "\"c\"")]), body: Array(ForgeServer.issue(7).utf8))
        #expect(page.records.map(\.number) == [70] && page.report?.created == 2)
        #expect(try await forge.client.one(.issue(7)).number == 70)
        #expect(forge.server.requests.map { $0.field("If-None-Match") } == ["\"c\""])
        await #expect(throws: CacheError.self) {
            _ = try await forge.client.accept(.issue(7), status: 500, headers: TransportHeaders(), body: [])
        }
        await #expect(throws: CacheError.self) {
            _ = try await forge.client.accept(
                .issue(7), url: "https://other.example/issues/7", headers: TransportHeaders(), body: Array("{}".utf8))
        }
    }

    @Test("a URL below an alias of the API belongs to its requests, and only on the boundary of a segment")
    func aliases() async throws {
        let folder = try TemporaryFolder()
        let client = try RecordClient(
            base: "https://api.forge.example/v1", records: Issue.self, User.self, Label.self, Milestone.self,
            store: folder("forge.tarn")
        ) { $0.api.aliases = ["https://forge.example/api"] }
        var routes = RequestRoutes()
        routes.add("/issues/{number}") { .issue(Int($0["number"]) ?? 0) }
        for (url, isOwn) in [
            ("https://api.forge.example/v1/issues/7", true), ("https://forge.example/api/issues/7", true),
            ("https://api.forge.example/v10/issues/7", false), ("https://forge.example/issues/7", false),
        ] {
            let records = try await client.accept(
                url: url, headers: TransportHeaders([.init("Cache-Control", "max-age=60")]),
                body: Array(ForgeServer.issue(7).utf8), by: routes)
            #expect((records?.count == 1) == isOwn, "\(url)")
        }
        #expect(try await client.one(.issue(7).policy(.cacheOnly)).number == 70)
    }

    @Test("a URL belongs to the request with the most specific path, and what was fetched there becomes its records")
    func routes() async throws {
        let forge = try ForgeServer(), base = forge.server.base
        var routes = RequestRoutes()
        routes.add("/{+any}") { RecordRequest<User>.get("/{+any}", ["any": $0["any"]]) }
        routes.add("/repos/{+repository}/issues") { .issues($0["repository"]) }
        routes.add("/repos/{+repository}/labels/{name}") { .labels($0["repository"], name: $0["name"]) }
        routes.add("/issues/{number}.json") { .issue(Int($0["number"]) ?? 0) }
        func accept(_ url: String, _ body: String) async throws -> [any MappedRecord]? {
            try await forge.client.accept(url: url, headers: TransportHeaders(), body: Array(body.utf8), by: routes)
        }
        let issues = try await accept(base + "/repos/acme/anvil/issues?per_page=2&page=7", "[\(ForgeServer.issue(1))]")
        #expect((issues as? [Issue])?.map(\.id) == [1])
        let labels = try await accept(base + "/repos/acme/anvil/labels/a%2Fb", #"{"id":3,"name":"a/b"}"#)
        #expect((labels as? [Label])?.map(\.name) == ["a/b"])
        #expect((try await accept(base + "/issues/7.json", ForgeServer.issue(7)) as? [Issue])?.map(\.number) == [70])
        let user = try await accept(base + "/people/9", #"{"id":9,"login":"eve"}"#)
        #expect((user as? [User])?.map(\.login) == ["eve"])
        let foreign = try await accept("https://other.example/issues/7.json", "{}")
        #expect(foreign.map(\.count) == nil)
        #expect(forge.server.requests.isEmpty)
        let beside = try await accept(base + "0/issues/7.json", "{}")
        #expect(beside.map(\.count) == nil)
        let unknown = try await forge.client.accept(
            url: base + "/x", headers: TransportHeaders(), body: [], by: RequestRoutes())
        #expect(unknown.map(\.count) == nil)
    }

    @Test("a cancelled task ends its transfer")
    func cancellation() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { request in
            guard request.target == "/issues/1" else { return nil }
            gate.wait()
            return .init(body: ForgeServer.issue(1))
        }
        let task = Task { try await forge.client.one(.issue(1)) }
        try await eventually("the request") { !forge.server.requests.isEmpty }
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: (any Error).self) { _ = try await task.value }
        #expect(ContinuousClock.now - start < .seconds(30))
        gate.open()
    }

    @Test("a base that is no URL, and records whose mapping does not fit, are errors at once")
    func misuse() throws {
        let folder = try TemporaryFolder()
        #expect(throws: MirrorError.self) {
            _ = try RecordClient(base: "forge", records: User.self, store: folder("a"))
        }
        for base in ["https://x.example?v=1", "https://x.example/v1#a", "https://ada:secret@x.example"] {
            let error = #expect(throws: MirrorError.self) {
                _ = try RecordClient(base: base, records: User.self, store: folder("a"))
            }
            #expect(error.map { "\($0)".contains("secret") || "\($0)".contains("absolute") } == false)
        }
        #expect(throws: MirrorError.self) {
            _ = try RecordClient(base: "https://x.example", records: User.self, store: folder("b")) {
                $0.mapping.entities["User"]?.paths["surname"] = ["last_name"]
            }
        }
    }
}

extension StoreReader {
    /// The version of a record.
    fileprivate func get<R: StoredRecord>(_ type: R.Type, _ key: R.Key, version: Void) throws -> UInt64? {
        try withRow(type, key) { $0.version }
    }
}
