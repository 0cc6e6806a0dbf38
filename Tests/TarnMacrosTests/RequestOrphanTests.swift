// Records that a request no longer lists: removed after a complete list, and only then.

import Foundation
import Synchronization
import TarnMacros
import TarnStore
import TestSupport
import Testing

@Record private struct Topic: Equatable {
    @Key var id: Int64
    @Index var forum: String
    var isPinned: Bool?
}

extension RecordRequest where Value == Topic {
    fileprivate static func topics(_ forum: String) -> Self {
        .get("/topics", ["forum": forum]).editing { _, json in json["forum"] = .string(forum) }
    }
}

@Suite("Orphans of a request", .timeLimit(.minutes(2)))
struct RequestOrphanTests {
    /// A server of lists by forum, three topics a page.
    private final class Forum: Sendable {
        let lists = Mutex<[String: [Int64]]>([:])
        let fails = Mutex(false)
        let isFresh = Mutex(false)

        func set(_ forum: String, _ ids: Int64...) { lists.withLock { $0[forum] = ids } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            guard let url = URLComponents(string: request.target) else { return .init(status: "400 Bad Request") }
            let query = Dictionary(uniqueKeysWithValues: (url.queryItems ?? []).map { ($0.name, $0.value ?? "") })
            let page = Int(query["page"] ?? "") ?? 1, forum = query["forum"] ?? ""
            if page > 1, fails.withLock(\.self) { return .init(status: "500 Broken") }
            let ids = lists.withLock { $0[forum] ?? [] }
            let part = ids.dropFirst((page - 1) * 3).prefix(3)
            var fields = isFresh.withLock(\.self) ? ["Cache-Control: max-age=60"] : []
            if ids.count > page * 3 {
                fields.append(
                    "Link: <http://\(request.field("Host") ?? "")/topics?forum=\(forum)&page=\(page + 1)>; rel=\"next\""
                )
            }
            return .init(fields: fields, body: "[" + part.map { "{\"id\":\($0)}" }.joined(separator: ",") + "]")
        }
    }

    private struct API {
        let forum = Forum()
        let server: ScriptedServer
        let folder: TemporaryFolder
        let client: RecordClient

        init() throws {
            let forum = forum
            folder = try TemporaryFolder()
            server = try ScriptedServer { forum.answer($0) }
            client = try RecordClient(base: server.base, records: Topic.self, store: folder("topics.tarn")) {
                $0.api.retry.attempts = 1
            }
        }

