// The salvage of damaged files of other programs: what can be loaded again.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Salvage: files of other programs")
struct ForeignSalvageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func salvage(_ path: String) throws -> (report: SalvageReport, new: String) {
        let new = folder("new-\(UUID().uuidString)")
        return (try StoreInspector(at: path).salvage(to: new), new)
    }

    private func counts(_ report: SalvageReport) -> [String: Int] {
        Dictionary(report.records.map { ($0.entity, $0.count) }) { first, _ in first }
    }

    private static let whole = [
        "(main)": 1, "binary": 2, "intdup": 3001, "meta": 600, "names": 301, "numbers": 50, "reverse": 1000,
        "several": 2002,
    ]

    @Test("a sound file is copied table by table, with its options, as Python and lmdb-utils read it")
    func sound() throws {
        try ForeignFile.make(at: folder("a"))
        let (report, new) = try salvage(folder("a"))
        #expect(counts(report) == Self.whole && report.lostCount == 0 && report.missing.isEmpty, "\(report)")
        let difference = try TableDifferencesTests.compare(folder("a"), new)
        #expect(difference.summary.isEqual && difference.lines.isEmpty, "\(difference)")
        #expect(try run("/usr/bin/mdb_dump", "-a", new).contains("database=reverse"))
    }

    @Test("without both meta pages the tables are found by their records, of several commits the newest ones")
    func lostMetaPages() throws {
        try ForeignFile.make(
            at: folder("a"), "n = env.open_db(b'names', txn=t); [t.put(b'more%d' % i, b'x', db=n) for i in range(40)]",
            "n = env.open_db(b'names', txn=t); t.delete(b'more3', db=n)", "t.put(b'beside2', b'y')")
        let sound = try salvage(folder("a")).new
        var bytes = try ForeignFile.bytes(folder("a"))
        for index in 0..<8192 { bytes[index] = 0xAA }
        try ForeignFile.write(bytes, to: folder("a"))
        let (report, new) = try salvage(folder("a"))
        #expect(report.hasFoundTrees)
        let difference = try TableDifferencesTests.compare(sound, new)
        // Pages of older states may be left: nothing of the newest one is missing.
        #expect(difference.lines.allSatisfy { $0.contains("added") }, "\(difference.lines.prefix(5))")
        #expect(counts(report)["names"] == 340 && counts(report)["intdup"] == 3001, "\(report.records)")
        _ = try run("/usr/bin/mdb_dump", "-a", new)
    }

    @Test("entries without a table are found without meta pages, too", arguments: [false, true])
    func lostMetaPagesOfPlainFile(_ hasDuplicates: Bool) throws {
        try ForeignFile.makePlain(at: folder("a"), count: 3000, hasDuplicates: hasDuplicates)
        var bytes = try ForeignFile.bytes(folder("a"))
        for index in 0..<8192 { bytes[index] = 0 }
        try ForeignFile.write(bytes, to: folder("a"))
        let (report, new) = try salvage(folder("a"))
        #expect(counts(report)["(main)"] == 3000, "\(report.records) \(report.lost.prefix(3))")
        #expect(try run("/usr/bin/mdb_dump", new).contains(" 303030303030"))
    }

    @Test("the leaves below a damaged branch go to their table if it is the only damaged one")
    func damagedBranch() throws {
        try ForeignFile.makePlain(at: folder("a"), count: 3000)
        try ForeignFile.make(at: folder("b"))
        for (name, table, count) in [("a", "(main)", 3000), ("b", "names", 301)] {
            let path = folder(name)
            var bytes = try ForeignFile.bytes(path)
            let root = try StoreFile.open(at: path) { file in
                Int(try #require((name == "a" ? file.snapshot.meta.main : file.snapshot.tables[table])?.root))
            }
            // Not a kind that a page has.
            bytes[root * 4096 + 10] = 0x10
            try ForeignFile.write(bytes, to: path)
            let (report, _) = try salvage(path)
            #expect(counts(report)[table] == count, "\(report.records) \(report.lost.prefix(3))")
            #expect(report.found >= 300 && report.lostCount > 0 && report.missing.isEmpty)
        }
    }

    @Test("a value that is unreadable is named by table and key, and the other entries are copied")
    func lostValue() throws {
        try ForeignFile.make(at: folder("a"))
        var bytes = try ForeignFile.bytes(folder("a"))
        let page = try #require((2..<bytes.count / 4096).first { bytes[$0 * 4096 + 10] == 4 })
        bytes[page * 4096 + 10] = 0x10
        try ForeignFile.write(bytes, to: folder("a"))
        let (report, _) = try salvage(folder("a"))
        #expect(report.lost.contains { $0.description == "names large: its value is unreadable" }, "\(report.lost)")
        #expect(counts(report)["names"] == 300 && report.missing.map(\.entity) == ["names"])
        #expect(report.missing.first?.count == 1)
    }

    @Test("an unreadable value of the table without a name is named and counted, too")
    func lostMainValue() throws {
        try ForeignFile.make(at: folder("a"), "t.put(b'big', b'x' * 9000)")
        var bytes = try ForeignFile.bytes(folder("a"))
        for page in 2..<bytes.count / 4096 where bytes[page * 4096 + 10] == 4 { bytes[page * 4096 + 10] = 0x10 }
        try ForeignFile.write(bytes, to: folder("a"))
        let (report, _) = try salvage(folder("a"))
        #expect(report.lost.contains { $0.description == "(main) big: its value is unreadable" }, "\(report.lost)")
        #expect(counts(report)["(main)"] == 1)
        #expect(report.missing.contains { $0.entity == "(main)" && $0.count == 1 && $0.of == 2 }, "\(report.missing)")
    }

    @Test("a lost table of tables: tables that have not changed since an older one keep their names")
    func lostTableOfTables() throws {
        try ForeignFile.make(at: folder("a"), "n = env.open_db(b'names', txn=t); t.put(b'more', b'x', db=n)")
        var bytes = try ForeignFile.bytes(folder("a"))
        let root = try StoreFile.open(at: folder("a")) { Int(try #require($0.snapshot.meta.main.root)) }
        for index in 0..<4096 { bytes[root * 4096 + index] = 0xAA }
        try ForeignFile.write(bytes, to: folder("a"))
        #expect(try StoreInspector(at: folder("a")).statistics().findings.isEmpty == false)
        let (report, _) = try salvage(folder("a"))
        let found = counts(report)
        for name in ["intdup", "meta", "numbers", "reverse", "several"] {
            #expect(found[name] == Self.whole[name], "\(report.records)")
        }
    }

    @Test("names that are no UTF-8 keep their bytes")
    func names() throws {
        try ForeignFile.make(at: folder("a"), "n = env.open_db(b'caf\\xe9\\\\', txn=t); t.put(b'a', b'b', db=n)")
        let (report, new) = try salvage(folder("a"))
        #expect(counts(report)[#"caf\e9\5c"#] == 1, "\(report.records)")
        #expect(try TableDifferencesTests.compare(folder("a"), new).summary.isEqual)
    }
}

@Suite("Inspect: new questions about damaged files of other programs")
struct ForeignDamageTests {
    /// `TARN_DAMAGES` for more, `TARN_SEED` chooses.
    private static let files = ProcessInfo.processInfo.environment["TARN_DAMAGES"].flatMap { Int($0) } ?? 500
    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_201

    @Test("damage at random: every question ends, with an answer or an error")
    func random() throws {
        let folder = try TemporaryFolder(), path = folder("a"), sound = folder("sound")
        try ForeignFile.make(at: path, "n = env.open_db(b'names', txn=t); t.put(b'more', b'x', db=n)")
        try ForeignFile.make(at: sound, "n = env.open_db(b'names', txn=t); t.put(b'more', b'x', db=n)")
        let original = try ForeignFile.bytes(path)
        var answers = 0, silent = 0
        for number in 0..<Self.files {
            var dice = SeededRandom(seed: Self.seed &+ UInt64(number)), bytes = original
            EveryQuestionTests.damage(&bytes, number % 6, &dice)
            if number % 7 == 0 { for index in 0..<min(8192, bytes.count) { bytes[index] = UInt8(dice.roll(0..<256)) } }
            try ForeignFile.write(bytes, to: path)
            let inspector = StoreInspector(at: path), new = folder("new")
            var damages = 0
            let results: [Bool] = [
                (try? TableDifferencesTests.compare(sound, path)).map { result in
                    if result.summary.isEqual { silent += 1 }
                    return true
                } ?? false,
                (try? inspector.exportSQL(line: { _ in }, damaged: { _ in damages += 1 })) != nil,
                (try? inspector.exportCSV(text: { _, _ in }, damaged: { _ in damages += 1 })) != nil,
                (try? inspector.tableOutline()) != nil, (try? TableFollower(inspector, of: [])) != nil,
                (try? inspector.salvage(to: new)) != nil,
            ]
            answers += results.count(where: \.self)
            if FileManager.default.fileExists(atPath: new) {
                // The new file is sound.
                let copy = try StoreInspector(at: new).statistics()
                #expect(copy.findings.isEmpty, "seed \(Self.seed), file \(number): \(copy.findings)")
                try FileManager.default.removeItem(atPath: new)
            }
            #expect(try ForeignFile.bytes(path) == bytes, "something was written")
        }
        print("foreign files: \(Self.files), seed \(Self.seed): \(answers) answers, \(silent) equal")
        #expect(answers > Self.files)
    }
}
