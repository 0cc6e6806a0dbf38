// The change log read from the file, compared with what a store returns.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: changes")
struct InspectedChangesTests {
    private func changes(_ path: String, since: UInt64 = 0, of names: [String]? = nil, limit: Int = .max) throws -> (
        list: [Change], part: ChangeLogPart
    ) {
        var list: [Change] = []
        let part = try StoreInspector(at: path).changes(
            since: since, of: names, limit: limit, damaged: { Issue.record("\($0)") }, change: { list.append($0) })
        return (list, part)
    }

    @Test("changes are those that the store returns, since a commit, of an entity, and up to a limit")
    func sameAsStore() throws {
        let rich = try RichStore()
        let store = try Store.open(at: rich.path)
        let all = try store.read { reader in try reader.changes(since: reader.oldestChangeToken, limit: 100_000).changes
        }
        let found = try changes(rich.path)
        #expect(found.list == all && all.count > 1000 && !found.part.hasMore)
        let third = try changes(rich.path, since: 2)
        #expect(third.list == all.filter { $0.sequence > 2 })
        let users = try changes(rich.path, of: ["User", "Event"])
        #expect(users.list.map(\.entity).contains("Push"))
        #expect(users.list == all.filter { ["User", "Event", "Push"].contains($0.entity) })
        let few = try changes(rich.path, limit: 3)
        #expect(few.list == Array(all.prefix(3)) && few.part.hasMore)
        #expect(try changes(rich.path, since: .max).list.isEmpty)
    }

    @Test("a follower reads each commit once, and reports changes that were trimmed before")
    func follower() throws {
        let store = try InspectedStore()
        let writer = try Store.open(at: store.path, options: Store.Options(durability: .relaxed))
        var follower = try ChangeFollower(StoreInspector(at: store.path), since: nil, of: nil)
        var seen: [String] = [], notices: [ChangeFollower.Notice] = []
        func step() throws {
            try follower.step(
                damaged: { Issue.record("\($0)") }, notice: { notices.append($0) }, change: { seen.append("\($0.key)") }
            )
        }
        try step()
        #expect(seen.isEmpty)
        for number: Int64 in 10...12 {
            try writer.write { try $0.put("Author", RecordKey(number), [.init("name", .string("n"))]) }
        }
        try step()
        try step()
        #expect(seen == ["10", "11", "12"] && notices.isEmpty)
        try writer.write { try $0.put("Author", RecordKey(13), [.init("name", .string("n"))]) }
        try writer.setChangeRetention(.nothing)
        try writer.setChangeRetention(.all)
        try writer.write { try $0.put("Author", RecordKey(14), [.init("name", .string("n"))]) }
        try step()
        #expect(seen.last == "14" && notices.count == 1, "\(notices)")
    }

    @Test("a follower that begins after a commit that the store does not have says so")
    func followerAhead() throws {
        let store = try InspectedStore()
        var follower = try ChangeFollower(StoreInspector(at: store.path), since: .max, of: nil)
        let newest = try Store.open(at: store.path, options: Store.Options(isReadOnly: true)).read { try $0.sequence }
        var notices: [ChangeFollower.Notice] = []
        for _ in 0..<2 {
            try follower.step(damaged: { Issue.record("\($0)") }, notice: { notices.append($0) }, change: { _ in })
        }
        #expect(notices == [.ahead(at: .max, newest: newest)])
        #expect(notices.first?.description.hasPrefix("the store has no commit 18446744073709551615") == true)
    }

    @Test("a follower of a restored store says so, and continues with the other history")
    func replaced() throws {
        let store = try InspectedStore(), other = try InspectedStore()
        var follower = try ChangeFollower(StoreInspector(at: store.path), since: nil, of: nil)
        var seen: [String] = [], notices: [ChangeFollower.Notice] = []
        try follower.step(damaged: { _ in }, notice: { notices.append($0) }, change: { seen.append("\($0.key)") })
        let path = store.path + "/data.mdb"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: store.path + "/lock.mdb")
        try FileManager.default.copyItem(atPath: other.path + "/data.mdb", toPath: path)
        try follower.step(damaged: { _ in }, notice: { notices.append($0) }, change: { seen.append("\($0.key)") })
        #expect(notices == [.replaced(at: 1)] && seen.isEmpty)
        try Store.open(at: store.path).write {
            try $0.put("Author", RecordKey(5), [.init("name", .string("n"))])
        }
        try follower.step(damaged: { _ in }, notice: { notices.append($0) }, change: { seen.append("\($0.key)") })
        #expect(notices.count == 1 && seen == ["5"])
    }
}
