// A sync brings back what a repair has removed, whatever the lists are.

import Foundation
import TestSupport
import Testing

@Suite("Command line: a sync after a repair")
struct SyncAfterRepairTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let users = [(1, "the first user"), (2, "the second user")]

    private static func item(_ number: Int) -> String {
        let user = users[number % 2]
        return """
            {"id":\(number),"title":"title \(number) of an item","updated":"2026-01-0\(number)T00:00:00Z",\
            "user":{"id":\(user.0),"name":"\(user.1)"}}
            """
    }

    private static func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        // Only the last one has changed since.
        let numbers = request.target.contains("since=") ? 4...4 : 1...4
        let body = "[" + numbers.map(item).joined(separator: ",") + "]"
        return request.target.hasPrefix("/all") ? .tagged("all", request, body) : .init(body: body)
    }

    @Test(
        "a record comes back that a repair has removed from a list of changes, or that another record contains",
        arguments: [("changes", "title 2 of an item"), ("all", "title 2 of an item"), ("all", "the first user")])
    func restored(_ endpoint: String, _ damaged: String) async throws {
        let server = try ScriptedServer { Self.answer($0) }, store = folder.path + "/s.tarn"
        let file = folder.path + "/tarn.yaml", since = "since: { param: since, field: updated }"
        try Data(
            """
            api: { base: '\(server.base)' }
            entities:
              User: { key: id, attributes: { id: int, name: string } }
              Item:
                key: id
                attributes: { id: int, title: string, updated: date }
                relationships: { user: User }
            endpoints:
              \(endpoint): { path: /\(endpoint), entity: Item\(endpoint == "changes" ? ", " + since : "") }
            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        func sync() async throws { try await expectSuccess(tarn("sync", "--file", file, "--store", store)) }
        try await sync()
        let before = try await tarn("inspect", "dump", store, "--no-versions").output
        try Damage.flip(damaged, in: store)
        let repair = try await tarn("store", "repair", store, "--no-backup", "--remove-damaged-rows")
        #expect(repair.status == 0 && repair.output.contains(": unreadable, removed"), "\(repair)")
        try await sync()
        #expect(try await tarn("inspect", "dump", store, "--no-versions").output == before)
    }
}
