// Answers of the store, of the server, and of every change: with included targets, and of a request.

import Foundation
import Locking
import TarnMacros
import TestSupport
import Testing

@testable import TarnStore

@Suite("Answers of typed requests", .timeLimit(.minutes(2)))
struct RequestAnswersTests {
    private func text(_ answer: RequestAnswer<Issue>) -> String {
        let ids = answer.records.map { "\($0.id)\($0.state == .closed ? "c" : "")" }.joined(separator: " ")
        return switch answer {
        case .local: "local \(ids)"
        case .remote(_, let reports): "remote \(ids), \(reports.map(\.created))"
        case .failed: "failed \(ids)"
        case .changed: "changed \(ids)"
        }
    }

    /// A server of a list that a test can replace.
    private struct ListServer {
        let list: Guarded<String>
        let forge: ForgeServer

        init(_ ids: [Int], fields: [String] = []) throws {
            let list = Guarded(ListServer.body(ids))
            self.list = list
            forge = try ForgeServer { request in
                guard request.target.hasPrefix("/repos/x/y/issues") else { return nil }
                return .init(fields: fields, body: list.withLock { $0 })
            }
        }

        static func body(_ ids: [Int]) -> String {
            "[" + ids.map { ForgeServer.issue($0) }.joined(separator: ",") + "]"
        }
        func serve(_ ids: [Int]) { list.withLock { $0 = ListServer.body(ids) } }
    }

    @Test("answers with included targets change with a target")
    func including() async throws {
        let forge = try ForgeServer(), store = forge.client.store
        let query = Issue.where { $0.state == .open }.order(by: \.number).include(\.author, \.labels)
        var seen: [String] = []
        for try await answer in forge.client.answers(.issues("acme/anvil"), local: query) {
            seen.append(answer.records.map { "\($0.id) \($1?.login ?? "?") \($2.count)" }.joined(separator: ", "))
            if case .remote(_, let reports) = answer {
                #expect(reports.map(\.created) == [3, 1])
                try await store.write { _ = try $0.patch(User.self, 5) { $0.set(.login, "eve") } }
            }
            if seen.count == 3 { break }
        }
        #expect(seen == ["", "1 ada 0, 2 ada 0, 3 ada 0", "1 eve 0, 2 eve 0, 3 eve 0"])
    }

    @Test("a request is answered with the records that it lists, over all pages, in the server's order")
    func listed() async throws {
        let forge = try ForgeServer(), store = forge.client.store
        // A record that the request does not list.
        _ = try await forge.client.one(.issue(7))
        var seen: [String] = []
        for try await answer in forge.client.answers(.issues("acme/anvil")) {
            seen.append(text(answer))
            switch seen.count {
            case 2:
                // Another one changes, then one of them, then the author of all of them, whom no field shows.
                try await store.write { _ = try $0.patch(Issue.self, 7) { $0.set(.state, State.closed) } }
                try await store.write { _ = try $0.patch(Issue.self, 3) { $0.set(.state, State.closed) } }
            case 3: try await store.write { _ = try $0.delete("Issue", RecordKey(2)) }
            default: break
            }
            if seen.count == 4 { break }
        }
        #expect(seen == ["local ", "remote 1 2 3, [2, 1]", "changed 1 2 3c", "changed 1 3c"])
        try await eventually("the observer is removed") { store.observers.count == 0 }
    }

    @Test("another list in the store is another answer, although no record has changed")
    func otherList() async throws {
        let server = try ListServer([1, 2, 3]), client = server.forge.client
        _ = try await client.all(.issues("x/y"))
        // The check without a notification does not help.
        client.store.observers.interval.withLock { $0 = .seconds(3600) }
        let seen = Guarded<[String]>([])
        let task = Task {
            for try await answer in client.answers(.issues("x/y"), fetch: .never) {
                let text = text(answer)
                seen.withLock { $0.append(text) }
            }
        }
        try await eventually("the first answer") { seen.withLock { $0 } == ["local 1 2 3"] }
        for ids in [[3, 1, 2], [1, 2], [2]] {
            server.serve(ids)
            _ = try await client.all(.issues("x/y").policy(.networkOnly))
            let expected = "changed " + ids.map { "\($0)" }.joined(separator: " ")
            try await eventually("the list") { seen.withLock { $0.last } == expected }
        }
        task.cancel()
        try await task.value
    }

