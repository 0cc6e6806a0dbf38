// A sync of a list that begins with the latest record, killed between two pages.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Killed scan of a list that begins with the latest record", .timeLimit(.minutes(5)))
struct LatestFirstKillTests {
    private static let yaml = """
        store: store.tarn
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int } }
        endpoints:
          items:
            path: /items
            entity: Item
            paginate: PAGINATE
            since: { field: id, latest_first: true }
        """

    @Test(
        "a kill behind the first page leaves no gap: the next sync reads down to what the last complete one has seen",
        arguments: ["header_link", "{ page_number: { param: page, per_page: { size: 2 } } }"])
    func kill(paginate: String) async throws {
        let state = Mutex((count: 4, isHeld: false))
        let server = try ScriptedServer { request in
            let (count, isHeld) = state.withLock { $0 }
            let page =
                request.target.components(separatedBy: "page=").dropFirst().last
                .flatMap { Int($0.prefix { $0.isNumber }) } ?? 1
            if isHeld, page == 2 { usleep(5_000_000) }
            let all = Array((1...count).reversed()), start = min(2 * (page - 1), count)
            let part = all[start..<min(start + 2, count)].map { #"{"id":\#($0)}"# }.joined(separator: ",")
            let link = start + 2 < count ? ["Link: </items?page=\(page + 1)>; rel=next"] : []
            return .init(fields: paginate == "header_link" ? link : [], body: "[\(part)]")
        }
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", Self.yaml.replacing("PAGINATE", with: paginate))
        let arguments = ["sync", "--file", file, "--base", server.base, "--quiet"]
        try await expectSuccess(tarn(arguments))
        let store = folder.path + "/store.tarn"
        #expect(Forge.count("Item", store) == 4)
        state.withLock { $0 = (10, true) }
        let known = server.requests.count, process = try TarnProcess(arguments)
        // The first page is committed while the second one is awaited.
        try await eventually { server.requests.count >= known + 2 && Forge.count("Item", store) == 6 }
        process.send(SIGKILL)
        #expect(await process.end().status == -SIGKILL)
        state.withLock { $0.isHeld = false }
        try await expectSuccess(tarn(arguments))
        #expect(Forge.count("Item", store) == 10, "no gap between 4 and 9")
        let count = server.requests.count
        try await expectSuccess(tarn(arguments))
        #expect(server.requests.count == count + 1)
    }
}
