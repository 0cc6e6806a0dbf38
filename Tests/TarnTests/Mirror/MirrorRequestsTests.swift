// A sync against servers that have a bad moment, limits, other credentials, or answers of their own
// kind.

import Foundation
import Logging
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: requests", .timeLimit(.minutes(5)))
struct MirrorRequestsTests {
    private static func answer(_ body: String, status: String = "200 OK", _ fields: String...) -> String {
        "HTTP/1.1 \(status)\r\n" + fields.map { $0 + "\r\n" }.joined() + "Content-Length: \(body.utf8.count)\r\n\r\n"
            + body
    }
    private static func items(_ ids: ClosedRange<Int>) -> String {
        "[" + ids.map { #"{"id":\#($0),"name":"item \#($0)"}"# }.joined(separator: ",") + "]"
    }

    @Test(
        "a bad moment in the middle of a walk is not seen in what is stored",
        arguments: ["status:503:times=2", "close:times=1", "cut:10:times=2"])
    func badMoment(fault: String) async throws {
        let pages = itemPages(3).map { $0.replacing("GET /items", with: "GET /v1/items") }
        let server = try LocalServer(pages, "--fault", "page=2:\(fault)")
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1") { $0.retry = RetryPolicy(firstDelay: .milliseconds(10)) }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 6)
        #expect(server.requests.count > 3)
    }

    @Test("what the description says about tries is done")
    func describedRetry() async throws {
        let server = try LocalServer([recording("/v1/items", "[]")], "--fault", ":status:503")
        let store = try MirrorStore(yaml: itemsYAML(api: "  retry: { attempts: 3, first_delay: 0.01 }"))
        let report = try await store.sync(server.base + "/v1") { $0.retry = nil }
        #expect(report.failures.count == 1 && server.requests.count == 3)
    }

    @Test("a limit that is used up is remembered by the store: after a restart nothing is sent before it ends")
    func limitSurvivesRestart() async throws {
        let server = try RawServer([
            Self.answer("{\"message\":\"slow down\"}", status: "429 Slow down", "Retry-After: 3600"), Self.answer("[]"),
        ])
        let store = try MirrorStore(yaml: itemsYAML(api: "  pace: { longest_wait: 60 }"))
        let first = try await store.sync(server.base + "/v1")
        #expect(
            first.texts.first?.contains("the server returned 429: slow down; wait until ") == true,
            "\(first.texts)")
        // A sync that knows only what the store has kept of the first.
        let second = try await store.sync(server.base + "/v1")
        #expect(second.texts.first?.contains("is used up until") == true, "\(second.texts)")
        #expect(server.requests.count == 1)
        let later = TimeSource(
            now: { Date().addingTimeInterval(3700) }, sleep: { try await Task.sleep(for: $0) }, random: { 0 })
        let third = try await store.sync(server.base + "/v1") { $0.time = later }
        #expect(third.failures.isEmpty && server.requests.count == 2, "\(third.texts)")
    }

    @Test("a limit is that of the credentials with which it was learned: it does not hold up a new token")
    func limitOfOtherCredentials() async throws {
        let server = try RawServer([
            Self.answer("{}", status: "429 Slow down", "Retry-After: 3600"),
            Self.answer("[]", "X-RateLimit-Remaining: 5", "X-RateLimit-Reset: 3600"),
        ])
        var store = try MirrorStore(yaml: itemsYAML(api: "  pace: { longest_wait: 60 }"))
        try await store.sync(server.base + "/v1")
        store.description.api.authentication = .bearer(.value(Secret("new-token")))
        let second = try await store.sync(server.base + "/v1")
        #expect(second.failures.isEmpty && server.requests.count == 2, "\(second.texts)")
        let text = try #require(try store.read { try $0.access.settings.requestBudgets })
        let limits = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(limits?.count == 2 && !text.contains("new-token"), "\(text)")
        // Without the token, the limit of requests without credentials still holds.
        store.description.api.authentication = .none
        let third = try await store.sync(server.base + "/v1")
        #expect(third.texts.first?.contains("is used up until") == true, "\(third.texts)")
        #expect(server.requests.count == 2)
    }

