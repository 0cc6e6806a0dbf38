// Random operations on a service's store: one after the other, several at once, and cancelled ones.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

final class LibraryRun: Sendable {
    struct Known {
        var random: SeededRandom
        var steps: [String] = []
        /// The number of the last answer before the operations under way began.
        var floor = 0
        var count = 0
        /// Notes that were deleted here, with or without an operation.
        var deletedHere: Set<Int64> = []
        /// The origins of notes that were created here, and of those that were taken back.
        var created: Set<String> = [], withdrawn: Set<String> = []
        /// Whether something else changes the store meanwhile.
        var isAlone = true
    }

    typealias Operation = (name: String, body: @Sendable (LibraryBed) async throws -> Void)

    let known: Mutex<Known>
    let server: LibraryServer
    let rules: LibraryRules

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        rules = LibraryRules(&random)
        server = LibraryServer(seed: seed, rules)
        known = Mutex(Known(random: random))
    }

    func roll(_ count: Int) -> Int { known.withLock { $0.random.roll(0..<count) } }
    func note(_ step: String) { known.withLock { $0.steps.append(step) } }
    private func next() -> Int {
        known.withLock { known in
            known.count += 1
            return known.count
        }
    }

    // MARK: Steps

    /// Performs a step: one operation, or several at a time, some of which are cancelled.
    func step(_ bed: LibraryBed) async throws {
        known.withLock { $0.floor = server.with { $0.order } }
        for _ in 0..<roll(3) { server.with { $0.change() } }
        if roll(4) == 0 { server.pass(Double([1, 15, 60][roll(3)])) }
        let isGroup = roll(2) == 0, hasFaults = roll(3) == 0
        let operations = (0..<(isGroup ? 2 + roll(5) : 1)).map { _ in operation() }
        server.with { ($0.isBusy, $0.hasFaults) = (isGroup || hasFaults, hasFaults) }
        known.withLock { $0.isAlone = !isGroup && !hasFaults }
        let cancellations = operations.map { _ in isGroup && roll(4) == 0 ? roll(4000) : nil }
        let names = zip(operations, cancellations).map { $0.name + ($1.map { " (cancelled after \($0) µs)" } ?? "") }
        note((hasFaults ? "faults; " : "") + names.joined(separator: " | "))
        try await withThrowingTaskGroup(of: Void.self) { [self] group in
            for (operation, cancellation) in zip(operations, cancellations) {
                group.addTask { try await self.perform(operation, bed, cancelledAfter: cancellation, hasFaults) }
            }
            if isGroup { group.addTask { for _ in 0..<3 { try self.checkSnapshot(bed.store) } } }
            try await group.waitForAll()
        }
        for client in bed.clients { await client.cache.finishBackground() }
        server.with { ($0.isBusy, $0.hasFaults) = (false, false) }
        try checkSnapshot(bed.store)
    }

    private func perform(
        _ operation: Operation, _ bed: LibraryBed, cancelledAfter microseconds: Int?, _ hasFaults: Bool
    ) async throws {
        let task = Task { try await operation.body(bed) }
        if let microseconds {
            try await Task.sleep(for: .microseconds(microseconds))
            task.cancel()
        }
        do {
            try await task.value
        } catch let error as LibraryFinding {
            throw LibraryFinding("\(operation.name): \(error)")
        } catch is CancellationError where !isAlone {
        } catch let error as CacheError where !isAlone || error.isMissing {
        } catch is WriteError where !isAlone {
        } catch is MirrorError where !isAlone {
            // The note was deleted meanwhile.
        } catch is OutboxError {
        } catch {
            throw LibraryFinding("\(operation.name) failed: \(type(of: error)) \(error)")
        }
    }

    private var isAlone: Bool { known.withLock(\.isAlone) }

    // MARK: Operations

    private func operation() -> Operation {
        let list = roll(3) == 0 ? "b" : "a", client = roll(2)
        switch roll(32) {
        case 0...3: return load(list, client)
        case 4...8: return loaderLoad()
        case 9:
            return (
                "cells",
                { bed in
                    let cells = try await bed.clients[client].all(LibraryRules.cells.policy(.networkFirst))
                    try Self.check(cells: cells)
                }
            )
        case 10:
            let batch = next()
            return (
                "batch \(batch)",
                { bed in
                    let pair = try await bed.clients[client].batch(
                        LibraryRules.half(1, batch), LibraryRules.half(2, batch), atomic: true)
                    guard pair.0.map(\.batch) == [batch], pair.1.map(\.batch) == [batch] else {
                        throw LibraryFinding("\(pair)")
                    }
                }
            )
        case 11, 12:
            let choice = roll(1000), policy: CachePolicy = roll(2) == 0 ? .networkFirst : .cacheFirst
            return (
                "one note, \(policy)",
                { bed in
                    guard let id = try self.pick(choice, bed, isServers: true)?.id else { return }
                    _ = try await bed.clients[client].one(LibraryRules.note(id).policy(policy))
                }
            )
        case 13...15: return create()
        case 16...18: return update()
        case 19, 28, 29: return delete()
        case 20, 21: return member()
        case 22...24, 30: return ("drain", { bed in try await bed.outbox.drain() })
        case 25: return upkeep(client)
        case 26:
            let domain = roll(3) == 0 ? "cells" : "notes"
            return ("cancel \(domain)", { bed in _ = bed.clients[client].cancel(domain: domain) })
        default: return deleteDirectly()
        }
    }

    private func load(_ list: String, _ client: Int) -> Operation {
        let policies: [CachePolicy] = [
            .networkFirst, .networkFirst, .cacheFirst, .cacheFirst, .networkOnly, .cacheOnly, .olderThan(seconds: 20),
        ]
        let policy = policies[roll(policies.count)], most = roll(3) == 0 ? 1 + roll(2) : .max
        return (
            "pages of \(list), \(policy)" + (most == .max ? "" : ", \(most)"),
            { bed in
                let now = self.server.now
                var ids: [Int64] = [], number = 1, isFetched = true
                for try await page in bed.clients[client].pages(self.rules.list(list).policy(policy)) {
                    try self.check(page, "\(list) \(number)", policy, now)
                    ids += page.records.map(\.id)
                    isFetched = isFetched && (page.source == .fetched || page.source == .revalidated)
                    number += 1
                    if number > most { return }
                }
                let all = self.server.with { $0.lists[list] ?? [] }
                guard self.isAlone, isFetched else { return }
                try self.check(listed: ids, all, "the pages of \(list)")
            }
        )
    }

    private func loaderLoad() -> Operation {
        let index = roll(4), load = roll(8), name = LibraryBed.names[index]
        let rules: [ConcurrentLoads?] = [nil, nil, .queue, .replaceQueue, .cancelOthers, .skip, .skipSame, .join]
        let rule = rules[roll(rules.count)], page = 1 + roll(3)
        let loads = ["first", "first at \(page)", "refresh", "refresh", "previous", "next", "next", "next"]
        return (
            "loader \(index) \(loads[load])" + (rule.map { " \($0)" } ?? ""),
            { bed in
                let loader = bed.loaders[index]
                switch load {
                case 0: try await loader.loadFirst(rule: rule ?? .cancelOthers)
                case 1:
                    let url = LibraryServer.base + "/lists/\(name)?page=\(page)"
                    try await loader.loadFirst(at: url, rule: rule ?? .cancelOthers)
                case 2, 3: try await loader.refresh(rule: rule ?? .join)
                case 4: try await loader.loadPrevious(rule: rule ?? .join)
                default: try await loader.loadNext(rule: rule ?? .join)
                }
                let ids = try loader.state.items.map(\.id)
                guard Set(ids).count == ids.count else { throw LibraryFinding("the list has a note twice: \(ids)") }
            }
        )
    }

    private func create() -> Operation {
        let origin = "mine \(next())", rank = roll(4)
        return (
            "create \(origin)",
            { bed in
                let new = LibraryNote(
                    id: 0, rev: nil, title: origin, rank: rank, origin: origin, tags: References([]))
                self.known.withLock { _ = $0.created.insert(origin) }
                do {
                    let made = try await bed.outbox.create(new)
                    guard made.origin == origin, made.title == origin else { throw LibraryFinding("\(made)") }
                } catch {
                    // It may have been queued before the cancellation.
                    self.known.withLock { _ = $0.withdrawn.insert(origin) }
                    throw error
                }
            }
        )
    }

    private func update() -> Operation {
        let choice = roll(1000), number = next(), field = roll(3)
        return (
            "update \(choice), \(["title", "rank", "title and rank"][field])",
            { bed in
                guard let note = try self.pick(choice, bed) else { return }
                try await bed.outbox.update(LibraryNote.self, note.id) { note in
                    if field != 1 { note.title = "local \(number)" }
                    if field != 0 { note.rank = ((note.rank ?? 0) + 1) % 4 }
                }
                guard self.isAlone, field != 1 else { return }
                let title = try bed.store.read { try $0.get(LibraryNote.self, note.id)?.title }
                guard title == "local \(number)" else { throw LibraryFinding("\(note.id) has \(title ?? "no") title") }
            }
        )
    }

    private func delete() -> Operation {
        let choice = roll(1000)
        return (
            "delete \(choice)",
            { bed in
                guard let note = try self.pick(choice, bed) else { return }
                self.known.withLock { known in
                    known.deletedHere.insert(note.id)
                    if let origin = note.origin { known.withdrawn.insert(origin) }
                }
                try await bed.outbox.delete(LibraryNote.self, note.id)
                guard self.isAlone, try bed.store.read({ try $0.get(LibraryNote.self, note.id) }) != nil else { return }
                throw LibraryFinding("\(note.id) is still there")
            }
        )
    }

    private func member() -> Operation {
        let choice = roll(1000), tag = LibraryServerModel.tags[roll(4)], isAddition = roll(2) == 0
        return (
            "\(isAddition ? "add" : "remove") tag \(tag), \(choice)",
            { bed in
                guard let note = try self.pick(choice, bed) else { return }
                let tag = LibraryTag(id: tag, name: "tag \(tag)")
                guard try bed.store.read({ try $0.get(LibraryTag.self, tag.id) }) != nil else { return }
                if isAddition {
                    try await bed.outbox.add(tag, to: note, \.tags)
                } else {
                    try await bed.outbox.remove(tag, from: note, \.tags)
                }
            }
        )
    }

    private func upkeep(_ client: Int) -> Operation {
        let choice = roll(6)
        return (
            "upkeep \(["purge all", "purge a", "purge old", "trim", "collect", "purge notes"][choice])",
            { bed in
                let cache = bed.clients[client].cache
                switch choice {
                case 0: try await cache.purge(.all)
                case 1: try await cache.purge(.prefix(LibraryServer.base + "/lists/a"))
                case 2: try await cache.purge(.olderThan(seconds: 10))
                case 3: try await cache.trim()
                case 4: _ = try await cache.collect(roots: ["Tag", "Cell", "Half"], isDryRun: false)
                default: try await cache.purge(.entity("Note"))
                }
            }
        )
    }

    /// A deletion that the server does not hear of: the responses that list the note are no answers then.
    private func deleteDirectly() -> Operation {
        let choice = roll(1000)
        return (
            "delete \(choice) here only",
            { bed in
                guard let note = try self.pick(choice, bed, isServers: true) else { return }
                self.known.withLock { _ = $0.deletedHere.insert(note.id) }
                try await bed.store.write { writer in
                    guard try writer.reader().localChange("Note", RecordKey(note.id)) == nil else { return }
                    _ = try writer.delete(LibraryNote.self, note.id)
                }
            }
        )
    }

    /// A note of the store.
    ///
    /// - Parameter isServers: whether the server must have brought it.
    private func pick(_ choice: Int, _ bed: LibraryBed, isServers: Bool = false) throws -> LibraryNote? {
        let notes = try bed.notes().filter { !isServers || $0.rev != nil }
        return notes.isEmpty ? nil : notes[choice % notes.count]
    }
}

extension CacheError {
    /// Whether the server, or the store, has no such record or response.
    var isMissing: Bool {
        switch self {
        case .request(.status(404, _, _, _), _), .unanswerable: true
        default: false
        }
    }
}
