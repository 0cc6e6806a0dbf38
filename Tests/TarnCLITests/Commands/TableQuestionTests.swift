// `tarn inspect` about LMDB files of other programs: keys, values, texts and sizes by table.

import Foundation
import TestSupport
import Testing

@Suite("Command line: tables of other programs")
struct TableQuestionTests {
    private static let script = ForeignTables.script(
        """
        fill('names', [(b'key%03d' % i, b'{"n":%d}' % i) for i in range(300)] + [(b'large', b'x' * 9000)])
        fill('numbers', [(struct.pack('=Q', i * 7), b'\\x00\\xff') for i in range(50)], integerkey=True)
        fill('several', [(b'k', b'Stra\\xc3\\x9fe'), (b'k', b'two'), (b'l', b'three')], dupsort=True)
        fill('meta', [(b'%05d' % i, b'm') for i in range(600)])
        fill('binary', [(b'\\x00\\x01', b'\\xff\\x00deadline\\x01')])
        t.put(b'beside', b'the tables: key007')
        """)

    /// An LMDB file that Python's `lmdb` has written.
    private func foreignFile(_ folder: TemporaryFolder) throws -> String {
        let path = folder("other")
        let made = try output(of: "/usr/bin/python3", ["-c", Self.script, path])
        #expect(made.status == 0, "\(made.text)")
        return path
    }

    @Test("keys lists the keys of a table in its order: texts, numbers, and a key for each of its values")
    func keys() async throws {
        let folder = try TemporaryFolder(), file = try foreignFile(folder)
        let names = try await tarn("inspect", "keys", file, "names", "--limit", "2")
        #expect(names.status == 0 && names.lines == ["\"key000\"", "\"key001\""], "\(names)")
        let numbers = try await tarn("inspect", "keys", file, "numbers")
        #expect(numbers.lines == (0..<50).map { "\($0 * 7)" }, "\(numbers)")
        #expect(try await tarn("inspect", "keys", file, "several", "--count").lines == ["3"])
        let wrong = try await tarn("inspect", "keys", file, "nams")
        #expect(wrong.status == 2 && wrong.error.contains("unknown table \"nams\": did you mean \"names\"?"))
        // The inspector reads a table of this name before, to tell a store.
        let meta = try await tarn("inspect", "keys", file, "meta", "--count")
        #expect(meta.status == 0 && meta.lines == ["600"] && meta.error == "", "\(meta)")
        #expect(try await tarn("inspect", "keys", file, "(main)").lines == ["\"beside\""])
        let prefix = try await tarn("inspect", "keys", file, "names", "--prefix", "k")
        #expect(prefix.status == 2 && prefix.error.contains("--prefix is for stores of Tarn"), "\(prefix.error)")
    }

    @Test("get shows all values of a key, by a text or a number")
    func get() async throws {
        let folder = try TemporaryFolder(), file = try foreignFile(folder)
        let text = try await tarn("inspect", "get", file, "names", "key007")
        #expect(text.status == 0 && text.lines == ["names key007", "  {\"n\":7}  (7 bytes)"], "\(text)")
        let number = try await tarn("inspect", "get", file, "numbers", "49", "--json")
        #expect(
            number.lines == [#"{"table":"numbers","key":49,"count":1,"values":[{"hex":"00ff"}]}"#], "\(number)")
        let several = try await tarn("inspect", "get", file, "several", "k", "--limit", "1")
        #expect(several.lines == ["several k", "  Straße  (7 bytes)", "  and 1 more"], "\(several)")
        // `top` shows keys in hexadecimal.
        for key in ["6b6579303037", "6B6579303037"] {
            let digits = try await tarn("inspect", "get", file, "names", "0x" + key, "--json")
            #expect(digits.output.contains(#""key":"key007","count":1,"values":["{\"n\":7}"]"#), "\(digits)")
        }
        let missing = try await tarn("inspect", "get", file, "several", "K")
        #expect(missing.status == 1 && missing.lines == ["several K (not stored)"], "\(missing)")
    }

    @Test("grep finds texts in keys and values of all tables, and beside them")
    func grep() async throws {
        let folder = try TemporaryFolder(), file = try foreignFile(folder)
        let found = try await tarn("inspect", "grep", file, "key007", "--format", "ndjson")
        #expect(
            found.lines == [
                #"{"table":null,"key":"beside","part":"value","text":"the tables: key007"}"#,
                #"{"table":"names","key":"key007","part":"key","text":"key007"}"#,
            ], "\(found)")
        let binary = try await tarn("inspect", "grep", file, "deadline", "--format", "ndjson")
        #expect(binary.lines.count == 1 && binary.output.contains(#""key":{"hex":"0001"}"#), "\(binary)")
        let folded = try await tarn("inspect", "grep", file, "STRASSE", "-i", "--count")
        #expect(folded.lines == ["1"] && folded.status == 0)
        let limited = try await tarn(
            "inspect", "grep", file, "n", "--entity", "names", "--limit", "3", "--format", "csv")
        #expect(limited.lines.count == 4 && limited.lines.first == "table,key,part,text", "\(limited)")
        #expect(try await tarn("inspect", "grep", file, "absent").status == 1)
    }

    @Test("top shows the largest entries and the fullest tables")
    func top() async throws {
        let folder = try TemporaryFolder(), file = try foreignFile(folder)
        let top = try json(try await tarn("inspect", "top", file, "--limit", "1", "--json").output)
        let largest = try #require(top["largest"] as? [[String: Any]])
        #expect(largest.count == 1 && largest[0]["valueBytes"] as? Int == 9000, "\(largest)")
        #expect(largest.first?["table"] as? String == "names")
        let tables = try #require(top["tables"] as? [[String: Any]])
        #expect(tables.count == 1 && tables[0]["entries"] as? Int == 301, "\(tables)")
        let shown = try await tarn("inspect", "top", file, "--entity", "numbers")
        #expect(shown.status == 0 && !shown.output.contains("names"), "\(shown.output)")
        let small = try json(
            try await tarn("inspect", "top", file, "--entity", "numbers", "--limit", "2", "--json").output)
        #expect((small["largest"] as? [[String: Any]])?.count == 2, "\(small)")
        let main = try json(try await tarn("inspect", "top", file, "--entity", "(main)", "--json").output)
        #expect((main["largest"] as? [[String: Any]])?.first?["key"] as? String == "626573696465", "\(main)")
    }

    @Test("a store is asked about its entities as before, also a damaged one")
    func stores() async throws {
        let store = try await Forge.store
        let keys = try await tarn("inspect", "keys", store, "r/1")
        #expect(keys.status == 2 && keys.error.contains("unknown entity r/1"), "\(keys.error)")
        let folder = try TemporaryFolder(), copy = folder("copy.tarn")
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy + "/data.mdb"))
        // Every page but the meta pages: the table of tables is unreadable.
        for page in 2..<bytes.count / 4096 { bytes[page * 4096 + 10] = 0x40 }
        try bytes.write(to: URL(fileURLWithPath: copy + "/data.mdb"))
        for question in [["keys", copy, "Issue"], ["get", copy, "Issue", "7"], ["grep", copy, "x"], ["top", copy]] {
            let result = try await tarn(["inspect"] + question)
            #expect(result.status == 6, "\(question): \(result)")
        }
    }
}
