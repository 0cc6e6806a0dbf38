// Salvage: the readable records of a damaged store are in a new one, which is sound.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage")
struct SalvageTests {
    private func dump(_ path: String) throws -> [String] {
        var lines: [String] = []
        try StoreInspector(at: path).dumpRecords(line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        return lines
    }

    private func withNew(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-salvaged-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("of a sound store all is brought along: records with their versions, responses, progress, marks")
    func soundStore() throws {
        let rich = try RichStore()
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 0 && report.hasProgress && report.found == 0)
            #expect(report.responses == 6 && report.localChanges == 4 && report.sequence == 4)
            #expect(report.operations == 3)
            #expect(try dump(new) == dump(rich.path))
            let found = try StoreInspector(at: new).verification()
            #expect(found.isSound, "\(found.findings.prefix(3))")
            #expect(found.records.map(\.count) == report.records.map(\.count))
            let store = try Store.open(at: new, schema: RichStore.schema)
            #expect(try store.read { try $0.checkpoint("issues")?.state } == .complete)
            #expect(try store.read { try $0.outbox.window(limit: 10) }.map(\.operation.id) == [1, 3, 4])
            try store.write { try $0.put("User", RecordKey(1), [.init("name", .string("goes on"))]) }
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }

    @Test("a store that is larger than its quota is salvaged with all records, and keeps the quota")
    func quota() throws {
        let damaged = try InspectedStore { writer in
            var dice = SeededRandom(seed: 44)
            for number: Int64 in 0..<800 {
                let name = (0..<1500).map { _ in String(dice.roll(0..<1000)) }.joined()
                try writer.put("Author", RecordKey(number), [.init("name", .string(name))])
            }
        }
        let store = try Store.open(at: damaged.path)
        try store.setQuota(1 << 20)
        #expect(try damaged.bytes.count > 3_000_000)
        try withNew { new in
            let report = try StoreInspector(at: damaged.path).salvage(to: new)
            #expect(report.lostCount == 0 && report.records.first?.count == 800)
            #expect(try dump(new) == dump(damaged.path))
            let salvaged = try Store.open(at: new)
            #expect(try salvaged.quota == 1 << 20)
            // The reserve for deletes begins at the size of the file.
            #expect(try salvaged.write { try $0.delete("Author", RecordKey(1)) })
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }

    @Test("a reference to a missing record with a long key is dumped as its digest, and salvaged as it was")
    func missingLongKey() throws {
        let rich = try RichStore(), long = RecordKey(String(repeating: "l", count: 300))
        let store = try Store.open(at: rich.path, schema: RichStore.schema)
        try store.write { try $0.put("Issue", RecordKey(1), [.init("labels", .references([RecordKey("new"), long]))]) }
        let digest = "{\"digest\":\"\(long.storageKey.hexadecimal)\"}"
        let lines = try dump(rich.path)
        #expect(lines.contains { $0.contains("\"labels\":[\"new\",\(digest)]") })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(try report.lostCount == 0 && dump(new) == lines)
            let salvaged = try Store.open(at: new, schema: RichStore.schema)
            try salvaged.write { try $0.put("Label", long, []) }
            #expect(
                try salvaged.read { try $0.record("Issue", RecordKey(1))?["labels"] }
                    == .references([RecordKey("new"), long]))
        }
    }

    @Test(
        "whatever fault the pages have, what is brought along is as it was, and the new store is sound",
        arguments: DamagedPagesTests.faults)
    func damagedPages(_ fault: DamagedPagesTests.Fault) throws {
        let rich = try RichStore()
        let original = try Set(dump(rich.path))
        var image = try DamagedPagesTests.Image(rich.path)
        try fault.body(&image)
        try rich.write(image.bytes)
        try withNew { new in
            do {
                let report = try StoreInspector(at: rich.path).salvage(to: new)
                let lines = try dump(new)
                // The change log and the free list are not copied: damage there is no loss.
                if report.lostCount == 0 {
                    #expect(Set(lines) == original && report.hasProgress && report.responses == 6)
                } else {
                    #expect(!report.hasProgress && report.responses == 0)
                }
                if fault.code != .meta, !report.mayBeOld { #expect(lines.allSatisfy { original.contains($0) }) }
                #expect(lines.count == report.records.reduce(0) { $0 + $1.count } && lines.count > 50)
                let found = try StoreInspector(at: new).verification()
                #expect(found.isSound, "\(found.findings.prefix(3))")
            } catch let error as any StoreFailure {
                #expect(fault.code == .noMeta, "\(error)")
                #expect(!FileManager.default.fileExists(atPath: new))
            }
            let after = try rich.bytes
            #expect(after == image.bytes, "the damaged store was written to")
        }
    }

    @Test("rows that no branch leads to any more are found by their checksums")
    func rowsOfNoTree() throws {
        let rich = try RichStore()
        let lines = try dump(rich.path)
        var image = try DamagedPagesTests.Image(rich.path)
        let root = try image.root("r/2")
        image.set(root * 4096 + 10, 2, 0x44)
        try rich.write(image.bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.found == 360 && !report.mayBeOld && report.lostCount > 0)
            #expect(try dump(new) == lines)
            #expect(try StoreInspector(at: new).verification().isSound)
        }
    }

