import Foundation
import TestSupport

/// Files that Python's `lmdb` has written: tables of every kind.
enum ForeignFile {
    private static let script =
        ForeignTables.script(
            """
            fill('binary', [(b'\\x00\\x01', b'\\xff\\x00deadline\\x01'), (b'k', b'')])
            fill('intdup', [(b'k', struct.pack('=I', i)) for i in range(3000)] + [(b'l', struct.pack('=I', 7))],
                dupsort=True, dupfixed=True, integerdup=True)
            fill('meta', [(b'%05d' % i, b'm') for i in range(600)])
            fill('names', [(b'key%03d' % i, b'{"n":%d}' % i) for i in range(300)] + [(b'large', b'x' * 9000)])
            fill('numbers', [(struct.pack('=Q', i * 7), b'v%d' % i) for i in range(50)], integerkey=True)
            fill('reverse', [(b'%d' % i, b'1') for i in range(1000)], reverse_key=True)
            fill('several', [(b'k', b'v%05d' % i) for i in range(2000)] + [(b'l', b'three'), (b'l', b'four')],
                dupsort=True)
            t.put(b'beside', b'the tables')
            """)
            + """
            def edit(text):
                with env.begin(write=True) as t: exec(text, {'t': t, 'env': env, 'struct': struct})
            for text in sys.argv[2:]: edit(text)
            """

    /// Makes a file, and runs lines of Python in further transactions `t` of the environment `env`.
    static func make(at path: String, _ edits: String...) throws {
        _ = try run("/usr/bin/python3", ["-c", script, path] + edits)
    }

    /// Runs lines of Python in transactions `t` of the environment `env` of a file, and changes
    /// nothing else.
    static func edit(at path: String, _ edits: String...) throws {
        let script = """
            import lmdb, struct, sys
            env = lmdb.open(sys.argv[1], map_size=1 << 26, max_dbs=16)
            for text in sys.argv[2:]:
                with env.begin(write=True) as t: exec(text)
            """
        _ = try run("/usr/bin/python3", ["-c", script, path] + edits)
    }

    /// Damages the page that has a text.
    static func damage(_ text: String, at path: String) throws {
        var bytes = try ForeignFile.bytes(path)
        guard let range = Data(bytes).range(of: Data(text.utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        // The flags of the page (mdb.c, `MDB_page`).
        bytes[range.lowerBound / 4096 * 4096 + 10] = 0xFF
        try write(bytes, to: path)
    }

    /// Makes a file of entries without a table; with duplicates, three values for each key.
    static func makePlain(at path: String, count: Int, hasDuplicates: Bool = false) throws {
        // Python's `lmdb` sets no options of the main table: `mdb_load` does.
        let script = """
            import os, subprocess, sys
            text = 'VERSION=3\\nformat=bytevalue\\ntype=btree\\nmapsize=67108864\\n' + sys.argv[2] + 'HEADER=END\\n'
            for i in range(\(count)):
                text += ' %s\\n %s\\n' % ((b'%06d' % (i // \(hasDuplicates ? 3 : 1))).hex(), (b'value %05d' % i).hex())
            os.mkdir(sys.argv[1])
            subprocess.run(['/usr/bin/mdb_load', sys.argv[1]], input=(text + 'DATA=END\\n').encode(), check=True)
            """
        _ = try run("/usr/bin/python3", ["-c", script, path, hasDuplicates ? "dupsort=1\n" : ""])
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let result = try output(of: program, arguments)
        guard result.status == 0 else { throw CocoaError(.executableLoad) }
        return result.text
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }
}
