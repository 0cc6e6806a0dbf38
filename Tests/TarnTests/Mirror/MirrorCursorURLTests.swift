// Cursors that are sent to a URL of their own, as those of Dropbox.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: cursors with a URL of their own", .timeLimit(.minutes(5)))
struct MirrorCursorURLTests {
    private static let yaml = #"""
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int, name: string? }, deleted: { '\.tag': deleted } }
        endpoints:
          items:
            path: /list_folder
            body: { path: '', recursive: true }
            records: entries
            entity: Item
            paginate: { cursor: { path: cursor, body: cursor, has_more: has_more, url: /list_folder/continue } }
            since: { cursor: cursor, body: cursor, expired: 409 }
        """#

    /// A folder whose entries, and their deletions, have numbers; two on a page.
    private final class Folder: Sendable {
        let state = Mutex((entries: [String](), forgets: false, fails: false))

        func server() throws -> ScriptedServer {
            try ScriptedServer { [self] request in
                let (entries, forgets, fails) = state.withLock { ($0.entries, $0.forgets, $0.fails) }
                var start = 0
                if request.target == "/list_folder/continue" {
                    if fails { return .init(status: "404 Not Found") }
                    if forgets { return .init(status: "409 Conflict", body: #"{"error":"reset"}"#) }
                    start = Int(request.body.split(separator: "\"").last { $0.hasPrefix("c") }?.dropFirst() ?? "") ?? 0
                }
                let end = min(start + 2, entries.count), page = entries[start..<end].joined(separator: ",")
                return .init(
                    body: #"{"entries":[\#(page)],"cursor":"c\#(end)","has_more":\#(end < entries.count)}"#)
            }
        }
    }

    private static let first = #"/list_folder {"path":"","recursive":true}"#

    private static func next(_ number: Int) -> String { #"/list_folder/continue {"cursor":"c\#(number)"}"# }

    private static func log(_ server: ScriptedServer, after count: Int) -> [String] {
        server.requests.dropFirst(count).map { "\($0.target) \($0.body)" }
    }

    @Test("further pages and later syncs are requested there, with the cursor alone")
    func pagesAndChanges() async throws {
        let store = try MirrorStore(yaml: Self.yaml), folder = Folder(), server = try folder.server()
        folder.state.withLock { $0.entries = (1...3).map { #"{"id":\#($0),"name":"n"}"# } }
        var report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && Self.log(server, after: 0) == [Self.first, Self.next(2)], "\(report.texts)")
        #expect(try store.checkpoint("items")?.since == "c3")
        folder.state.withLock { $0.entries += [#"{"id":1,".tag":"deleted"}"#, #"{"id":4,"name":"n"}"#, #"{"id":5}"#] }
        report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(Self.log(server, after: 2) == [Self.next(3), Self.next(5)])
        #expect(try store.items() == [2, 3, 4, 5])
        report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && Self.log(server, after: 4) == [Self.next(6)], "\(report.texts)")
    }

    @Test("an interrupted scan goes on there, and a forgotten cursor begins the list again")
    func interruptedAndForgotten() async throws {
        let store = try MirrorStore(yaml: Self.yaml), folder = Folder(), server = try folder.server()
        folder.state.withLock { $0 = ((1...3).map { #"{"id":\#($0)}"# }, false, true) }
        #expect(try await store.sync(server.base).failures.count == 1)
        folder.state.withLock { $0.fails = false }
        var report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && Self.log(server, after: 2) == [Self.next(2)], "\(report.texts)")
        #expect(try store.items() == [1, 2, 3] && store.checkpoint("items")?.since == "c3")
        folder.state.withLock { $0 = ([#"{"id":9}"#], true, false) }
        report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && report.endpoint("items")?.expired == 1, "\(report.texts)")
        #expect(Self.log(server, after: 3) == [Self.next(3), Self.first])
        #expect(try store.checkpoint("items")?.since == "c1")
    }

    @Test(
        "keys that cannot stand beside the url, and what is no path, are errors",
        arguments: [
            ("url: /next, alone: true", "alone: requests to the url have no other parameter"),
            ("url: /next, start: a", "start: the first request is for the list"),
            ("url: 'https://other.example/next'", "url: expected a path below the base URL"),
            ("url: '//other.example/next'", "url: expected a path below the base URL"),
            ("url: '/{id}/next'", "url: expected a path below the base URL"),
        ])
    func problems(keys: String, message: String) {
        let yaml = Self.yaml.replacing("url: /list_folder/continue", with: keys)
        let error = #expect(throws: DescriptionError.self) { try Description.parse(yaml, file: "tarn.yaml") }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("items.paginate.cursor.\(message)"), "\(text)")
    }
}
