// Commands that work on one store at the same moment.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Command line: commands side by side", .timeLimit(.minutes(5)))
struct SideBySideTests {
    /// A server that holds the requests for some targets at a gate.
    private final class HoldingServer: Sendable {
        let gate = ThreadGate()
        private let held = Mutex<String?>(nil)

        /// Holds the next request for a target.
        func holdNext(_ target: String) { held.withLock { $0 = target } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let isHeld = held.withLock { held in
                guard held == request.target else { return false }
                held = nil
                return true
            }
            if isHeld { gate.wait() }
            return .init(body: #"[{"id":1,"name":"a"}]"#)
        }
    }

    /// A description whose endpoints are due every second.
    private static func watched(_ names: String..., attribute: String = "name: string") -> String {
        """
        api: { base: 'https://api.test.example' }
        entities: { Item: { key: id, attributes: { id: int, \(attribute) } } }
        endpoints:

        """ + names.map { "  \($0): { path: /\($0), entity: Item, paginate: single_page, every: 1s }\n" }.joined()
    }

    @Test("--watch syncs the endpoints that are free while another process syncs one of them")
    func busyEndpoint() async throws {
        let folder = try TemporaryFolder(), holding = HoldingServer()
        let server = try ScriptedServer { holding.answer($0) }
        let file = try folder.write("tarn.yaml", Self.watched("held", "free"))
        holding.holdNext("/held")
        let other = try TarnProcess(["sync", "held", "--file", file, "--base", server.base])
        try await holding.gate.reached()
        let watch = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch"])
        try await eventually("syncs of the free endpoint") { server.targets.count { $0 == "/free" } >= 2 }
        #expect(server.targets.count { $0 == "/held" } == 1)
        holding.gate.open()
        #expect(await other.end().status == 0)
        try await eventually("a sync of the other endpoint") { server.targets.count { $0 == "/held" } >= 2 }
        watch.send(SIGINT)
        let result = await watch.end()
        #expect(
            result.status == 130 && result.error.contains("held: process \(other.processID) is syncing it"),
            "\(result.error)")
    }

    @Test("a dry run and a sync of the same endpoint do not stop each other", arguments: [false, true])
    func dryRun(isFirst: Bool) async throws {
        let folder = try TemporaryFolder(), holding = HoldingServer()
        let server = try ScriptedServer { holding.answer($0) }
        let file = try folder.write("tarn.yaml", Self.watched("items"))
        let sync = ["sync", "--file", file, "--base", server.base]
        try await expectSuccess(tarn(sync))
        holding.holdNext("/items")
        let first = try TarnProcess(isFirst ? sync + ["--dry-run"] : sync)
        try await holding.gate.reached()
        try await expectSuccess(tarn(isFirst ? sync : sync + ["--dry-run"]))
        holding.gate.open()
        expectSuccess(await first.end())
    }

    @Test("--watch goes on if another process applies a changed description while a sync is under way")
    func appliedSchema() async throws {
        let folder = try TemporaryFolder(), holding = HoldingServer()
        let server = try ScriptedServer { holding.answer($0) }
        let file = try folder.write("tarn.yaml", Self.watched("items"))
        let watch = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch"])
        try await eventually { server.targets.count >= 1 }
        holding.holdNext("/items")
        try await holding.gate.reached()
        let renamed = Self.watched("items", attribute: "label: { type: string, was: name, from: name }")
        let next = try folder.write("next.yaml", renamed)
        #expect(rename(next, file) == 0)
        // It requests nothing, and opens the store with the new schema.
        try await expectSuccess(tarn("sync", "--offline", "--file", file))
        holding.gate.open()
        let count = server.targets.count
        try await eventually("further syncs") { server.targets.count >= count + 2 }
        watch.send(SIGINT)
        let result = await watch.end()
        #expect(result.status == 130 && result.error.contains("another process has changed"), "\(result.error)")
        #expect(try await tarn("get", "Item", "1", "--file", file, "--format", "json").output.contains(#""label""#))
    }

    @Test("--send waits for another process that sends, which may send the change", arguments: ["b", "refuse"])
    func sending(title: String) async throws {
        let folder = try TemporaryFolder(), gate = ThreadGate()
        var api = ModelAPI()
        (api.items[7], api.items[8]) = (ModelAPI.Item(title: "a"), ModelAPI.Item(title: "a"))
        let server = try ModelServer(api)
        let file = try folder.write("tarn.yaml", ModelAPI.yaml(base: server.base))
        try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
        server.with {
            $0.fault = { request in
                if request.target == "/items/7" { gate.wait() }
                return nil
            }
        }
        func update(_ id: Int, _ title: String, _ way: String) -> [String] {
            ["update", "Item", "--where", "id = \(id)", "--set", "title=\(title)", way, "--file", file]
        }
        try await expectSuccess(tarn(update(7, "first", "--queue")))
        let push = try TarnProcess(["push", "--file", file])
        try await gate.reached()
        let sending = try TarnProcess(update(8, title, "--send"))
        let list = ["outbox", "list", "--file", file, "--format", "ndjson"]
        while try await tarn(list).lines.count < 2 {}
        gate.open()
        _ = await push.end()
        let result = await sending.end()
        if title == "refuse" {
            #expect(result.status == 1 && result.error.contains("the text is refused"), "\(result.error)")
        } else {
            expectSuccess(result)
            #expect(Set(server.with(\.effects)) == ["PATCH item 7 title=first", "PATCH item 8 title=b"])
        }
    }
}