    @Test("rules for answers: passed over, empty, the end, a failure of its own words, another try")
    func responseRules() async throws {
        func sync(
            _ rule: String, _ answers: [String], _ style: String = "paginate: header_link"
        ) async throws -> (SyncReport, MirrorStore, RawServer) {
            let server = try RawServer(answers)
            let store = try MirrorStore(yaml: itemsYAML("\(style)\n    responses: [\(rule)]"))
            let report = try await store.sync(server.base + "/v1") {
                $0.retry = RetryPolicy(firstDelay: .milliseconds(1))
            }
            return (report, store, server)
        }
        let page = Self.answer(Self.items(1...2), "Link: </v1/items?page=2>; rel=\"next\""),
            gone = Self.answer("{}", status: "404 No")
        let (ignored, store, _) = try await sync("{ status: 404, then: ignore }", [page, gone])
        #expect(ignored.failures.isEmpty && ignored.endpoints[0].ignored == 1 && ignored.pages == 1)
        #expect(try store.checkpoint("items")?.state == .complete)
        let (empty, emptied, _) = try await sync("{ status: 404, then: empty }", [page, gone])
        #expect(empty.failures.isEmpty && empty.pages == 2 && empty.listed == 2)
        #expect(try emptied.checkpoint("items")?.state == .complete)
        let last = Self.answer(Self.items(1...2)), style = "paginate: { page_number: { param: page } }"
        let (stopped, ended, _) = try await sync("{ status: 404, then: stop }", [last, gone], style)
        #expect(stopped.failures.isEmpty && stopped.pages == 1)
        let (named, _, _) = try await sync("{ status: 404, then: stop }", [page, gone])
        #expect(named.texts.first?.contains("Link names a next page") == true, "\(named.texts)")
        #expect(try ended.checkpoint("items")?.state == .complete)
        #expect(try ended.count("Item") == 2)
        let (moved, _, _) = try await sync("{ status: 404, then: stop }", [gone])
        #expect(moved.texts.first?.contains("behind the first one") == true, "\(moved.texts)")
        let (failed, _, _) = try await sync(
            "{ contains: maintenance, then: fail, message: come back on Monday }", [Self.answer("[] maintenance")])
        #expect(failed.texts.first?.contains("the server returned 200: come back on Monday") == true, "\(failed.texts)")
        let (retried, _, server) = try await sync(
            "{ contains: ratelimited, then: retry }",
            [Self.answer("{\"error\":\"ratelimited\"}"), Self.answer(Self.items(1...2))])
        #expect(retried.failures.isEmpty && retried.listed == 2 && server.requests.count == 2)
    }

    private static func hooks(_ afterMerge: @escaping @Sendable (ImportReport, inout StoreWriter) throws -> Void)
        -> ImportHooks
    {
        var hooks = ImportHooks()
        hooks.afterMerge = afterMerge
        return hooks
    }

    @Test("the next page is asked for while this one is imported, and they are stored in order")
    func prefetch() async throws {
        let pages = itemPages(4).map { $0.replacing("GET /items", with: "GET /v1/items") }
        let server = try LocalServer(pages)
        let seen = Mutex<[Int]>([])
        let afterMerge: @Sendable (ImportReport, inout StoreWriter) throws -> Void = { _, _ in
            // While a page is merged, the next one is requested, and arrives however long that
            // takes.
            let wanted = min(seen.withLock { $0.count } + 2, 4)
            let deadline = ContinuousClock.now + .seconds(120)
            while server.requests.count < wanted, ContinuousClock.now < deadline { usleep(2000) }
            seen.withLock { $0.append(server.requests.count) }
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1") { $0.hooks = { _ in Self.hooks(afterMerge) } }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(seen.withLock { $0 } == [2, 3, 4, 4])
        #expect(
            server.requests.map { $0.split(separator: " ")[1] } == [
                "/v1/items", "/v1/items?page=2", "/v1/items?page=3", "/v1/items?page=4",
            ])
        #expect(try store.count("Item") == 8)
        // And not if that is not wanted.
        let other = try LocalServer(pages)
        let counts = Mutex<[Int]>([])
        let counting: @Sendable (ImportReport, inout StoreWriter) throws -> Void = { _, _ in
            usleep(50_000)
            counts.withLock { $0.append(other.requests.count) }
        }
        _ = try await MirrorStore(yaml: itemsYAML()).sync(other.base + "/v1") {
            $0.hooks = { _ in Self.hooks(counting) }
            $0.prefetches = false
        }
        #expect(counts.withLock { $0 } == [1, 2, 3, 4])
    }

