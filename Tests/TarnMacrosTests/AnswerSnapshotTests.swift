// Answers whose records and metadata are of one response, whatever is stored meanwhile.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Answers of one snapshot", .timeLimit(.minutes(2)))
struct AnswerSnapshotTests {
    @Test("the records and the metadata of a page are of one response while newer ones are stored")
    func page() async throws {
        let version = Mutex(0), folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            let number = version.withLock { version in
                version += 1
                return version
            }
            // The lists of two versions in a row differ, too.
            let items = (1...20).map { "{\"id\":\($0 + number % 2 * 5),\"rank\":\(number)}" }
            return .init(
                fields: ["Cache-Control: max-age=1000"],
                body: "{\"v\":\(number),\"items\":[\(items.joined(separator: ","))]}")
        }
        let client = try ListAPI.client(server.base, folder)
        let request = RecordRequest<Entry>.get("/x", records: "items").metadata("v", at: "v")
        _ = try await client.page(request)
        let isOver = Switch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Two of them: one fetches while the other one reads what it has fetched.
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<50 {
                        let page = try await client.page(request.policy(.networkOnly))
                        #expect(Set(page.records.map { "\($0.rank ?? 0)" }) == [page.metadata["v"] ?? ""])
                    }
                    isOver.set()
                }
            }
            group.addTask {
                while !isOver.isOn {
                    let page = try await client.page(request.policy(.cacheOnly))
                    #expect(Set(page.records.map { "\($0.rank ?? 0)" }) == [page.metadata["v"] ?? ""])
                    // Nothing else suspends it: it would keep its thread, of which there may be two.
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a record that is deleted as soon as it is stored is the answer that the server has given")
    func deleted() async throws {
        let api = try ListAPI(), isOver = Switch()
        api.list.set(1)
        api.list.send("Cache-Control: max-age=1000")
        let client = api.client
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !isOver.isOn {
                    try await client.store.write { _ = try $0.delete(Entry.self, 1) }
                }
            }
            group.addTask {
                defer { isOver.set() }
                for _ in 0..<100 {
                    let entry = try await client.one(.entries())
                    #expect(entry.id == 1)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a record that has moved between the pages of a stored answer is there once, where the newest page has it")
    func movedRecord() async throws {
        let api = try ListAPI()
        api.list.set(1, 2, 3, 4, 5, 6)
        _ = try await api.client.all(.entries())
        api.list.set(2, 3, 4, 5, 6)
        // The first page of the answer is newer than the second, which still lists 4.
        _ = try await api.client.page(.entries())
        for try await answer in api.client.answers(.entries(), fetch: .never) {
            #expect(answer.records.map(\.id) == [2, 3, 4, 5, 6])
            break
        }
    }
}

/// Tells the tasks of a test when one of them is done.
private final class Switch: Sendable {
    private let state = Mutex(false)
    var isOn: Bool { state.withLock(\.self) }
    func set() { state.withLock { $0 = true } }
}
