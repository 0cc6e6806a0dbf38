// A sync reports what it did not import: absent values by field, and parents without a value for
// the path.

import Foundation
import Glibc
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: omissions", .timeLimit(.minutes(5)))
struct MirrorOmissionTests {
    private static func items(_ ids: some Sequence<Int>, _ members: (Int) -> String) -> String {
        "[" + ids.map { "{\"id\":\($0)\(members($0))}" }.joined(separator: ",") + "]"
    }

    private static func page(_ body: String, _ tag: String) -> String {
        "GET /items\nHTTP/1.1 200 OK\nETag: \"\(tag)\"\n\n" + body
    }

    @Test(
        "a required attribute that listed records lack is reported once, with the number of records and the first one")
    func requiredAttribute() async throws {
        let server = try LocalServer([Self.page(Self.items(1...366) { $0 % 3 == 0 ? ",\"name\":\"n\"" : "" }, "a")])
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base).report
        #expect(report.diagnosticCount == 244)
        let group = try #require(report.diagnosticGroups.first)
        #expect(report.diagnosticGroups.count == 1 && group.count == 244)
        #expect(group.first.description.hasPrefix("value.absent at $[0]: Item 1.name: "), "\(group.first)")
    }

    @Test("a stored value of a required attribute survives a record without it")
    func keptValue() async throws {
        let store = try MirrorStore(yaml: itemsYAML())
        for (tag, members) in [("a", ",\"name\":\"n\""), ("b", "")] {
            let server = try LocalServer([Self.page(Self.items(1...1) { _ in members }, tag)])
            #expect(try await store.sync(server.base).failures.isEmpty)
        }
        #expect(try store.record("Item", 1)["name"] == .string("n"))
    }

    @Test(
        "an attribute that no record ever had is reported with the number of records; one that earlier records had is not"
    )
    func absentAttributes() async throws {
        let yaml = itemsYAML(attributes: "      nickname: { type: 'string?', from: nick }\n      note: string?")
        let store = try MirrorStore(yaml: yaml)
        let first = try LocalServer([
            Self.page(Self.items(1...4) { ",\"name\":\"n\"" + ($0 == 3 ? ",\"note\":null" : "") }, "a")
        ])
        let report = try await store.sync(first.base)
        // Null is a word about the attribute, too: its path is right.
        #expect(report.absentAttributes == [AbsentAttribute(entity: "Item", attribute: "nickname", records: 4)])
        let second = try LocalServer([
            Self.page(Self.items(1...4) { ",\"name\":\"m\"" + ($0 == 3 ? ",\"note\":\"x\"" : "") }, "b")
        ])
        #expect(try await store.sync(second.base).absentAttributes.map(\.attribute) == ["nickname"])
        let third = try LocalServer([Self.page(Self.items(1...2) { _ in ",\"name\":\"o\"" }, "c")])
        #expect(try await store.sync(third.base).absentAttributes.map(\.attribute) == ["nickname"])
        // Nothing was drafted, so nothing is known.
        #expect(try await store.sync(third.base).absentAttributes.isEmpty)
    }

    @Test("attributes that excerpts lack, and ones with a default, are not reported")
    func expectedAbsence() async throws {
        let server = try LocalServer(["GET /posts\nHTTP/1.1 200 OK\n\n[{\"id\":1,\"author\":{\"id\":7}}]"])
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  User: { key: id, attributes: { id: int, login: string, bio: string? } }
                  Post:
                    key: id
                    attributes: { id: int, likes: { type: int, default: 0 } }
                    relationships: { author: { to: User, inverse: posts } }
                endpoints:
                  posts: { path: /posts, entity: Post }
                """)
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            report.absentAttributes.isEmpty && report.report.diagnosticGroups.isEmpty,
            "\(report.report.diagnosticGroups)")
    }

    @Test("records of a for_each without a value for the path are counted by value, with the first one")
    func skippedParents() async throws {
        let boards = (1...9).map { $0 % 2 == 0 ? "{\"id\":\($0)}" : "{\"id\":\($0),\"slug\":\"s\($0)\"}" }.joined(
            separator: ",")
        var pages = ["GET /boards\nHTTP/1.1 200 OK\n\n[\(boards)]"]
        pages += stride(from: 1, through: 9, by: 2).map { "GET /b/s\($0)/cards\nHTTP/1.1 200 OK\n\n[{\"id\":\($0)}]" }
        let server = try LocalServer(pages)
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: id, attributes: { id: int, slug: string? } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards: { path: '/b/{board.slug}/cards', for_each: { entity: Board }, entity: Card }
                """)
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.skippedParents == [SkippedParents(entity: "Board", name: "board.slug", count: 4, first: "2")])
        #expect(try store.count("Card") == 5)
    }

    @Test("a sync that has ended is in nobody's way, also while other threads start processes")
    func endedClaim() async throws {
        let server = try LocalServer(["GET /items\nHTTP/1.1 200 OK\nETag: \"a\"\n\n[{\"id\":1,\"name\":\"n\"}]"])
        let store = try MirrorStore(yaml: itemsYAML())
        let isDone = Mutex(false)
        // Swift does not import `fork`.
        typealias Fork = @convention(c) () -> Int32
        let symbol = try #require(dlsym(nil, "fork")), fork = unsafeBitCast(symbol, to: Fork.self)
        let starter = Thread {
            // Between fork and exec a child shares every open file description, and with it the
            // locks.
            while !isDone.withLock({ $0 }) {
                let child = fork()
                if child == 0 {
                    usleep(20_000)
                    _exit(0)
                }
                var status: Int32 = 0
                waitpid(child, &status, 0)
            }
        }
        starter.start()
        defer { isDone.withLock { $0 = true } }
        for _ in 0..<20 {
            let report = try await store.sync(server.base)
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
    }
}