    @Test("rows on a lost page that an older one has replaced may be outdated")
    func replacedPage() throws {
        let rich = try RichStore()
        let old = try DamagedPagesTests.Image(rich.path), leaf = old.child(try old.root("r/2"), 0) * 4096
        do {
            let store = try Store.open(at: rich.path, schema: RichStore.schema)
            try store.write { _ = try $0.delete("Issue", RecordKey(1)) }
        }
        var image = try DamagedPagesTests.Image(rich.path)
        let place = image.child(try image.root("r/2"), 2) * 4096
        image.bytes.replaceSubrange(place..<place + 4096, with: old.bytes[leaf..<leaf + 4096])
        try rich.write(image.bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.found > 0 && report.mayBeOld, "\(report.lost)")
            let store = try Store.open(at: new, schema: RichStore.schema)
            #expect(try store.read { try $0.record("Issue", RecordKey(1)) } != nil)
        }
    }

    @Test("lost records that no page names are counted")
    func namelessRecords() throws {
        let rich = try RichStore()
        let lines = try dump(rich.path)
        var image = try DamagedPagesTests.Image(rich.path)
        let leaf = image.child(try image.root("r/2"), 1) * 4096
        for offset in leaf..<leaf + 4096 { image.bytes[offset] = 0 }
        try rich.write(image.bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            let lost = try lines.count - dump(new).count
            #expect(lost > 0 && report.lost.allSatisfy(\.isOfPages), "\(report.lost)")
            #expect(report.missing.map(\.entity) == ["Issue"], "\(report.missing)")
            #expect(report.missing.first?.count == lost && report.missing.first?.of == 360, "\(report.missing)")
        }
    }

    @Test("a catalog that cannot be reached is looked for on all pages")
    func catalogOfNoTree() throws {
        let rich = try RichStore()
        let lines = try dump(rich.path)
        var image = try DamagedPagesTests.Image(rich.path)
        image.set(try image.record("meta") + 40, 8, 1 << 40)
        try rich.write(image.bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount > 0 && report.sequence == 4)
            #expect(try dump(new) == lines)
        }
    }

    @Test(
        "in the place of a catalog with a wrong checksum an older copy is taken, or else the catalog itself, which is said"
    )
    func catalogOfAnotherText() throws {
        let rich = try RichStore()
        let lines = try dump(rich.path)
        try rich.damage(#require(VerificationTests.damages.first { $0.testDescription == "a letter of the catalog" }))
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 0)
            #expect(try dump(new) == lines)
        }
        // In all copies.
        let damaged = try rich.bytes, login = Array("\"login\"".utf8), logon = Array("\"logon\"".utf8)
        var bytes = damaged
        for start in damaged.indices.dropLast(7)
        where damaged[start] == 0x22 && damaged[start..<start + 7].elementsEqual(login) {
            bytes.replaceSubrange(start..<start + 7, with: logon)
        }
        try rich.write(bytes)
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(
                report.lostCount == 1 && report.lost[0].reason.contains("checksum of the catalog"), "\(report.lost)")
            #expect(!report.hasProgress)
            #expect(try dump(new) == lines.map { $0.replacingOccurrences(of: "\"login\"", with: "\"logon\"") })
        }
    }

    @Test("a catalog with a wrong checksum is not taken for the newest one because its numbers are the highest")
    func catalogThatSeemsNewer() throws {
        let rich = try RichStore()
        let lines = try dump(rich.path)
        try rich.damage(
            VerificationTests.Damage("a digit of the catalog", [.catalog]) { editor in
                let key = Array("catalog".utf8), text = String(decoding: try editor.value("meta", key), as: UTF8.self)
                let next = try #require(text.firstRange(of: /"nextEntity":[0-8]/))
                try editor.put("meta", key, Array(text.replacingCharacters(in: next, with: "\"nextEntity\":9").utf8))
            })
        try withNew { new in
            let report = try StoreInspector(at: rich.path).salvage(to: new)
            #expect(report.lostCount == 0, "\(report.lost)")
            #expect(try dump(new) == lines)
        }
    }

    @Test("rows that are damaged are named, and two that have the same unique value do not both come along")
    func damagedRows() throws {
        for (codes, reason) in [
            ([.rowChecksum] as Set<Finding.Code>, "the checksum is wrong"), ([.indexNotUnique], "has the same login"),
        ] {
            let rich = try RichStore()
            try rich.damage(#require(VerificationTests.damages.first { $0.codes == codes }))
            try withNew { new in
                let report = try StoreInspector(at: rich.path).salvage(to: new)
                #expect(report.lostCount == 1 && report.lost[0].reason.contains(reason), "\(report.lost)")
                #expect(report.records[0].count == 41)
                #expect(try StoreInspector(at: new).verification().isSound)
            }
        }
    }

    @Test("a new store is not made where something is, and of nothing")
    func errors() throws {
        let rich = try RichStore()
        #expect(throws: StoreMaintenanceError.destinationExists(path: rich.path)) {
            try StoreInspector(at: rich.path).salvage(to: rich.path)
        }
        try withNew { new in
            #expect(throws: StoreOpenError.noSuchStore(path: new)) {
                try StoreInspector(at: new).salvage(to: new + "2")
            }
        }
    }
}
