// Incremental scans whose records keep their values, because an operation settles meanwhile.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: incremental scans that were under way", .timeLimit(.minutes(5)))
struct OvertakenIncrementTests {
    /// A server that lists what has changed since a time, one record on a page. A held list is read
    /// when the test lets it go on.
    private final class Notes: Sendable {
        struct State {
            var notes = [1: (title: "one", at: 1), 2: (title: "two", at: 2)]
            var log: [String] = []
            var isHeld = false
            var held = 0
        }

        let state = Mutex(State())

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                guard request.method == "GET" else {
                    state.withLock { $0.notes[1] = ("ONE", 3) }
                    return TransportResponse(status: 204)
                }
                state.withLock { $0.held += $0.isHeld ? 1 : 0 }
                while state.withLock(\.isHeld) { try await Task.sleep(for: .milliseconds(2)) }
                return state.withLock { list($0.notes, request.url, &$0.log) }
            }
        }

        private func list(
            _ notes: [Int: (title: String, at: Int)], _ url: String, _ log: inout [String]
        ) -> TransportResponse {
            let values = URLComponents(string: url)?.queryItems ?? []
            let since = values.first { $0.name == "since" }?.value.flatMap(Int.init)
            let page = values.first { $0.name == "page" }?.value.flatMap(Int.init) ?? 1
            log.append("since \(since ?? 0) page \(page)")
            let found = notes.filter { $0.value.at >= since ?? 0 }.sorted { $0.value.at < $1.value.at }
            let body = found.dropFirst(page - 1).prefix(1).map { id, note in
                #"{"id":\#(id),"title":"\#(note.title)","at":\#(note.at),"extra":"\#(note.title)!"}"#
            }
            var headers = TransportHeaders()
            if found.count > page {
                headers["Link"] = "</notes?page=\(page + 1)\(since.map { "&since=\($0)" } ?? "")>; rel=next"
            }
            return TransportResponse(status: 200, headers: headers, body: Array("[\(body.joined())]".utf8))
        }

        var log: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }
    }

    @Test("a scan that has kept a local change from being undone leaves its value: the next one lists the record again")
    func since() async throws {
        let folder = try TemporaryFolder(), server = Notes()
        let description = try Description.parse(
            """
            api: { base: https://x.test }
            entities:
              Note:
                key: id
                attributes: { id: int, title: string, extra: string?, at: int }
                write: { update: 'PATCH /notes/{id}' }
            endpoints:
              notes: { path: /notes, entity: Note, paginate: header_link, since: { param: since, field: at } }
            """, file: folder.path + "/tarn.yaml")
        let store = try Store.open(at: folder.path + "/s.tarn", schema: description.schema)
        let client = try APIClient(description, store: store, transport: server.transport)
        func extra(_ key: Int64) throws -> Value? { try store.read { try $0.record("Note", RecordKey(key))?["extra"] } }
        try #require(await APIMirror(client).sync().failures.isEmpty)
        #expect(server.log == ["since 0 page 1", "since 0 page 2"])
        server.state.withLock { state in
            state.notes[2] = ("second", 4)
            state.isHeld = true
        }
        async let overtaken = APIMirror(client).sync()
        while server.state.withLock({ $0.held == 0 }) { try await Task.sleep(for: .milliseconds(2)) }
        try await client.outbox().update("Note", RecordKey(1), [.init("title", .string("ONE"))])
        try #require(try await client.outbox().drain().sent == 1)
        server.state.withLock { $0.isHeld = false }
        try #require(await overtaken.failures.isEmpty)
        #expect(server.log == ["since 2 page 1", "since 2 page 2"])
        #expect(try extra(1) == .string("one!") && extra(2) == .string("second!"))
        try #require(await APIMirror(client).sync().failures.isEmpty)
        #expect(server.log == ["since 2 page 1", "since 2 page 2"])
        #expect(try extra(1) == .string("ONE!") && extra(2) == .string("second!"))
        try #require(await APIMirror(client).sync().failures.isEmpty)
        #expect(server.log == ["since 4 page 1"])
    }
}
