// The log of imports: one line for each commit, diagnostics below it, nothing that is not wanted.

import Foundation
import Logging
import Tarn
import TestSupport
import Testing

@Suite("Import log", .timeLimit(.minutes(5)))
struct ImportLogTests {
    private static let yaml = """
        api: { base: 'https://api.test.example/v1' }
        entities:
          Item: { key: id, attributes: { id: int, name: string, at: date? } }
          User: { key: id, attributes: { id: int } }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link, orphans: after_one_scan }
          users: { path: /users, entity: User }
        """

    private static let pages = [
        recording(
            "/v1/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b","at":"soon"},{"name":"c"}]"#, "ETag: \"1\"",
            "Link: </v1/items?page=2&access_token=hunter2>; rel=next"),
        recording("/v1/items?page=2&access_token=hunter2", #"[{"id":3,"name":"c"}]"#, "ETag: \"2\""),
        recording("/v1/users", #"[{"id":9}]"#),
    ]

    private func lines(_ logs: LogStore, _ level: Logger.Level) -> [String] {
        logs.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("\(level) ") }
    }

    @Test("a sync logs every commit with its counts at info, and diagnostics by kind at notice")
    func mirror() async throws {
        let store = try MirrorStore(yaml: Self.yaml), logs = LogStore(), server = try LocalServer(Self.pages)
        try await store.sync(server.base + "/v1") { options in
            options.client.logger = logs.logger
            options.concurrency = 1
        }
        let imports = lines(logs, .info)
        #expect(imports.count == 3, "\(logs.text)")
        let first = try #require(imports.first)
        for part in [
            "imported", "endpoint=items", "url=https://api.test.example/v1/items", "pages=1", "bytes=66", "listed=3",
            "created=2", "updated=0", "unchanged=0", "deleted=0", "skipped=1", "diagnostics=2", "milliseconds=",
        ] {
            #expect(first.contains(part), "\(part) in \(first)")
        }
        #expect(imports.last?.contains("endpoint=users") == true && imports.last?.contains("created=1") == true)
        let diagnostics = lines(logs, .notice)
        #expect(diagnostics.count == 2, "\(diagnostics)")
        #expect(
            diagnostics.contains {
                $0.contains("notice value.type: ") && $0.contains("path=$[1].at") && $0.contains("key=2")
                    && $0.contains("field=at") && $0.contains("entity=Item") && $0.contains("count=1")
            }, "\(diagnostics)")
        #expect(!logs.text.contains("hunter2"))
    }

    @Test("pages of one commit are one line; pages answered with 304 are none")
    func oneCommit() async throws {
        let store = try MirrorStore(yaml: Self.yaml), server = try LocalServer(Self.pages)
        var logs = LogStore()
        try await store.sync(server.base + "/v1", names: ["items"]) {
            $0.client.logger = logs.logger
            $0.mirror.commitUnit = .scan
        }
        #expect(lines(logs, .info).count == 1, "\(logs.text)")
        #expect(lines(logs, .info)[0].contains("pages=2") && lines(logs, .info)[0].contains("created=3"))
        logs = LogStore()
        try await store.sync(server.base + "/v1", names: ["items"]) { $0.client.logger = logs.logger }
        #expect(lines(logs, .info).isEmpty && lines(logs, .debug).count >= 2, "\(logs.text)")
    }

    @Test("at warning, nothing is logged about imports; at notice, only diagnostics")
    func levels() async throws {
        for (level, notices) in [(Logger.Level.warning, 0), (.notice, 2)] {
            let store = try MirrorStore(yaml: Self.yaml), logs = LogStore(), server = try LocalServer(Self.pages)
            try await store.sync(server.base + "/v1") {
                var logger = logs.logger
                logger.logLevel = level
                $0.client.logger = logger
            }
            #expect(lines(logs, .info).isEmpty && lines(logs, .notice).count == notices, "\(logs.text)")
        }
    }

    @Test("a value of the server adds no line to the log, and none that acts on a terminal")
    func lineBreaks() async throws {
        let yaml = Self.yaml.replacing("id: int, name", with: "id: string, name"), logs = LogStore()
        let body = #"[{"id":"a\ninfo forged\u001b[2J","name":"b","at":"x\ninfo forged\u2028"}]"#
        let store = try MirrorStore(yaml: yaml), server = try LocalServer([recording("/v1/items", body)])
        try await store.sync(server.base + "/v1", names: ["items"]) { $0.client.logger = logs.logger }
        #expect(logs.lines.allSatisfy { line in !["\n", "\u{1B}", "\u{2028}"].contains { line.contains($0) } })
        let notices = lines(logs, .notice)
        #expect(notices.count == 1 && notices[0].contains(#"key=a\u{a}info forged\u{1b}[2J"#), "\(notices)")
        #expect(notices.first?.contains(#"the text "x\u{a}info forged\u{2028}""#) == true, "\(notices)")
    }

    @Test("an atomic group is one line with the names of its endpoints")
    func group() async throws {
        let store = try MirrorStore(yaml: Self.yaml), logs = LogStore(), server = try LocalServer(Self.pages)
        var options = APIClient.Options()
        (options.base, options.logger) = (server.base + "/v1", logs.logger)
        let mirror = try APIMirror(
            store.description, store: store.open(), transport: CurlTransport(), client: options)
        let report = await mirror.sync(batch: [BatchRequest("items"), BatchRequest("users")], isAtomic: true)
        #expect(report.failures.isEmpty, "\(report.texts)")
        let imports = lines(logs, .info)
        #expect(imports.count == 1 && imports[0].contains("endpoint=items, users"), "\(imports)")
        #expect(imports[0].contains("pages=3") && imports[0].contains("created=4"))
    }

    @Test("removed orphans are logged, and named in the report up to the client's limit", arguments: [100, 1, 0])
    func orphans(limit: Int) async throws {
        let store = try MirrorStore(yaml: Self.yaml), logs = LogStore()
        var report = try await store.scan([[1, 2, 3, 4]]) {
            $0.mirror.commitUnit = .scan
            $0.client.keyLimit = limit
        }
        #expect(report.report.keys(.created).count == min(limit, 4))
        report = try await store.scan([[2, 3]]) {
            $0.client.logger = logs.logger
            $0.client.keyLimit = limit
        }
        #expect(try store.items() == [2, 3])
        #expect(report.report.keys(.deleted, of: "Item") == [1, 4].prefix(limit).map { RecordKey($0) })
        let removed = lines(logs, .info).filter { $0.contains("removed orphans") }
        #expect(removed.count == 1 && removed[0].contains("deleted=2"), "\(logs.text)")
    }

    @Test("a cache logs what it imports, also without storing it")
    func cache() async throws {
        for (control, message) in [("max-age=60", "info imported "), ("no-store", "info imported without storing ")] {
            let server = try itemServer("Cache-Control: \(control)"), logs = LogStore()
            let fixture = try CacheFixture(yaml: itemsYAML())
            let cache = try fixture.cache(server.base) {
                $0.client.logger = logs.logger
                $0.client.keyLimit = 1
            }
            let answer = try await cache.fetch(CacheRequest("items"))
            #expect(answer.report?.keys(.created) == [ImportedKey(entity: "Item", key: RecordKey(1))])
            let imports = lines(logs, .info)
            #expect(imports.count == 1 && imports[0].hasPrefix(message), "\(logs.text)")
            #expect(imports[0].contains("endpoint=items") && imports[0].contains("created=2"))
            #expect(imports[0].contains("bytes=\(twoItems.utf8.count)"))
        }
    }
}