        func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Topic.all).map(\.id) } }
    }

    @Test("a record goes that two complete lists lack, and one that a list has again stays")
    func twoLists() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans()
        api.forum.set("a", 1, 2, 3, 4, 5)
        #expect(try await api.client.all(request).count == 5)
        api.forum.set("a", 1, 2, 4)
        #expect(try await api.client.all(request).count == 3)
        #expect(try api.stored() == [1, 2, 3, 4, 5])
        api.forum.set("a", 1, 2, 4, 5)
        var orphans: [OrphanReport?] = [], deleted: [Int?] = []
        for try await page in api.client.pages(request) {
            orphans.append(page.orphans)
            deleted.append(page.report?.deleted)
        }
        #expect(try api.stored() == [1, 2, 4, 5])
        #expect(orphans.map { $0?.deleted } == [nil, 1] && deleted == [0, 1])
        #expect(orphans[1]?.records == ["Topic 3"])
    }

    @Test("a scope has records that no list of the request had, and one list is enough if the rules say so")
    func scope() async throws {
        let api = try API()
        try await api.client.store.write { writer in
            try writer.put(Topic(id: 8, forum: "a"))
            try writer.put(Topic(id: 9, forum: "b"))
        }
        api.forum.set("a", 1)
        let rules = Orphans(.matching(Topic.where { $0.forum == "a" }), scans: 1)
        _ = try await api.client.all(.topics("a").removingOrphans(rules))
        #expect(try api.stored() == [1, 9])
    }

    @Test("a record that something else stores while a list is read is no orphan of that list")
    func storedMeanwhile() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(.entity, scans: 1))
        api.forum.set("a", 1, 2, 3, 4)
        var pages = api.client.pages(request).makeAsyncIterator()
        #expect(try await pages.next()?.records.count == 3)
        try await api.client.store.write { try $0.put(Topic(id: 9, forum: "a")) }
        #expect(try await pages.next()?.orphans?.deleted == 0)
        #expect(try api.stored() == [1, 2, 3, 4, 9])
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2, 3, 4])
    }

    @Test("a domain that is cancelled while orphans are removed ends the call like any other one")
    func cancelledDomain() async throws {
        let api = try API(), client = api.client
        try await client.store.write { try $0.put(Topic(id: 9, forum: "a")) }
        api.forum.set("a", 1)
        let request = RecordRequest.topics("a").domain("screen").removingOrphans(Orphans(.entity, scans: 1)) { _ in
            client.cancel(domain: "screen") == 1
        }
        await #expect { _ = try await client.all(request) } throws: { ($0 as? CacheError)?.isCancelled ?? false }
        // The step that was under way is committed.
        #expect(try api.stored() == [1])
    }

    @Test("a closure decides about each orphan, as a struct")
    func decision() async throws {
        let api = try API()
        try await api.client.store.write { writer in
            for id in 1...3 as ClosedRange<Int64> { try writer.put(Topic(id: id, forum: "a", isPinned: id == 2)) }
        }
        api.forum.set("a", 1)
        let rules = Orphans(.entity, scans: 1)
        let request = RecordRequest.topics("a").removingOrphans(rules) { topic in topic.isPinned != true }
        var report: OrphanReport?
        for try await page in api.client.pages(request) { report = page.orphans }
        #expect(try api.stored() == [1, 2])
        #expect(report?.deleted == 1 && report?.candidates == 2)
    }

    @Test("an orphan is marked instead, and marked once")
    func marking() async throws {
        let api = try API()
        try await api.client.store.write { writer in
            for id in 1...2 as ClosedRange<Int64> { try writer.put(Topic(id: id, forum: "a")) }
        }
        api.forum.set("a", 1)
        let request = RecordRequest.topics("a").markingOrphans(Orphans(.entity, scans: 1)) { $0.set(.isPinned, true) }
        var reports: [OrphanReport?] = []
        for _ in 0..<2 {
            for try await page in api.client.pages(request) { reports.append(page.orphans) }
        }
        #expect(reports.map { $0?.marked } == [1, 0] && reports[0]?.records == ["Topic 2"])
        #expect(try api.client.store.read { try $0.fetch(Topic.all).map(\.isPinned) } == [nil, true])
    }

    @Test("nothing goes after a part of a list: a loop that is left, a limit, a failure, an empty list")
    func partialLists() async throws {
        let api = try API(), rules = Orphans(scans: 1)
        let request = RecordRequest.topics("a").removingOrphans(rules)
        api.forum.set("a", 1, 2, 3, 4, 5, 6, 7)
        _ = try await api.client.all(request)
        api.forum.set("a", 1, 2, 3, 4, 5)
        for try await page in api.client.pages(request) {
            #expect(page.orphans == nil)
            break
        }
        #expect(try api.stored().count == 7)
        var report: OrphanReport?
        for try await page in api.client.pages(request.limit(pages: 1)) { report = page.orphans }
        #expect(report?.deleted == 0 && report?.candidates == 0)
        api.forum.fails.withLock { $0 = true }
        await #expect(throws: CacheError.self) {
            _ = try await api.client.all(RecordRequest.topics("a").removingOrphans(rules).policy(.networkOnly))
        }
        api.forum.fails.withLock { $0 = false }
        api.forum.set("a")
        _ = try await api.client.all(request)
        #expect(try api.stored().count == 7)
        await #expect(throws: MirrorError.self) { _ = try await api.client.all(request.persisting(false)) }
        api.forum.set("a", 1, 2, 3, 4, 5)
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2, 3, 4, 5])
        let all = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1, allowsEmpty: true))
        api.forum.set("a")
        _ = try await api.client.all(all)
        #expect(try api.stored() == [])
    }

    @Test("pages that the store has answered prove nothing, and without a policy the server is asked")
    func storedPages() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans()
        api.forum.isFresh.withLock { $0 = true }
        api.forum.set("a", 1, 2)
        _ = try await api.client.all(request)
        api.forum.set("a", 1)
        _ = try await api.client.all(request)
        var report: OrphanReport?
        for try await page in api.client.pages(request.policy(.cacheFirst)) { report = page.orphans }
        #expect(report?.candidates == 0 && api.server.targets.count == 2)
        #expect(try api.stored() == [1, 2])
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1] && api.server.targets.count == 3)
    }

    @Test("lists of other parameters are other lists: a record that one of them has stays")
    func otherParameters() async throws {
        let api = try API(), rules = Orphans(scans: 1)
        api.forum.set("a", 1, 2)
        api.forum.set("b", 3)
        let a = RecordRequest.topics("a").removingOrphans(rules), b = RecordRequest.topics("b").removingOrphans(rules)
        _ = try await api.client.batch([a, b])
        api.forum.set("a", 1)
        api.forum.set("b", 2, 3)
        _ = try await api.client.all(b)
        _ = try await api.client.all(a)
        #expect(try api.stored() == [1, 2, 3])
        api.forum.set("b", 3)
        _ = try await api.client.all(b)
        #expect(try api.stored() == [1, 3])
    }

    @Test("after a change of the mapping that leaves keys as they are, what earlier lists had is still known")
    func otherMapping() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3)
        _ = try await api.client.all(request)
        let path = api.folder("topics.tarn")
        let other = try RecordClient(base: api.server.base, records: Topic.self, store: path) {
            $0.mapping.duplicates = .firstWins
        }
        api.forum.set("a", 1, 2)
        _ = try await other.all(request)
        #expect(try api.stored() == [1, 2])
        // Other rules for keys may list other records.
        let keys = try RecordClient(base: api.server.base, records: Topic.self, store: path) {
            $0.mapping.keyless = .fail
        }
        api.forum.set("a", 1)
        _ = try await keys.all(request)
        #expect(try api.stored() == [1, 2])
    }

    @Test("records that only a list with other keys had since are no orphans of a list as it was before")
    func otherKeysInBetween() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3)
        _ = try await api.client.all(request)
        let keys = try RecordClient(base: api.server.base, records: Topic.self, store: api.folder("topics.tarn")) {
            $0.mapping.keyless = .fail
        }
        api.forum.set("a", 1, 2)
        _ = try await keys.all(request)
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2, 3])
    }

    @Test("the members of a store from before they had the name of what is listed are found")
    func olderStore() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3)
        _ = try await api.client.all(request)
        var lists: [(name: String, list: Checkpoint)] = []
        try api.client.store.read { try $0.forEachCheckpoint { lists.append(($0, $1)) } }
        let (name, checkpoint) = try #require(lists.first { $0.list.members != nil })
        let members = try #require(checkpoint.members)
        // What is listed comes last; the identity in front of it may contain spaces.
        let former = "\(members[..<(try #require(members.lastIndex(of: " ")))]) \(checkpoint.plan)"
        #expect(former != members)
        try await api.client.store.write { writer in
            var older = checkpoint
            (older.members, older.listing) = (former, nil)
            _ = try writer.moveScanMembers(of: members, to: former, limit: 1000, numberedAlike: true)
            try writer.setCheckpoint(name, older)
        }
        api.forum.set("a", 1, 2)
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2])
    }

    @Test("a list that began before another one ended removes nothing: it is the older one")
    func overtakenList() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3, 4)
        _ = try await api.client.all(request)
        var slow = api.client.pages(request).makeAsyncIterator()
        #expect(try await slow.next()?.records.count == 3)
        api.forum.set("a", 1, 2, 3, 4, 5)
        _ = try await api.client.all(request)
        api.forum.set("a", 1, 2, 3, 4)
        let last = try await slow.next()
        #expect(last?.orphans?.candidates == 0 && last?.next == nil)
        #expect(try api.stored() == [1, 2, 3, 4, 5])
    }

    @Test("an atomic batch removes the orphans of each of its requests after its commit")
    func atomicBatch() async throws {
        let api = try API(), rules = Orphans(scans: 1)
        let a = RecordRequest.topics("a").removingOrphans(rules), b = RecordRequest.topics("b").removingOrphans(rules)
        api.forum.set("a", 1, 2, 3, 4)
        api.forum.set("b", 5, 6)
        _ = try await api.client.batch([a, b], atomic: true)
        #expect(try api.stored() == [1, 2, 3, 4, 5, 6])
        api.forum.set("a", 1, 4)
        api.forum.set("b", 6)
        let lists = try await api.client.batch([a, b], atomic: true)
        #expect(lists.map { $0.map(\.id) } == [[1, 4], [6]])
        #expect(lists[0].allSatisfy { $0.forum == "a" } && lists[1].allSatisfy { $0.forum == "b" })
        #expect(try api.stored() == [1, 4, 6])
    }

    @Test(
        "a record that reached the server after another call had requested the list is no orphan of a call that joins")
    func sharedRequest() async throws {
        let folder = try TemporaryFolder(), ids = Mutex([1]), isHeld = Mutex(false)
        let server = AnsweringTransport { request in
            guard request.method == "GET" else {
                ids.withLock { $0.append(9) }
                return .init(status: 201, body: #"{"id":9,"forum":"a"}"#)
            }
            let body = "[" + ids.withLock { $0.map { #"{"id":\#($0),"forum":"a"}"# } }.joined(separator: ",") + "]"
            while isHeld.withLock(\.self) { try? await Task.sleep(for: .milliseconds(2)) }
            return .init(body: body)
        }
        let client = try RecordClient(
            base: "http://made.example", records: Topic.self, store: folder("topics.tarn"), transport: server
        ) {
            $0.api.retry.attempts = 1
            $0.writes["Topic"] = WriteRequests(create: WriteRequest("POST", "/topics"))
        }
        let list = RecordRequest<Topic>.get("/topics").policy(.networkFirst), outbox = client.outbox()
        isHeld.withLock { $0 = true }
        let first = Task { try await client.all(list) }
        try await eventually("the request") { server.requests.count == 1 }
        _ = try await outbox.create("Topic", [.init("forum", .string("a"))])
        #expect(try await outbox.drain().sent == 1)
        let second = Task { try await client.all(list.removingOrphans(Orphans(.entity, scans: 1))) }
        // If it is too late to join the request, the second list has the record.
        try await Task.sleep(for: .milliseconds(300))
        isHeld.withLock { $0 = false }
        _ = try await (first.value, second.value)
        #expect(try client.store.read { try $0.fetch(Topic.all).map(\.id) } == [1, 9])
    }

    @Test(
        "a record that something else stores after another call had requested the list is no orphan of a call that joins",
        arguments: [false, true])
    func storedBeforeJoining(isClockStopped: Bool) async throws {
        let folder = try TemporaryFolder(), ids = Mutex([1]), isHeld = Mutex(true), isMade = Mutex(false)
        let server = AnsweringTransport { _ in
            let body = "[" + ids.withLock { $0.map { #"{"id":\#($0),"forum":"a"}"# } }.joined(separator: ",") + "]"
            isMade.withLock { $0 = true }
            while isHeld.withLock(\.self) { try? await Task.sleep(for: .milliseconds(2)) }
            return .init(body: body)
        }
        var options = APIClient.Options()
        if isClockStopped {
            options.time = TimeSource(
                now: { Date(timeIntervalSince1970: 1_800_000_000) }, sleep: { try await Task.sleep(for: $0) },
                random: { 0 })
        }
        let client = try RecordClient(
            base: "http://made.example", records: Topic.self, store: folder("topics.tarn"), transport: server,
            options: options
        ) { $0.api.retry.attempts = 1 }
        let list = RecordRequest<Topic>.get("/topics").policy(.networkFirst)
        let first = Task { try await client.all(list) }
        try await eventually("the list of the first call") { isMade.withLock(\.self) }
        try await client.store.write { try $0.put(Topic(id: 9, forum: "a")) }
        ids.withLock { $0.append(9) }
        let second = Task { try await client.all(list.removingOrphans(Orphans(.entity, scans: 1))) }
        // If it is too late to join the request, the second list has the record.
        try await Task.sleep(for: .milliseconds(300))
        isHeld.withLock { $0 = false }
        _ = try await (first.value, second.value)
        #expect(try client.store.read { try $0.fetch(Topic.all).map(\.id) } == [1, 9])
    }

    @Test("a record that something else stores while an atomic batch loads is no orphan of that batch")
    func storedDuringBatch() async throws {
        let folder = try TemporaryFolder(), late = Mutex<Store?>(nil)
        let server = AnsweringTransport { _ in
            if let store = late.withLock(\.self) { try? await store.write { try $0.put(Topic(id: 9, forum: "a")) } }
            return .init(body: #"[{"id":1,"forum":"a"}]"#)
        }
        let client = try RecordClient(
            base: "http://made.example", records: Topic.self, store: folder("topics.tarn"), transport: server)
        let list = RecordRequest<Topic>.get("/topics").removingOrphans(Orphans(.entity, scans: 1))
        late.withLock { $0 = client.store }
        #expect(try await client.batch([list], atomic: true).map { $0.map(\.id) } == [[1]])
        #expect(try client.store.read { try $0.fetch(Topic.all).map(\.id) } == [1, 9])
        late.withLock { $0 = nil }
        _ = try await client.batch([list], atomic: true)
        #expect(try client.store.read { try $0.fetch(Topic.all).map(\.id) } == [1])
    }

    @Test("a list that was complete while the clock was ahead does not hold up later ones")
    func listOfTheFuture() async throws {
        let folder = try TemporaryFolder(), ids = Mutex([1, 2]), ahead = Mutex(86_400.0)
        let server = AnsweringTransport { _ in
            .init(body: "[" + ids.withLock { $0.map { #"{"id":\#($0),"forum":"a"}"# } }.joined(separator: ",") + "]")
        }
        var options = APIClient.Options()
        options.time = TimeSource(
            now: { Date() + ahead.withLock(\.self) }, sleep: { try await Task.sleep(for: $0) }, random: { 0 })
        let client = try RecordClient(
            base: "http://made.example", records: Topic.self, store: folder("topics.tarn"), transport: server,
            options: options)
        let list = RecordRequest<Topic>.get("/topics").removingOrphans(Orphans(scans: 1))
        _ = try await client.all(list)
        ahead.withLock { $0 = 0 }
        ids.withLock { $0 = [1] }
        _ = try await client.all(list)
        #expect(try client.store.read { try $0.fetch(Topic.all).map(\.id) } == [1])
    }

    @Test("a list begins with its first request, and not with its iterator")
    func beginning() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3)
        _ = try await api.client.all(request)
        var later = api.client.pages(request).makeAsyncIterator()
        _ = try await api.client.all(request)
        api.forum.set("a", 1, 2)
        let page = try await later.next()
        #expect(page?.orphans?.deleted == 1 && page?.orphans?.refusals == [])
        #expect(try api.stored() == [1, 2])
    }

    @Test("without its checkpoint, which may have been damaged, a list goes on behind the last scan of its members")
    func lostCheckpoint() async throws {
        let api = try API(), request = RecordRequest.topics("a").removingOrphans(Orphans(scans: 1))
        api.forum.set("a", 1, 2, 3)
        for _ in 0..<3 { _ = try await api.client.all(request) }
        var names: [String] = []
        try api.client.store.read { try $0.forEachCheckpoint { name, _ in names.append(name) } }
        let lost = names
        try await api.client.store.write { for name in lost { try $0.removeCheckpoint(name) } }
        #expect(!lost.isEmpty)
        api.forum.set("a", 1, 2)
        // The last scan may be that of parts of this list.
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2, 3])
        _ = try await api.client.all(request)
        #expect(try api.stored() == [1, 2])
    }
}
