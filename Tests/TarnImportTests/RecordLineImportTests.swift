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
        let expected = ["", "a", String(repeating: "x", count: 3 << 20), "", "é", "end"]
        try Data(expected.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        let file = try LineFile(path: path)
        var found: [String] = []
        while let line = try file.next() { found.append(line) }
        #expect(found == expected && file.number == expected.count)
    }
}
