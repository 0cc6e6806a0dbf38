// Entries of other programs' files that no tree leads to.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: entries that no tree leads to")
struct LostEntryTests {
    private let folder: TemporaryFolder
    private var path: String { folder("file") }

    init() throws {
        folder = try TemporaryFolder()
        try ForeignFile.make(at: path)
    }

    /// Salvages the file after the roots of tables became unreadable.
    private func salvage(without tables: String...) throws -> (report: SalvageReport, counts: [String: Int]) {
        var bytes = try ForeignFile.bytes(path)
        for table in tables {
            let root = try StoreFile.open(at: path) { Int(try #require($0.snapshot.tables[table]?.root)) }
            for index in 0..<4096 { bytes[root * 4096 + index] = 0xAA }
        }
        try ForeignFile.write(bytes, to: path)
        let report = try StoreInspector(at: path).salvage(to: folder("new"))
        return (report, Dictionary(report.records.map { ($0.entity, $0.count) }) { first, _ in first })
    }

    @Test("of two damaged tables, they belong to neither, and equal keys are all kept")
    func twoTables() throws {
        let copy = "n = env.open_db(b'copy', txn=t); [t.put(b'key%03d' % i, b'c' * 20, db=n) for i in range(300)]"
        try ForeignFile.edit(at: path, copy)
        let (report, counts) = try salvage(without: "names", "copy")
        #expect(counts["names"] ?? 0 == 0 && counts["copy"] ?? 0 == 0, "\(report.records)")
        #expect(counts["lost+found"] == 601 && report.found == 601, "\(report.records)")
        #expect(report.lostCount > 0)
    }

    @Test("a table that is named lost+found keeps its name")
    func nameOfTable() throws {
        try ForeignFile.edit(at: path, "t.put(b'k', b'v', db=env.open_db(b'lost+found', txn=t))")
        let (report, counts) = try salvage(without: "names", "meta")
        #expect(report.lostAndFound == "lost+found+" && counts["lost+found"] == 1, "\(report.records)")
        #expect(counts["lost+found+"] == 901)
    }

    @Test("values whose key is on no readable page are told")
    func valuesWithoutKey() throws {
        let (report, _) = try salvage(without: "intdup")
        #expect(
            report.lost.contains { $0.description.contains("values of a key that no readable page has") },
            "\(report.lost)")
    }

    @Test("without both meta pages, the newest tables are found after any number of commits", arguments: 1...6)
    func newestTables(_ commits: Int) throws {
        for number in 0..<commits {
            // As many entries as before: their number does not tell which state is newer.
            try ForeignFile.edit(
                at: path,
                "n = env.open_db(b'names', txn=t); t.put(b'm\(number)', b'x', db=n); t.delete(b'key00\(number)', db=n)"
            )
        }
        let sound = folder("sound")
        _ = try StoreInspector(at: path).salvage(to: sound)
        var bytes = try ForeignFile.bytes(path)
        for index in 0..<8192 { bytes[index] = 0xAA }
        try ForeignFile.write(bytes, to: path)
        let (report, counts) = try salvage()
        #expect(report.hasFoundTrees && counts["names"] == 301, "\(report.records)")
        let lines = try TableDifferencesTests.compare(sound, folder("new"), of: "names").lines
        #expect(lines.isEmpty, "\(lines.prefix(5))")
    }
}