    @Test("another list that another process has stored is another answer")
    func otherProcess() async throws {
        let server = try ListServer([1, 2]), client = server.forge.client
        let path = client.store.path, base = server.forge.server.base
        _ = try await client.all(.issues("x/y"))
        var answers = client.answers(.issues("x/y"), fetch: .never).makeAsyncIterator()
        #expect(try await answers.next().map(text) == "local 1 2")
        server.serve([2, 1])
        await #expect(processExitsWith: .success) { [path = path as String, base = base as String] in
            let client = try RecordClient(
                base: base, records: Issue.self, User.self, Label.self, Milestone.self, store: path)
            #expect(try await client.all(.issues("x/y").policy(.networkOnly)).map(\.id) == [2, 1])
        }
        #expect(try await answers.next().map(text) == "changed 2 1")
    }

    @Test("a response that must not be stored is answered with what the server has sent")
    func notStored() async throws {
        let server = try ListServer([2, 1], fields: ["Cache-Control: no-store"])
        var seen: [String] = []
        for try await answer in server.forge.client.answers(.issues("x/y")).prefix(2) { seen.append(text(answer)) }
        #expect(seen == ["local ", "remote 2 1, []"] || seen == ["local ", "remote 2 1, [3]"], "\(seen)")
        #expect(try server.forge.client.store.read { try $0.count("Issue") } == 0)
    }

    @Test("the records of an answer that was removed from the store stay")
    func evicted() async throws {
        let server = try ListServer([1, 2]), client = server.forge.client
        _ = try await client.all(.issues("x/y"))
        var answers = client.answers(.issues("x/y"), fetch: .never).makeAsyncIterator()
        #expect(try await answers.next().map(text) == "local 1 2")
        try await client.store.write { writer in
            var ids: [UInt64] = []
            try writer.access.responses.forEach { view in
                ids.append(view.id)
                return true
            }
            for id in ids { try writer.removeResponse(id: id) }
        }
        try await client.store.write { _ = try $0.patch(Issue.self, 2) { $0.set(.state, State.closed) } }
        #expect(try await answers.next().map(text) == "changed 1 2c")
    }

    @Test("the server is asked for the list only if it has no record, or never; a failure keeps the list")
    func fetching() async throws {
        let server = try ListServer([1]), client = server.forge.client
        func answers(_ fetch: RemoteFetch, _ count: Int, _ policy: CachePolicy = .cacheFirst) async throws -> [String] {
            var seen: [String] = []
            let request = RecordRequest<Issue>.issues("x/y").policy(policy)
            for try await answer in client.answers(request, fetch: fetch).prefix(count) { seen.append(text(answer)) }
            return seen
        }
        #expect(try await answers(.never, 1) == ["local "])
        #expect(server.forge.server.requests.isEmpty)
        #expect(try await answers(.ifNoLocalRecords, 2) == ["local ", "remote 1, [2]"])
        #expect(try await answers(.ifNoLocalRecords, 1) == ["local 1"])
        #expect(server.forge.server.requests.count == 1)
        server.list.withLock { $0 = "no JSON" }
        #expect(try await answers(.always, 2, .networkOnly) == ["local 1", "failed 1"])
        // The store answers in the place of the server, whose failure is told.
        #expect(try await answers(.always, 2) == ["local 1", "failed 1"])
    }

    @Test(
        "of a list that is not stored, the answer after a stale page has its records, and the one after an error none")
    func failedPage() async throws {
        let isBroken = Guarded(true)
        let forge = try ForgeServer { request in
            guard request.target.hasPrefix("/repos/x/y/issues") else { return nil }
            guard !request.target.contains("&page=2") else {
                return .init(body: isBroken.withLock { $0 } ? "no JSON" : ListServer.body([2]))
            }
            let link = "<http://\(request.field("Host") ?? "")/repos/x/y/issues?per_page=2&page=2>; rel=\"next\""
            return .init(fields: ["Cache-Control: no-store", "Link: \(link)"], body: ListServer.body([1]))
        }
        func answers() async throws -> [String] {
            var seen: [String] = []
            for try await answer in forge.client.answers(.issues("x/y")).prefix(2) { seen.append(text(answer)) }
            return seen
        }
        #expect(try await answers() == ["local ", "failed "])
        isBroken.withLock { $0 = false }
        #expect(try await forge.client.all(.issues("x/y")).map(\.id) == [1, 2])
        isBroken.withLock { $0 = true }
        #expect(try await answers() == ["local ", "failed 1 2"])
    }

    @Test("a request whose responses are not kept has no answer to observe")
    func post() async throws {
        let forge = try ForgeServer()
        var answers = forge.client.answers(.search("x")).makeAsyncIterator()
        await #expect(throws: CacheError.self) { _ = try await answers.next() }
        #expect(try await answers.next() == nil)
    }

    @Test("a loop that is left, or a task that is cancelled, ends the transfer and the observation")
    func cancellation() async throws {
        let gate = ThreadGate()
        let forge = try ForgeServer { request in
            guard request.target == "/issues/1" else { return nil }
            gate.wait()
            return .init(body: ForgeServer.issue(1))
        }
        let client = forge.client
        let task = Task {
            var count = 0
            for try await _ in client.answers(.issue(1)) { count += 1 }
            return count
        }
        try await eventually("the request") { !forge.server.requests.isEmpty }
        let start = ContinuousClock.now
        task.cancel()
        #expect(try await task.value == 1)
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(client.store.observers.count == 0)
        gate.open()
    }
}
