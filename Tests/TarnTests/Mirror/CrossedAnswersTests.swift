// A record moves from one list to another while both are requested, and the older answer is
// committed last.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: answers that cross", .timeLimit(.minutes(5)))
struct CrossedAnswersTests {
    /// The lists of open and of closed items. While the answer with the open ones is under way, the
    /// first item is closed.
    private final class Items: Sendable {
        let gate = ThreadGate()
        private let state = Mutex((holds: false, isClosed: false, waits: false, second: "b"))

        /// Holds the next answer with the open items, and that with the closed ones until then.
        func hold() { state.withLock { $0 = (holds: true, isClosed: false, waits: true, second: "c") } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            if request.target.contains("closed") {
                while state.withLock({ $0.waits && !$0.isClosed }) { Thread.sleep(forTimeInterval: 0.002) }
                let isClosed = state.withLock { $0.isClosed }
                let items = isClosed ? #"{"id":1,"name":"new","state":"closed"}"# : ""
                return .tagged("closed-\(isClosed)", request, "[\(items)]")
            }
            let (isClosed, holds, second) = state.withLock { state in
                let before = (state.isClosed, state.holds, state.second)
                if state.holds { (state.isClosed, state.holds) = (true, false) }
                return before
            }
            let first = isClosed ? "" : #"{"id":1,"name":"old","state":"open"},"#
            let answer = ScriptedServer.Answer.tagged(
                "open-\(isClosed)-\(second)", request, #"[\#(first){"id":2,"name":"\#(second)","state":"open"}]"#)
            if holds { gate.wait() }
            return answer
        }
    }

    private static func yaml(_ endpoints: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, name: string, state: string } }
        endpoints:
        \(endpoints)
        """
    }

    @Test(
        "a record that moves between two lists, of which the older answer is committed last, gets the newer values with the next sync, and then 304 confirms both",
        arguments: [
            "  items: { path: /items, entity: Item, paginate: single_page, partitions: { state: [open, closed] } }",
            """
              open: { path: /items, with: { state: open }, entity: Item, paginate: single_page }
              closed: { path: /items, with: { state: closed }, entity: Item, paginate: single_page }
            """,
        ])
    func movedRecord(endpoints: String) async throws {
        let items = Items(), fixture = try MirrorStore(yaml: Self.yaml(endpoints))
        let server = try ScriptedServer { items.answer($0) }, base = server.base + "/v1"
        try await fixture.sync(base)
        #expect(try fixture.record("Item", 1)["name"] == .string("old"))
        items.hold()
        async let second = fixture.sync(base)
        try await items.gate.reached()
        try await eventually("the newer answer is committed") {
            try fixture.record("Item", 1)["name"] == .string("new")
        }
        items.gate.open()
        #expect(try await second.failures.isEmpty)
        // The older answer has come last.
        #expect(try fixture.record("Item", 1)["name"] == .string("old"))
        let report = try await fixture.sync(base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try fixture.record("Item", 1)["name"] == .string("new"))
        #expect(try fixture.record("Item", 1)["state"] == .string("closed"))
        let last = try await fixture.sync(base)
        #expect(last.report.updated == 0 && last.notModified == 2, "\(last.texts)")
    }

    @Test("a change that crosses no other answer leaves the other lists of its record confirmed")
    func ordinaryChange() async throws {
        let name = Mutex("old")
        let fixture = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities: { Item: { key: id, attributes: { id: int, name: string? } } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: single_page }
                  starred: { path: /starred, entity: Item, paginate: single_page }
                """)
        let server = try ScriptedServer { request in
            guard request.target.hasSuffix("/items") else { return .tagged("s", request, #"[{"id":1}]"#) }
            let name = name.withLock { $0 }
            return .tagged(name, request, #"[{"id":1,"name":"\#(name)"}]"#)
        }
        let base = server.base + "/v1"
        for (given, confirmed) in [("old", 0), ("new", 1), ("new", 2)] {
            name.withLock { $0 = given }
            let report = try await fixture.sync(base)
            #expect(report.failures.isEmpty && report.notModified == confirmed, "\(report.texts)")
        }
        #expect(try fixture.record("Item", 1)["name"] == .string("new"))
    }
}
