// The differences between two files of other programs.

import Foundation
import LMDBPages
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Differences: tables of other programs")
struct TableDifferencesTests {
    static func compare(
        _ first: String, _ second: String, of table: String? = nil
    ) throws -> (summary: StoreDifferences, lines: [String], damages: [String]) {
        var lines: [String] = [], damages: [String] = []
        let summary = try StoreInspector(at: second).tableDifferences(
            from: StoreInspector(at: first), of: table, difference: { lines.append($0.json) },
            damaged: { damages.append("\($0) \($1)") })
        return (summary, lines, damages)
    }

    @Test("equal files have no difference, whatever the order of their tables")
    func equal() throws {
        let folder = try TemporaryFolder()
        try ForeignFile.make(at: folder("a"))
        try ForeignFile.make(at: folder("b"))
        let (summary, lines, damages) = try Self.compare(folder("a"), folder("b"))
        #expect(summary.isEqual && lines.isEmpty && damages.isEmpty, "\(lines.prefix(3)) \(damages)")
        #expect(
            summary.entities.count == 8
                && summary.entities.reduce(0) { $0 + $1.same } == 2 + 3001 + 600 + 301 + 50
                    + 1000 + 2002 + 1
        )
        #expect(summary.lines == ["equal: 6957 entries"] && summary.json.contains(#""tables":{"(main)":{"same":1"#))
    }

    @Test("entries that differ are named by table and key, each of several values by itself")
    func differences() throws {
        let folder = try TemporaryFolder()
        try ForeignFile.make(at: folder("a"))
        try ForeignFile.make(
            at: folder("b"),
            """
            n = env.open_db(b'names', txn=t); t.put(b'key007', b'other', db=n); t.delete(b'key299', db=n)
            s = env.open_db(b'several', txn=t, dupsort=True)
            t.delete(b'k', b'v00005', db=s); t.put(b'k', b'v00005x', db=s)
            i = env.open_db(b'numbers', txn=t, integerkey=True); t.put(struct.pack('=Q', 8), b'new', db=i)
            r = env.open_db(b'reverse', txn=t, reverse_key=True); t.delete(b'500', db=r)
            d = env.open_db(b'intdup', txn=t, dupsort=True, dupfixed=True, integerdup=True)
            t.put(b'l', struct.pack('=I', 70000), db=d); t.put(b'beside', b'changed')
            e = env.open_db(b'extra', txn=t); t.put(b'x', b'y', db=e); t.drop(env.open_db(b'binary', txn=t))
            """)
        let (summary, lines, damages) = try Self.compare(folder("a"), folder("b"))
        #expect(
            Set(lines) == [
                #"{"change":"changed","table":"names","key":"key007","from":"{\"n\":7}","to":"other"}"#,
                #"{"change":"removed","table":"names","key":"key299","value":"{\"n\":299}"}"#,
                #"{"change":"removed","table":"several","key":"k","value":"v00005"}"#,
                #"{"change":"added","table":"several","key":"k","value":"v00005x"}"#,
                #"{"change":"added","table":"numbers","key":8,"value":"new"}"#,
                #"{"change":"removed","table":"reverse","key":"500","value":"1"}"#,
                #"{"change":"added","table":"intdup","key":"l","value":70000}"#,
                #"{"change":"changed","table":null,"key":"beside","from":"the tables","to":"changed"}"#,
                #"{"change":"added","table":"extra","key":"x","value":"y"}"#,
                #"{"change":"removed","table":"binary","key":{"hex":"0001"},"value":{"hex":"ff00646561646c696e6501"}}"#,
                #"{"change":"removed","table":"binary","key":"k","value":""}"#,
            ], "\(lines)")
        #expect(lines.count == 11 && damages.isEmpty && !summary.isEqual && summary.isComplete)
        #expect(
            Set(summary.schema.map(\.line)) == ["+ schema extra: table", "- schema binary: table"], "\(summary.schema)")
        let one = try Self.compare(folder("a"), folder("b"), of: "reverse")
        #expect(one.lines.count == 1 && one.summary.schema.isEmpty)
        let added = try Self.compare(folder("a"), folder("b"), of: "extra")
        #expect(added.lines.count == 1)
        #expect(throws: RecordSelectionError.self) { try Self.compare(folder("a"), folder("b"), of: "nope") }
    }

    @Test("a table with other options is another table")
    func options() throws {
        let folder = try TemporaryFolder()
        try ForeignFile.make(at: folder("a"))
        try ForeignFile.make(
            at: folder("b"), "t.drop(env.open_db(b'names', txn=t))",
            "n = env.open_db(b'names', txn=t, dupsort=True); t.put(b'key007', b'{\"n\":7}', db=n)")
        let (summary, lines, _) = try Self.compare(folder("a"), folder("b"))
        #expect(summary.schema.map(\.line) == ["~ schema names: table → table with dupsort"])
        #expect(lines.count == 302 && lines.count { $0.contains("added") } == 1)
    }

    @Test("of two neighbours that are out of order one is left out and reported, and the others are compared")
    func order() throws {
        func entry(_ key: String) -> CopiedEntry { CopiedEntry(key: Array(key.utf8), value: []) }
        for (keys, kept, misplaced) in [
            ("abcd", "abcd", 0), ("abzcd", "abcd", 1), ("bcade", "bcde", 1), ("a", "a", 0), ("", "", 0), ("ba", "a", 1),
        ] {
            var filter = OrderFilter(EntryOrder(TableRecord()))
            var found = keys.compactMap { filter.add(entry(String($0))) }
            if let last = filter.end() { found.append(last) }
            #expect(
                String(decoding: found.flatMap(\.key), as: UTF8.self) == kept && filter.misplaced == misplaced,
                "\(keys)")
        }
    }

    @Test("a file without entries beside its tables lacks the table without a name")
    func lackingMain() throws {
        let folder = try TemporaryFolder()
        try ForeignFile.make(at: folder("a"))
        try ForeignFile.make(at: folder("b"), "t.delete(b'beside')")
        let (summary, lines, _) = try Self.compare(folder("a"), folder("b"))
        #expect(lines == [#"{"change":"removed","table":null,"key":"beside","value":"the tables"}"#])
        #expect(summary.schema.map(\.line) == ["- schema (main): table"])
    }

    @Test("damage of either file is reported, and the comparison is not complete", arguments: [0, 1])
    func damaged(_ number: Int) throws {
        let folder = try TemporaryFolder(), files = [folder("a"), folder("b")]
        for file in files { try ForeignFile.make(at: file) }
        try ForeignFile.damage(#"{"n":150}"#, at: files[number])
        let (summary, _, damages) = try Self.compare(files[0], files[1])
        #expect(
            !summary.isComplete && !damages.isEmpty && damages.allSatisfy { $0.hasPrefix("\(number) ") }, "\(damages)")
    }
}
