// Conditions that hold at every moment.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

extension LibraryRun {
    /// Checks a page against what the server has answered, and the time until which that may be used.
    func check(
        _ page: ResponsePage<LibraryNote>, _ target: String, _ policy: CachePolicy, _ now: Date
    ) throws {
        let floor = known.withLock(\.floor), deleted = deletedHere
        let ids = page.records.map(\.id)
        // The policy may permit a stale response.
        let since: Date =
            policy == .cacheOnly ? .distantPast : policy == .olderThan(seconds: 20) ? now - 21 : .distantFuture
        let versions = server.with { model in
            model.served.filter { served in
                guard served.target == target else { return false }
                switch page.source {
                case .fetched, .revalidated: return served.order > floor
                case .stored: return served.at >= since || served.freshUntil >= now
                case .stale: return served.at >= since || page.failure != nil || served.usableUntil >= now
                }
            }.map(\.ids)
        }
        let matches = versions.contains { version in
            ids == version.filter { ids.contains($0) || !deleted.contains($0) }
        }
        guard !matches else { return }
        throw LibraryFinding("page \(target), \(page.source), has \(ids), and the server had \(versions)")
    }

    /// The notes that may be missing here: one that was created here has got its key later.
    private var deletedHere: Set<Int64> {
        let (deleted, withdrawn) = known.withLock { ($0.deletedHere, $0.withdrawn) }
        let mine = server.with { model in
            model.history.filter { $0.value.values.contains { $0.origin.map(withdrawn.contains) ?? false } }.keys
        }
        return deleted.union(mine)
    }

    /// Checks the whole of a list, but for notes that were deleted here.
    func check(listed ids: [Int64], _ all: [Int64], _ what: String) throws {
        let deleted = deletedHere
        guard ids == all.filter({ ids.contains($0) || !deleted.contains($0) }) else {
            throw LibraryFinding("\(what) have \(ids), and the server \(all)")
        }
    }

    static func check(cells: [LibraryCell]) throws {
        guard Set(cells.map(\.tick)).count <= 1, cells.isEmpty || cells.count == 5 else {
            throw LibraryFinding("half an import: \(cells.map(\.tick))")
        }
    }

    /// Checks that a snapshot does not change, that its indexes fit its records, that it has no half
    /// of an import, and that notes without local changes are as the server had them once.
    func checkSnapshot(_ store: Store) throws {
        let answersRecord = rules.answersRecord
        let (notes, problem) = try store.read { reader -> ([LibraryNote], String?) in
            let notes = try reader.fetch(LibraryNote.all), token = try reader.changeToken
            try Self.check(cells: try reader.fetch(LibraryCell.all))
            let halves = try reader.fetch(LibraryHalf.all)
            guard Set(halves.map(\.batch)).count <= 1, halves.count != 1 else { return ([], "half a batch: \(halves)") }
            Thread.sleep(forTimeInterval: 0.0003)
            for rank in 0..<4 {
                let found = try reader.fetch(LibraryNote.where { $0.rank == rank }).map(\.id)
                guard Set(found) == Set(notes.filter { $0.rank == rank }.map(\.id)) else {
                    return ([], "the index of rank \(rank) has \(found)")
                }
            }
            guard try reader.fetch(LibraryNote.all) == notes, try reader.changeToken == token else {
                return ([], "the snapshot has changed")
            }
            let plain = try notes.filter { try reader.localChange("Note", RecordKey($0.id)) == nil }
            return (plain, nil)
        }
        if let problem { throw LibraryFinding(problem) }
        guard answersRecord else { return }
        let history = server.with { $0.history }
        for note in notes {
            guard note.rev != nil else { continue }
            // After a lost answer, a note keeps the sent values until it is loaded again, also beside a later rev.
            let versions = (history[note.id] ?? [:]).values
            let known = Set(versions.map(\.title)), ranks = Set(versions.map(\.rank))
            guard known.contains(note.title), ranks.contains(note.rank ?? -1) else {
                throw LibraryFinding("\(note) is no version of the server, which had \(versions)")
            }
        }
    }
}
