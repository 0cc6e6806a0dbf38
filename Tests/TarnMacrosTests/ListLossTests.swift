// Records that the server may have dropped: a list knows them, and drops them by rule.

import Foundation
import TarnMacros
import TestSupport
import Testing

@testable import Tarn

@Suite("Losses of a list", .timeLimit(.minutes(2)))
struct ListLossTests {
    private let query = Entry.all.order(by: \.id)

    @Test("a record of a load that fails between its pages goes when the complete list lacks it")
    func failedLoad() async throws {
        let api = try ListAPI(), list = try await api.client.list(.numbered, local: query)
        api.list.set(1, 2, 3, 4)
        try await list.loadFirst()
        try await list.loadNext()
        api.list.set(1, 2, 99, 4)
        api.list.fail("", "500 Broken")
        await #expect(throws: (any Error).self) { try await list.refresh() }
        // The first page is in the store, and no list has it.
        #expect(try list.state.ids == [1, 2, 3, 4, 99])
        #expect(try await api.client.list(.numbered).state.ids == [1, 2, 3, 4])
        api.list.set(1, 2, 3, 4)
        try await list.refresh()
        #expect(try list.state.ids == [1, 2, 3, 4] && api.stored() == [1, 2, 3, 4, 99])
    }

    @Test("pages of different times hide and remove nothing: the server may have moved a record between them")
    func shift() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries(), local: query)
        let strict = RecordRequest.entries("other").removingOrphans(Orphans(scans: 1))
        let other = try await api.client.list(strict)
        api.list.set(1, 2, 3, 4, 5, 6)
        for list in [list, other] {
            try await list.loadFirst()
            try await list.refresh()
            try await list.loadNext()
            try await list.refresh()
            try await list.loadFirst()
        }
        // 4 moves to the first page, which was loaded before.
        api.list.set(2, 3, 4, 5, 6)
        for list in [list, other] { try await list.loadNext() }
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6] && other.state.ids == [1, 2, 3, 5, 6])
        #expect(try api.stored() == [1, 2, 3, 4, 5, 6])
        try await list.refresh()
        #expect(try list.state.ids == [2, 3, 4, 5, 6])
        try await other.refresh()
        #expect(try other.state.ids == [2, 3, 4, 5, 6])
    }

    @Test("a record that only a part of a list had is an orphan, too, after one complete list more")
    func orphanOfPart() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries().removingOrphans())
        api.list.set(9, 1, 2, 3)
        try await list.loadFirst()
        api.list.set(1, 2, 3)
        for _ in 0..<2 { try await list.loadFirst() }
        #expect(try api.stored() == [1, 2, 3, 9])
        try await list.loadFirst()
        #expect(try api.stored() == [1, 2, 3])
    }

    @Test("a record that only a part of a list had after a complete one is an orphan of the next complete one")
    func orphanOfLaterPart() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries().removingOrphans(Orphans(scans: 1)))
        api.list.set(1, 2, 3)
        try await list.loadFirst()
        api.list.set(9, 1, 2, 3)
        try await list.loadFirst()
        api.list.set(1, 2, 3)
        for _ in 0..<2 { try await list.loadFirst() }
        #expect(try api.stored() == [1, 2, 3])
    }

    @Test("the limit and the offset of a query do not count records that the server has dropped")
    func limit() async throws {
        let api = try ListAPI(), all = Entry.all.order(by: \.id)
        let first = try await api.client.list(.numbered, local: all.limit(3))
        let second = try await api.client.list(.numbered, local: all.dropFirst().limit(3))
        api.list.set(1, 2, 3, 4, 5, 6)
        try await first.loadFirst()
        try await first.loadNext()
        #expect(try first.state.ids == [1, 2, 3] && second.state.ids == [2, 3, 4])
        api.list.set(2, 4, 5, 6)
        try await first.refresh()
        #expect(try first.state.ids == [2, 4, 5] && second.state.ids == [4, 5, 6])
    }

    @Test("a list that is never complete remembers no record that is not stored, and its entry has all it knows")
    func growth() async throws {
        let api = try ListAPI(), list = try await api.client.list(.numbered, local: query)
        for first in stride(from: 1, to: 60, by: 3) as StrideTo<Int64> {
            api.list.set((first..<first + 6).map { $0 })
            try await list.loadFirst()
            let old = first - 3
            try await api.client.store.write { writer in
                for id in old..<first { _ = try writer.delete(Entry.self, id) }
            }
        }
        let stored = try #require(try list.storedList())
        #expect(stored.records.count == 3 && stored.earlier.count <= 3)
        var known = stored
        known.dropped = stored.records
        let read = try #require(StoredList(try known.entry(list.key)))
        #expect(read.earlier == known.earlier && read.dropped == known.dropped && read.revision == known.revision)
    }
}
