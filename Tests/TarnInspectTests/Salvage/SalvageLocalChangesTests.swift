// Local changes that were not sent: a sync cannot fetch them again. They are salvaged, or reported.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: local changes")
struct SalvageLocalChangesTests {
    private func withNew(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-salvaged-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    /// Damages a rich store, and salvages it.
    private func salvage(
        _ damage: (inout DamagedPagesTests.Image) throws -> Void, _ body: (SalvageReport, String) throws -> Void
    ) throws {
        let rich = try RichStore()
        var image = try DamagedPagesTests.Image(rich.path)
        try damage(&image)
        try rich.write(image.bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            try body(report, new)
            let found = try StoreInspector(at: new).verification()
            #expect(found.isSound, "\(found.findings.prefix(3))")
        }
    }

    private func expect(_ path: String, operations: [UInt64], marks: Int) throws {
        let count = try StoreFile.open(at: path) { file in
            var count = 0
            file.forEach(in: TableName.local) { _, _ in count += 1 }
            return count
        }
        #expect(count == marks)
        let store = try Store.open(at: path, schema: RichStore.schema)
        let found = try store.read { try $0.outbox.window(limit: 10) }.map(\.operation.id)
        #expect(found == operations)
    }

    /// Destroys the records of both tables.
    private static func loseRoots(_ image: inout DamagedPagesTests.Image) throws {
        for table in [TableName.local, TableName.outbox] { image.set(try image.record(table) + 40, 8, 1 << 40) }
    }

    @Test("marks and operations of tables without a root are found by their checksums")
    func lostRoots() throws {
        try salvage(Self.loseRoots) { report, new in
            #expect(report.localChanges == 4 && report.operations == 3, "\(report.lost)")
            #expect(report.mayLackLocalChanges && report.lostCount > 0 && !report.hasProgress)
            try expect(new, operations: [1, 3, 4], marks: 4)
        }
    }

    @Test("if the table of tables is lost, both tables are reported as missing, and their rows are found")
    func lostTables() throws {
        try salvage {
            let root = Int(try #require($0.meta.main.root))
            for offset in 0..<4096 { $0.bytes[root * 4096 + offset] = 0 }
        } _: { report, new in
            let places = report.lost.map(\.place)
            #expect(places.contains(TableName.local) && places.contains(TableName.outbox), "\(report.lost)")
            #expect(report.localChanges == 4 && report.operations == 3 && report.mayLackLocalChanges)
            try expect(new, operations: [1, 3, 4], marks: 4)
        }
    }

    @Test("if only the name of the table of marks is damaged, the table is missing, too")
    func lostName() throws {
        try salvage { image in
            let record = try image.record(TableName.local)
            // `local` becomes `locam`, which is in the same place of the order.
            image.bytes[record - 1] += 1
        } _: { report, new in
            #expect(report.lost.contains { $0.place == TableName.local } && report.mayLackLocalChanges)
            #expect(report.localChanges == 4)
            try expect(new, operations: [1, 3, 4], marks: 4)
        }
    }

    @Test("if old pages cannot be distinguished, marks and operations are named, and an old one is not sent again")
    func uncertain() throws {
        try salvage { image in
            try Self.loseRoots(&image)
            image.set(Int(try #require(image.meta.freeList.root)) * 4096 + 10, 2, 0x44)
        } _: { report, new in
            #expect(report.localChanges == 0 && report.operations == 0 && report.mayLackLocalChanges)
            let named = report.lost.filter { $0.reason.contains("may be outdated") }
            #expect(named.contains { $0.place.hasPrefix("local ") } && named.contains { $0.place.hasPrefix("outbox ") })
            try expect(new, operations: [], marks: 0)
        }
    }

    @Test("a mark whose record is lost is not salvaged: it would keep the server's values out of the record")
    func markOfLostRecord() throws {
        let rich = try RichStore()
        try rich.damage(
            VerificationTests.Damage("a damaged row", []) {
                try $0.change($0.records("User"), $0.key(3)) { $0 = Array($0.prefix(10)) }
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostLocalChanges == ["User 3 (name)"] && report.localChanges == 3)
            try expect(new, operations: [1, 3, 4], marks: 3)
        }
    }

    @Test("losses of other tables do not concern local changes")
    func otherLosses() throws {
        try salvage {
            let root = try $0.root("r/2")
            $0.set(root * 4096 + 10, 2, 0x44)
        } _: { report, _ in
            #expect(report.lostCount > 0 && !report.mayLackLocalChanges)
            #expect(report.localChanges == 4 && report.operations == 3)
        }
    }
}
