// Observers of a service's store: what they were told, added up, is the state of the store at rest.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

/// The records of a request's answers, observed on an actor.
actor LibraryScreen {
    private var observed: ObservedRecords<LibraryNote>?
    var records: [LibraryNote]? { observed.flatMap { $0.isLoading ? nil : $0.records } }
    func start(_ store: Store) { observed = ObservedRecords(store.observe(LibraryWatch.ranked)) }
    func stop() { observed = nil }
}

final class LibraryWatch: Sendable {
    struct Seen {
        var ranked: [LibraryNote]?, rankedAt: UInt64 = 0
        var count: Int?
        var answers: [String: [LibraryNote]] = [:]
        var states: [LibraryNote]?
        var problems: [String] = []
    }

    private final class SeenBox: Sendable {
        private let seen = Mutex(Seen())

        func withLock<Result: Sendable>(_ body: (inout Seen) -> Result) -> Result {
            seen.withLock { seen in body(&seen) }
        }
    }

    static let ranked = LibraryNote.where { $0.rank >= 1 }.order(by: \.title).order(by: \.id)

    private let bed: LibraryBed
    private let copy: Store
    private let screen = LibraryScreen()
    private let seen = SeenBox()
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - copy: a store that follows the change log.
    ///   - start: the place in the log to which the copy has followed.
    init(_ bed: LibraryBed, copy: Store, from start: ChangeToken) async {
        (self.bed, self.copy) = (bed, copy)
        await screen.start(bed.store)
        let store = bed.store
        watch("query") { [seen] in
            for try await result in store.observe(Self.ranked) {
                seen.withLock { seen in
                    if seen.ranked == result.value { seen.problems.append("the query gave the same result twice") }
                    if result.sequence < seen.rankedAt { seen.problems.append("the query went back in time") }
                    (seen.ranked, seen.rankedAt) = (result.value, result.sequence)
                }
            }
        }
        watch("count") { [seen] in
            for try await result in store.observe(countOf: LibraryNote.all) {
                seen.withLock { $0.count = result.value }
            }
        }
        watch("cells") {
            let cells = store.observe(of: LibraryCell.self) { try $0.fetch(LibraryCell.all) }
            for try await result in cells { try LibraryRun.check(cells: result.value) }
        }
        watch("halves") {
            for try await result in store.observe(LibraryHalf.all)
            where Set(result.value.map(\.batch)).count > 1 || result.value.count == 1 {
                throw LibraryFinding("half a batch: \(result.value)")
            }
        }
        for (name, client) in [("a", bed.clients[0]), ("b", bed.clients[1])] {
            watch("answers of \(name)") { [seen, rules = bed.rules] in
                for try await answer in client.answers(rules.list(name), fetch: .never) {
                    seen.withLock { $0.answers[name] = answer.records }
                }
            }
        }
        watch("states") { [seen, loader = bed.loaders[1]] in
            for try await state in loader.states { seen.withLock { $0.states = state.items } }
        }
        watch("changes") { [copy] in
            for try await page in store.changes(since: start).pages(limit: 20) {
                try await copy.write { writer in
                    try writer.apply(page.changes)
                    try writer.setChangePosition("library", page.token)
                }
            }
        }
    }

    private func watch(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        let task = Task { [seen] in
            do {
                try await body()
                guard !Task.isCancelled else { return }
                seen.withLock { $0.problems.append("\(name) has ended") }
            } catch {
                seen.withLock { $0.problems.append("\(name): \(error)") }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    /// Waits until all that was observed is the state of the store.
    func settle() async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while let difference = try await difference() {
            guard ContinuousClock.now < deadline else { throw LibraryFinding("at rest, \(difference)") }
            try await Task.sleep(for: .milliseconds(1))
        }
        if let problem = seen.withLock({ $0.problems.first }) { throw LibraryFinding("observed: \(problem)") }
    }

    private func difference() async throws -> String? {
        let seen = seen.withLock(\.self), shown = await screen.records
        let (ranked, all, tags, token) = try bed.store.read { reader in
            (
                try reader.fetch(Self.ranked), try reader.fetch(LibraryNote.all), try reader.fetch(LibraryTag.all),
                try reader.changeToken
            )
        }
        if seen.ranked != ranked { return "the observed query has \(seen.ranked ?? []), and the store \(ranked)" }
        if shown != ranked { return "the observed records are \(shown ?? []), and the store has \(ranked)" }
        if seen.count != all.count { return "the observed count is \(seen.count ?? -1), and the store's \(all.count)" }
        for (index, name) in [(1, "a"), (2, "b")] {
            let state = try bed.loaders[index].state.items
            if index == 1, seen.states != state { return "the last state is \(seen.states ?? []), and now \(state)" }
            guard let answer = seen.answers[name] else { return "there is no answer of \(name)" }
            // An evicted page leaves the records of the last list.
            if bed.rules.entries == nil, answer != state {
                return "the last answer of \(name) is \(answer), and its list \(state)"
            }
        }
        let (copied, copiedTags, position) = try copy.read { reader in
            (
                try reader.fetch(LibraryNote.all), try reader.fetch(LibraryTag.all),
                try reader.changePosition("library")
            )
        }
        // Without any change there is no page yet.
        if position != token, position != nil || !all.isEmpty {
            return "the copy is at \(String(describing: position))"
        }
        if copied != all { return "the copy has \(copied), and the store \(all)" }
        return copiedTags == tags ? nil : "the copy has other tags"
    }

    /// Stops watching, and returns the place in the log to which the copy has followed.
    func stop() async throws -> ChangeToken? {
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await screen.stop()
        return try copy.read { try $0.changePosition("library") }
    }
}
