// Changes by windows with an end: one after another, each complete before the value moves.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: windows with an end", .timeLimit(.minutes(5)))
struct MirrorWindowTests {
    /// The clock stands at 2001-09-09T01:46:40Z.
    private let clock = TestClock()

    private static func yaml(_ since: String, pages: String = "paginate: single_page") -> String {
        """
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int } }
        endpoints:
          items: { path: /items, entity: Item, since: \(since), more: ignore, \(pages) }
        """
    }

    private static let since = "{ param: from, until: to, window: 1d, initial: '2001-09-06T00:00:00Z' }"
    private static let days = [
        "2001-09-06T00:00:00Z 2001-09-07T00:00:00Z", "2001-09-07T00:00:00Z 2001-09-08T00:00:00Z",
        "2001-09-08T00:00:00Z 2001-09-09T00:00:00Z", "2001-09-09T00:00:00Z 2001-09-09T01:46:40Z",
    ]

    /// A server that logs the windows, and whose records have the number of their request.
    private final class Windows: Sendable {
        let state = Mutex((log: [String](), failing: String?.none, date: String?.none, page: 0))

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let values = URLComponents(string: request.url)?.queryItems ?? []
                func value(_ name: String) -> String { values.first { $0.name == name }?.value ?? "" }
                let window = "\(value("from")) \(value("to"))" + (value("page").isEmpty ? "" : " \(value("page"))")
                return state.withLock { state in
                    state.log.append(window)
                    if window == state.failing { return TransportResponse(status: 404) }
                    var headers = TransportHeaders()
                    if let date = state.date { headers["Date"] = date }
                    let items = value("page") == "3" ? "" : #"{"id":\#(state.log.count)}"#
                    return TransportResponse(status: 200, headers: headers, body: Array("[\(items)]".utf8))
                }
            }
        }

        var log: [String] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }
    }

    private func sync(_ store: MirrorStore, _ windows: Windows, isFull: Bool = false) async throws -> [String] {
        let report = try await store.sync(nil, transport: windows.transport) { options in
            options.client.time = clock.source
            options.isFull = isFull
        }
        #expect(report.failures.isEmpty, "\(report.texts)")
        return windows.log
    }

    @Test("a sync requests one window after another up to the present, and the next one goes on there")
    func windows() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.since)), windows = Windows()
        #expect(try await sync(store, windows) == Self.days)
        #expect(try store.checkpoint("items")?.state == .complete)
        clock.pass(3600)
        #expect(try await sync(store, windows) == ["2001-09-09T01:46:40Z 2001-09-09T02:46:40Z"])
        clock.pass(-3600)
        #expect(try await sync(store, windows, isFull: true) == Self.days)
    }

    @Test("a window that fails leaves the value at its beginning, and those before it are not requested again")
    func failure() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.since)), windows = Windows()
        windows.state.withLock { $0.failing = Self.days[2] }
        let report = try await store.sync(nil, transport: windows.transport) { $0.client.time = clock.source }
        #expect(report.failures.count == 1 && windows.log == Array(Self.days[...2]), "\(report.texts)")
        #expect(try store.checkpoint("items").map { $0.state == .underWay && $0.since != nil } == true)
        windows.state.withLock { $0.failing = nil }
        #expect(try await sync(store, windows) == Array(Self.days[2...]))
    }

    @Test("an interrupted window with counted pages is requested from its first page on")
    func interruptedWindow() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ param: from, until: to, window: 2d, initial: 2001-09-08 }",
                pages: "paginate: { page_number: { param: page } }"))
        let windows = Windows(), window = "2001-09-08T00:00:00Z 2001-09-09T01:46:40Z"
        windows.state.withLock { $0.failing = window + " 2" }
        _ = try await store.sync(nil, transport: windows.transport) { $0.client.time = clock.source }
        #expect(windows.log == [window + " 1", window + " 2"])
        windows.state.withLock { $0.failing = nil }
        #expect(try await sync(store, windows) == [1, 2, 3].map { "\(window) \($0)" })
    }

    @Test("the value is no later than the server's clock: what it lists late is requested again")
    func serverClock() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.since)), windows = Windows()
        windows.state.withLock { $0.date = "Sat, 08 Sep 2001 12:00:00 GMT" }
        // A window that has reached it is the last one of the sync.
        #expect(try await sync(store, windows) == Array(Self.days[...2]))
        #expect(try await sync(store, windows) == ["2001-09-08T12:00:00Z 2001-09-09T01:46:40Z"])
    }

    @Test("windows that are shorter than what the format can tell apart end at the present")
    func shorterThanFormat() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml("{ param: from, until: to, window: 12h, format: day, initial: 2001-09-08 }"))
        let windows = Windows()
        clock.pass(12 * 3600)
        #expect(
            try await sync(store, windows) == [
                "2001-09-08 2001-09-08", "2001-09-08 2001-09-09", "2001-09-09 2001-09-09", "2001-09-09 2001-09-09",
            ])
    }

    @Test("a window of --since that a later sync continues leaves the value where it was")
    func continuedSince() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ param: from, until: to, initial: 2001-09-01 }",
                pages: "paginate: { cursor: { path: next, param: page } }, records: items"))
        let state = Mutex((log: [String](), isFailing: true))
        let transport = ClosureTransport { request in
            let values = URLComponents(string: request.url)?.queryItems ?? []
            let from = values.first { $0.name == "from" }?.value ?? "", isSecond = values.contains { $0.name == "page" }
            return state.withLock { state in
                state.log.append(from + (isSecond ? " 2" : ""))
                if isSecond, state.isFailing { return TransportResponse(status: 404) }
                let next = from.hasPrefix("2001-09-15") && !isSecond ? #","next":"2""# : ""
                return TransportResponse(status: 200, body: Array(#"{"items":[{"id":1}]\#(next)}"#.utf8))
            }
        }
        func sync(since: String? = nil) async throws -> Int {
            let report = try await store.sync(nil, transport: transport) { options in
                options.client.time = clock.source
                options.since = since
            }
            return report.failures.count
        }
        #expect(try await sync() == 0)
        clock.pass(10 * 86_400)
        #expect(try await sync(since: "2001-09-15") == 1)
        state.withLock { $0.isFailing = false }
        #expect(try await sync() == 0)
        #expect(try await sync() == 0)
        #expect(
            state.withLock { $0.log } == [
                "2001-09-01T00:00:00Z", "2001-09-15T00:00:00Z", "2001-09-15T00:00:00Z 2", "2001-09-15T00:00:00Z 2",
                "2001-09-09T01:46:40Z",
            ])
    }

    @Test("a value that the server states behind the end of a window counts as its end")
    func statedBehindEnd() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ param: from, until: to, window: 1d, cursor: now, initial: 2001-09-07 }",
                pages: "paginate: single_page, records: items"))
        let beginnings = try await beginnings(store, of: #"{"items":[{"id":1}],"now":"2001-09-09T01:46:40Z"}"#)
        #expect(beginnings == [7, 8, 9].map { "2001-09-0\($0)T00:00:00Z" })
    }

    @Test("days are both ends of a window, and the present day is requested again")
    func days() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml("{ param: from, until: to, window: 1d, format: day, initial: 2001-09-07 }"))
        let windows = Windows()
        #expect(
            try await sync(store, windows) == [
                "2001-09-07 2001-09-08", "2001-09-08 2001-09-09", "2001-09-09 2001-09-09",
            ])
        #expect(try await sync(store, windows) == ["2001-09-09 2001-09-09"])
    }

    @Test("a lag moves the beginning back; without a length, one window reaches the present")
    func lag() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml("{ param: from, until: to, lag: 1h, initial: '2001-09-09T00:00:00Z' }"))
        let windows = Windows()
        #expect(try await sync(store, windows) == ["2001-09-08T23:00:00Z 2001-09-09T01:46:40Z"])
        clock.pass(60)
        #expect(try await sync(store, windows) == ["2001-09-09T00:46:40Z 2001-09-09T01:47:40Z"])
    }

    @Test("with a cursor, the next window begins with what the server has covered")
    func covered() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ param: from, until: to, window: 1d, cursor: covered, initial: 2001-09-08 }",
                pages: "paginate: single_page, records: items"))
        let beginnings = try await beginnings(
            store, of: #"{"items":[{"id":1}],"covered":"2001-09-08T20:00:00.000+0000"}"#, syncs: 2)
        #expect(beginnings == ["2001-09-08T00:00:00Z"] + Array(repeating: "2001-09-08T20:00:00Z", count: 2))
    }

    @Test("a window of the past for which the server states no later value is an error: none behind it would come")
    func unmoved() async throws {
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ param: from, until: to, window: 1d, cursor: covered, initial: 2001-09-06 }",
                pages: "paginate: single_page, records: items"))
        let bodies = Mutex(["2001-09-07", "2001-09-07", "2001-09-06"])
        let transport = ClosureTransport { _ in
            let covered = bodies.withLock { $0.isEmpty ? "2001-09-07" : $0.removeFirst() }
            return TransportResponse(
                status: 200, body: Array(#"{"items":[{"id":1}],"covered":"\#(covered)T00:00:00Z"}"#.utf8))
        }
        for left in [1, 0] {
            let report = try await store.sync(nil, transport: transport) { $0.client.time = clock.source }
            #expect(report.texts.count == 1, "\(report.texts)")
            #expect(report.texts.first?.contains("for the window up to 2001-09-08") == true, "\(report.texts)")
            #expect(bodies.withLock { $0.count } == left, "no further window is requested")
        }
    }

    /// Returns the beginnings of the windows that syncs request from a server with one body.
    private func beginnings(_ store: MirrorStore, of body: String, syncs: Int = 1) async throws -> [String] {
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let values = URLComponents(string: request.url)?.queryItems ?? []
            log.withLock { $0.append(values.first { $0.name == "from" }?.value ?? "") }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for _ in 0..<syncs {
            let report = try await store.sync(nil, transport: transport) { $0.client.time = clock.source }
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        return log.withLock { $0 }
    }
}
