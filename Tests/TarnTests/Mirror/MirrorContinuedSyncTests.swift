// Syncs that are interrupted and continued: finished parts are not requested again, and failing
// parents are skipped.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TarnStore
import TestSupport
import Testing

@Suite("Mirror: continued syncs", .timeLimit(.minutes(5)))
struct MirrorContinuedSyncTests {
    /// Lists, boards, and the cards of each board, without validators.
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Topic: { key: id, attributes: { id: int } }
          Board: { key: id, attributes: { id: int } }
          Card:
            key: id
            attributes: { id: int, text: string }
            relationships: { board: { to: Board, inverse: cards } }
        endpoints:
          topics: { path: /topics, entity: Topic }
          boards: { path: /boards, entity: Board }
          cards:
            path: '/boards/{board.id}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
        """

    /// A server whose boards may be changed, and that stops a sync at a target.
    private final class Boards: Sendable {
        let state = Mutex(
            (boards: Array(1...10), stopsAt: "", stops: 0, statuses: [Int: String](), bodies: [Int: String]()))
        let gate = ThreadGate()

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let stops = state.withLock { state in
                defer { if request.target == state.stopsAt { state.stopsAt = "" } }
                return request.target == state.stopsAt
            }
            if stops { gate.wait() }
            if request.target == "/topics" { return .init(body: #"[{"id":1}]"#) }
            let (boards, statuses, bodies) = state.withLock { ($0.boards, $0.statuses, $0.bodies) }
            if request.target == "/boards" {
                return .init(body: "[" + boards.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]")
            }
            let board = Int(request.target.split(separator: "/")[1]) ?? 0
            if let status = statuses[board] { return .init(status: status, body: #"{"message":"no"}"#) }
            return .init(body: bodies[board] ?? #"[{"id":\#(board),"text":"t"}]"#)
        }

        func stop(at target: String) {
            state.withLock { state in
                state.stopsAt = target
                state.stops += 1
            }
        }

        /// Returns when a request is held.
        func reached() async throws { try await gate.reached(state.withLock(\.stops)) }
    }

    private struct Bed {
        let boards = Boards()
        let server: ScriptedServer
        var store: MirrorStore

        init(_ yaml: String = MirrorContinuedSyncTests.yaml) throws {
            let boards = boards
            server = try ScriptedServer { boards.answer($0) }
            store = try MirrorStore(yaml: yaml)
        }

        /// The requests since a given number of them.
        func asked(since count: Int) -> [String] { Array(server.targets.dropFirst(count)) }

        func sync(_ names: Set<String>? = nil, _ change: @escaping (inout SyncOptions) -> Void = { _ in })
            async throws -> SyncReport
        {
            try await store.sync(
                server.base, names: names,
                options: { options in
                    // The order of the requests is part of what these tests compare.
                    options.concurrency = 1
                    change(&options)
                })
        }

        /// A sync that is cancelled while the server has a request.
        func interrupted(at target: String, limit: Int? = nil) async throws -> SyncReport {
            boards.stop(at: target)
            let server = server, store = store
            let sync = Task {
                try await store.sync(server.base) { options in
                    options.concurrency = 1
                    options.limit = limit
                }
            }
            try await boards.reached()
            sync.cancel()
            boards.gate.open()
            return try await sync.value
        }
    }

    private static func cards(_ boards: some Sequence<Int>) -> [String] { boards.map { "/boards/\($0)/cards" } }

    @Test(
        "a sync that continues an interrupted one asks neither for finished endpoints nor for finished parents; the one after it asks for all"
    )
    func continued() async throws {
        let bed = try Bed()
        let first = try await bed.interrupted(at: "/boards/6/cards")
        guard case .cancelled? = first.failures.last else {
            Issue.record("\(first.texts)")
            return
        }
        #expect(bed.server.targets == ["/topics", "/boards"] + Self.cards(1...6))
        var asked = bed.server.targets.count
        let second = try await bed.sync()
        #expect(second.failures.isEmpty && second.resumed != nil, "\(second.texts)")
        #expect(bed.asked(since: asked) == Self.cards(6...10))
        #expect(second.endpoint("topics")?.wasFinished == true && second.endpoint("boards")?.wasFinished == true)
        #expect(second.endpoint("cards").map { $0.finishedParents == 5 && $0.pages == 5 && !$0.wasFinished } == true)
        #expect(try bed.store.count("Card") == 10)
        asked = bed.server.targets.count
        let third = try await bed.sync()
        #expect(third.resumed == nil && third.endpoints.allSatisfy { !$0.wasFinished && $0.finishedParents == 0 })
        #expect(bed.asked(since: asked) == ["/topics", "/boards"] + Self.cards(1...10))
    }

    @Test("an endpoint whose pagination has changed is requested again, although the interrupted sync had finished it")
    func changedPagination() async throws {
        var bed = try Bed()
        _ = try await bed.interrupted(at: "/boards/6/cards")
        let asked = bed.server.targets.count, path = bed.store.path
        let yaml = Self.yaml.replacing("path: /topics, entity", with: "path: /topics, paginate: single_page, entity")
        bed.store.description = try Description.parse(yaml, file: "tarn.yaml")
        bed.store.description.storePath = path
        let report = try await bed.sync()
        #expect(report.failures.isEmpty && report.resumed != nil, "\(report.texts)")
        #expect(bed.asked(since: asked) == ["/topics"] + Self.cards(6...10))
        #expect(report.endpoint("boards")?.wasFinished == true)
    }

    @Test("a sync that is interrupted again and again comes to its end without asking twice for what it had")
    func interruptedAgainAndAgain() async throws {
        let bed = try Bed()
        for target in ["/boards"] + Self.cards([2, 3, 7]) { _ = try await bed.interrupted(at: target) }
        let last = try await bed.sync()
        #expect(last.failures.isEmpty && last.resumed != nil)
        // Once more for each that was interrupted.
        #expect(bed.server.targets.count == 12 + 4)
        #expect(try bed.store.count("Card") == 10)
    }

    @Test("parents that were added meanwhile are walked, wherever they stand; those that were removed are not")
    func otherParents() async throws {
        let bed = try Bed()
        bed.boards.state.withLock { $0.boards = [2, 4, 6, 8] }
        _ = try await bed.interrupted(at: "/boards/6/cards")
        try await bed.store.open().write { writer in
            for key in [1, 3, 9] { try writer.put("Board", RecordKey(Int64(key)), []) }
            _ = try writer.delete("Board", RecordKey(8))
        }
        let asked = bed.server.targets.count
        let report = try await bed.sync()
        #expect(report.failures.isEmpty)
        #expect(bed.asked(since: asked) == Self.cards([1, 3, 6, 9]))
    }

    @Test("told to begin anew, or to fetch everything again, a sync asks for everything", arguments: [false, true])
    func beginsAnew(refetches: Bool) async throws {
        let bed = try Bed()
        _ = try await bed.interrupted(at: "/boards/6/cards")
        let asked = bed.server.targets.count
        let report = try await bed.sync { options in
            options.restarts = !refetches
            options.refetches = refetches
        }
        #expect(report.resumed == nil)
        #expect(bed.asked(since: asked) == ["/topics", "/boards"] + Self.cards(1...10))
    }

    @Test(
        "a sync of other endpoints in between asks for what it names, and the interrupted one is continued all the same"
    )
    func otherSelection() async throws {
        let bed = try Bed()
        _ = try await bed.interrupted(at: "/boards/6/cards")
        var asked = bed.server.targets.count
        #expect(try await bed.sync(["topics"]).resumed == nil)
        #expect(bed.asked(since: asked) == ["/topics"])
        asked = bed.server.targets.count
        #expect(try await bed.sync().resumed != nil)
        // Finished by another sync since: requested again.
        #expect(bed.asked(since: asked) == ["/topics"] + Self.cards(6...10))
    }

    @Test("a changed description, and seven days, end what was interrupted")
    func endsByItself() async throws {
        for (yaml, days) in [
            (Self.yaml.replacing("{ id: int, text: string }", with: "{ id: int }"), 0.0), (Self.yaml, 8.0),
            (Self.yaml, 6.0),
        ] {
            var bed = try Bed()
            _ = try await bed.interrupted(at: "/boards/6/cards")
            let path = bed.store.path
            bed.store.description = try Description.parse(yaml, file: "tarn.yaml")
            bed.store.description.storePath = path
            let asked = bed.server.targets.count
            let report = try await bed.sync { $0.time.now = { Date().addingTimeInterval(days * 86_400) } }
            #expect(report.failures.isEmpty, "\(report.texts)")
            let continues = days == 6
            #expect((report.resumed != nil) == continues)
            #expect(bed.asked(since: asked).count == (continues ? 5 : 12))
        }
    }

    @Test("a list of several at whose next page the server fails begins anew seven days after its last page")
    func failingPage() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities: { Item: { key: id, attributes: { id: int, name: string } } }
                endpoints:
                  items: { path: '/lists/{list}', partitions: { list: [1, 2] }, entity: Item, paginate: header_link }
                """)
        let broken = recording("/v1/lists/1?page=2", "{}", status: "500 Internal Server Error")
        let transport = try WrittenTransport(
            [writtenPages([[1], [2]], path: "/lists/1")[0], broken] + writtenPages([[3]], path: "/lists/2"))
        var requests: [[String]] = []
        for days in [0.0, 4, 8] {
            let known = transport.requests.count
            let report = try await store.sync(nil, transport: transport) {
                $0.time.now = { Date().addingTimeInterval(days * 86_400) }
            }
            #expect(report.failures.count == 1, "\(report.texts)")
            requests.append(transport.requests.dropFirst(known).filter { $0.hasPrefix("/lists/1") }.sorted())
        }
        let all = ["/lists/1", "/lists/1?page=2"]
        #expect(requests == [all, [all[1]], all])
    }

    @Test("a sync with a limit that continues another one scans the lists of that one first")
    func continuedWithLimit() async throws {
        let bed = try Bed()
        _ = try await bed.interrupted(at: "/boards/3/cards", limit: 4)
        let asked = bed.server.targets.count
        let report = try await bed.sync { $0.limit = 4 }
        #expect(report.failures.isEmpty && report.resumed != nil, "\(report.texts)")
        #expect(bed.asked(since: asked) == Self.cards(3...4) && report.endpoint("cards")?.leftOut == 6)
    }

    @Test("after a change, records of lists whose responses were removed meanwhile are in a list all the same")
    func unlistedWithoutResponses() async throws {
        let rule = "\n    orphans: after_one_scan\n"
        var bed = try Bed(Self.yaml + rule)
        #expect(try await bed.sync().failures.isEmpty)
        let path = bed.store.path
        bed.store.description = try Description.parse(Self.yaml + rule + "    with: { a: b }\n", file: "tarn.yaml")
        bed.store.description.storePath = path
        _ = try await bed.interrupted(at: "/boards/6/cards?a=b")
        try await bed.store.open().write { writer in
            var ids: [UInt64] = []
            try writer.access.responses.forEach { view in
                ids.append(view.id)
                return true
            }
            for id in ids { try writer.removeResponse(id: id) }
        }
        let asked = bed.server.targets.count
        let report = try await bed.sync()
        #expect(report.failures.isEmpty && bed.asked(since: asked).count == 5, "\(report.texts)")
        #expect(report.endpoint("cards")?.unlisted == 0)
    }

    @Test("progress of an earlier version, which names no sync, is not taken for finished")
    func olderCheckpoints() async throws {
        let bed = try Bed()
        _ = try await bed.interrupted(at: "/boards/6/cards")
        try await bed.store.open().write { writer in
            for name in ["topics", "cards 1"] {
                guard var checkpoint = try writer.access.checkpoints.checkpoint(name) else { continue }
                checkpoint.sync = nil
                try writer.setCheckpoint(name, checkpoint)
            }
        }
        let asked = bed.server.targets.count
        _ = try await bed.sync()
        #expect(bed.asked(since: asked) == ["/topics"] + Self.cards([1] + Array(6...10)))
    }

    @Test(
        "a sync that loses the network after some pages is continued, also if a run in between is cut off before its first page"
    )
    func lostNetwork() async throws {
        let bed = try Bed(), dead = DeadPort()
        let left = Mutex(5)
        let transport = ClosureTransport { request in
            let isCut = left.withLock { left in
                left -= 1
                return left < 0
            }
            var request = request
            if isCut { request.url = "http://127.0.0.1:\(dead.port)/" }
            return try await MirrorStore.impatient().send(request)
        }
        let first = try await bed.store.sync(
            bed.server.base, transport: transport,
            options: { options in
                options.prefetches = false
                options.concurrency = 1
            })
        #expect(first.failures.last?.isUnreachable == true && first.pages == 5)
        #expect(try await bed.store.sync("http://127.0.0.1:\(dead.port)").resumed != nil)
        var asked = bed.server.targets.count
        #expect(try await bed.sync().resumed != nil)
        #expect(bed.asked(since: asked) == Self.cards(4...10))
        // Of a sync that was cut off before its first page, there is nothing to continue.
        _ = try await bed.store.sync("http://127.0.0.1:\(dead.port)")
        asked = bed.server.targets.count
        #expect(try await bed.sync().resumed == nil)
        #expect(bed.asked(since: asked).count == 12)
    }

    @Test("in a watch, an endpoint is continued whatever else is due in between")
    func watched() async throws {
        let bed = try Bed(), isCut = Mutex(true)
        let transport = ClosureTransport { request in
            guard request.url.hasSuffix("/boards/6/cards"), isCut.withLock({ $0 }) else {
                return try await MirrorStore.impatient().send(request)
            }
            throw TransportError(.connect, method: request.method, url: request.url, detail: "refused")
        }
        func sync(_ names: Set<String>) async throws -> SyncReport {
            try await bed.store.sync(
                bed.server.base, transport: transport, names: names,
                options: { options in
                    options.concurrency = 1
                    options.prefetches = false
                    options.isScheduled = true
                })
        }
        let first = try await sync(["topics", "boards", "cards"])
        #expect(first.failures.count == 1 && first.pages == 7, "\(first.texts)")
        #expect(try await sync(["topics"]).resumed == nil)
        isCut.withLock { $0 = false }
        let asked = bed.server.targets.count
        let second = try await sync(["boards", "cards"])
        #expect(second.failures.isEmpty && second.resumed != nil, "\(second.texts)")
        #expect(bed.asked(since: asked) == ["/boards"] + Self.cards(6...10))
        #expect(try await sync(["cards"]).resumed == nil)
    }

    // MARK: Failures of parents

    @Test(
        "refusals and unreadable answers for single parents are passed by, and reported by kind with a count and the first of them"
    )
    func passedBy() async throws {
        let bed = try Bed()
        bed.boards.state.withLock { state in
            state.statuses = [2: "403 No", 3: "404 Gone", 5: "403 No", 9: "451 Law"]
            state.bodies = [7: "<html>"]
        }
        for _ in 0..<2 {
            let asked = bed.server.targets.count
            let report = try await bed.sync()
            #expect(bed.asked(since: asked) == ["/topics", "/boards"] + Self.cards(1...10))
            #expect(report.failures.count == 4, "\(report.texts)")
            #expect(report.texts.first?.contains("skipped 2 records of Board") == true, "\(report.texts)")
            #expect(
                report.texts.first?.contains("/boards/2/cards: the server returned 403: no") == true, "\(report.texts)")
            #expect(report.texts.contains { $0.contains("/boards/7/cards: not valid JSON") })
            #expect(try bed.store.count("Card") == 5)
        }
        #expect(try bed.store.checkpoint("cards 2")?.failure?.kind == "403")
        #expect(try bed.store.checkpoint("cards 1")?.failure == nil)
        // A failure that no longer occurs is not reported.
        bed.boards.state.withLock { ($0.statuses, $0.bodies) = ([:], [:]) }
        #expect(try await bed.sync().failures.isEmpty)
        #expect(try bed.store.checkpoint("cards 2")?.failure == nil && bed.store.count("Card") == 10)
    }

    @Test("a sync that continues another one does not ask again for parents that were passed by, and reports them")
    func rememberedFailures() async throws {
        let bed = try Bed()
        bed.boards.state.withLock { $0.statuses = [2: "403 No", 4: "404 Gone"] }
        _ = try await bed.interrupted(at: "/boards/6/cards")
        let asked = bed.server.targets.count
        let report = try await bed.sync()
        #expect(bed.asked(since: asked) == Self.cards(6...10))
        #expect(
            report.failures.count == 2
                && report.texts.contains { $0.contains("/boards/2/cards: the server returned 403") }, "\(report.texts)")
        #expect(report.endpoint("cards")?.finishedParents == 5)
    }

    @Test("refused credentials and limits end the endpoint at once", arguments: ["401 No", "407 No", "429 Slowly"])
    func wholeEndpoint(status: String) async throws {
        let bed = try Bed()
        bed.boards.state.withLock { $0.statuses = [2: status] }
        let report = try await bed.sync()
        #expect(bed.server.targets.last == "/boards/2/cards" && report.failures.count == 1, "\(report.texts)")
    }

    @Test(
        "five parents in a row for which the server itself fails end the endpoint; those that are known to fail so do not count"
    )
    func illServer() async throws {
        let bed = try Bed()
        bed.boards.state.withLock { state in
            for board in 2...8 { state.statuses[board] = "500 Oops" }
        }
        let first = try await bed.sync()
        #expect(bed.server.targets.last == "/boards/6/cards" && first.failures.count == 2, "\(first.texts)")
        let asked = bed.server.targets.count
        let second = try await bed.sync()
        #expect(bed.asked(since: asked).last == "/boards/10/cards" && second.failures.count == 1, "\(second.texts)")
        #expect(second.texts.first?.contains("skipped 7 records of Board") == true, "\(second.texts)")
    }

    @Test("what a parent that is passed by has listed before is no orphan; that of the others is")
    func orphansOfPassedBy() async throws {
        let bed = try Bed(Self.yaml + "\n    orphans: after_one_scan\n")
        _ = try await bed.sync()
        bed.boards.state.withLock { state in
            state.statuses = [2: "403 No"]
            state.bodies = [3: #"[{"id":33,"text":"t"}]"#]
        }
        // The record may have moved to the list that fails, unless that has failed before.
        #expect(try await bed.sync().orphans?.refusals.first?.contains("not complete") == true)
        #expect(try bed.store.read { try $0.record("Card", RecordKey(3)) } != nil)
        for _ in 0..<2 { _ = try await bed.sync() }
        #expect(try bed.store.read { try $0.record("Card", RecordKey(2)) } != nil)
        #expect(try bed.store.read { try $0.record("Card", RecordKey(3)) } == nil)
        // The parent that was passed by is looked at again when it is complete.
        bed.boards.state.withLock { ($0.statuses, $0.bodies[2]) = ([:], #"[{"id":22,"text":"t"}]"#) }
        for _ in 0..<2 { _ = try await bed.sync() }
        #expect(try bed.store.read { try $0.record("Card", RecordKey(2)) } == nil)
    }

    // MARK: Two syncs at once

    @Test(
        "of two syncs of one endpoint into one store one ends with the process that is at work, or waits for it; others go on side by side"
    )
    func busy() async throws {
        let bed = try Bed()
        bed.boards.stop(at: "/boards")
        let server = bed.server, store = bed.store
        async let first = store.sync(server.base, names: ["topics", "boards"])
        try await bed.boards.reached()
        // Both lists are requested side by side.
        try await eventually("requests of topics and boards") { server.targets.count == 2 }
        let asked = bed.server.targets.count
        let second = try await bed.sync()
        guard case .busy(endpoint: "topics", processID: let processID)? = second.failures.first, processID == getpid()
        else {
            Issue.record("\(second.texts)")
            return
        }
        #expect(bed.server.targets.count == asked && second.texts.first?.contains("this process (\(getpid()))") == true)
        #expect(try await bed.sync(["cards"]).failures.isEmpty)
        let awaited = Mutex<[String]>([])
        async let third = store.sync(
            server.base, names: ["topics"],
            options: { options in
                options.waitsForOtherSyncs = true
                options.whenWaiting = { endpoint, _ in awaited.withLock { $0.append(endpoint) } }
            })
        let cancelled = Task {
            try await store.sync(server.base, names: ["boards"], options: { $0.waitsForOtherSyncs = true })
        }
        cancelled.cancel()
        guard case .cancelled? = try await cancelled.value.failures.first else {
            Issue.record("the waiting sync was not cancelled")
            return
        }
        try await eventually("the third waits") { awaited.withLock { $0 == ["topics"] } }
        // It asks again every 100 milliseconds.
        try await Task.sleep(for: .milliseconds(300))
        bed.boards.gate.open()
        #expect(try await first.failures.isEmpty)
        #expect(try await third.failures.isEmpty)
        #expect(awaited.withLock(\.count) == 1)
        #expect(
            bed.server.targets.filter { $0 == "/topics" }.count == 2
                && bed.server.targets.filter { $0 == "/boards" }.count == 1)
    }
}
