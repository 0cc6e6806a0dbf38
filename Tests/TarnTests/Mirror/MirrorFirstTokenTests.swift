// First tokens of change feeds: requested before the whole list is read.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: first tokens of change feeds", .timeLimit(.minutes(5)))
struct MirrorFirstTokenTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int, name: string? } }
        endpoints:
          files:
            path: /files
            records: files
            entity: Item
            paginate: { cursor: { path: nextPageToken, param: pageToken } }
            orphans: after_one_scan
          changes:
            path: /changes
            records: { changes: { entity: Item, record: [file, fileId], deleted: { removed: 'true' } } }
            paginate: { cursor: { path: nextPageToken, param: pageToken } }
            since:
              cursor: newStartPageToken
              param: pageToken
              start: { path: /changes/token, cursor: startPageToken, list: files }
        """

    /// Files, two on a page, and their changes by number. Tokens before `forgotten` have expired.
    private final class Drive: Sendable {
        struct State {
            var files = Set([1, 2, 3])
            var changes: [(id: Int, isRemoved: Bool)] = []
            var forgotten = 0
            var failing: String?
        }
        let state = Mutex(State())

        func put(_ id: Int) {
            state.withLock { state in
                state.files.insert(id)
                state.changes.append((id, false))
            }
        }
        func remove(_ id: Int) {
            state.withLock { state in
                state.files.remove(id)
                state.changes.append((id, true))
            }
        }
        /// Removes a file whose change no token reaches any more.
        func removeUntold(_ id: Int) {
            remove(id)
            state.withLock { $0.forgotten = $0.changes.count }
        }

        func server() throws -> ScriptedServer {
            try ScriptedServer { [self] request in
                state.withLock { state in
                    if request.target == state.failing { return .init(status: "404 Not Found") }
                    if request.target == "/changes/token" {
                        return .init(body: #"{"startPageToken":"t\#(state.changes.count)"}"#)
                    }
                    let token = request.target.split(separator: "=").last.map(String.init) ?? ""
                    if request.target.hasPrefix("/changes") {
                        guard let number = Int(token.dropFirst()), number >= state.forgotten else {
                            return .init(status: "410 Gone")
                        }
                        let found = state.changes.dropFirst(number).map { change in
                            #"{"fileId":\#(change.id),"removed":\#(change.isRemoved)"#
                                + (change.isRemoved ? "}" : #","file":{"id":\#(change.id),"name":"n"}}"#)
                        }
                        return .init(
                            body: #"{"changes":[\#(found.joined(separator: ","))],"#
                                + #""newStartPageToken":"t\#(state.changes.count)"}"#)
                    }
                    let start = token.hasPrefix("p") ? Int(token.dropFirst()) ?? 0 : 0
                    let all = state.files.sorted(), end = min(start + 2, all.count)
                    let page = all[min(start, end)..<end].map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
                    let next = end < all.count ? #","nextPageToken":"p\#(end)""# : ""
                    return .init(body: #"{"files":[\#(page)]\#(next)}"#)
                }
            }
        }
    }

    @Test("the token is requested before the whole list, which later syncs leave to the feed")
    func order() async throws {
        let store = try MirrorStore(yaml: Self.yaml), drive = Drive(), server = try drive.server()
        var report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.targets == ["/changes/token", "/changes?pageToken=t0", "/files", "/files?pageToken=p2"])
        drive.remove(1)
        drive.put(4)
        report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && report.endpoint("files")?.isFollowed == true, "\(report.texts)")
        #expect(Array(server.targets.dropFirst(4)) == ["/changes?pageToken=t0"])
        #expect(try store.items() == [2, 3, 4])
        report = try await store.sync(server.base) { $0.isFull = true }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            Array(server.targets.dropFirst(5)) == [
                "/changes/token", "/changes?pageToken=t2", "/files", "/files?pageToken=p2",
            ])
        #expect(try store.items() == [2, 3, 4])
    }

    @Test("after a token has expired, the whole list is read again after a new one, and finds what was deleted")
    func expired() async throws {
        let store = try MirrorStore(yaml: Self.yaml), drive = Drive(), server = try drive.server()
        try await store.sync(server.base)
        drive.put(4)
        try await store.sync(server.base)
        drive.removeUntold(3)
        let count = server.targets.count
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty && report.endpoint("changes")?.expired == 1, "\(report.texts)")
        #expect(
            Array(server.targets.dropFirst(count)) == [
                "/changes?pageToken=t1", "/changes/token", "/changes?pageToken=t2", "/files", "/files?pageToken=p2",
            ])
        #expect(try store.items() == [1, 2, 4])
        try await store.sync(server.base)
        #expect(server.targets.last == "/changes?pageToken=t2")
    }

    @Test("an interrupted list goes on if the token is older, and begins again if it is newer")
    func interruptedList() async throws {
        let store = try MirrorStore(yaml: Self.yaml), drive = Drive(), server = try drive.server()
        drive.state.withLock { $0.failing = "/files?pageToken=p2" }
        #expect(try await store.sync(server.base).failures.count == 1)
        var count = server.targets.count
        #expect(try await store.sync(server.base).failures.count == 1)
        // The page is refused, so that the list begins again, behind the token.
        #expect(Array(server.targets.dropFirst(count).prefix(2)) == ["/changes?pageToken=t0", "/files?pageToken=p2"])
        // A change between the pages that were read and the new token.
        drive.removeUntold(1)
        drive.put(5)
        drive.state.withLock { $0.failing = nil }
        count = server.targets.count
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            Array(server.targets.dropFirst(count)) == [
                "/changes?pageToken=t0", "/changes/token", "/changes?pageToken=t2", "/files", "/files?pageToken=p2",
            ])
        #expect(try Set(store.items()).isSuperset(of: [2, 3, 5]))
    }

    @Test("a feed that is synced alone takes its token, and the next sync of all reads the list after it")
    func feedAlone() async throws {
        let store = try MirrorStore(yaml: Self.yaml), drive = Drive(), server = try drive.server()
        try await store.sync(server.base, names: ["files"])
        drive.put(4)
        try await store.sync(server.base, names: ["changes"])
        #expect(try store.items() == [1, 2, 3])
        let count = server.targets.count
        try await store.sync(server.base)
        #expect(
            Array(server.targets.dropFirst(count)) == ["/changes?pageToken=t1", "/files", "/files?pageToken=p2"])
        #expect(try store.items() == [1, 2, 3, 4])
    }

    @Test("with full_every, a new token and the list are requested when they are due")
    func periodic() async throws {
        let clock = TestClock(), drive = Drive(), server = try drive.server()
        let store = try MirrorStore(
            yaml: Self.yaml.replacing("start: {", with: "full_every: 7d\n      start: {"))
        func sync() async throws -> [String] {
            let count = server.targets.count
            let report = try await store.sync(server.base) { $0.client.time = clock.source }
            #expect(report.failures.isEmpty, "\(report.texts)")
            return Array(server.targets.dropFirst(count))
        }
        #expect(try await sync().count == 4)
        clock.pass(6 * 86_400)
        #expect(try await sync() == ["/changes?pageToken=t0"])
        clock.pass(86_400)
        #expect(try await sync().first == "/changes/token")
        #expect(try await sync() == ["/changes?pageToken=t0"])
    }

    @Test("the token may be in a declared refusal of the feed's own request; one that is missing is an error")
    func refusal() async throws {
        let yaml = Self.yaml.replacing("{ path: /changes/token, cursor: startPageToken, list: files }", with: "START")
        for (start, isTaken) in [
            ("{ status: 412, cursor: sync }", true), ("{ status: 412 }", false), ("{ cursor: sync }", false),
        ] {
            let store = try MirrorStore(yaml: yaml.replacing("START", with: start))
            let server = try ScriptedServer { request in
                request.target == "/changes"
                    ? .init(status: "412 Precondition Failed", body: #"{"sync":"s1"}"#)
                    : .init(body: #"{"changes":[],"newStartPageToken":"s2"}"#)
            }
            let report = try await store.sync(server.base, names: ["changes"])
            #expect(report.failures.isEmpty == isTaken, "\(start): \(report.texts)")
            #expect(server.targets == (isTaken ? ["/changes", "/changes?pageToken=s1"] : ["/changes"]))
            #expect(try store.checkpoint("changes")?.since == (isTaken ? "s2" : nil))
        }
    }

    @Test("a feed that gets a start keeps its value, and its list is read once more only")
    func laterStart() async throws {
        let start = "\n      start: { path: /changes/token, cursor: startPageToken, list: files }"
        var store = try MirrorStore(yaml: Self.yaml.replacing(start, with: ""))
        let server = try ScriptedServer { request in
            request.target == "/files"
                ? .init(body: #"{"files":[{"id":1}]}"#) : .init(body: #"{"changes":[],"newStartPageToken":"t1"}"#)
        }
        #expect(try await store.sync(server.base).failures.isEmpty)
        store = try store.edited(Self.yaml)
        for _ in 0..<2 { #expect(try await store.sync(server.base).failures.isEmpty) }
        #expect(server.targets.dropFirst(2) == ["/changes?pageToken=t1", "/files", "/changes?pageToken=t1"])
    }

    @Test("a parameter in the path of the first request is sent by the feed, too")
    func parameter() async throws {
        let start = "{ path: '/token?drive={drive}', cursor: startPageToken }"
        let yaml = Self.yaml.replacing("{ path: /changes/token, cursor: startPageToken, list: files }", with: start)
            .replacing("path: /changes\n", with: "path: /changes\n    with: { drive: a, size: '9' }\n")
        let store = try MirrorStore(yaml: yaml)
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/token")
                ? .init(body: #"{"startPageToken":"t"}"#) : .init(body: #"{"changes":[],"newStartPageToken":"t"}"#)
        }
        #expect(try await store.sync(server.base, names: ["changes"]).failures.isEmpty)
        #expect(server.targets == ["/token?drive=a", "/changes?drive=a&size=9&pageToken=t"])
    }

    @Test("a fresh token that the server refuses is a failure, and no endless loop")
    func refusedAtOnce() async throws {
        let store = try MirrorStore(yaml: Self.yaml)
        let server = try ScriptedServer { request in
            request.target == "/changes/token" ? .init(body: #"{"startPageToken":"t"}"#) : .init(status: "410 Gone")
        }
        #expect(try await store.sync(server.base, names: ["changes"]).failures.count == 1)
        #expect(server.targets == ["/changes/token", "/changes?pageToken=t"])
    }
}
