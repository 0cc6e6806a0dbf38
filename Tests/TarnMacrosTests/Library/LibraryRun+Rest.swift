// Rest: without faults, everything is sent and loaded again, and the store is compared with the server.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

extension LibraryRun {
    func rest(_ bed: LibraryBed, _ watch: LibraryWatch) async throws {
        note("rest")
        known.withLock {
            $0.isAlone = true
            $0.floor = server.with { $0.order }
        }
        try await send(bed)
        try await loadLists(bed)
        try await askForUnlisted(bed)
        if roll(3) == 0 {
            note("collect at rest")
            try await collect(bed)
            try await loadLists(bed)
        }
        try compare(bed)
        try checkSnapshot(bed.store)
        try await watch.settle()
    }

    /// Sends what is queued, retries what is dead once, and discards what dies again.
    private func send(_ bed: LibraryBed) async throws {
        for round in 0..<20 {
            server.pass(10)
            try await bed.outbox.drain()
            let left = try bed.outbox.operations()
            if left.isEmpty { return }
            for operation in left where operation.state == .dead {
                guard try bed.outbox.operation(operation.id) != nil else { continue }
                if round == 0 {
                    try await bed.outbox.retry(operation.id)
                } else {
                    let discarded = try await bed.outbox.discard(operation.id)
                    known.withLock { known in
                        for case .string(let origin)? in discarded.flatMap(\.changes).filter({ $0.name == "origin" })
                            .map({ Optional($0.after) })
                        { known.withdrawn.insert(origin) }
                    }
                }
            }
        }
        throw LibraryFinding("operations are left: \(try bed.outbox.operations())")
    }

    /// Loads the lists, with conditions, and compares them with the server's.
    private func loadLists(_ bed: LibraryBed) async throws {
        let lists = server.with { $0.lists }
        // A fresh page needs no server, also if it is another one by now.
        server.pass(100)
        for (index, (loader, name)) in zip(bed.loaders, LibraryBed.names).enumerated() {
            let all = lists[name] ?? []
            try await loader.loadFirst()
            while try loader.state.hasNext { try await loader.loadNext() }
            let kinds = ["as it was loaded", "after a refresh"]
            for kind in kinds {
                if kind == kinds[1] { try await loader.refresh() }
                // The order of a query has no pages.
                guard index != LibraryBed.local else { continue }
                let ids = try loader.state.items.map(\.id)
                guard ids == all else { throw LibraryFinding("the list \(name), \(kind), has \(ids), not \(all)") }
            }
        }
        let query = try bed.loaders[LibraryBed.local].state.items.map(\.id)
        let missing = Set(lists["a"] ?? []).subtracting(query)
        guard missing.isEmpty else { throw LibraryFinding("the list of the query lacks \(missing)") }
        for name in ["a", "b", "a", "b"] {
            let ids = try await bed.clients[roll(2)].all(rules.list(name).policy(.networkFirst)).map(\.id)
            guard ids == lists[name] else {
                throw LibraryFinding("all of \(name) are \(ids), and the server has \(lists[name] ?? [])")
            }
        }
    }

    /// Asks for the notes that no list has.
    private func askForUnlisted(_ bed: LibraryBed) async throws {
        let (listed, notes) = server.with { (Set($0.lists.values.flatMap(\.self)), $0.notes) }
        for note in try bed.notes() where !listed.contains(note.id) {
            do {
                let found = try await bed.clients[roll(2)].one(LibraryRules.note(note.id).policy(.networkFirst))
                guard notes[note.id]?.rev == found.rev else {
                    throw LibraryFinding(
                        "\(found) was answered, and the server has \(String(describing: notes[note.id]))")
                }
            } catch let error as CacheError where error.isMissing && notes[note.id] == nil {
            }
        }
    }

    private func collect(_ bed: LibraryBed) async throws {
        try await bed.clients[0].cache.purge(.all)
        _ = try await bed.clients[0].cache.collect(roots: ["Tag", "Cell", "Half"], isDryRun: false)
        let listed = server.with { Set($0.lists.values.flatMap(\.self)) }, stored = Set(try bed.notes().map(\.id))
        guard stored == listed else {
            throw LibraryFinding("after collecting, \(stored) are stored, and \(listed) are listed")
        }
    }

    private func compare(_ bed: LibraryBed) throws {
        let (notes, listed, deleted, origins) = server.with { model in
            (model.notes, Set(model.lists.values.flatMap(\.self)), model.deleted, model.origins)
        }
        let stored = try bed.notes()
        let missing = listed.subtracting(stored.map(\.id))
        guard missing.isEmpty else { throw LibraryFinding("the store lacks \(missing)") }
        for note in stored {
            if let there = notes[note.id] {
                let here = ServerNote(
                    title: note.title, rank: note.rank ?? -1, origin: note.origin, tags: note.tags.keys,
                    rev: note.rev ?? 0)
                guard here == there else { throw LibraryFinding("\(note.id) is \(here), and at the server \(there)") }
            } else if deleted.contains(note.id) {
                throw LibraryFinding("\(note) was deleted here, at the server too, and is back")
            } else if note.rev == nil {
                throw LibraryFinding("\(note) is neither queued nor at the server")
            }
            let change = try bed.store.read { try $0.localChange("Note", RecordKey(note.id)) }
            guard change == nil else {
                throw LibraryFinding("\(note.id) has a local change: \(String(describing: change))")
            }
        }
        let (created, withdrawn) = known.withLock { ($0.created, $0.withdrawn) }
        for origin in created {
            let count = origins.count { $0 == origin }
            guard count == 1 || withdrawn.contains(origin) && count == 0 else {
                throw LibraryFinding("\(origin) was created \(count) times at the server")
            }
        }
    }
}
