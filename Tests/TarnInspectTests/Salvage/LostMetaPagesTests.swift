// Files without any readable meta page: the newest trees are found by the content of the pages.

import Foundation
import LMDBPages
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: both meta pages are unreadable")
struct LostMetaPagesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func dump(_ path: String) throws -> [String] {
        var lines: [String] = []
        try StoreInspector(at: path).dumpRecords(line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        return lines
    }

    /// Salvages a store, and checks that the new one is sound.
    private func salvage(_ path: String) throws -> (report: SalvageReport, lines: [String]) {
        let new = folder("new-\(UUID().uuidString)")
        let report = try StoreInspector(at: path).salvage(to: new)
        let found = try StoreInspector(at: new).verification()
        #expect(found.isSound, "\(found.findings.prefix(3))")
        return (report, try dump(new))
    }

    private func loseMetaPages(_ bytes: inout [UInt8]) {
        for index in 0..<8192 { bytes[index] = UInt8(truncatingIfNeeded: index &* 7) }
    }

    @Test("all records are found through the newest trees, none that was deleted, and the loss is reported")
    func wholeTrees() throws {
        let rich = try RichStore()
        // Deleted and changed rows stay on free pages.
        let store = try Store.open(at: rich.path, schema: RichStore.schema, options: .init(durability: .volatile))
        for number: Int64 in 1...30 {
            try store.write { writer in
                _ = try writer.delete("Issue", RecordKey(number))
                try writer.put("User", RecordKey(number), [.init("name", .string("newest \(number)"))])
            }
        }
        let original = try dump(rich.path), sequence = try StoreInspector(at: rich.path).statistics().sequence
        var bytes = try rich.bytes
        loseMetaPages(&bytes)
        let damaged = folder("damaged")
        try FileManager.default.createDirectory(atPath: damaged, withIntermediateDirectories: false)
        try Data(bytes).write(to: URL(fileURLWithPath: damaged + "/data.mdb"))
        let (report, lines) = try salvage(damaged)
        #expect(report.hasFoundTrees && report.found == 0 && !report.mayBeOld && report.sequence == sequence)
        #expect(lines == original && lines.contains { $0.contains("newest 30") })
        #expect(report.lost.map(\.place) == ["pages 0 and 1"] && !report.hasProgress)
        #expect(report.localChanges == 4 && report.operations == 3)
        #expect(try Data(contentsOf: URL(fileURLWithPath: damaged + "/data.mdb")) == Data(bytes))
    }

    @Test("trees of each format are found", arguments: Self.goldens)
    func formats(_ golden: String) throws {
        let file = try GoldenFile(golden), original = try dump(file.path)
        var bytes = file.original
        loseMetaPages(&bytes)
        let damaged = folder("damaged")
        try FileManager.default.createDirectory(atPath: damaged, withIntermediateDirectories: false)
        try Data(bytes).write(to: URL(fileURLWithPath: damaged + "/data.mdb"))
        let (report, lines) = try salvage(damaged)
        #expect(report.hasFoundTrees && report.found == 0 && report.lostCount == 1, "\(report.lost)")
        #expect(lines == original && !lines.isEmpty)
    }

