// Files of other programs: every kind of table that LMDB has is dumped as `mdb_dump` does it, and a
// healthy one is not called damaged.

import Foundation
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: files of other programs")
struct ForeignFileTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/tarn-foreign-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        " " + bytes.map { String(format: "%02x", $0) }.joined()
    }

    private static func section(_ name: String?, _ options: [String], _ entries: [([UInt8], [UInt8])]) -> String {
        let head =
            ["VERSION=3", "format=bytevalue"] + (name.map { ["database=\($0)"] } ?? []) + [
                "type=btree", "mapsize=16777216",
            ]
            + options.map { "\($0)=1" } + ["HEADER=END"]
        return (head + entries.flatMap { [hex($0.0), hex($0.1)] } + ["DATA=END", ""]).joined(separator: "\n")
    }

    private static func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static let ownKeys: [([UInt8], [UInt8])] = (0..<30).map {
        (Array("own \($0)".utf8), Array("value \($0)".utf8))
    }

    /// A table of each kind, with keys whose values are in the node, and keys whose values have a
    /// tree.
    private static let tables: [(name: String, options: [String], entries: [([UInt8], [UInt8])])] = {
        func several(_ value: (Int) -> [UInt8]) -> [([UInt8], [UInt8])] {
            [
                (Array("few".utf8), value(1)), (Array("few".utf8), value(2)), (Array("few".utf8), value(700)),
                (Array("one".utf8), value(5)),
            ]
                + (0..<3000).map { (Array("many".utf8), value($0)) }
                + (0..<500).map { (Array("key \($0)".utf8), value($0)) }
        }
        return [
            ("dups", ["dupsort"], several { Array("value \($0) \(String(repeating: "x", count: $0 % 50))".utf8) }),
            ("fixed", ["dupsort", "dupfixed"], several { number($0, bytes: 8) }),
            ("integers", ["integerkey"], (0..<3000).map { (number($0 * 7, bytes: 4), number($0, bytes: 4)) }),
            ("intvalues", ["dupsort", "dupfixed", "integerdup"], several { number($0, bytes: 4) }),
            ("long", [], (0..<20).map { (number($0, bytes: 2), [UInt8](repeating: 7, count: 9000 + $0)) }),
            ("reverse", ["reversekey"], (0..<3000).map { (Array("\($0)".utf8), [1]) }),
            ("revvalues", ["dupsort", "reversedup"], several { Array("\($0)".utf8) }),
        ]
    }()

    /// Lets `mdb_load` make an environment.
    private func load(_ text: String, _ name: String) throws -> String { try load(Data(text.utf8), name) }

    private func load(_ text: Data, _ name: String) throws -> String {
        let path = folder + "/" + name
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try text.write(to: URL(fileURLWithPath: path + ".text"))
        _ = try run("/usr/bin/mdb_load", "-f", path + ".text", path)
        return path
    }

    private func dump(_ path: String) throws -> [String] {
        var lines: [String] = []
        let reason = try StoreInspector(at: path).dumpTables(
            line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        #expect(reason == nil)
        return lines
    }

    /// The dump of a table, without the sizes that depend on how it was opened.
    private func sections(_ lines: [String]) -> [String: [String]] {
        var sections: [String: [String]] = [:], name = "", current: [String] = []
        for line in lines where !line.hasPrefix("mapsize=") && !line.hasPrefix("maxreaders=") {
            if line == "VERSION=3" { (name, current) = ("", []) }
            if line.hasPrefix("database=") { name = String(line.dropFirst(9)) }
            current.append(line)
            if line == "DATA=END" { sections[name] = current }
        }
        return sections
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test("tables of every kind are dumped as mdb_dump does it, line for line, and can be loaded again")
    func everyKind() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text = ForeignFileTests.tables.map { ForeignFileTests.section($0.name, $0.options, $0.entries) }.joined()
        let path = try load(text, "tables")
        let own = try dump(path)
        let theirs = try lines(run("/usr/bin/mdb_dump", "-a", path))
        #expect(sections(own).keys.sorted() == ForeignFileTests.tables.map(\.name))
        for (name, section) in sections(theirs) { #expect(sections(own)[name] == section, "\(name)") }
        #expect(own.count == theirs.count && own.count > 20_000)
        let again = try load(own.joined(separator: "\n") + "\n", "again")
        #expect(try sections(lines(run("/usr/bin/mdb_dump", "-a", again))) == sections(theirs))
    }

    @Test("tables whose names differ only in their bytes are different tables")
    func equalNames() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let path = try load(names.map { ForeignFileTests.section($0, [], [(Array($0.utf8), [1])]) }.joined(), "equal")
        func bytes(_ lines: [String]) -> [[UInt8]] {
            lines.filter { !$0.hasPrefix("mapsize=") && !$0.hasPrefix("maxreaders=") }.map { Array($0.utf8) }
        }
        #expect(try bytes(dump(path)) == bytes(lines(run("/usr/bin/mdb_dump", "-a", path))))
        #expect(try StoreInspector(at: path).statistics().tables.count == 2)
        #expect(try verifyBothWays(path).findings.map(\.code) == [.noStore])
        for name in names {
            var values: [String] = []
            try StoreInspector(at: path).dumpTables(
                .named(name), as: .json, line: { values.append($0) }, damaged: { Issue.record("\($0)") })
            let entry = #"{"table":"\#(name)","key":"\#(name)","value":{"hex":"01"}}"#
            #expect(values.last.map { Array($0.utf8) } == Array(entry.utf8))
        }
    }

    @Test("tables whose names are not UTF-8 are different tables, whose entries only JSON has")
    func namesOfBytes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var text = Data()
        for byte in [UInt8(0xFE), 0xFF] {
            for part in ForeignFileTests.section("#", [], [([byte], [byte])]).split(separator: "#", maxSplits: 1) {
                text.append(contentsOf: text.isEmpty || text.last == UInt8(ascii: "\n") ? [] : [byte])
                text.append(contentsOf: part.utf8)
            }
        }
        let path = try load(text, "bytes")
        var found: [String] = [], values: [String] = []
        try StoreInspector(at: path).dumpTables(line: { values.append($0) }, damaged: { found.append($0.place) })
        #expect(values.isEmpty && found == [#"\fe"#, #"\ff"#], "\(values) \(found)")
        try StoreInspector(at: path).dumpTables(
            .all, as: .json, line: { values.append($0) }, damaged: { Issue.record("\($0)") })
        #expect(values.count == 4 && values.last == #"{"table":"\\ff","key":{"hex":"ff"},"value":{"hex":"ff"}}"#)
        #expect(try verifyBothWays(path).findings.map(\.code) == [.noStore])
    }

    @Test("a name with a backslash is another one than the escaped name of bytes that it looks like")
    func namesWithBackslashes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let marked =
            ForeignFileTests.section(#"\ff"#, [], [([1], [1])]) + ForeignFileTests.section("#", [], [([2], [2])])
        var text = Data()
        for byte in marked.utf8 { text.append(byte == UInt8(ascii: "#") ? 0xFF : byte) }
        let path = try load(text, "backslash")
        var values: [String] = [], found: [String] = []
        try StoreInspector(at: path).dumpTables(
            .all, as: .json, line: { values.append($0) }, damaged: { Issue.record("\($0)") })
        try #require(values.count == 4, "\(values)")
        #expect(values[1].hasPrefix(#"{"table":"\\5cff","key":{"hex":"01"}"#), "\(values)")
        #expect(values[3].hasPrefix(#"{"table":"\\ff","key":{"hex":"02"}"#), "\(values)")
        values = []
        try StoreInspector(at: path).dumpTables(
            .named(#"\5cff"#), as: .hex, line: { values.append($0) }, damaged: { found.append($0.place) })
        #expect(values.contains(#"database=\ff"#) && found.isEmpty, "\(values) \(found)")
        #expect(try StoreInspector(at: path).statistics().findings.isEmpty)
    }

    @Test(
        "keys beside the tables are dumped first, as mdb_dump writes a file without tables",
        arguments: [[], ["dupsort"], ["integerkey"]])
    func ownKeys(_ options: [String]) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let entries =
            options == ["integerkey"]
            ? (0..<300).map { (ForeignFileTests.number($0, bytes: 4), [UInt8(1)]) }
            : ForeignFileTests.ownKeys + (options.isEmpty ? [] : ForeignFileTests.tables[0].entries)
        let alone = try load(ForeignFileTests.section(nil, options, entries), "alone")
        let theirs = try lines(run("/usr/bin/mdb_dump", alone))
        #expect(try sections(dump(alone)) == sections(theirs))
        #expect(theirs.count > 60)
        let statistics = try StoreInspector(at: alone).statistics()
        #expect(
            statistics.findings.isEmpty && statistics.tables.map(\.name) == ["(main)"]
                && statistics.tables[0].entries == entries.count)
        guard options.isEmpty else { return }
        let plain = ForeignFileTests.tables[4]
        let mixed = try load(
            ForeignFileTests.section(nil, [], entries)
                + ForeignFileTests.section(plain.name, plain.options, plain.entries), "mixed")
        #expect(try sections(dump(mixed))[""] == sections(theirs)[""])
        #expect(
            try sections(dump(mixed))["long"] == sections(lines(run("/usr/bin/mdb_dump", "-s", "long", mixed)))["long"])
    }

    @Test("statistics are those of mdb_stat, and neither they nor verification find any damage")
    func healthy() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text =
            ForeignFileTests.section(nil, [], ForeignFileTests.ownKeys)
            + ForeignFileTests.tables.map { ForeignFileTests.section($0.name, $0.options, $0.entries) }.joined()
        let path = try load(text, "healthy")
        let statistics = try StoreInspector(at: path).statistics()
        #expect(statistics.findings == [])
        for table in statistics.tables where table.name != "(main)" {
            let numbers = try lines(run("/usr/bin/mdb_stat", "-s", table.name, path)).reduce(into: [:] as [String: Int])
            { numbers, line in
                let words = line.split(separator: ":")
                if words.count == 2 {
                    numbers[words[0].trimmingCharacters(in: .whitespaces)] = Int(
                        words[1].trimmingCharacters(in: .whitespaces))
                }
            }
            #expect(table.entries == numbers["Entries"] && table.depth == numbers["Tree depth"], "\(table) \(numbers)")
            let pages = ["Branch pages", "Leaf pages", "Overflow pages"].reduce(0) { $0 + (numbers[$1] ?? 0) }
            #expect(table.pages == pages, "\(table) \(numbers)")
        }
        #expect(statistics.tables.count == ForeignFileTests.tables.count + 1)
        let report = try verifyBothWays(path)
        #expect(report.findings.map(\.code) == [.noStore], "\(report.findings.prefix(3))")
    }

    /// liblmdb 0.9.36 leaves the pages of a deleted key's values in the counts, and takes those from
    /// them that 0.9.24 did not count, below zero.
    @Test("the pages of a table with several values for a key are not compared with its record, but its entries are")
    func countsOfValues() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let table = ForeignFileTests.tables[0]
        let path = try load(ForeignFileTests.section(table.name, table.options, table.entries), "counts")
        var image = try DamagedPagesTests.Image(path)
        let counts = try StoreFile.open(at: path) { file in
            file.forEachEntry(inAnyTable: table.name) { _, _ in }
            return try #require(file.counts[table.name])
        }
        let record = try image.record(table.name)
        let branches = Int(counts.branchPages), leaves = Int(counts.leafPages), entries = Int(counts.entries)
        for (saidBranches, saidLeaves, saidEntries, isSound) in [
            (branches, leaves, entries, true), (branches + 1, leaves + 40, entries, true),
            (branches - 1, leaves - 200, entries, true), (branches, leaves, entries + 1, false),
        ] {
            image.set(record + 8, 8, saidBranches)
            image.set(record + 16, 8, saidLeaves)
            image.set(record + 32, 8, saidEntries)
            try Data(image.bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
            var found: [StoreInspector.Damage] = []
            try StoreInspector(at: path).dumpTables(line: { _ in }, damaged: { found.append($0) })
            #expect(found.isEmpty == isSound, "\(saidBranches) \(saidLeaves) \(saidEntries) \(found)")
            #expect(try StoreInspector(at: path).statistics().tables.allSatisfy { $0.pages >= 0 && $0.bytes >= 0 })
        }
    }

    @Test("a damaged page of values is a finding, and the rest is dumped")
    func damagedValues() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try load(
            ForeignFileTests.section("fixed", ["dupsort", "dupfixed"], ForeignFileTests.tables[1].entries), "damaged")
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
        // Leaves of values of one size: the size of the first one was changed.
        let page = try #require((2..<bytes.count / 4096).first { bytes[$0 * 4096 + 10] == 0x22 })
        (bytes[page * 4096 + 8], bytes[page * 4096 + 9]) = (0, 0x40)
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        var found: [StoreInspector.Damage] = [], count = 0
        try StoreInspector(at: path).dumpTables(
            line: { if $0.hasPrefix(" ") { count += 1 } }, damaged: { found.append($0) })
        #expect(
            !found.isEmpty && count > 3000 && count < 2 * ForeignFileTests.tables[1].entries.count, "\(found) \(count)")
    }
}
