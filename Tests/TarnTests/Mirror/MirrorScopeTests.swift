// Syncs of a part: a limit, a dry run, and the targets of references that are missing.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TarnStore
import TestSupport
import Testing

@Suite("Mirror: parts of a sync", .timeLimit(.minutes(5)))
struct MirrorScopeTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          User: { key: login, attributes: { login: string, name: string? }, relationships: { boss: User } }
          Board: { key: id, attributes: { id: int, title: string }, relationships: { owner: User } }
          Card:
            key: id
            attributes: { id: int, text: string }
            relationships: { board: { to: Board, inverse: cards } }
        endpoints:
          boards: { path: /boards, entity: Board, paginate: header_link }
          cards:
            path: '/boards/{board.id}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
            paginate: header_link
          user: { path: '/users/{user.login}', for_each: User, entity: User, paginate: single_page }
        """

    /// Nine boards on three pages, with two pages of cards each; users with bosses.
    private static func transport(_ log: Log) -> ClosureTransport {
        ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            log.targets.withLock { $0.append(target) }
            let path = target.prefix { $0 != "?" }, page = target.contains("?") ? target.last?.wholeNumberValue ?? 1 : 1
            var headers = TransportHeaders(), body = "[]"
            if path == "/boards" {
                body = (3 * page - 2...3 * page).map { #"{"id":\#($0),"title":"b","owner":"u\#($0)"}"# }
                    .joined(separator: ",")
                body = "[\(body)]"
                if page < 3 { headers["Link"] = "</boards?page=\(page + 1)>; rel=next" }
            } else if path.hasSuffix("/cards") {
                let board = Int(path.split(separator: "/")[1]) ?? 0
                body = #"[{"id":\#(board * 10 + page),"text":"t"}]"#
                if page < 2 { headers["Link"] = "<\(path)?page=2>; rel=next" }
            } else {
                let login = path.dropFirst("/users/".count)
                if login == "u3" { return TransportResponse(status: 404) }
                // The boss of all is nobody's record yet.
                body = #"{"login":"\#(login)","name":"N","boss":\#(login == "chief" ? "null" : #""chief""#)}"#
            }
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
    }

    private final class Log: Sendable {
        let targets = Mutex<[String]>([])

        func take() -> [String] {
            targets.withLock { targets in
                defer { targets = [] }
                return targets
            }
        }
    }

    @Test("a limit ends lists with a whole page and leaves further lists; the next sync continues behind it")
    func limit() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        var report = try await store.sync(
            nil, transport: Self.transport(log), names: ["boards", "cards"], options: { $0.limit = 4 })
        #expect(report.failures.isEmpty && report.endpoint("boards")?.wasLimited == true, "\(report.texts)")
        #expect(report.endpoint("cards").map { $0.leftOut == 2 && !$0.wasLimited && $0.pages == 8 } == true)
        #expect(try store.count("Board") == 6 && store.count("Card") == 8)
        let checkpoint = try #require(try store.checkpoint("boards"))
        #expect(checkpoint.state == .underWay && checkpoint.nextURL == "https://api.test.example/boards?page=3")
        _ = log.take()
        report = try await store.sync(nil, transport: Self.transport(log), names: ["boards", "cards"])
        #expect(report.failures.isEmpty && report.endpoint("boards")?.isResumed == true)
        #expect(log.take().filter { $0.hasPrefix("/boards?") || $0 == "/boards" } == ["/boards?page=3"])
        #expect(try store.count("Board") == 9 && store.count("Card") == 18)
    }

    @Test("the lists of a for_each take turns in syncs with a limit, also those that fail")
    func limitedLists() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        let transport = Self.transport(log)
        let failing = ClosureTransport { request in
            let answer = try await transport.send(request)
            return request.url.hasSuffix("/boards/2/cards") ? TransportResponse(status: 404) : answer
        }
        _ = try await store.sync(nil, transport: transport, names: ["boards"])
        var syncs = 0.0
        /// The boards whose cards are requested, in their order. Each sync is a minute later.
        func limited(_ limit: Int) async throws -> [Int] {
            syncs += 1
            var time = TimeSource.system
            time.now = { [syncs] in Date() + syncs * 60 }
            _ = log.take()
            _ = try await store.sync(nil, transport: failing, names: ["cards"]) {
                $0.limit = limit
                $0.time = time
            }
            let boards = log.take().compactMap { $0.split(separator: "/").dropFirst().first.flatMap { Int($0) } }
            return Set(boards).sorted()
        }
        #expect(try await limited(4) == [1, 2, 3, 4])
        #expect(try await limited(4) == [5, 6, 7, 8])
        #expect(try await limited(4) == [1, 2, 3, 9])
        #expect(try store.count("Card") == 16)
        // Each of the two has a page left, which comes first.
        #expect(try await limited(1) == [4])
        #expect(try await limited(1) == [4])
        #expect(try await limited(1) == [5])
    }

    /// The boards whose cards are requested by syncs with limits, each a minute after the last one.
    private func limited(_ store: MirrorStore, _ limits: [Int], refused: String = "") async throws -> [[Int]] {
        let log = Log(), transport = Self.transport(log)
        let refusing = ClosureTransport { request in
            let answer = try await transport.send(request)
            return request.url.hasSuffix(refused) && !refused.isEmpty ? TransportResponse(status: 500) : answer
        }
        var boards: [[Int]] = []
        for (index, limit) in limits.enumerated() {
            _ = try await store.sync(nil, transport: refusing, names: ["cards"]) { options in
                options.limit = limit
                options.time.now = { Date() + Double(index + 1) * 60 }
            }
            boards.append(
                Set(log.take().compactMap { $0.split(separator: "/").dropFirst().first.flatMap { Int($0) } }).sorted())
        }
        return boards
    }

    @Test("in syncs with a limit, a list at whose next page the server fails does not keep the first turn")
    func limitedFailing() async throws {
        let store = try MirrorStore(yaml: Self.yaml)
        _ = try await store.sync(nil, transport: Self.transport(Log()), names: ["boards"])
        #expect(try await limited(store, [1, 1, 1], refused: "/boards/1/cards?page=2") == [[1], [1], [2]])
    }

    @Test("in a sync with a limit, a list of a sync whose clock was ahead comes before those of later syncs")
    func limitedAhead() async throws {
        let store = try MirrorStore(yaml: Self.yaml)
        _ = try await store.sync(nil, transport: Self.transport(Log()), names: ["boards", "cards"])
        var list = try #require(try store.checkpoint("cards 9"))
        list.sync = .max
        try await store.open().write { [list] writer in try writer.setCheckpoint("cards 9", list) }
        #expect(try await limited(store, [4]) == [[1, 2, 3, 9]])
    }

    @Test("a dry run requests the first page of each endpoint, reports what it would change, and changes nothing")
    func dryRun() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        var report = try await store.sync(nil, transport: Self.transport(log), options: { $0.isDryRun = true })
        #expect(report.failures.isEmpty && log.take() == ["/boards"], "\(report.texts)")
        #expect(report.report.created == 3 && report.endpoint("boards")?.wasLimited == true)
        func content() throws -> [String] {
            var checkpoints: [String] = []
            try store.read {
                try $0.forEachCheckpoint { name, checkpoint in checkpoints.append("\(name) \(checkpoint)") }
            }
            return try store.dump(versions: true) + checkpoints + [
                "\(store.read { try ($0.sequence, $0.responseCount) })"
            ]
        }
        #expect(try content().count == 1)
        _ = try await store.sync(nil, transport: Self.transport(log), names: ["boards"])
        let before = try content()
        _ = log.take()
        report = try await store.sync(nil, transport: Self.transport(log), options: { $0.isDryRun = true })
        #expect(Set(log.take()) == ["/boards", "/boards/1/cards"])
        #expect(report.endpoint("cards").map { $0.report.created == 1 && $0.leftOut == 8 && $0.wasLimited } == true)
        #expect(report.endpoint("boards")?.report.unchanged == 3)
        #expect(try content() == before)
    }

    @Test(
        "missing targets of references are requested by their keys, those of the fetched records as well; failures are passed by"
    )
    func missing() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        _ = try await store.sync(nil, transport: Self.transport(log), names: ["boards"])
        _ = log.take()
        let mirror = try APIMirror(store.description, store: try store.open(), transport: Self.transport(log))
        var report = await mirror.syncMissing()
        #expect(Set(log.take()) == Set((1...9).map { "/users/u\($0)" } + ["/users/chief"]))
        #expect(report.failures.count == 1 && report.texts.first?.contains("/users/u3") == true, "\(report.texts)")
        #expect(report.endpoint("user").map { $0.pages == 9 && $0.report.created == 9 } == true)
        #expect(report.missing.map { "\($0.entity) \($0.count) \($0.hasEndpoint)" } == ["User 1 true"])
        #expect(try store.count("User") == 9)
        // Only what is missing is requested again.
        report = await mirror.syncMissing()
        #expect(log.take() == ["/users/u3"] && report.missing.first?.count == 1)
        report = await mirror.syncMissing(["boards"])
        #expect(log.take() == [] && report.missing.first?.hasEndpoint == false)
    }

    /// Fetches the missing owner of a board, and then his boss.
    ///
    /// - Parameter chief: the answer to the request for the boss.
    private func syncMissing(chief: String, limit: Int? = nil) async throws -> SyncReport {
        let store = try MirrorStore(yaml: Self.yaml)
        let transport = ClosureTransport { request in
            let body =
                switch request.url.replacing("https://api.test.example", with: "") {
                case "/boards": #"[{"id":1,"title":"b","owner":"u1"}]"#
                case "/users/u1": #"{"login":"u1","name":"N","boss":"chief"}"#
                default: chief
                }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        _ = try await store.sync(nil, transport: transport, names: ["boards"])
        var options = APIMirror.Options()
        options.limit = limit
        let mirror = try APIMirror(store.description, store: try store.open(), transport: transport, options: options)
        return await mirror.syncMissing()
    }

    @Test("with a limit, records that are missing only because of a fetched one wait for the next sync")
    func limitedRounds() async throws {
        let report = try await syncMissing(chief: #"{"login":"chief","name":"N","boss":null}"#, limit: 1)
        #expect(report.failures.isEmpty && report.endpoint("user")?.pages == 1, "\(report.texts)")
        #expect(report.missing.map(\.count) == [1])
    }

    @Test("what a request for a missing record has found is reported, also in the rounds after the first one")
    func missingInRounds() async throws {
        let report = try await syncMissing(chief: #"{"login":"someone","name":"N","boss":null}"#)
        #expect(report.failures.isEmpty && report.endpoint("user")?.pages == 2, "\(report.texts)")
        #expect(report.endpoint("user")?.otherRecords?.count == 1)
        #expect(report.endpoint("user")?.otherRecords?.asked == "chief")
        #expect(report.missing.map(\.count) == [1])
    }

    @Test("with a limit, missing records that the server does not have hold up no others, nor other endpoints")
    func limitedMissing() async throws {
        let yaml =
            Self.yaml.replacing("owner: User }", with: "owner: User, place: Place }").replacing(
                "entities:", with: "entities:\n  Place: { key: id, attributes: { id: int } }"
            ) + "\n  place: { path: '/places/{place.id}', for_each: Place, entity: Place, paginate: single_page }"
        let store = try MirrorStore(yaml: yaml)
        let transport = ClosureTransport { request in
            let path = request.url.replacing("https://api.test.example", with: "")
            if path == "/boards" {
                let boards = (1...3).map { #"{"id":\#($0),"title":"b","owner":"u\#($0)","place":7}"# }
                return TransportResponse(status: 200, body: Array("[\(boards.joined(separator: ","))]".utf8))
            }
            let body = path == "/places/7" ? #"{"id":7}"# : #"{"login":"u3","name":"N"}"#
            let isThere = ["/places/7", "/users/u3"].contains(path)
            return isThere ? TransportResponse(status: 200, body: Array(body.utf8)) : TransportResponse(status: 404)
        }
        _ = try await store.sync(nil, transport: transport, names: ["boards"])
        var options = APIMirror.Options()
        options.limit = 1
        let mirror = try APIMirror(store.description, store: try store.open(), transport: transport, options: options)
        let report = await mirror.syncMissing()
        #expect(report.endpoint("place")?.pages == 1, "\(report.texts)")
        // Each sync takes one of three at random.
        for _ in 0..<200 where try store.count("User") == 0 { _ = await mirror.syncMissing() }
        #expect(try store.count("User") == 1)
    }

    @Test("unreadable records of requests for missing ones are counted, also in the rounds after the first one")
    func unreadableInRounds() async throws {
        let report = try await syncMissing(chief: #"[{"login":"chief","name":"N","boss":null},{"name":"N"}]"#)
        #expect(report.failures.isEmpty && report.endpoint("user")?.pages == 2, "\(report.texts)")
        #expect(report.endpoint("user")?.skipped == 1)
    }

    @Test("a missing record whose key is too long to be requested is counted as missing")
    func missingLongKey() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        let transport = ClosureTransport { request in
            log.targets.withLock { $0.append(request.url) }
            let owner = String(repeating: "u", count: 300)
            return TransportResponse(status: 200, body: Array(#"[{"id":1,"title":"b","owner":"\#(owner)"}]"#.utf8))
        }
        _ = try await store.sync(nil, transport: transport, names: ["boards"])
        #expect(log.take().count == 1)
        let report = try await APIMirror(store.description, store: try store.open(), transport: transport).syncMissing()
        #expect(report.failures.isEmpty && log.take() == [], "\(report.texts)")
        #expect(report.missing.map { [$0.count, $0.tooLong] } == [[1, 1]])
    }

    @Test("a name that no endpoint has is an error that proposes another one, and nothing is requested")
    func unknownNames() async throws {
        let store = try MirrorStore(yaml: Self.yaml), log = Log()
        let mirror = try APIMirror(store.description, store: try store.open(), transport: Self.transport(log))
        for report in [await mirror.sync(["bords", "user"]), await mirror.syncMissing(["bords"])] {
            #expect(report.failures.count == 1)
            #expect(report.texts.first?.contains(#"unknown endpoint "bords": did you mean "boards"?"#) == true)
        }
        #expect(log.take() == [])
    }
}
