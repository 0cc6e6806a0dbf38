// The records that scans have listed, separated by scan.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Members of scans")
struct ScanMemberTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func record(_ key: Int64, entity: UInt16 = 3) -> ListedRecord {
        ListedRecord(entity: entity, storageKey: RecordKey(key).storageKey)
    }

    private func members(_ identity: String, after last: ListedRecord? = nil) throws -> [ScanMember] {
        try store.read { reader in
            var members: [ScanMember] = []
            try reader.access.scans.forEach(of: identity, after: last) {
                members.append($0)
                return true
            }
            return members
        }
    }

    private func note(_ keys: [Int64], _ identity: String, scan: UInt64) throws {
        try store.write { try $0.noteListed(keys.map { record($0) }, of: identity, scan: scan) }
    }

    @Test("the members of a walk are those of its scans, each with the last one that listed it, in the order of keys")
    func members() throws {
        try note([3, 1, 2], "a", scan: 1)
        try note([2, 4], "a", scan: 2)
        try note([9], "b", scan: 7)
        #expect(try members("a").map(\.record) == [1, 2, 3, 4].map { record($0) })
        #expect(try members("a").map(\.lastListed) == [1, 2, 1, 2])
        #expect(try members("a", after: record(2)).map(\.record) == [3, 4].map { record($0) })
        #expect(try members("b").map(\.lastListed) == [7] && members("c") == [])
    }

    @Test(
        "a process that is behind does not take back what a later scan has listed, and a member that is listed again was not missed"
    )
    func order() throws {
        try note([1], "a", scan: 5)
        try note([1], "a", scan: 4)
        #expect(try members("a").map(\.lastListed) == [5])
        try store.write { try $0.putScanMember(ScanMember(record(1), lastListed: 5, decided: 6, misses: 1), of: "a") }
        #expect(try members("a") == [ScanMember(record(1), lastListed: 5, decided: 6, misses: 1)])
        try note([1], "a", scan: 7)
        #expect(try members("a") == [ScanMember(record(1), lastListed: 7)])
    }

    @Test("of a member of both identities, a move keeps what the later scan knows if the scans are numbered alike")
    func move() throws {
        try note([1, 2, 3], "a", scan: 3)
        try note([1, 3, 4, 6], "b", scan: 2)
        try note([2], "b", scan: 4)
        try store.write { writer in
            try writer.putScanMember(ScanMember(record(3), lastListed: 3, decided: 5, misses: 1), of: "b")
            try writer.putScanMember(ScanMember(record(6), lastListed: 2, decided: 5, misses: 1), of: "a")
            let isDone = try writer.moveScanMembers(of: "a", to: "b", limit: 100, numberedAlike: true)
            #expect(isDone)
        }
        #expect(try members("b").map(\.lastListed) == [3, 4, 3, 2, 2])
        #expect(try members("b").map(\.decided) == [0, 0, 5, 0, 5])
        #expect(try members("a").isEmpty)
        try note([1, 5], "c", scan: 9)
        try store.write { _ = try $0.moveScanMembers(of: "c", to: "b", limit: 100) }
        #expect(try members("b").map(\.lastListed) == [3, 4, 3, 2, 1, 2])
    }

    @Test("members are forgotten one by one, or those of a walk in steps, and the others stay")
    func forgetting() throws {
        try note(Array(1...25), "a", scan: 1)
        try note([1, 2], "b", scan: 1)
        try store.write { try $0.removeScanMember(record(3), of: "a") }
        #expect(try members("a").count == 24)
        #expect(try store.write { try $0.removeScanMembers(of: "a", limit: 10) } == false)
        #expect(try members("a").count == 14)
        #expect(try store.write { try $0.removeScanMembers(of: "a", limit: 100) } == true)
        #expect(try members("a") == [] && members("b").count == 2)
    }

    @Test("the last scan of an identity is the last one that has listed a member, or has decided about one")
    func lastScan() throws {
        func last() throws -> UInt64 { try store.read { try $0.access.scans.lastScan(of: "a") } }
        #expect(try last() == 0)
        try note([1, 2], "a", scan: 5)
        try note([3], "b", scan: 9)
        #expect(try last() == 5)
        try store.write { try $0.putScanMember(ScanMember(record(1), lastListed: 5, decided: 7, misses: 1), of: "a") }
        #expect(try last() == 7)
    }

    @Test("members of an entity are removed in steps, those of all identities, and others stay")
    func removedByRoot() throws {
        try note(Array(1...5), "a", scan: 1)
        try note([1, 2], "b", scan: 1)
        try store.write { try $0.noteListed([record(9, entity: 1)], of: "a", scan: 1) }
        var start: [UInt8]? = [], steps = 0
        while let next = start {
            start = try store.write { try $0.access.scans.removeAll(ofRoot: 3, from: next, atMost: 2) }
            steps += 1
            try #require(steps < 10)
        }
        #expect(steps == 4)
        #expect(try members("a").map(\.record) == [record(9, entity: 1)] && members("b") == [])
    }

    @Test("keys of the greatest length, and of several entities, are members like others")
    func longKeys() throws {
        let long = ListedRecord(entity: 2, storageKey: RecordKey(String(repeating: "ä", count: 300)).storageKey)
        try store.write { try $0.noteListed([record(1), long, record(1, entity: 1)], of: "a", scan: 1) }
        #expect(try members("a").map(\.record) == [record(1, entity: 1), long, record(1)])
        #expect(try members("a", after: long).map(\.record) == [record(1)])
    }

    @Test("the responses that list a record have their origins, also those from before identities were stored")
    func listedElsewhere() throws {
        func entry(_ page: Int, identity: String?) -> ResponseEntry {
            ResponseEntry(
                request: RequestKey(url: "https://a.example/\(page)", endpoint: "issues x"),
                validation: .init(
                    status: 200, fetchedAt: Timestamp(microseconds: 1), validatedAt: Timestamp(microseconds: 1)),
                listing: .init([record(Int64(page))], count: 1, skipped: page, scan: 1, identity: identity))
        }
        try store.write { writer in
            for page in 1...2 { try writer.putResponse(entry(page, identity: page == 1 ? "a" : nil)) }
        }
        #expect(try store.read { try $0.response(to: entry(1, identity: nil).request) } == entry(1, identity: "a"))
        func origins(_ key: Int64) throws -> [ResponseOrigin] {
            try store.read { reader in
                let responses = reader.access.responses
                return try responses.ids(listing: record(key)).compactMap { try responses.origin(id: $0) }
            }
        }
        #expect(try origins(1).map(\.identity) == ["a"])
        #expect(try origins(2).map(\.identity) == [nil])
        #expect(try origins(2).map(\.request) == [entry(2, identity: nil).request])
        #expect(try origins(2).map(\.scan) == [1])
        #expect(try origins(3).isEmpty)
    }
}
