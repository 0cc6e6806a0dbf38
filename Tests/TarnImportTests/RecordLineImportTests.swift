// Values of every type come back from the lines of a dump as they were.

import Foundation
import TarnStore
import Testing

@testable import TarnImport

@Suite("Import of dumped lines")
struct RecordLineImportTests {
    @Test(
        "a value of each type is read from its JSON as it was",
        arguments: [
            (Value.bool(true), AttributeType.bool), (.int(.min), .int), (.int(7), .uint), (.uint(.max), .uint),
            (.double(-0.0), .double), (.double(5e-324), .double), (.double(1e16), .double), (.double(0.1), .double),
            (.string("a\u{1}\"\\\u{2028}é"), .string), (.bytes([0, 255, 1]), .bytes),
            (.date(Timestamp(microseconds: -1)), .date), (.date(Timestamp(microseconds: 1_700_000_000_123_456)), .date),
            (.url("https://a.example/%20?x=1"), .url), (.json(#"{"a":[1.50,null,"\n"],"a":1e400}"#), .json),
            (.array([.int(1), .null, .int(3)]), .array(.int)), (.string("open"), .enumeration(["open"])), (.null, .int),
        ])
    func values(_ value: Value, _ type: AttributeType) throws {
        let read = try #require(Value(try JSONValue(value.jsonText), type))
        #expect(read.jsonText == value.jsonText)
        if case .double(let x) = value, case .double(let y) = read { #expect(x.bitPattern == y.bitPattern) }
        #expect(Value(.object([]), type) == nil || type == .json)
    }

    @Test("a decimal of any length comes back digit for digit")
    func decimals() throws {
        for text in ["123456789012345678901234567890.12345678901234567890", "-0.5", "1E+3"] {
            guard let decimal = ExactDecimal(text) else { continue }
            let value = Value.decimal(decimal)
            #expect(Value(try JSONValue(value.jsonText), .decimal) == value)
        }
    }

    @Test("lines end at line feeds, the last one at the end of the file, across all sizes of chunks")
    func lines() throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-lines-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let expected = [
            "", "a", String(repeating: "x", count: 3 << 20), "", "é",
            String(repeating: "y", count: (1 << 20) - 9), String(repeating: "z", count: 1 << 20), "", "end",
        ]
        try Data(expected.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        let file = try LineFile(path: path)
        var found: [String] = []
        while let line = try file.next() { found.append(line) }
        #expect(found == expected && file.number == expected.count)
    }

    // MARK: - Whole dumps

    private static let schema = Schema([
        EntityDefinition(
            "P", key: ["id"],
            attributes: [
                .init("id", .int), .init("n", .string, optional: true), .init("o", .int, optional: true, unique: true),
                .init("e", .enumeration(["a"]), optional: true), .init("at", .date, optional: true),
                .init("j", .json, optional: true),
            ])
    ])

    /// A folder with the lines and the stores of one test.
    private final class Place {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-lines-\(UUID().uuidString)"
        var store: String { path + "/s.tarn" }

        private let schema: Schema

        init(_ schema: Schema = RecordLineImportTests.schema) throws {
            self.schema = schema
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func lines(_ lines: [String]) throws -> String {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path + "/lines"))
            return path + "/lines"
        }

        func create(_ lines: [String], skipping: Bool = false) throws -> RecordLineImport.Report {
            try RecordLineImport.create(
                store, try Catalog(of: schema), from: LineFile(path: try self.lines(lines)),
                skippingProblems: skipping)
        }

        func value(_ key: Int64, _ field: String) throws -> Value? {
            try Store.open(at: store).read { try $0.record("P", RecordKey(key))?[field] }
        }
    }

    @Test("an enumeration value that the schema no longer has is restored, and is still refused as a new value")
    func removedEnumerationValue() throws {
        let place = try Place(), line = #"{"entity":"P","key":1,"version":1,"fields":{"id":1,"e":"b"}}"#
        let report = try place.create([line])
        #expect(report.isStored && report.problemCount == 0, "\(report.problems)")
        #expect(try place.value(1, "e")?.jsonText == "\"b\"")
        let store = try Store.open(at: place.store)
        #expect(throws: StoreError.self) {
            try store.write { try $0.put("P", RecordKey(1), [.init("e", .string("c"))]) }
        }
    }

    @Test("a date beyond the years 0 to 9999 comes back from the form that a dump has")
    func farDates() throws {
        let days: Int64 = 86_400_000_000
        for time in [
            Int64.min, .min + 1, .max, 253_402_300_799_999_999, 253_402_300_800_000_000, -62_167_219_200_000_000,
            -62_167_219_200_000_001, -62_167_219_201_000_000, 1_700_000_000_000 * 1_000_000, -800_000 * days,
        ] {
            let value = Value.date(Timestamp(microseconds: time))
            #expect(Value(try JSONValue(value.jsonText), .date) == value, "\(value.jsonText)")
        }
        for text in [
            "+001000-01-01T00:00:00Z", "+12026-01-01T00:00:00Z", "-000000-01-01T00:00:00Z", "+010000-02-30T00:00:00Z",
            "+999999-01-01T00:00:00Z", "+010000-01-01", "+-10000-01-01T00:00:00Z", "+010000",
        ] {
            #expect(Value(.string(text), .date) == nil, "\(text)")
        }
        // RFC 3339 has four digits, also from an API.
        #expect(Timestamp("+055840-11-08T02:13:20Z") == nil && Timestamp(description: "+055840-11-08T02:13:20Z") != nil)
    }

    @Test("JSON comes back with the white space and the escapes that a program has stored it with")
    func writtenJSON() throws {
        let texts = [
            #"{ "b": 1.10, "a":-0, "\u0065": "\/,\"}" }"#, #"[ 1 , "x\\" ]"#, #""\/""#, "-0", "1E5", "{}", "true",
            #"{"a":{"fields":{"j":1}}}"#,
        ]
        let place = try Place()
        let report = try place.create(
            texts.enumerated().map { #"{"entity":"P","key":\#($0),"version":1,"fields":{"id":\#($0),"j":\#($1)}}"# })
        #expect(report.isStored && report.problemCount == 0, "\(report.problems)")
        for (key, text) in texts.enumerated() { #expect(try place.value(Int64(key), "j") == .json(text)) }
        // Another program writes white space of its own around the value, and in it.
        let other = try Place()
        _ = try other.create([#"{"entity":"P","key":1,"fields":{"id":1,"j": {"a": [1, 2]}}}"#])
        #expect(try other.value(1, "j") == .json(#"{"a":[1,2]}"#))
    }

    @Test("of two lines of a record the first one is imported, and the second one is a problem")
    func twice() throws {
        let place = try Place()
        let report = try place.create(
            [
                #"{"entity":"P","key":1,"version":3,"fields":{"id":1,"n":"first"}}"#,
                #"{"entity":"P","key":1,"version":9,"fields":{"id":1,"n":"second"}}"#,
            ], skipping: true)
        #expect(report.isStored && report.problems.map(\.line) == [2])
        #expect(try place.value(1, "n") == .string("first"))
    }

    @Test("a record that is left out for its values is named, also if another entity has its key")
    func leftOutBesideEqualKey() throws {
        let schema = Schema([
            EntityDefinition("Q", key: ["id"], attributes: [.init("id", .int)]),
            EntityDefinition(
                "P", key: ["id"], attributes: [.init("id", .int), .init("o", .int, optional: true, unique: true)]),
        ])
        let place = try Place(schema)
        let report = try place.create(
            [
                #"{"entity":"Q","key":2,"version":1,"fields":{"id":2}}"#,
                #"{"entity":"P","key":1,"version":2,"fields":{"id":1,"o":7}}"#,
                #"{"entity":"P","key":2,"version":3,"fields":{"id":2,"o":7}}"#,
            ], skipping: true)
        #expect(report.problems.map(\.line) == [3], "\(report.problems)")
    }

    private func mergedLines() -> [String] {
        (1...4500).map { number in
            let value = number == 10 || number == 4200 ? 99 : number + 1000
            return "{\"entity\":\"P\",\"key\":\(number),\"fields\":{\"id\":\(number),\"o\":\(value)}}"
        }
    }

    private let holder = #"{"entity":"P","key":99999,"version":1,"fields":{"id":99999,"o":99}}"#

    @Test("a merge that leaves out bad lines leaves out those that the store refuses, and only them")
    func mergeSkipping() throws {
        let place = try Place()
        _ = try place.create([holder])
        let store = try Store.open(at: place.store)
        let report = try RecordLineImport.merge(
            LineFile(path: try place.lines(mergedLines())), into: store, skippingProblems: true)
        #expect(report.isStored && report.stoppedAt == nil && report.problems.map(\.line) == [10, 4200])
        #expect(report.problems.allSatisfy { $0.reason.contains("must be unique") }, "\(report.problems)")
        #expect(try store.read { try $0.count("P") } == 4499)
    }

    @Test("a merge ends at the line that the store refuses, and names it")
    func mergeStopping() throws {
        let place = try Place()
        _ = try place.create([holder])
        let store = try Store.open(at: place.store)
        var lines = mergedLines()
        let first = try RecordLineImport.merge(LineFile(path: try place.lines(lines)), into: store)
        #expect(!first.isStored && first.stoppedAt == 1 && first.problems.map(\.line) == [10], "\(first)")
        #expect(try store.read { try $0.count("P") } == 1)
        lines[9] = #"{"entity":"P","key":5000,"fields":{"id":5000,"o":1010}}"#
        let later = try RecordLineImport.merge(LineFile(path: try place.lines(lines)), into: store)
        #expect(later.isStored && later.stoppedAt == 4001 && later.problems.map(\.line) == [4200], "\(later)")
    }

    @Test(
        "a line in which a member or a field occurs twice is refused, in whichever order",
        arguments: [
            (#"{"entity":"Q","entity":"P","key":1,"fields":{"id":1}}"#, #""entity" occurs twice"#),
            (#"{"entity":"P","key":1,"key":2,"fields":{"id":2}}"#, #""key" occurs twice"#),
            (#"{"entity":"P","key":1,"version":1,"version":2,"fields":{"id":1}}"#, #""version" occurs twice"#),
            (#"{"entity":"P","key":1,"partial":true,"partial":false,"fields":{"id":1}}"#, #""partial" occurs twice"#),
            (#"{"entity":"P","key":1,"fields":{"id":1,"n":"a"},"fields":{"id":1}}"#, #""fields" occurs twice"#),
            (#"{"entity":"P","key":1,"fields":{"n":"a","id":1,"\u006e":"b"}}"#, #"the field "n" occurs twice"#),
        ])
    func repeatedMembers(_ line: String, _ reason: String) throws {
        let place = try Place(), report = try place.create([holder, line])
        #expect(!report.isStored && report.problems.map(\.line) == [2], "\(report)")
        #expect(report.problems.first?.reason == reason, "\(report.problems)")
        // JSON that is stored as text keeps what it has.
        #expect(try place.create([#"{"entity":"P","key":1,"fields":{"id":1,"j":{"a":1,"a":2}}}"#]).isStored)
    }

    @Test("of two lines of a record, the second one is a problem of a merge")
    func mergeRepeated() throws {
        let place = try Place()
        _ = try place.create([holder])
        let store = try Store.open(at: place.store)
        let path = try place.lines(
            [("1", "a"), ("2", "b"), ("1", "c"), ("1", "d"), ("3", "e")].map {
                "{\"entity\":\"P\",\"key\":\($0.0),\"fields\":{\"id\":\($0.0),\"n\":\"\($0.1)\"}}"
            })
        let refused = try RecordLineImport.merge(LineFile(path: path), into: store)
        #expect(!refused.isStored && refused.problems.map(\.line) == [3, 4], "\(refused.problems)")
        #expect(refused.problems.first?.reason == "the record of line 1 occurs twice")
        #expect(try store.read { try $0.count("P") } == 1)
        let report = try RecordLineImport.merge(LineFile(path: path), into: store, skippingProblems: true)
        #expect(report.isStored && report.problems.map(\.line) == [3, 4], "\(report.problems)")
        #expect(try store.read { try $0.record("P", RecordKey(1))?["n"] } == .string("a"))
        #expect(try store.read { try $0.count("P") } == 4)
    }

    @Test("a merge reads one file twice, also if its path leads to another one by now, and refuses a changed one")
    func mergeChanged() throws {
        let place = try Place()
        _ = try place.create([holder])
        let store = try Store.open(at: place.store)
        func line(_ text: String, key: Int = 1) -> String {
            #"{"entity":"P","key":\#(key),"fields":{"id":\#(key),"n":"\#(text)"}}"#
        }
        let path = try place.lines([line("first")])
        let replaced = try LineFile(path: path)
        try FileManager.default.removeItem(atPath: path)
        _ = try place.lines([line("second")])
        #expect(try RecordLineImport.merge(replaced, into: store).isStored)
        #expect(try store.read { try $0.record("P", RecordKey(1))?["n"] } == .string("first"))
        let changed = try LineFile(path: path)
        let end = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try end.seekToEnd()
        try end.write(contentsOf: Data((line("third", key: 2) + "\n").utf8))
        try end.close()
        #expect(throws: LineFile.Changed.self) { try RecordLineImport.merge(changed, into: store) }
        #expect(try store.read { try $0.record("P", RecordKey(1))?["n"] } == .string("first"))
    }

    @Test("repeated records are found across the parts that do not fit in memory", arguments: [1, 3, 7, 1000])
    func repetitions(limit: Int) throws {
        let digests = RecordDigests(limit: limit)
        for line in 1...200 {
            // Every record of the second half but the last one is in the first half.
            let key = line == 200 ? 0 : line > 100 ? line - 100 : line
            try digests.add(ListedRecord(entity: 1, storageKey: RecordKey(Int64(key)).storageKey), line: line)
            try digests.add(ListedRecord(entity: 2, storageKey: RecordKey(Int64(line)).storageKey), line: line)
        }
        let expected = (101...199).map { RecordDigests.Repetition(line: $0, first: $0 - 100) }
        #expect(try digests.repetitions() == expected)
    }

    @Test("an error of the temporary file names its folder: it is not the store that has no room")
    func temporaryFolder() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-none-\(UUID().uuidString)"
        let digests = RecordDigests(limit: 1, folder: folder)
        let record = ListedRecord(entity: 1, storageKey: RecordKey(1).storageKey)
        let error = #expect(throws: (any Error).self) { try digests.add(record, line: 1) }
        let known = try #require(error) as NSError
        #expect(known.domain == NSPOSIXErrorDomain && known.code == Int(ENOENT), "\(known)")
        let path = try #require(known.userInfo[NSFilePathErrorKey] as? String, "\(known)")
        #expect(path.hasPrefix(folder) && path.contains("TMPDIR"), "\(path)")
    }

    @Test("a line that is not UTF-8 is a problem with its number, and the others are read")
    func notUTF8() throws {
        let place = try Place()
        var bytes = Data(#"{"entity":"P","key":1,"version":1,"fields":{"id":1,"n":""#.utf8)
        bytes += [0xE9, 0x22, 0x7D, 0x7D, 0x0A]
        bytes += Data((#"{"entity":"P","key":2,"version":1,"fields":{"id":2}}"# + "\n").utf8)
        try bytes.write(to: URL(fileURLWithPath: place.path + "/lines"))
        let report = try RecordLineImport.create(
            place.store, try Catalog(of: RecordLineImportTests.schema), from: LineFile(path: place.path + "/lines"),
            skippingProblems: true)
        #expect(report.isStored && report.lines == 2 && report.problems.map(\.line) == [1])
        #expect(report.problems.first?.reason == "not valid UTF-8")
        #expect(try place.value(1, "id") == nil && place.value(2, "id") == .int(2))
    }

    @Test("a version is at most the greatest signed integer, so that commits can follow")
    func versions() throws {
        for (version, isRight) in [(UInt64.max, false), (1 << 63, false), ((1 << 63) - 1, true)] {
            let place = try Place()
            let report = try place.create([#"{"entity":"P","key":1,"version":\#(version),"fields":{"id":1}}"#])
            #expect(report.isStored == isRight, "\(version)")
            guard isRight else {
                #expect(report.problems.first?.reason.contains("is no number of a commit") == true)
                continue
            }
            let store = try Store.open(at: place.store)
            try store.write { try $0.put("P", RecordKey(1), [.init("n", .string("next"))]) }
        }
    }

    @Test("JSON as deep as an API may send it is read from a line, which has levels of its own")
    func depth() throws {
        let place = try Place()
        func line(_ depth: Int) -> String {
            let json = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"entity":"P","key":1,"version":1,"fields":{"id":1,"j":\#(json)}}"#
        }
        let report = try place.create([line(JSONParser.maximumDepth)])
        #expect(report.isStored, "\(report.problems)")
        #expect(try !Place().create([line(JSONParser.maximumDepth + 8)]).isStored)
    }
}
