// The check before a rewrite: faults of pages are found, and a rewrite makes none permanent.

import Foundation
import LMDB
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: the check of pages alone")
struct PageFindingsTests {
    @Test(
        "the check of pages finds each fault that a verification finds, and none in a sound store",
        arguments: DamagedPagesTests.faults.filter { $0.code.isOfPages && $0.code != .noMeta })
    func faultsAreFound(_ fault: DamagedPagesTests.Fault) throws {
        let store = try RichStore()
        #expect(try StoreInspector(at: store.path).pageFindings().isEmpty)
        var image = try DamagedPagesTests.Image(store.path)
        try fault.body(&image)
        try store.write(image.bytes)
        let found = try StoreInspector(at: store.path).pageFindings()
        #expect(found.contains { $0.code == fault.code }, "\(found.prefix(3))")
    }

    @Test("findings beyond the limit of the list are counted, and one that is met again is not")
    func countedBeyondTheList() {
        let findings = Findings(limit: 3)
        for _ in 0..<2 { for page in 0..<10 { findings.addOnce(.pageForm, "page \(page)", "a fault") } }
        // A scan meets the same faults, and two more.
        for page in 0..<12 { findings.add(.pageForm, "page \(page)", "a fault") }
        #expect(findings.counts == [.pageForm: 12] && findings.list.count == 3)
        #expect(findings.countBeyondList(.pageForm) == 9 && findings.countBeyondList(.pageKind) == 0)
    }

    @Test("a finding of a scan that is met again is not counted twice, and one beyond the list is counted once")
    func metAgain() {
        let findings = Findings(limit: 3)
        // A scan has met the first two.
        for page in 0..<2 { findings.add(.pageForm, "page \(page)", "a fault") }
        for _ in 0..<2 { for page in 0..<5 { findings.addOnce(.pageForm, "page \(page)", "a fault") } }
        #expect(findings.counts == [.pageForm: 5] && findings.list.count == 3)
        #expect(findings.countBeyondList(.pageForm) == 2)
        // The places count, and not the details.
        findings.addOnce(.pageForm, "page 4", "another fault")
        #expect(findings.counts == [.pageForm: 5])
    }

    @Test("a question and a salvage count the page faults that they do not list")
    func countedBeyondTheLists() throws {
        let store = try InspectedStore { writer in
            for number: Int64 in 0..<10_000 {
                let name = "\(number * 7919 % 100_003) and \(number * 104_729)"
                try writer.put("Author", RecordKey(number), [.init("name", .string(name))])
            }
        }
        var image = try DamagedPagesTests.Image(store.path)
        func leaves(_ page: Int) -> [Int] {
            guard image.number(page * 4096 + 10, 2) & 2 == 0 else { return [page] }
            return (0..<(image.number(page * 4096 + 12, 2) - 16) / 2).flatMap { leaves(image.child(page, $0)) }
        }
        let pages = leaves(try image.root("r/1"))
        try #require(pages.count > 150)
        for page in pages { image.set(page * 4096 + 10, 2, 0x44) }
        try Data(image.bytes).write(to: URL(fileURLWithPath: store.path + "/data.mdb"))
        var listed = 0, counted = 0
        try StoreInspector(at: store.path).dumpRecords(
            line: { _ in },
            damaged: { damage in
                guard damage.isOfPages else { return }
                listed += 1
                counted += damage.count
            })
        #expect(counted >= pages.count && listed < pages.count, "\(counted) of \(pages.count), \(listed) listed")
        let new = store.path + "-salvaged"
        defer { try? FileManager.default.removeItem(atPath: new) }
        let report = try StoreInspector(at: store.path).salvage(to: new)
        #expect(report.lostCount >= pages.count && report.lost.count < pages.count, "\(report.lostCount)")
    }

