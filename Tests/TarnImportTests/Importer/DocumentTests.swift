// Invalid JSON, or too much of it: an error, and an unchanged store.

import TarnImport
import TarnStore
import Testing

@Suite("Import: documents that cannot be read")
struct DocumentTests {
    private static let name = AttributeDefinition("name", .string, optional: true)
    private static let data = AttributeDefinition("data", .json, optional: true)

    /// The error of a body that a store with one record refuses; the record must be as it was.
    private func refusal(_ body: [UInt8]) throws -> ImportError? {
        let bed = try thing([Self.name, Self.data])
        try bed.take(#"[{"id":1,"name":"before"}]"#, "Thing")
        let (lines, sequence) = (try bed.lines(), try bed.sequence)
        var refused: ImportError?
        do { _ = try bed.importer.add(body, entity: "Thing") } catch { refused = error }
        _ = try bed.commit()
        #expect(try bed.lines() == lines)
        #expect(try bed.sequence == sequence)
        return refused
    }

    private func refusal(_ text: String) throws -> ImportError? { try refusal(Array(text.utf8)) }

    @Test(
        "what is not JSON is an error that shows its beginning, and the store is as it was",
        arguments: [
            "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "", "   ", "{", "[", #"[{"id":2},{"id":3"#,
            #"[{"id":2,"name":"cut"#, #"[{"id":2}]]"#, #"[{"id":2}] [{"id":3}]"#, "{'id':2}", #"{"id":02}"#,
            #"{"id":2,}"#,
            "[{\"id\":2,\"name\":\"a\u{01}\"}]", #"[{"id":2,"name":"\x"}]"#, "undefined", "NaN", "\u{0}",
        ])
    func notJSON(_ text: String) throws {
        guard case .invalidJSON(_, _, _, let beginning)? = try refusal(text) else {
            Issue.record("it was taken, or refused otherwise: \(text)")
            return
        }
        #expect(text.replacing("\n", with: " ").hasPrefix(beginning.replacing("…", with: "")))
        #expect(beginning.utf8.count <= 60)
    }

    @Test("a long body is shown by its first characters only")
    func beginningIsShort() throws {
        let error = try #require(try refusal("<html>" + String(repeating: "x", count: 10_000)))
        #expect("\(error)".contains("<html>xxx") && "\(error)".utf8.count < 250)
    }

    @Test(
        "text that is not UTF-8 is refused",
        arguments: [[0xFF, 0xFE], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) throws {
        let body = Array(#"[{"id":2,"name":""#.utf8) + bytes + Array(#""}]"#.utf8)
        guard case .invalidJSON? = try refusal(body) else {
            Issue.record("it was taken: \(bytes)")
            return
        }
    }

    @Test("a lone surrogate is refused", arguments: [#"\ud800"#, #"\udc00"#, #"\ud800\ud800"#, #"\ud83dx"#])
    func loneSurrogate(_ escape: String) throws {
        guard case .invalidJSON? = try refusal(#"[{"id":2,"name":"\#(escape)"}]"#) else {
            Issue.record("it was taken: \(escape)")
            return
        }
    }

    @Test(
        "a number that neither 64 bits nor a double can hold spoils only the attribute that cannot take it",
        arguments: [
            "123456789012345678901234567890", "18446744073709551616", "-9223372036854775809", "1e400", "-1e400",
        ])
    func hugeNumbers(_ number: String) throws {
        let bed = try thing([
            Self.name, Self.data, AttributeDefinition("whole", .int, optional: true),
            AttributeDefinition("exact", .decimal, optional: true),
            AttributeDefinition("double", .double, optional: true),
        ])
        let report = try bed.take(
            #"[{"id":1,"name":\#(number),"data":[\#(number)],"whole":\#(number),"exact":\#(number),"double":\#(number)},{"id":\#(number)}]"#,
            "Thing")
        #expect(try bed.value("Thing", 1, "name") == .string(number))
        #expect(try bed.value("Thing", 1, "data") == .json("[\(number)]"))
        #expect(try bed.value("Thing", 1, "exact") == .decimal(try #require(ExactDecimal(number))))
        #expect(try bed.value("Thing", 1, "whole") == nil)
        // The nearest double, if there is one.
        let isFinite = Double(number)?.isFinite ?? false
        #expect(try bed.value("Thing", 1, "double") == (isFinite ? Double(number).map { .double($0) } : nil))
        let codes = report.diagnostics.map { "\($0.code.rawValue) \($0.field ?? "")" }
        #expect(codes == ["value.type whole"] + (isFinite ? [] : ["value.type double"]) + ["key.missing id"])
        #expect(report.created == 1)
    }

    @Test("a number of 400 digits is named in a diagnostic by its beginning only")
    func longNumberInMessage() throws {
        let bed = try thing([AttributeDefinition("whole", .int, optional: true)])
        let report = try bed.take(#"{"id":1,"whole":\#(String(repeating: "7", count: 400))}"#, "Thing")
        #expect(
            report.diagnostics.first?.message
                == "expected int, found the number \(String(repeating: "7", count: 40))…; the stored value is kept")
    }

    @Test("the error of a document says at which byte it is wrong, counted from the first byte of the body")
    func offsetIsExact() throws {
        for (text, offset) in [(#"[{"id":1},{"id":x}]"#, 16), ("[1,2", 4), ("\u{FEFF}[1,]", 6), ("<html>", 0)] {
            guard case .invalidJSON(_, offset, _, _)? = try refusal(text) else {
                Issue.record("\(text): \(String(describing: try refusal(text)))")
                continue
            }
        }
        let error = try #require(try refusal(#"{"id":01}"#))
        #expect(
            "\(error)"
                == #"not valid JSON at byte 6, in $.id: a number must not have leading zeros. It begins with: {"id":01}"#
        )
    }

    @Test("the beginning of a body in an error is one line, whatever ends its lines")
    func beginningIsOneLine() throws {
        for text in ["<html>\n<p>", "<html>\r\n<p>"] {
            let error = try #require(try refusal(text))
            #expect("\(error)".hasSuffix(" It begins with: <html> <p>"))
        }
    }

    @Test("the error of a cut document has an offset inside it, whatever was read before")
    func offsetIsInside() throws {
        let bed = try thing([Self.name])
        let long = "[" + (1...500).map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",") + "]"
        for bad in ["", "[", "{", "[1,2", #"{"id":1,"name":"cut"#, "<html>", "[\"\u{01}\"]", "nul"] {
            try bed.take(long, "Thing")
            do {
                try bed.add(bad, "Thing")
                Issue.record("it was taken: \(bad)")
            } catch let error as ImportError {
                guard case .invalidJSON(_, let offset, _, _) = error else { continue }
                #expect(offset <= bad.utf8.count, "\(bad): \(error)")
            }
        }
        try bed.take(long, "Thing")
        #expect(throws: (any Error).self) { try bed.importer.add([0x5B, 0x22, 0xFF, 0x22, 0x5D], entity: "Thing") }
        do {
            _ = try bed.importer.add([0x5B, 0x22, 0xFF, 0x22, 0x5D], entity: "Thing")
        } catch {
            if case .invalidJSON(_, let offset, _, _) = error { #expect(offset <= 5, "\(error)") }
        }
    }

    @Test("of a key that stands twice in an object the last value counts; of one that identifies the record, the first")
    func sameKeyTwice() throws {
        let bed = try thing([Self.name, Self.data])
        try bed.take(#"{"id":1,"name":"a","data":1,"id":2,"name":"b","\u006eame":"c","data":{"x":1,"x":2}}"#, "Thing")
        #expect(try bed.lines() == [#"Thing 1 {"id":1,"name":"c","data":{"x":1,"x":2}}"#])
        try bed.take(#"{"list":[{"id":3}],"list":[{"id":4}]}"#, "Thing", records: "list")
        #expect(try bed.count("Thing") == 2)
        #expect(try bed.record("Thing", 4) != nil)
    }

    @Test("an empty key is a key like others")
    func emptyKey() throws {
        let bed = try thing([Self.name])
        let report = try bed.take(#"{"":1,"id":1,"name":"a","":{"":2}}"#, "Thing")
        #expect(report.created == 1 && report.diagnosticCount == 0)
        #expect(report.unmapped.map(\.count) == [2])
    }

    @Test("a byte order mark before the document is not part of it")
    func byteOrderMark() throws {
        let bed = try thing([Self.name])
        _ = try bed.importer.add([0xEF, 0xBB, 0xBF] + Array(#"[{"id":1}]"#.utf8), entity: "Thing")
        #expect(try bed.commit().created == 1)
    }

    @Test("NUL, control characters, emoji and the longest escapes arrive as they were sent")
    func strings() throws {
        let bed = try thing([Self.name])
        try bed.take(#"[{"id":1,"name":"a\u0000b\u001f\ud83d\ude00\\\"\/\b\f\n\r\té\uFFFF"}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "name") == .string("a\u{0}b\u{1F}😀\\\"/\u{8}\u{C}\n\r\té\u{FFFF}"))
        try bed.take(#"[{"id":2,"name":""}]"#, "Thing")
        #expect(try bed.value("Thing", 2, "name") == .string(""))
    }

    @Test("JSON nested a thousand levels deep is read where nobody wants it, and kept where it is wanted")
    func thousandLevels() throws {
        let bed = try thing([Self.data])
        let deep = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
        try bed.take(#"[{"id":1,"other":\#(deep)}]"#, "Thing")
        try bed.take(#"[{"id":2,"data":\#(deep)}]"#, "Thing")
        #expect(try bed.value("Thing", 2, "data") == .json(deep))
        let objects = String(repeating: #"{"a":"#, count: 1000) + "1" + String(repeating: "}", count: 1000)
        try bed.take(#"[{"id":3,"data":\#(objects)}]"#, "Thing")
        #expect(try bed.value("Thing", 3, "data") == .json(objects))
    }

    @Test("JSON nested more than 1,024 levels deep is refused", arguments: [1030, 100_000])
    func tooDeep(_ levels: Int) throws {
        let arrays = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let objects = String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
        for deep in [arrays, objects, String(repeating: "[", count: levels)] {
            guard case .invalidJSON? = try refusal(#"[{"id":2,"data":\#(deep)}]"#) else {
                Issue.record("it was taken at \(levels)")
                return
            }
        }
    }

    @Test("records nested in each other as deep as a document may be are all imported")
    func deepRecords() throws {
        let bed = try Forge.store()
        let levels = 1000
        var json = ""
        for id in 1...levels { json += #"{"id":\#(id),"login":"u\#(id)","friend":"# }
        json += "null" + String(repeating: "}", count: levels)
        #expect(try bed.take(json, "User").created == levels)
        #expect(try bed.related("User", 999, "friend") == ["1000"])
        #expect(try bed.value("User", 1000, "friend") == .null)
    }

    @Test("a document of some megabytes after a small one is read")
    func growingDocuments() throws {
        let bed = try thing([Self.name])
        try bed.take(#"[{"id":1}]"#, "Thing")
        let text = String(repeating: "é", count: 2 << 20)
        try bed.take(#"[{"id":1,"name":"\#(text)"}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "name") == .string(text))
        try bed.take(#"[{"id":1,"name":"short"}]"#, "Thing")
        #expect(try bed.value("Thing", 1, "name") == .string("short"))
    }
}