    private static let goldens: [String] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("TarnStoreTests/Golden").path
        return ["format-1", "format-2", "format-3"].flatMap { format in
            ["compressed", "plain"].map { "\(root)/\(format)/2026-11-\($0)" }
        }
    }()

    @Test("trees are found at each depth of the table of tables")
    func manyTables() throws {
        let path = folder("many"), names = (0..<150).map { "field\($0)" }
        let schema = Schema([
            EntityDefinition(
                "Row", key: ["id"],
                attributes: [.init("id", .int)] + names.map { .init($0, .int, optional: true, indexed: true) })
        ])
        do {
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .volatile))
            for number: Int64 in 1...20 {
                try store.write { try $0.put("Row", RecordKey(number), names.map { .init($0, .int(number)) }) }
            }
        }
        let image = try DamagedPagesTests.Image(path), original = try dump(path)
        let depth = image.meta.main.depth
        try #require(depth == 2)
        var bytes = image.bytes
        loseMetaPages(&bytes)
        try? FileManager.default.removeItem(atPath: path + "/lock.mdb")
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        let (report, lines) = try salvage(path)
        #expect(lines == original && report.found == 0 && report.sequence == 20)
    }

    @Test("without any table of tables, the rows and the catalog are found by their checksums")
    func noTables() throws {
        let rich = try RichStore(), original = try Set(dump(rich.path))
        var bytes = try rich.bytes
        loseMetaPages(&bytes)
        for page in 2..<bytes.count / 4096 {
            let isOfTables = bytes[page * 4096..<(page + 1) * 4096].withUnsafeBytes { bytes in
                guard let view = PageView(bytes), view.isLeaf, view.count > 0 else { return false }
                return (0..<view.count).contains { view.leafNode($0)?.hasTree ?? false }
            }
            if isOfTables { for index in 0..<4096 { bytes[page * 4096 + index] = 0 } }
        }
        try rich.write(bytes)
        let (report, lines) = try salvage(rich.path)
        #expect(report.hasFoundTrees && report.found == lines.count)
        // Every record is there in its newest form but one, whose long list had a table of its own.
        // Deleted ones may be there, too, which is said.
        let missing = original.subtracting(lines)
        #expect(missing.count == 1 && missing.first?.contains("\"entity\":\"Issue\",\"key\":5,") == true)
        #expect(report.mayBeOld && report.lost.contains { $0.description.hasPrefix("Issue 5: a long list") })
        #expect(report.lost.contains { $0.reason.contains("table of Issue is missing") })
    }

    @Test("a file that ends in the middle, without meta pages, gives what it still has")
    func truncated() throws {
        let rich = try RichStore(), original = try Set(dump(rich.path))
        var bytes = try rich.bytes
        loseMetaPages(&bytes)
        bytes.removeLast(bytes.count / 2 / 4096 * 4096 + 1000)
        try rich.write(bytes)
        let (report, lines) = try salvage(rich.path)
        #expect(lines.count > 50 && report.lostCount > 1)
        #expect(lines.count { original.contains($0) } > 50)
    }

    @Test("a file without pages of LMDB is refused")
    func others() throws {
        let noise = folder("noise"), new = folder("new")
        try Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(fileURLWithPath: noise))
        #expect(throws: (any Error).self) { try StoreInspector(at: noise).salvage(to: new) }
        #expect(!FileManager.default.fileExists(atPath: new))
    }
}

@Suite("Salvage: names of lost records")
struct LostRecordNamesTests {
    @Test("a record whose value is on a damaged page is named by entity and key, and so is each of a damaged leaf")
    func names() throws {
        let rich = try RichStore(), store = try Store.open(at: rich.path, schema: RichStore.schema)
        // A text that zstd makes little shorter.
        var dice = SeededRandom(seed: 1)
        let text = String((0..<9000).map { _ in Character(UnicodeScalar(UInt8(dice.roll(33..<127)))) })
        try store.write { try $0.put("Issue", RecordKey(7), [.init("text", .string(text))]) }
        let folder = try TemporaryFolder(), copy = folder("copy")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        var bytes = try rich.bytes
        let values = Self.longValues(of: RecordKey(7).storageKey, in: bytes)
        try #require(!values.isEmpty)
        for page in values { bytes[page * 4096 + 10] = 0x40 }
        try Data(bytes).write(to: URL(fileURLWithPath: copy + "/data.mdb"))
        let report = try StoreInspector(at: copy).salvage(to: folder("new"))
        #expect(report.lost.contains { $0.description == "Issue 7: its value is unreadable" }, "\(report.lost)")

        // A leaf that no branch reaches, in which a row is damaged.
        var image = try DamagedPagesTests.Image(rich.path)
        var page = image.child(try image.root("r/2"), 0)
        if image.bytes[page * 4096 + 10] == 1 { page = image.child(page, 0) }
        let flags = image.bytes[page * 4096 + 10]
        try #require(flags == 2)
        let node = image.node(page, 0)
        image.set(page * 4096 + 10, 2, 0x44)
        let size = image.number(node + 6, 2)
        image.set(node + 8 + size + 30, 1, image.number(node + 8 + size + 30, 1) ^ 1)
        try Data(image.bytes).write(to: URL(fileURLWithPath: copy + "/data.mdb"))
        let second = try StoreInspector(at: copy).salvage(to: folder("second"))
        #expect(
            second.lost.contains { $0.description == "Issue 1: the checksum is wrong, on page \(page)" },
            "\(second.lost)")
        #expect(second.found > 0)
    }

    /// The first overflow pages of the values of a key, on all leaves of a file.
    private static func longValues(of key: [UInt8], in bytes: [UInt8]) -> [Int] {
        (2..<bytes.count / 4096).flatMap { number in
            bytes[number * 4096..<(number + 1) * 4096].withUnsafeBytes { bytes -> [Int] in
                guard let page = PageView(bytes), page.isLeaf else { return [] }
                return (0..<page.count).compactMap { index in
                    guard let node = page.leafNode(index), node.key.elementsEqual(key) else { return nil }
                    return node.overflowPage.map { Int($0) }
                }
            }
        }
    }
}
