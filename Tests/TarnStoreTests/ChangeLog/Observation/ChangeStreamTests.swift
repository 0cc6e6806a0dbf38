// Streams of changes in one process: what is delivered, tokens, and the end.

import Foundation
import LMDB
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Streams of changes", .timeLimit(.minutes(5)))
struct ChangeStreamTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func token() throws -> ChangeToken { try store.read { try $0.changeToken } }

    /// A commit of new numbers for some issues.
    private func commit(_ issues: Range<Int>) throws {
        try store.write { writer in
            for id in issues {
                try writer.put("Issue", RecordKey(Int64(id)), [.init("number", .int(Int64(writer.sequence)))])
            }
        }
    }

    private func first<Key>(_ count: Int, of stream: ChangeStream<Key>) async throws -> [ChangeEvent<Key>] {
        var events: [ChangeEvent<Key>] = []
        for try await event in stream.prefix(count) { events.append(event) }
        return events
    }

    @Test("the changes since a token come first, then those of later commits; at each token the rest follows")
    func resuming() async throws {
        let start = try token()
        // Commits within a page of the stream, at its end, and larger than it.
        for size in [2, 1, 250, 3, 600, 1] { try commit(0..<size) }
        let expected = try store.read { try $0.changes(since: start, limit: .max).changes }
        #expect(expected.count == 857)
        let late = Task { try await first(860, of: store.changes(since: start)) }
        try commit(0..<3)
        let events = try await late.value
        #expect(events.prefix(857).map(\.change) == expected)
        #expect(Set(events.map(\.token)).count == 860)
        for (position, event) in events.enumerated() {
            let rest = try store.read { try $0.changes(since: event.token, limit: .max).changes }
            #expect(rest == events[(position + 1)...].map(\.change), "after \(position)")
        }
        // The streams themselves, also within a commit and at the end of a page.
        for position in [0, 1, 2, 3, 252, 254, 255, 256, 300, 511, 856] {
            let resumed = try await first(3, of: store.changes(since: events[position].token))
            #expect(resumed.map(\.change) == events[(position + 1)..<(position + 4)].map(\.change), "\(position)")
            #expect(resumed.map(\.token) == events[(position + 1)..<(position + 4)].map(\.token), "\(position)")
        }
        // A token after the last change of a commit stays valid until later changes are trimmed.
        #expect(events[1].token.isWhole && events[0].token.sequence == 1 && !events[0].token.isWhole)
    }

    @Test("the changes of a type have keys of its type, and those of other entities are left out")
    func typed() async throws {
        let typed = try TypedStore(), store = typed.store
        let start = try store.read { try $0.changeToken }
        try typed.put([Ticket(3, "x"), Ticket(4, "y")])
        try store.put("Person", "ada")
        try await store.write { _ = try $0.delete("Ticket", 3) }
        let tickets = try await first(3, of: store.changes(since: start, of: Ticket.self))
        let keys: [Int64] = tickets.map(\.key)
        #expect(keys == [3, 4, 3])
        #expect(tickets.map(\.operation) == [.created, .created, .deleted] && tickets.map(\.sequence) == [1, 1, 3])
        let people = try await first(1, of: store.changes(since: start, of: Person.self))
        #expect(people.map(\.key) == ["ada"] && people[0].entity == "Person" && people[0].fields == nil)
    }

    @Test("values come with the changes if the log keeps them")
    func values() async throws {
        try store.setChangeValues(.all)
        let stream = store.changes(of: ["User"])
        try store.put("User", 1, ["login": .string("ada")])
        let event = try #require(try await first(1, of: stream).first)
        #expect(event.fields?.contains { $0.name == "login" && $0.value == .string("ada") } == true)
    }

    @Test("records of entities that descend from the entity count as its own")
    func kinds() async throws {
        let store = try Forge.open(folder("i"), InheritanceTests.schema)
        let pushes = store.changes(of: ["Push"]), all = store.changes(of: nil)
        for (id, entity) in ["Event", "Push", "ForcePush", "Release", "Push"].enumerated() {
            try store.put(entity, RecordKey(Int64(id)))
        }
        #expect(try await first(3, of: pushes).map(\.entity) == ["Push", "ForcePush", "Push"])
        #expect(try await first(5, of: all).map(\.key) == [0, 1, 2, 3, 4])
    }

    @Test("an entity that was removed and added again is followed under its new id")
    func addedAgain() async throws {
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)]))
        let store = try Forge.open(folder("n"), schema), seen = Shared<[RecordKey]>([])
        // Only commits with changes are looked at.
        store.observers.interval.withLock { $0 = .seconds(600) }
        let stream = store.changes(of: ["Note"])
        let following = Task { for try await event in stream.prefix(1) { seen.change { $0.append(event.key) } } }
        defer { following.cancel() }
        try await eventually { store.observers.count == 1 }
        // The stream looks at the empty log, and waits.
        try await Task.sleep(for: .milliseconds(300))
        #expect(try store.remove(entity: "Note") == 0)
        #expect(try Forge.open(folder("n"), schema) === store)
        try store.put("User", 1)
        // The stream looks at this commit, and finds nothing.
        try await Task.sleep(for: .milliseconds(300))
        try store.put("Note", 2)
        try await eventually { seen.value == [2] }
    }

    @Test("without a token a stream begins with the call, not with the iteration")
    func fromNow() async throws {
        try store.put("User", 1)
        let stream = store.changes(of: ["User"])
        try store.put("User", 2)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.key == 2)
        try store.put("User", 3)
        #expect(try await iterator.next()?.key == 3)
        // Each iteration begins there.
        #expect(try await first(2, of: stream).map(\.key) == [2, 3])
    }

    @Test("pages have whole commits, and the token at which the next one begins", arguments: [1, 2, 4, 100])
    func pages(_ limit: Int) async throws {
        let start = try token()
        for size in [2, 1, 5, 3] { try commit(0..<size) }
        let all = try store.read { try $0.changes(since: start).changes }
        var found: [Change] = []
        for try await page in store.changes(since: start).pages(limit: limit) {
            #expect(!page.changes.isEmpty && page.changes.count <= limit)
            found += page.changes
            let rest = try store.read { try $0.changes(since: page.token).changes }
            #expect(found + rest == all && rest.isEmpty == !page.hasMore)
            if !page.hasMore { break }
        }
        #expect(found == all)
    }

    @Test("a page examines a limited part of the log, and goes on where it ended")
    func examined() throws {
        let start = try token()
        for round in 0..<30 {
            try store.put("User", RecordKey(Int64(round)))
            if round % 10 == 4 { try store.put("Label", RecordKey("\(round)")) }
        }
        var next = start, keys: [RecordKey] = [], rounds = 0
        while true {
            let page = try store.read { try $0.changes(since: next, of: ["Label"], limit: 10, examining: 3) }
            keys += page.changes.map(\.key)
            rounds += 1
            #expect(next != page.token || !page.hasMore)
            next = page.token
            if !page.hasMore { break }
        }
        #expect(keys == ["4", "14", "24"] && rounds == 11)
        #expect(try next == token())
    }

    @Test("a token that cannot be continued is an error with its name, as is an unknown entity")
    func refused() async throws {
        try store.put("User", 1)
        let now = try token()
        func error(_ stream: ChangeStream<RecordKey>) async -> (any StoreFailure)? {
            var iterator = stream.makeAsyncIterator()
            do {
                _ = try await iterator.next()
                return nil
            } catch {
                let again = try? await iterator.next()
                #expect(again == nil)
                return error as? any StoreFailure
            }
        }
        let other = ChangeToken(incarnation: "x", sequence: 0)
        #expect(
            await error(store.changes(since: other))
                == ChangeLogError.otherIncarnation(expected: "x", found: now.incarnation))
        let ahead = ChangeToken(incarnation: now.incarnation, sequence: 2)
        #expect(
            await error(store.changes(since: ahead)) == ChangeLogError.changesAhead(sequence: 2, newest: 1))
        try await store.write { try $0.access.raw.put($0.access.state.meta, key: MetaKey.trimmedChanges, number: 1) }
        let old = ChangeToken(incarnation: now.incarnation, sequence: 0)
        #expect(await error(store.changes(since: old)) == ChangeLogError.changesTrimmed(oldest: now))
        #expect(
            await error(store.changes(of: ["Nothing"]))
                == StoreError.unknownEntity(name: "Nothing", known: store.catalog.entities.map(\.name)))
        var typed = store.changes(of: Ticket.self).makeAsyncIterator()
        await #expect(throws: StoreError.self) { _ = try await typed.next() }
        #expect(store.observers.count == 0)
    }

    @Test("a stream that waits misses nothing if changes of other entities are trimmed meanwhile")
    func trimmedOthers() async throws {
        try store.put("Label", "a")
        var labels = store.changes(since: try token(), of: ["Label"]).makeAsyncIterator()
        let found = Guarded<[RecordKey]>([])
        let task = Task {
            while let event = try await labels.next() { found.withLock { $0.append(event.key) } }
        }
        let all = Collected(store.observe { try $0.sequence })
        for id in 1...50 {
            try store.put("User", RecordKey(Int64(id)))
            try await eventually("commit \(id) was looked at") { all.values.last == UInt64(id) + 1 }
        }
        try await store.write { writer in
            try writer.access.raw.put(writer.access.state.meta, key: MetaKey.trimmedChanges, number: 51)
            try writer.put("Label", "b", [])
        }
        try await eventually("the label was seen") { found.withLock { $0 } == ["b"] }
        task.cancel()
        try await task.value
    }

    @Test("a consumer within a large commit loses nothing of it while other entities change")
    func withinCommit() async throws {
        var pages = store.changes(of: ["Issue"]).pages(limit: 2).makeAsyncIterator()
        let all = Collected(store.observe { try $0.sequence })
        try await store.write { writer in
            for id in 0..<5 { try writer.put("Issue", RecordKey(Int64(id)), []) }
        }
        var keys = try await pages.next()?.changes.map(\.key) ?? []
        for id in 1...5 {
            try store.put("User", RecordKey(Int64(id)))
            let sequence = try store.sequence
            try await eventually("the commit was looked at") { all.values.last == sequence }
        }
        while keys.count < 5, let page = try await pages.next() { keys += page.changes.map(\.key) }
        #expect(keys == [0, 1, 2, 3, 4])
    }

    @Test("a stream of a store that keeps no changes any more is an error, and not silent")
    func nothingKept() async throws {
        var users = store.changes(of: ["User"]).makeAsyncIterator()
        try store.put("User", 1)
        #expect(try await users.next()?.key == 1)
        try store.setChangeRetention(.nothing)
        try store.put("User", 2)
        await #expect(throws: ChangeLogError.self) { _ = try await users.next() }
    }

    @Test("a consumer that is slower than the trimming is told so")
    func trimmedOwn() async throws {
        var users = store.changes(of: ["User"]).makeAsyncIterator()
        try store.put("User", 1)
        #expect(try await users.next()?.key == 1)
        for id in 2...5 { try store.put("User", RecordKey(Int64(id))) }
        try await store.write { try $0.access.raw.put($0.access.state.meta, key: MetaKey.trimmedChanges, number: 4) }
        await #expect(throws: ChangeLogError.self) { _ = try await users.next() }
    }

    @Test("a cancelled task ends its stream at once, and nothing remains")
    func cancelled() async throws {
        let isOver = Guarded(false), stream = store.changes(of: nil)
        let task = Task {
            for try await _ in stream {}
            isOver.withLock { $0 = true }
        }
        try await eventually("it waits") { store.observers.count == 1 }
        task.cancel()
        try await task.value
        #expect(isOver.withLock { $0 })
        #expect(store.observers.count == 0 && !store.observers.isWatching)
        // A loop that is left, and an iterator that is released.
        try store.put("User", 1)
        let start = ChangeToken(incarnation: try token().incarnation, sequence: 0)
        for try await _ in store.changes(since: start) { break }
        #expect(store.observers.count == 0)
    }

    @Test("five hundred streams wait without a thread, and each gets the change")
    func waiting() async throws {
        let stream = store.changes(of: ["User"])
        try await withThrowingTaskGroup(of: RecordKey?.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    var iterator = stream.makeAsyncIterator()
                    return try await iterator.next()?.key
                }
            }
            try await eventually("all wait") { store.observers.count == 500 }
            try await store.write { writer in try writer.put("User", 7, []) }
            for try await key in group { #expect(key == 7) }
        }
    }
}
