// A change feed and its whole list: a sync that is killed between the pages of the list.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Killed list of a change feed", .timeLimit(.minutes(5)))
struct FeedSyncTests {
    private static let yaml = """
        store: store.tarn
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, attributes: { id: int } }
        endpoints:
          files:
            path: /files
            records: files
            entity: Item
            paginate: { cursor: { path: next, param: page } }
          changes:
            path: /changes
            records: { changes: { entity: Item, record: [file, id], deleted: { removed: 'true' } } }
            paginate: single_page
            since: { cursor: token, param: since, start: { path: /token, list: files } }
        """

    @Test("a kill between two pages loses no change: the feed tells what has changed since before the first page")
    func kill() async throws {
        let state = Mutex((isHeld: true, hasChanged: false))
        let server = try ScriptedServer { request in
            let (isHeld, hasChanged) = state.withLock { $0 }
            switch request.target {
            case "/token": return .init(body: #"{"token":"a"}"#)
            case "/changes?since=a" where hasChanged:
                return .init(
                    body: #"{"changes":[{"id":1,"removed":true},{"removed":false,"file":{"id":9}}],"token":"b"}"#)
            case "/changes?since=a": return .init(body: #"{"changes":[],"token":"a"}"#)
            case "/files": return .init(body: #"{"files":[{"id":1},{"id":2}],"next":"2"}"#)
            default:
                if isHeld { usleep(5_000_000) }
                return .init(body: #"{"files":[{"id":3}]}"#)
            }
        }
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", Self.yaml)
        let store = folder.path + "/store.tarn", arguments = ["sync", "--file", file, "--base", server.base]
        let process = try TarnProcess(arguments)
        try await eventually {
            server.targets.contains("/files?page=2") && Forge.count("Item", store) == 2
        }
        state.withLock { $0 = (false, true) }
        process.send(SIGKILL)
        #expect(await process.end().status == -SIGKILL)
        #expect(server.targets == ["/token", "/changes?since=a", "/files", "/files?page=2"])
        // The rest of the killed sync: the list goes on where it was.
        try await expectSuccess(tarn(arguments))
        #expect(server.targets.last == "/files?page=2" && Forge.count("Item", store) == 3)
        let result = try await tarn(arguments)
        #expect(result.status == 0 && server.targets.last == "/changes?since=a", "\(result.output)\(result.error)")
        #expect(
            (result.output + result.error).contains("files: not requested, because a feed tells what has changed"),
            "\(result.output)\(result.error)")
        let list = try await tarn("list", "Item", "--file", file)
        #expect(list.output == "{\"id\":2}\n{\"id\":3}\n{\"id\":9}\n", "\(list.output)")
    }
}
