// Observation of typed queries with included targets.

import Foundation
import Locking
import TarnMacros
import TestSupport
import Testing

@testable import TarnStore

@Suite("Observing typed queries with included targets", .timeLimit(.minutes(2)))
struct IncludedObservationTests {
    typealias Found = [(Issue, User?, [Label])]

    let bed: RecordFixture
    var store: Store { bed.store }

    init() throws { bed = try RecordFixture() }

    private var open: IncludingQuery<Issue, ToOneColumn<User>, ToManyColumn<Label>> {
        Issue.where { $0.state == .open }.order(by: \.number).include(\.author, \.labels)
    }

    /// `1 by Ada: bug, ui` and the like.
    private func texts(_ found: Found) -> [String] {
        found.map { issue, author, labels in
            "\(issue.id) by \(author?.login ?? "?"): \(labels.map(\.name).joined(separator: ", "))"
        }
    }

    /// Iterates an observation, and keeps a text of each result.
    private final class Seen: Sendable {
        private let content = Guarded<[[String]]>([])
        private let task = Guarded<Task<Void, any Error>?>(nil)

        init<Value>(_ observation: StoreObservation<Value>, _ text: @escaping @Sendable (Value) -> [String]) {
            let content = content
            let task = Task {
                for try await result in observation { content.withLock { $0.append(text(result.value)) } }
            }
            self.task.withLock { $0 = task }
        }

        deinit { cancel() }

        func cancel() { task.withLock { $0 }?.cancel() }
        var results: [[String]] { content.withLock { $0 } }
    }

    private func see(_ query: IncludingQuery<Issue, ToOneColumn<User>, ToManyColumn<Label>>) -> Seen {
        Seen(store.observe(query)) { [texts] in texts($0) }
    }

    private var evaluations: Int { store.observers.counters.withLock { $0.evaluations } }

    @Test("a change of a record, of a to-one target or of a to-many target is a change of the result")
    func targets() async throws {
        let seen = see(open)
        func step(_ expected: [String]) async throws {
            try await eventually("\(expected)") { seen.results.last == expected }
        }
        try await step(["1 by Ada: bug, ui", "3 by bob: ui"])
        try await store.write { _ = try $0.patch(User.self, 5) { $0.set(.login, "eve") } }
        try await step(["1 by eve: bug, ui", "3 by bob: ui"])
        try await store.write { try $0.put(Label(id: 7, name: "look")) }
        try await step(["1 by eve: bug, look", "3 by bob: look"])
        try await store.write { _ = try $0.patch(Issue.self, 3) { $0.set(.state, State.closed) } }
        try await step(["1 by eve: bug, look"])
        try await store.write { _ = try $0.delete("Label", RecordKey(7)) }
        try await step(["1 by eve: bug"])
        #expect(seen.results.count == 5)
    }

    @Test("a path of several relationships is observed along its whole length")
    func chain() async throws {
        let creators = store.observe(Issue.where { $0.id == 1 }.include(\.milestone.creator))
        let seen = Seen(creators) { found in found.map { $0.1?.login ?? "?" } }
        try await eventually("the first result") { seen.results == [["bob"]] }
        try await store.write { _ = try $0.patch(User.self, 6) { $0.set(.login, "rob") } }
        try await eventually("the target has changed") { seen.results.last == ["rob"] }
        try await store.write { _ = try $0.patch(Milestone.self, 70) { $0.set(.creator, Reference<User>(5)) } }
        try await eventually("the record in between has changed") { seen.results.last == ["Ada"] }
    }

    @Test("the side that does not store a relationship sees what comes and goes")
    func inverse() async throws {
        let seen = Seen(store.observe(User.where { $0.id == 6 }.include(\.issues))) { found in
            found.flatMap { $0.1.map { "\($0.id)" } }
        }
        try await eventually("the first result") { seen.results == [["3"]] }
        try await store.write { _ = try $0.patch(Issue.self, 2) { $0.set(.author, Reference<User>(6)) } }
        try await eventually("it comes") { seen.results.last == ["2", "3"] }
    }

