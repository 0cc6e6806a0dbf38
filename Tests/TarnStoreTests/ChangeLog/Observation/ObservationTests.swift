// Observing results and records in one process: the notifications, and the resources after the end.

import Foundation
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Observing a store", .timeLimit(.minutes(5)))
struct ObservationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open() throws -> Store { try Forge.open(folder("s")) }

    /// The name of a user, and the number of its evaluations.
    private func login(_ store: Store, _ count: Guarded<Int>? = nil) -> StoreObservation<Value?> {
        store.observe(entities: ["User"]) { reader in
            count?.withLock { $0 += 1 }
            return try reader.record("User", 1)?["login"]
        }
    }

    private func put(_ store: Store, _ login: String, _ key: RecordKey = 1) throws {
        try store.put("User", key, ["login": .string(login)])
    }

    @Test("the present state comes at once, and then every state that differs, with the commit that it is of")
    func results() async throws {
        let store = try open()
        try put(store, "a")
        var iterator = login(store).makeAsyncIterator()
        #expect(try await iterator.next() == Observed(value: .string("a"), sequence: 1))
        try put(store, "b")
        #expect(try await iterator.next() == Observed(value: .string("b"), sequence: 2))
        try put(store, "x", 2)
        try store.put("Issue", 1)
        try put(store, "c")
        let third = try #require(try await iterator.next())
        #expect(third == Observed(value: .string("c"), sequence: 5))
    }

    @Test(
        "commits that concern other entities lead to no evaluation, and those that change nothing of the result to none of it"
    )
    func nothingFalse() async throws {
        let store = try open(), count = Guarded(0)
        let users = Collected(login(store, count)), all = Collected(store.observe { try $0.sequence })
        try await eventually("the first results are there") { users.values.count == 1 && all.values.count == 1 }
        for number in 1...20 {
            try store.put("Issue", RecordKey(Int64(number)))
            try await eventually("commit \(number) was looked at") { all.values.last == UInt64(number) }
        }
        #expect(count.withLock { $0 } == 1)
        try put(store, "other", 2)
        try await eventually("the commit was looked at") { count.withLock { $0 } == 2 && all.values.last == 21 }
        try put(store, "a")
        try await eventually("the result is there") { users.values.count == 2 }
        #expect(users.values == [nil, .string("a")])
        #expect(users.results.map(\.sequence) == [0, 22])
    }

    @Test("a record is observed by its key: it is not there, comes, changes, and goes")
    func record() async throws {
        let store = try open()
        let record = Collected(store.observe("User", 1)), all = Collected(store.observe { try $0.sequence })
        func step(_ count: Int, _ body: () throws -> Void) async throws {
            try body()
            let sequence = try store.sequence
            try await eventually("\(count) results are there") {
                record.values.count == count && all.values.last == sequence
            }
        }
        try await step(1) {}
        try await step(2) { try put(store, "a") }
        try await step(2) { for key in 2..<20 { try put(store, "a", RecordKey(Int64(key))) } }
        try await step(3) { try put(store, "b") }
        try await step(4) { try store.write { _ = try $0.delete("User", 1) } }
        try await step(5) { try put(store, "b") }
        #expect(record.values.map { $0?["login"] } == [nil, .string("a"), .string("b"), nil, .string("b")])
        // The evaluations of `all` are as many as its results, or more.
        #expect(store.observers.counters.withLock { $0.evaluations } <= 5 + Int(try store.sequence) + 1)
    }

    @Test("a record is observed as a struct")
    func typed() async throws {
        let typed = try TypedStore(), store = typed.store
        let found = Collected(store.observe(Ticket.self, 3))
        try await eventually("the first result is there") { found.values.count == 1 }
        try typed.put([Ticket(3, "x"), Ticket(4, "y")])
        try await eventually("the second result is there") { found.values.count == 2 }
        #expect(found.values == [nil, Ticket(3, "x")])
    }

    @Test("records of an entity that descends from an observed one are its records")
    func subEntities() async throws {
        let schema = Schema([
            EntityDefinition("Event", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
            EntityDefinition("Push", parent: "Event", attributes: [AttributeDefinition("size", .int, optional: true)]),
        ])
        let store = try Store.open(at: folder("i"), schema: schema, options: Forge.quick)
        let events = Collected(store.observe(entities: ["Event"]) { try $0.count("Event") })
        let pushes = Collected(store.observe(entities: ["Push"]) { try $0.count("Push") })
        try await eventually("the first results are there") { events.values == [0] && pushes.values == [0] }
        try store.put("Push", 1)
        try await eventually("both have seen it") { events.values == [0, 1] && pushes.values == [0, 1] }
        try store.put("Event", 2)
        try await eventually("the parent has seen it") { events.values == [0, 1, 2] }
        #expect(pushes.values == [0, 1])
    }

    @Test("a record that becomes one of another kind leaves the result of the former kind")
    func changedKind() async throws {
        let store = try Forge.open(folder("k"), InheritanceTests.schema)
        try store.put("Push", 1)
        let pushes = Collected(store.observe(Query("Push"))), all = Collected(store.observe(Query("Event")))
        try await eventually("the first results are there") { pushes.values.count == 1 && all.values.count == 1 }
        try store.put("Release", 1)
        try await eventually("both have seen it") { pushes.values.count == 2 && all.values.count == 2 }
        #expect(pushes.values.map(\.count) == [1, 0] && all.values.last?.map(\.entity) == ["Release"])
    }

    @Test("a query is observed: its entity, and what its paths lead to, decide when it is evaluated")
    func query() async throws {
        let store = try open()
        try put(store, "ada")
        try put(store, "eve", 2)
        for id in 1...4 {
            try store.put(
                "Issue", RecordKey(Int64(id)), ["author": .reference(id < 3 ? 1 : 2), "number": .int(Int64(id))])
        }
        let query = Query(
            "Issue", where: .compare("author.login", .equal, .string("ada")), sortedBy: [.descending("number")],
            limit: 3)
        let found = Collected(store.observe(query)), all = Collected(store.observe { try $0.sequence })
        func step(_ keys: [RecordKey], _ count: Int, _ body: () throws -> Void) async throws {
            try body()
            let sequence = try store.sequence
            try await eventually("\(keys) is there") { found.values.count == count && all.values.last == sequence }
            #expect(found.values.last?.map(\.key) == keys)
        }
        try await step([2, 1], 1) {}
        try await step([2, 1], 1) { try store.put("Label", "x") }
        // Behind the path.
        try await step([4, 3, 2], 2) { try put(store, "ada", 2) }
        // In the result, and the same.
        try await step([4, 3, 2], 2) { try store.put("Issue", 1, ["title": .string("not shown")]) }
        try await step([4, 3, 2], 3) { try store.put("Issue", 3, ["title": .string("shown")]) }
        try await step([4, 2, 1], 4) { try store.write { _ = try $0.delete("Issue", 3) } }
        // Back to the former value before an observer reads it.
        try await step([4, 2, 1], 4) {
            try store.write { writer in
                try writer.put("Issue", 4, [.init("number", .int(0))])
                try writer.put("Issue", 4, [.init("number", .int(4))])
            }
        }
        let fixture = try TypedStore(), tickets = fixture.store
        // Its folder is removed with it.
        defer { withExtendedLifetime(fixture) {} }
        let typed = Collected(tickets.observe(Ticket.self, Query("Ticket"))),
            built = Collected(tickets.observe(Ticket.where { $0[.comments] > 2 }))
        let byType = Collected(tickets.observe(of: Ticket.self) { try $0.count(Ticket.all) })
        let counted = Collected(
            tickets.observe(countOf: Query("Ticket", where: .compare("comments", .greater, .int(2)))))
        try await eventually("it is there") { typed.values == [[]] && built.values == [[]] && counted.values == [0] }
        var ticket = Ticket(1, "x")
        try await tickets.write { [ticket] in try $0.put(ticket) }
        try await eventually("it is there") { typed.values == [[], [ticket]] && byType.values.last == 1 }
        ticket.comments = 3
        try await tickets.write { [ticket] in try $0.put(ticket) }
        try await eventually("it is there") { built.values == [[], [ticket]] && counted.values == [0, 1] }
    }

    @Test("who is slow gets the newest state, and nothing in between")
    func coalesced() async throws {
        let store = try open(), count = Guarded(0)
        var iterator = login(store, count).makeAsyncIterator()
        _ = try await iterator.next()
        for number in 1...200 { try put(store, "\(number)") }
        #expect(try await iterator.next() == Observed(value: .string("200"), sequence: 200))
        #expect(count.withLock { $0 } == 2)
    }

    @Test("what is observed is evaluated again when the log no longer tells what happened", arguments: [true, false])
    func trimmed(_ isNothingKept: Bool) async throws {
        let store = try open()
        if isNothingKept { try store.setChangeRetention(.nothing) }
        var iterator = login(store).makeAsyncIterator()
        _ = try await iterator.next()
        try put(store, "a")
        if !isNothingKept {
            try store.setChangeRetention(.nothing)
            try store.setChangeRetention(.all)
        }
        #expect(try await iterator.next()?.value == .string("a"))
        try put(store, "b")
        #expect(try await iterator.next()?.value == .string("b"))
    }

    @Test("an error of the evaluation ends it, and so does an entity that is not there")
    func errors() async throws {
        let store = try open()
        let found = Collected(
            store.observe(entities: ["User"]) { reader in
                guard try reader.count("User") < 1 else { throw StoreWriteError.keyCollision(entity: "made up") }
                return 1
            })
        try await eventually("the first result is there") { found.values == [1] }
        try put(store, "a")
        try await eventually("it has ended") { found.isFinished }
        #expect(found.error == StoreWriteError.keyCollision(entity: "made up"))
        let unknown = Collected(store.observe(entities: ["Nothing"]) { _ in 1 })
        try await eventually("it has ended") { unknown.isFinished }
        #expect(unknown.error == StoreError.unknownEntity(name: "Nothing", known: store.catalog.entities.map(\.name)))
        let wrong = Collected(store.observe("User", "ada"))
        try await eventually("it has ended") { wrong.isFinished }
        guard case StoreError.wrongKey? = wrong.error else { throw try #require(wrong.error) }
        try await eventually("nobody observes") { store.observers.count == 0 && !store.observers.isWatching }
    }

    @Test(
        "who is cancelled, leaves the loop or lets go of the iterator leaves nothing behind: no thread, no file, no store"
    )
    func endings() async throws {
        weak var closed: Store?
        do {
            let store = try open()
            closed = store
            let waiting = Collected(login(store)), record = Collected(store.observe("User", 1))
            try await eventually("they wait") { waiting.values.count == 1 && record.values.count == 1 }
            #expect(store.observers.count == 2)
            #expect(store.observers.isWatching)
            waiting.cancel()
            try await eventually("one has ended") { waiting.isFinished }
            #expect(store.observers.count == 1)
            record.cancel()
            try await eventually("both have ended") { record.isFinished }
            #expect(store.observers.count == 0)
            #expect(!store.observers.isWatching)
            // An observer may be released a moment after its loop or its scope ends.
            for try await _ in login(store) { break }
            try await eventually("the loop is left") { store.observers.count == 0 }
            do {
                var iterator = login(store).makeAsyncIterator()
                _ = try await iterator.next()
                #expect(store.observers.count == 1)
            }
            try await eventually("the iterator is gone") { store.observers.count == 0 }
            // Starts again.
            try put(store, "z")
            var iterator = login(store).makeAsyncIterator()
            #expect(try await iterator.next()?.value == .string("z"))
        }
        try await eventually("the store is closed") { closed == nil }
        let path = folder("s")
        try await eventually("its files are closed") { openFiles(to: path) == 0 }
    }

    @Test("a thread and its files end with the last observer")
    func files() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), store = try Forge.open(folder("s"))
            let inotify = openFiles(to: "inotify"), pipes = openFiles(to: "pipe:")
            try store.put("User", 1)
            for _ in 0..<20 {
                let observers = (0..<3).map { _ in Collected(store.observe { try $0.sequence }) }
                try await eventually("they wait") { observers.allSatisfy { $0.values.count == 1 } }
                #expect(openFiles(to: "inotify") == inotify + 1)
                observers.forEach { $0.cancel() }
                try await eventually("they have ended") { observers.allSatisfy(\.isFinished) }
                try await eventually("the files are closed") {
                    openFiles(to: "inotify") == inotify && openFiles(to: "pipe:") == pipes
                }
            }
        }
    }

    @Test("a store stays open as long as it is observed")
    func lifetime() async throws {
        var store: Store? = try open()
        weak let open = store
        var iterator = try login(#require(store)).makeAsyncIterator()
        _ = try await iterator.next()
        store = nil
        try put(#require(open), "late")
        #expect(try await iterator.next()?.value == .string("late"))
    }

    @Test("of a thousand who observe records, those whose record changed evaluate, and no one else")
    func thousandRecords() async throws {
        let store = try open()
        let observers = (0..<1000).map { Collected(store.observe("User", RecordKey(Int64($0)))) }
        try await eventually("all have their first result") { observers.allSatisfy { $0.values.count == 1 } }
        let before = store.observers.counters.withLock { $0.evaluations }
        for key in [3, 500, 999] { try put(store, "changed", RecordKey(Int64(key))) }
        try await eventually("they have seen it") { [3, 500, 999].allSatisfy { observers[$0].values.count == 2 } }
        try put(store, "again", 3)
        try await eventually("it has seen it") { observers[3].values.count == 3 }
        #expect(store.observers.counters.withLock { $0.evaluations } - before == 4)
        #expect(observers.indices.filter { observers[$0].values.count > 1 } == [3, 500, 999])
        observers.forEach { $0.cancel() }
        try await eventually("all have ended") { observers.allSatisfy(\.isFinished) }
        #expect(store.observers.count == 0)
    }

    @Test("a thousand who observe the same all come to the last state while a writer writes, and none sees one twice")
    func thousandResults() async throws {
        let store = try open()
        let observers = (0..<1000).map { _ in Collected(store.observe(entities: ["User"]) { try $0.count("User") }) }
        for key in 0..<100 { try await store.write { writer in try writer.put("User", RecordKey(Int64(key)), []) } }
        try await eventually("all have the last state") { observers.allSatisfy { $0.values.last == 100 } }
        #expect(observers.allSatisfy { zip($0.values, $0.values.dropFirst()).allSatisfy { $0 < $1 } })
    }

    @Test("texts that differ in their bytes only are not the same: in the queries of two observers, and in a result")
    func encodings() async throws {
        let store = try open(), composed = "\u{E9}", decomposed = "e\u{301}"
        try put(store, composed, 1)
        try put(store, decomposed, 2)
        let queries = [composed, decomposed].map { Query("User", where: .compare("login", .equal, .string($0))) }
        let found = queries.map { Collected(store.observe($0)) }, all = Collected(store.observe(Query("User")))
        try await eventually("the first results are there") {
            all.values.count == 1 && found.allSatisfy { $0.values.count == 1 }
        }
        #expect(found.map { $0.values[0].map(\.key) } == [[1], [2]])
        try put(store, decomposed, 1)
        try await eventually("the change was delivered") { all.values.count == 2 }
    }

    @Test(
        "those who observe the same query, count or record share one evaluation for each state of the store",
        arguments: 0..<8)
    func sharedEvaluations(_ kind: Int) async throws {
        let typed = try TypedStore(), store = typed.store
        let query = Query("Ticket", where: .compare("comments", .greater, .int(2)))
        let built = Ticket.where { $0[.comments] > 2 }, isOne = [4, 5, 7].contains(kind)
        func counts(_ observe: () -> StoreObservation<Int>) -> [Collected<Int>] {
            (0..<200).map { _ in Collected(observe()) }
        }
        /// The number of records that each observer saw last.
        func check(_ last: () -> [Int?], _ cancel: () -> Void) async throws {
            try await eventually("all have their first result") { last().allSatisfy { $0 == 0 } }
            func evaluations() -> Int { store.observers.counters.withLock { $0.evaluations } }
            // A look at the first state by the watch may mark those that were given it.
            #expect(evaluations() <= 2)
            let before = evaluations()
            for id in 1...3 as ClosedRange<Int64> {
                var ticket = Ticket(isOne ? 1 : id, "t\(id)")
                ticket.comments = 3
                try typed.put([ticket])
                try await eventually("all have seen it") { last().allSatisfy { $0 == (isOne ? 1 : Int(id)) } }
            }
            #expect(evaluations() - before <= 3)
            cancel()
            try await eventually("all have ended") { store.observers.count == 0 }
        }
        switch kind {
        case 0:
            let all = (0..<200).map { _ in Collected(store.observe(query)) }
            try await check({ all.map { $0.values.last?.count } }) { all.forEach { $0.cancel() } }
        case 1:
            let all = (0..<200).map { _ in Collected(store.observe(Ticket.self, query)) }
            try await check({ all.map { $0.values.last?.count } }) { all.forEach { $0.cancel() } }
        case 2:
            let all = (0..<200).map { _ in Collected(store.observe(built)) }
            try await check({ all.map { $0.values.last?.count } }) { all.forEach { $0.cancel() } }
        case 3:
            let all = (0..<200).map { _ in Collected(store.observe(countOf: query)) }
            try await check({ all.map { $0.values.last } }) { all.forEach { $0.cancel() } }
        case 5:
            let all = (0..<200).map { _ in Collected(store.observe(Ticket.self, 1)) }
            try await check({ all.map { $0.values.last.map { $0 == nil ? 0 : 1 } } }) { all.forEach { $0.cancel() } }
        case 6:
            let all = (0..<200).map { _ in Collected(store.observe(countOf: built)) }
            try await check({ all.map { $0.values.last } }) { all.forEach { $0.cancel() } }
        case 7:
            let all = (0..<200).map { _ in Collected(store.observe(existenceOf: built)) }
            try await check({ all.map { $0.values.last.map { $0 ? 1 : 0 } } }) { all.forEach { $0.cancel() } }
        default:
            let all = (0..<200).map { _ in Collected(store.observe("Ticket", 1)) }
            try await check({ all.map { $0.values.last.map { $0 == nil ? 0 : 1 } } }) { all.forEach { $0.cancel() } }
        }
    }

    @Test(
        "those who share an evaluation have the same results, each from where it has begun, and another query is another one"
    )
    func sharedResults() async throws {
        let typed = try TypedStore(), store = typed.store
        try typed.put([Ticket(1, "a")])
        let all = Query("Ticket"), none = Query("Ticket", where: .compare("comments", .greater, .int(100)))
        let early = Collected(store.observe(all)), other = Collected(store.observe(none)),
            structs = Collected(store.observe(Ticket.self, all))
        try await eventually("the first results are there") {
            early.values.count == 1 && other.values.count == 1 && structs.values.count == 1
        }
        try typed.put([Ticket(2, "b")])
        try await eventually("the second results are there") { early.values.count == 2 && structs.values.count == 2 }
        let late = Collected(store.observe(all))
        try await eventually("it has its first result") { late.values.count == 1 }
        #expect(late.values.last?.map(\.key) == [1, 2] && late.results.last?.sequence == early.results.last?.sequence)
        try typed.put([Ticket(3, "c")])
        try await eventually("both have seen it") {
            early.values.count == 3 && late.values.count == 2 && structs.values.count == 3
        }
        #expect(
            early.values.last == late.values.last && early.values.map(\.count) == [1, 2, 3] && other.values == [[]])
        // The remaining observers are evaluated after the first ones have ended.
        early.cancel()
        try await eventually("it has ended") { early.isFinished }
        try typed.put([Ticket(4, "d")])
        try await eventually("it has seen it") { late.values.count == 3 }
        #expect(late.values.last?.map(\.key) == [1, 2, 3, 4])
    }

    @Test("texts with other bytes make another query, also if they look the same")
    func equivalentTexts() async throws {
        let typed = try TypedStore(), store = typed.store
        let composed = "caf\u{E9}", decomposed = "cafe\u{301}"
        try typed.put([Ticket(1, composed), Ticket(2, decomposed)])
        let observers = [composed, decomposed].flatMap { text in
            [Condition.compare("title", .equal, .string(text)), .hasPrefix("title", text)].map { condition in
                Collected(store.observe(Query("Ticket", where: condition)))
            }
        }
        try await eventually("all have their first result") { observers.allSatisfy { $0.values.count == 1 } }
        #expect(observers.map { $0.values.last?.map(\.key) } == [[1], [1], [2], [2]])
    }

    @Test("where nothing happens the thread does nothing but its slow check, and that evaluates nothing")
    func idle() async throws {
        let store = try open()
        store.observers.interval.withLock { $0 = .milliseconds(5) }
        try put(store, "a")
        let all = Collected(store.observe { try $0.sequence })
        try await eventually("the first result is there") { all.values.count == 1 }
        func counters() -> ObserverHub.Counters { store.observers.counters.withLock { $0 } }
        // A touch that came before the watch may still be on its way.
        try await eventually("a check was made") { counters().slowChecks > 2 }
        let before = counters()
        try await eventually("some checks were made") { counters().slowChecks > before.slowChecks + 20 }
        let after = counters()
        #expect(after.touches == before.touches)
        #expect(after.evaluations == before.evaluations)
        #expect(all.values == [1])
        all.cancel()
        try await eventually("it has ended") { all.isFinished }
        #expect(!store.observers.isWatching)
    }

    @Test(
        "if the files of a store are replaced or removed, its observers end with an error",
        arguments: [true, false], [true, false])
    func replaced(isReplaced: Bool, isReadOnly: Bool) async throws {
        do { try put(try open(), "a") }
        let options = Store.Options(durability: .volatile, isReadOnly: true)
        let store = isReadOnly ? try Store.open(at: folder("s"), options: options) : try open()
        store.observers.interval.withLock { $0 = .milliseconds(5) }
        let all = Collected(store.observe { try $0.sequence })
        let start = try store.read { try $0.oldestChangeToken }
        let consumer = Task { for try await _ in store.changes(since: start).pages() {} }
        try await eventually("the first result is there") { all.values.count == 1 }
        let moved = folder("moved")
        try FileManager.default.moveItem(atPath: store.path + "/data.mdb", toPath: moved)
        if isReplaced { try FileManager.default.copyItem(atPath: moved, toPath: store.path + "/data.mdb") }
        try await eventually("it has ended") { all.isFinished }
        #expect(all.values == [1])
        #expect(throws: StoreError.self) { if let error = all.error { throw error } }
        await #expect(throws: StoreError.self) { try await consumer.value }
        #expect(!store.observers.isWatching)
    }

    @Test("a process that only reads is woken as well")
    func readOnly() async throws {
        let path = folder("s")
        do { try put(try open(), "a") }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Store.open(at: path, options: Store.Options(durability: .volatile, isReadOnly: true))
            var iterator = store.observe(entities: ["User"]) { try $0.count("User") }.makeAsyncIterator()
            #expect(try await iterator.next()?.value == 1)
            let writer = try WorkerProcess(["count", path, "1", "2"])
            #expect(writer.end() == 0)
            #expect(try store.read { try $0.sequence } == 3)
        }
    }
}