    private static let secret = "s3cr3t/0123456789+abcdef"

    @Test(
        "a secret is nowhere but on the wire: not in the store, in errors, in logs or in the report, whatever the server repeats of it",
        arguments: [
            "bearer: { env: K }", "basic: { user: ada, password: { env: K } }",
            "api_key: { key: { env: K }, header: X-Key }",
            "api_key: { key: { env: K }, query: kk }", "api_key: { key: { env: K }, cookie: session }",
            "bearer: { command: [printf, '\(secret)'] }",
        ])
    func secretsStayAway(auth: String) async throws {
        let encoded = "s3cr3t%2F0123456789%2Babcdef", basic = Data("ada:\(Self.secret)".utf8).base64EncodedString()
        let echo = "\(Self.secret) \(encoded) \(basic)"
        let server = try RawServer([
            Self.answer(
                Self.items(1...2), "Link: </v1/items?page=2&kk=\(encoded)>; rel=\"next\"", "ETag: \"a\"",
                "Vary: \(Self.secret)"),
            Self.answer("{\"message\":\"no: \(echo)\"}", status: "400 Bad"),
        ])
        let store = try MirrorStore(yaml: itemsYAML(api: "  auth: { \(auth) }"))
        let logs = LogStore()
        let report = try await store.sync(server.base + "/v1", environment: ["K": Self.secret]) {
            $0.logger = logs.logger
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { head in [Self.secret, encoded, basic].contains { head.contains($0) } })
        #expect(report.failures.count == 1 && report.pages == 1)
        var shown = "\(report) \(report.texts) \(logs.text) \(store.description)"
        dump(report, to: &shown)
        dump(store.description, to: &shown)
        let isBasic = auth.hasPrefix("basic")
        for form in isBasic ? [Self.secret, encoded, basic] : [Self.secret, encoded] {
            // The command of the test itself is in the description.
            if !auth.hasPrefix("bearer: { command") { #expect(!shown.contains(form), "\(shown)") }
            #expect(!(report.texts.joined() + logs.text).contains(form), "\(report.texts) \(logs.text)")
            for name in try FileManager.default.contentsOfDirectory(atPath: store.path) {
                let data = try Data(contentsOf: URL(fileURLWithPath: store.path + "/" + name))
                #expect(data.range(of: Data(form.utf8)) == nil, "\(form) in \(name)")
            }
        }
        #expect(logs.text.contains("/v1/items") && logs.text.contains("status=400"))
    }

    @Test("a secret that records repeat is not in what the import tells about them, as a value or as a key")
    func secretsInDiagnostics() async throws {
        let secret = Self.secret + String(repeating: "0123456789", count: 10)
        let server = try RawServer([
            Self.answer("[{\"id\":1,\"name\":\"a\",\"count\":\"\(secret)\",\"\(secret)\":1},{\"id\":\"\(secret)\"}]")
        ])
        let store = try MirrorStore(
            yaml: itemsYAML(api: "  auth: { bearer: { env: K } }", attributes: "      count: int?"))
        let logs = LogStore()
        let report = try await store.sync(server.base + "/v1", environment: ["K": secret]) { $0.logger = logs.logger }
        #expect(report.report.diagnosticCount == 2 && report.report.unmapped.map(\.path) == ["***"])
        var shown = "\(report) \(logs.text)"
        dump(report, to: &shown)
        #expect(!shown.contains(secret.prefix(12)), "\(shown)")
        #expect(shown.contains("found the text \"***"), "\(shown)")
    }
}