    @Test("commits to other entities evaluate nothing, and a result that is the same is not delivered")
    func nothingFalse() async throws {
        let seen = see(open), all = Seen(store.observe { try $0.sequence }) { ["\($0)"] }
        func looked() async throws {
            let sequence = try store.read { try $0.sequence }
            try await eventually("commit \(sequence) was looked at") { all.results.last == ["\(sequence)"] }
        }
        try await eventually("the first result") { seen.results.count == 1 }
        try await looked()
        for id in 1...5 {
            let before = evaluations
            try await store.write { try $0.put(Ticket(id: id, subject: "x")) }
            try await looked()
            // That of `all`.
            #expect(evaluations - before == 1)
        }
        // A user whom no result includes, and a title that comes back.
        try await store.write { try $0.put(User(id: 99, login: "zed")) }
        try await looked()
        try await store.write { writer in
            _ = try writer.patch(Label.self, 7) { $0.set(.name, "other") }
            _ = try writer.patch(Label.self, 7) { $0.set(.name, "ui") }
        }
        try await looked()
        try await store.write { _ = try $0.patch(Label.self, 7) { $0.set(.name, "last") } }
        try await eventually("the next result") { seen.results.count > 1 }
        #expect(seen.results.count == 2 && seen.results.last?.first == "1 by Ada: bug, last")
    }

    @Test("observers of the same query with the same targets share an evaluation; with others, they do not")
    func shared() async throws {
        let all = (0..<200).map { _ in see(open) }
        let authors = store.observe(open.records.include(\.author))
        let other = Seen(authors) { found in found.map { $0.1?.login ?? "?" } }
        try await eventually("the first results") {
            all.allSatisfy { $0.results.count == 1 } && other.results == [["Ada", "bob"]]
        }
        // A look at the first state by the watch may mark those that were given it.
        #expect(evaluations <= 3)
        for round in 1...3 {
            let before = evaluations
            try await store.write { _ = try $0.patch(User.self, 5) { $0.set(.login, "ada\(round)") } }
            try await eventually("all have seen it") {
                all.allSatisfy { $0.results.last?.first == "1 by ada\(round): bug, ui" }
                    && other.results.last == ["ada\(round)", "bob"]
            }
            #expect(evaluations - before == 2)
        }
        #expect(all.allSatisfy { $0.results.count == 4 })
        all.forEach { $0.cancel() }
        other.cancel()
        try await eventually("all have ended") { store.observers.count == 0 }
    }

    @Test("another store object's commits, in the same file, are seen as well")
    func otherWriter() async throws {
        let path = store.path, seen = see(open)
        try await eventually("the first result") { seen.results.count == 1 }
        // A process of its own.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Store.open(at: path)
            try await store.write { _ = try $0.patch(User.self, 6) { $0.set(.login, "from outside") } }
        }
        try await eventually("it is seen") { seen.results.last?.last == "3 by from outside: ui" }
    }

    @Test("a page with included targets reads and decodes each record once")
    func pageOnce() throws {
        let query = CountedUser.order(by: \.login).limit(1).include(\.issues)
        let (page, next) = try store.read { reader in
            let page = try reader.page(query)
            return (page.records, page.next)
        }
        #expect(page.map(\.0.login) == ["Ada"] && next != nil && page[0].1.map(\.id) == [1, 2])
        #expect(CountedUser.decoded.withLock { $0 } == 1)
    }
}

/// A user, written by hand, that counts how often it is decoded.
private struct CountedUser: TypedRecord {
    static let decoded = Guarded(0)
    static let entity = "User"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, login }

    struct Columns: RecordColumns {
        let path: ColumnPath
        var login: Column<String> { Column(path, "login") }
        var issues: ToManyColumn<Issue> { ToManyColumn(path, "issues") }
    }

    static var fields: [FieldDeclaration] {
        [.attribute("id", Int64.self, isKey: true), .attribute("login", String.self)]
    }

    var id: Int64
    var login: String

    init(_ row: Row<CountedUser>) throws(StoreError) {
        id = try row.get(.id)
        login = try row.get(.login)
        CountedUser.decoded.withLock { $0 += 1 }
    }

    func encode(into row: inout RowEncoder<CountedUser>) {
        row.set(.id, id)
        row.set(.login, login)
    }
}
