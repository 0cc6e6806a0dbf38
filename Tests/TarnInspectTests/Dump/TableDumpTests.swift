// Tables of files that Python's `lmdb` has written: their dumps are those of mdb_dump, byte for
// byte, mdb_load reads them, and JSON has the same entries.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: dumps of tables")
struct TableDumpTests {
    private let folder: TemporaryFolder
    private let path: String

    /// Debian's python3-lmdb belongs to its own Python.
    private static let script = ForeignTables.script(
        """
        fill('plain', [(b'key\\\\ %d' % i, b'a\\\\b\\n\\x00\\xff' + bytes([i % 256]) * (i % 60)) for i in range(2000)])
        fill('large', [(struct.pack('>I', i), bytes([i]) * (5000 + 4000 * i)) for i in range(20)])
        fill('dupsort', [(b'k%d' % (i % 3), b'v%d' % i) for i in range(3000)] + [(b'x', b'1'), (b'x', b'2')], dupsort=True)
        fill('dupfixed', [(b'k%d' % (i % 3), struct.pack('<Q', i)) for i in range(5000)], dupsort=True, dupfixed=True)
        fill('integerkey', [(struct.pack('=I', i * 7 % 4099), struct.pack('=I', i)) for i in range(3000)], integerkey=True)
        fill('longkey', [(struct.pack('=Q', i << 33), b'v') for i in range(500)], integerkey=True)
        fill('integerdup', [(b'k%d' % (i % 3), struct.pack('=I', i)) for i in range(3000)], dupsort=True, dupfixed=True, integerdup=True)
        fill('reversekey', [(b'%d' % i, b'r') for i in range(3000)], reverse_key=True)
        fill('Grüße', [(b'a', b'b')])
        fill('empty', [])
        t.put(b'own', b'value')
        """)
    private static let names = [
        "Grüße", "dupfixed", "dupsort", "empty", "integerdup", "integerkey", "large", "longkey", "plain", "reversekey",
    ]

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/file"
        _ = try run("/usr/bin/python3", "-c", TableDumpTests.script, path)
    }

    private func dump(_ tables: DumpedTables, _ form: TableDumpForm) throws -> [String] {
        var lines: [String] = []
        let reason = try StoreInspector(at: path).dumpTables(
            tables, as: form, line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        #expect(reason == nil)
        return lines
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    @Test("one table is as mdb_dump -s writes it, byte for byte, header included", arguments: Self.names)
    func oneTable(_ name: String) throws {
        let theirs = try lines(run("/usr/bin/mdb_dump", "-s", name, path))
        #expect(try dump(.named(name), .hex) == theirs)
        // liblmdb 0.9.24 writes a backslash as it is, which mdb_load cannot read.
        let text = try dump(.named(name), .text).map { $0.replacing("\\5c", with: "\\") }
        #expect(try text == lines(run("/usr/bin/mdb_dump", "-p", "-s", name, path)))
    }

    @Test("the table without a name is as mdb_dump writes it, with the records of the tables")
    func mainTable() throws {
        let theirs = try lines(run("/usr/bin/mdb_dump", path))
        #expect(try dump(.main, .hex) == theirs && theirs.count == 8 + 2 * (Self.names.count + 1))
        let text = try dump(.main, .text).map { $0.replacing("\\5c", with: "\\") }
        #expect(try text == lines(run("/usr/bin/mdb_dump", "-p", path)))
    }

    @Test("mdb_load makes the same tables of a dump of all, in both formats", arguments: [TableDumpForm.hex, .text])
    func loaded(_ form: TableDumpForm) throws {
        let copy = folder.path + "/copy", file = folder.path + "/dump"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        let all = try dump(.all, form)
        try (all.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        _ = try run("/usr/bin/mdb_load", "-f", file, copy)
        func text(_ path: String, _ name: String) throws -> [String] {
            try lines(run("/usr/bin/mdb_dump", "-s", name, path)).filter { !$0.hasPrefix("maxreaders=") }
        }
        for name in Self.names { #expect(try text(copy, name) == text(path, name), "\(name)") }
        #expect(try run("/usr/bin/mdb_dump", "-p", copy).contains(" own\n value\n"))
    }

    @Test("JSON has the same entries: texts as strings, integers as numbers, everything else as digits")
    func json() throws {
        for name in Self.names {
            let objects = try dump(.named(name), .json).map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let plain = try dump(.named(name), .hex)
            let head = try #require(plain.firstIndex(of: "HEADER=END"))
            let options = plain[..<head].filter { $0.hasSuffix("=1") && $0 != "duplicates=1" }.map { $0.dropLast(2) }
            #expect(objects[0]["options"] as? [String] == options.map(String.init))
            #expect(objects[0]["entries"] as? Int == objects.count - 1)
            let values = objects.dropFirst().flatMap { [$0["key"], $0["value"]] }
            let digits = zip(values, plain[(head + 1)...]).map { value, line in
                switch value {
                case let number as Int: Self.digits(number, count: (line.count - 1) / 2)
                case let text as String: " " + text.utf8.map { String(format: "%02x", $0) }.joined()
                case let object as [String: String]: " " + (object["hex"] ?? "?")
                default: "?"
                }
            }
            #expect(digits == Array(plain[(head + 1)...].dropLast()), "\(name)")
        }
        #expect(try dump(.named("longkey"), .json)[2] == #"{"table":"longkey","key":8589934592,"value":"v"}"#)
        #expect(
            try dump(.main, .json).last
                == #"{"table":null,"key":"reversekey","value":{"hex":"\#(record("reversekey"))"}}"#)
    }

    private static func digits(_ number: Int, count: Int) -> String {
        " " + (0..<count).map { String(format: "%02x", UInt8(truncatingIfNeeded: number >> (8 * $0))) }.joined()
    }

    private func record(_ name: String) throws -> String {
        let lines = try dump(.main, .hex), key = " " + name.utf8.map { String(format: "%02x", $0) }.joined()
        return try String(lines[#require(lines.firstIndex(of: key)) + 1].dropFirst())
    }

    @Test("an unknown table is an error with the names that the file has")
    func unknownTable() throws {
        #expect(throws: RecordSelectionError.unknownTable(name: "plan", known: Self.names)) {
            try dump(.named("plan"), .hex)
        }
    }

    @Test("each table of a store can be dumped, and is as mdb_dump -s writes it")
    func tablesOfStore() throws {
        let rich = try RichStore()
        let inspector = StoreInspector(at: rich.path), names = try inspector.statistics().tables.map(\.name)
        #expect(names.count > 15)
        for name in names {
            var own: [String] = []
            try inspector.dumpTables(
                .named(name), as: .hex, line: { own.append($0) }, damaged: { Issue.record("\($0)") })
            #expect(try own == lines(run("/usr/bin/mdb_dump", "-s", name, rich.path)), "\(name)")
        }
    }
}