    @Test("the use of pages names a fault of the meta pages, and none of a sound file")
    func metaPagesOfUse() throws {
        let store = try RichStore()
        #expect(try StoreInspector(at: store.path).pageUse().findings.isEmpty)
        var image = try DamagedPagesTests.Image(store.path)
        image.setTransaction(older: -4)
        try store.write(image.bytes)
        let findings = try StoreInspector(at: store.path).pageUse().findings
        #expect(findings.map(\.code) == [.meta], "\(findings)")
    }

    /// A branch key that is more than the first key below it: a search for that key ends in the
    /// page before. Runs have 16 pages. In the first run, liblmdb removes all pages before the node,
    /// and with them the need for its key.
    @Test("a rewrite that does not find a row again is an error, and loses and repeats no row")
    func misledSearch() throws {
        let store = try InspectedStore { writer in
            for number: Int64 in 0..<600 {
                var name = ""
                for word: Int64 in 3..<43 { name += "\(number * 7919 * word % 100_003) " }
                try writer.put("Author", RecordKey(number), [.init("name", .string(name))])
            }
        }
        func lines() throws -> [String] {
            var lines: [String] = []
            try StoreInspector(at: store.path).dumpRecords(line: { lines.append($0) }, damaged: { _ in })
            return lines
        }
        let before = try lines()
        #expect(before.count == 600)
        var image = try DamagedPagesTests.Image(store.path)
        try image.shiftKey(of: 20, in: "r/1", by: 1)
        try Data(image.bytes).write(to: URL(fileURLWithPath: store.path + "/data.mdb"))
        #expect(try StoreInspector(at: store.path).pageFindings().map(\.code).contains(.pageKeyOrder))
        let error = #expect(throws: StoreError.self) { try Store.open(at: store.path).rewrite("Author") }
        guard case .lmdb(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.kind == LMDBError.Kind.corrupted)
        #expect(try lines() == before)
    }

    /// The root of a table is one of its leaves: the others are hidden.
    @Test("rows that a wrong root hides are neither missing nor removed for a look-up or a comparison")
    func wrongRoot() throws {
        let sound = try RichStore(), store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        let root = try image.root("r/2")
        image.set(try image.record("r/2") + 40, 8, image.child(root, 0))
        try store.write(image.bytes)
        var damages: [String] = []
        let differences = try StoreInspector(at: store.path).differences(
            from: StoreInspector(at: sound.path), difference: { _ in }, damaged: { damages.append("\($0): \($1)") })
        #expect(!differences.isComplete && damages.contains { $0.contains("of a tree that is") }, "\(damages)")
        let last = try StoreInspector(at: store.path).record("Issue", RecordKey(RichStore.issues))
        #expect(!last.isStored && last.isUnreadable, "\(last.lines())")
    }

    @Test(
        "options that the free list or a store's table of tables cannot have are a finding",
        arguments: [44, 92], 1..<14)
    func options(offset: Int, bit: Int) throws {
        let store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        for page in 0..<2 { image.bytes[page * 4096 + offset + bit / 8] ^= 1 << UInt8(bit % 8) }
        try store.write(image.bytes)
        let found = try StoreInspector(at: store.path).pageFindings()
        #expect(found.contains { $0.code == (offset == 44 ? .meta : .tableRecord) }, "\(found.prefix(3))")
    }

    @Test("a table whose record says that it has rows, but no root, is unreadable and not empty", arguments: 0..<3)
    func noRoot(zeros: Int) throws {
        let store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        let record = try image.record("r/2")
        image.set(record + 40, 8, -1)
        // The depth, and the number of entries; the number of pages stays.
        if zeros > 0 { image.set(record + 6, 2, 0) }
        if zeros > 1 { image.set(record + 32, 8, 0) }
        try store.write(image.bytes)
        let found = try StoreInspector(at: store.path).record("Issue", RecordKey(1))
        #expect(!found.isStored && found.isUnreadable, "\(found.lines())")
        var damages = 0
        try StoreInspector(at: store.path).keys(
            of: "Issue", KeySelection(), damaged: { _ in damages += 1 }, visit: { _ in })
        #expect(damages > 0)
    }
}
