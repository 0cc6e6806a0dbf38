// A mirror of records that come and go: what is left of the lists of those that were deleted.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: lists of deleted records", .timeLimit(.minutes(5)))
struct MirrorGoneListsTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Board: { key: id, attributes: { id: int } }
          Card:
            key: id
            attributes: { id: int }
            relationships: { board: { to: Board, inverse: cards } }
        endpoints:
          boards: { path: /boards, entity: Board, paginate: single_page }
          cards:
            path: '/boards/{board.id}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
            paginate: single_page
            orphans: after_two_scans
        """

    /// The server's boards, each with one card.
    private final class Server: Sendable {
        let boards = Mutex<[Int]>([])

        var transport: ClosureTransport {
            ClosureTransport { request in
                let parts = request.url.replacing("https://api.test.example/", with: "").split(separator: "/")
                let ids = parts.count > 1 ? [10 * (Int(parts[1]) ?? 0)] : self.boards.withLock(\.self)
                let body = "[" + ids.map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
                return TransportResponse(status: 200, body: Array(body.utf8))
            }
        }
    }

    /// The numbers of checkpoints of lists of cards, of scan members, and of responses.
    private func counts(_ mirror: MirrorStore) throws -> [Int] {
        try mirror.read { reader in
            var lists = 0
            try reader.forEachCheckpoint(withPrefix: "cards ") { _, _ in lists += 1 }
            return [lists, try reader.access.scans.count, try reader.responseCount]
        }
    }

    @Test("the lists of records that were deleted are forgotten after thirty days, and not before")
    func forgotten() async throws {
        let mirror = try MirrorStore(yaml: Self.yaml), server = Server(), clock = TestClock()
        func sync() async throws {
            let report = try await mirror.sync(
                nil, transport: server.transport, options: { $0.time = clock.source })
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        server.boards.withLock { $0 = Array(1...40) }
        try await sync()
        #expect(try counts(mirror) == [40, 40, 41])
        // The server has one board left. The records are deleted here, too.
        server.boards.withLock { $0 = [1] }
        let store = try mirror.open()
        try await store.write { writer in
            for id in 2...40 { _ = try writer.delete("Board", RecordKey(Int64(id))) }
        }
        clock.pass(86_400)
        try await sync()
        #expect(try counts(mirror)[0] == 40)
        clock.pass(40 * 86_400)
        try await sync()
        #expect(try counts(mirror) == [1, 1, 2])
        #expect(try mirror.count("Card") == 40)
    }

    @Test("of a mirror whose records are other ones each month, the lists of the last two months are left")
    func churn() async throws {
        let mirror = try MirrorStore(yaml: Self.yaml), server = Server(), clock = TestClock()
        for month in 0..<12 {
            let boards = 10 * month..<10 * month + 10
            server.boards.withLock { $0 = Array(boards) }
            let store = try mirror.open()
            try await store.write { writer in
                for id in 0..<boards.lowerBound { _ = try writer.delete("Board", RecordKey(Int64(id))) }
            }
            for _ in 0..<2 {
                let report = try await mirror.sync(
                    nil, transport: server.transport, options: { $0.time = clock.source })
                #expect(report.failures.isEmpty, "\(report.texts)")
                clock.pass(16 * 86_400)
            }
        }
        let left = try counts(mirror)
        #expect(left[0] <= 30 && left[1] <= 30 && left[2] <= 31, "\(left)")
    }
}
