// Documents that are read in pieces and drafted in parts: the same outcome as of the whole, limits,
// and bounded memory.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnImport

@Suite("Import: large documents")
struct PartsTests {
    /// The pieces of a document, of a size.
    private func pieces(_ document: [UInt8], _ size: Int) -> () -> [UInt8]? {
        var start = 0
        return {
            guard start < document.count else { return nil }
            let end = min(start + size, document.count)
            defer { start = end }
            return Array(document[start..<end])
        }
    }

    /// Imports in parts, as one change.
    @discardableResult
    private func take(
        _ document: [UInt8], _ bed: TestStore, _ entity: String, records: JSONPath = JSONPath(keys: []), piece: Int
    ) throws -> (report: ImportReport, parts: [Importer.Added]) {
        try bed.store.write { writer in
            var report = ImportReport(), parts: [Importer.Added] = []
            try bed.importer.addParts(records: records, entity: entity, next: pieces(document, piece)) { added in
                parts.append(added)
                report.add(try bed.importer.commit(into: &writer))
            }
            return (report, parts)
        }
    }

    private func issues(_ count: Int) -> String {
        (0..<count).map { id in
            #"{"id":\#(id),"title":"[{\"\\]},\#(id)","author":{"id":\#(id % 5),"login":"u,]"},"labels":[{"id":\#(id % 3)}],"comments":[{"id":\#(id),"text":"{"}]}"#
        }.joined(separator: " ,\n")
    }

    @Test(
        "a document in parts leaves the store that it leaves as a whole, however it is cut",
        arguments: [1, 2, 7, 64, 4096])
    func sameOutcome(_ piece: Int) throws {
        let list = "[ \(issues(40)) ]"
        let documents: [(String, [String])] = [
            (list, []), ("\u{FEFF}\(list)", []), (#"{"a":[{"no":"[1]"}],"items":\#(list),"z":"]"}"#, ["items"]),
            (#"{"it":{"items":[]},"x":{"a":{"items":\#(list)},"items":0}}"#, ["x", "a", "items"]),
            (#"{"d\u0061ta":\#(list),"data ":[1]}"#, ["data"]), (#"{"":{"items":\#(list)}}"#, ["", "items"]),
            (#"{"x":["items",{"items":[3]}],"items":\#(list)}"#, ["items"]),
            (#"{"x":"items","items":\#(list)}"#, ["items"]),
        ]
        for (document, path) in documents {
            let whole = try Forge.store()
            let expected = try whole.add(document, "Issue", records: JSONPath(keys: path))
            _ = try whole.commit()
            for size in [1, 100, 2000, 1 << 20] {
                let bed = try Forge.store()
                bed.importer.limits.partSize = size
                let (report, parts) = try take(
                    Array(document.utf8), bed, "Issue", records: JSONPath(keys: path), piece: piece)
                #expect(try bed.lines() == whole.lines())
                #expect(parts.flatMap(\.listed) == expected.listed)
                #expect(report.listed == 40 && report.entities["Issue"]?.created == 40)
                #expect(size == 1 ? parts.count == 40 : size == 1 << 20 ? parts.count == 1 : parts.count > 1)
            }
        }
    }

    @Test("a document without a list is one part; an empty list is one as well")
    func noList() throws {
        for (document, path, count) in [
            (#"{"id":1,"title":"t"}"#, [], 1), ("[]", [], 0), (#"{"a":[ ],"b":1}"#, ["a"], 0),
            (#"{"a":{"id":1}}"#, ["a"], 1),
        ] as [(String, [String], Int)] {
            let bed = try Forge.store()
            let (report, parts) = try take(Array(document.utf8), bed, "Issue", records: JSONPath(keys: path), piece: 3)
            #expect(parts.count == 1 && report.listed == count)
        }
    }

    @Test("paths of diagnostics and offsets of errors are those of the whole document")
    func places() throws {
        let bed = try Forge.store()
        bed.importer.limits.partSize = 1
        let document = #"{"x":[],"the.items":[{"id":1,"title":"t"},{"id":2,"title":[]},{"title":"no key"}],"y":0}"#
        let (report, _) = try take(Array(document.utf8), bed, "Issue", records: JSONPath(keys: ["the.items"]), piece: 5)
        #expect(report.diagnostics.map(\.path) == ["$.'the.items'[1].title", "$.'the.items'[2]"])
    }

    /// The position at which a document is refused; nil if it is accepted.
    private func refusal(_ document: [UInt8], _ path: [String], partSize: Int?) throws -> ImportError? {
        let bed = try thing([AttributeDefinition("data", .json, optional: true)])
        if let partSize { bed.importer.limits.partSize = partSize }
        do {
            if partSize == nil {
                _ = try bed.importer.add(document, records: JSONPath(keys: path), entity: "Thing")
            } else {
                try bed.importer.addParts(records: JSONPath(keys: path), entity: "Thing", next: pieces(document, 9)) {
                    _ in
                }
            }
        } catch let error as ImportError {
            return error
        }
        return nil
    }

    @Test("what is wrong anywhere in a document is refused in parts at the same byte as in one")
    func sameRefusal() throws {
        // Elements of parts may be nested as deep as those of a list that is the whole document:
        // depth is not compared.
        let cases = JSONCase.all.filter {
            !$0.name.hasPrefix("depth") && $0.document.count < 3000 && !$0.document.starts(with: [0xEF])
        }
        var refused = 0
        for example in cases {
            for (before, behind) in [
                (#"{"m":{"n":[]},"a":[{"id":1},"#, #"]}"#), (#"{"a":[{"id":1},{"id":2}],"b":"#, "}"),
            ] {
                let document = Array(before.utf8) + example.document + Array(behind.utf8)
                let whole = try refusal(document, ["a"], partSize: nil)
                for size in [1, 1000] {
                    let parts = try refusal(document, ["a"], partSize: size)
                    switch (whole, parts) {
                    case (nil, nil): break
                    case (.invalidJSON(_, let offset, let path, _)?, .invalidJSON(_, let other, let otherPath, _)?):
                        refused += 1
                        #expect(offset == other && path == otherPath, "\(example.name) \(size): \(path) \(otherPath)")
                    default:
                        Issue.record(
                            "\(example.name) \(size): \(String(describing: whole)), \(String(describing: parts))")
                    }
                }
            }
        }
        #expect(refused > 500)
    }

    @Test("every cut of a document is refused, also between parts", arguments: [1, 30, 1000])
    func cuts(_ size: Int) throws {
        let document = Array(#"{"m":"]","a":[{"id":1,"data":"\"}]"},{"id":2},{"id":3,"data":[[]]}],"z":[1]}"#.utf8)
        for length in 0..<document.count {
            guard case .invalidJSON(_, length, _, _)? = try refusal(Array(document[..<length]), ["a"], partSize: size)
            else {
                Issue.record(
                    "\(length): \(String(describing: try refusal(Array(document[..<length]), ["a"], partSize: size)))")
                continue
            }
        }
    }

    @Test(
        "a list that stands twice in a document, or is replaced behind it, is refused, since the last of equal keys counts",
        arguments: [
            #"{"a":[{"id":1}],"a":[{"id":2}]}"#, #"{"a":[{"id":1}],"a":null}"#, #"{"a":[{"id":1}],"a":{"id":2}}"#,
        ])
    func secondList(_ document: String) throws {
        guard case .notRecords(path: "a", found: _)? = try refusal(Array(document.utf8), ["a"], partSize: 1) else {
            Issue.record("\(String(describing: try refusal(Array(document.utf8), ["a"], partSize: 1)))")
            return
        }
    }

    @Test("an endless document is refused at its limit, before more of it is read")
    func limits() throws {
        let bed = try thing([AttributeDefinition("data", .json, optional: true)])
        bed.importer.limits.documentSize = 100_000
        bed.importer.limits.bodySize = 1_000_000
        bed.importer.limits.partSize = 1000
        func refusal(_ first: String, _ piece: String) throws -> (ImportError?, read: Int) {
            var read = 0
            do {
                try bed.importer.addParts(entity: "Thing") {
                    defer { read += read == 0 ? first.utf8.count : piece.utf8.count }
                    return Array((read == 0 ? first : piece).utf8)
                } part: { _ in
                    bed.importer.discard()
                }
            } catch let error as ImportError {
                return (error, read)
            }
            return (nil, read)
        }
        let text = String(repeating: "x", count: 1000)
        for (first, piece, what, limit) in [
            (#"{"a":""#, text, .document, 100_000), (#"[{"id":1,"data":""#, text, .element, 100_000),
            (#"[{"id":1}"#, #",{"id":1,"data":"\#(text)"}"#, .body, 1_000_000),
            (" ", String(repeating: " ", count: 1000), .document, 100_000),
            ("[", String(repeating: "[", count: 1000), .element, 100_000),
        ] as [(String, String, ImportError.Excess, Int)] {
            let (error, read) = try refusal(first, piece)
            #expect(error == .tooLarge(what, limit: limit))
            #expect(read <= limit + 3000)
            let message = error?.description ?? ""
            #expect(message.contains("\(limit) bytes") && message.contains("limits."))
        }
        _ = try bed.commit()
        #expect(try bed.count("Thing") == 0)
    }

    @Test("a body in memory beyond what is parsed at once is divided, and is all or nothing")
    func dividedBody() throws {
        let bed = try Forge.store()
        bed.importer.limits.documentSize = 2000
        bed.importer.limits.partSize = 500
        let whole = try Forge.store()
        let document = #"{"items":[\#(issues(100))]}"#
        #expect(document.utf8.count > 4000)
        let added = try bed.add(document, "Issue", records: "items")
        let expected = try whole.add(document, "Issue", records: "items")
        #expect(added.count == 100 && added.listed == expected.listed)
        #expect(try bed.commit() == whole.commit())
        #expect(try bed.lines() == whole.lines())
        // Wrong at its very end: nothing of it stays in the unit.
        #expect(throws: ImportError.self) { try bed.add(#"{"items":[\#(issues(100))],}"#, "Issue", records: "items") }
        #expect(try bed.commit() == ImportReport())
        bed.importer.limits.bodySize = 100
        #expect(throws: ImportError.tooLarge(.body, limit: 100)) { try bed.add(document, "Issue", records: "items") }
    }

    /// In a separate process: the memory of other tests would count.
    @Test(
        "a response of many objects goes through a fraction of its size in memory, as one atomic change",
        .disabled(if: isSanitized))
    func boundedMemory() async {
        await #expect(processExitsWith: .success) {
            // 30 MB, and 300 MB with a million objects if TARN_LARGE is set.
            let count = ProcessInfo.processInfo.environment["TARN_LARGE"] == nil ? 60_000 : 1_000_000
            let filler = (0..<12).map { _ in "the quick brown fox jumps over the dog" }.joined(separator: " ")
            let bed = try TestStore(
                Schema([
                    EntityDefinition(
                        "Thing", key: ["id"],
                        attributes: [AttributeDefinition("id", .int), AttributeDefinition("data", .string)],
                        compression: .none)
                ]))
            bed.importer.limits.partSize = 1 << 20
            bed.importer.limits.documentSize = 2 << 20
            var made = 0, size = 0, highest = 0
            let before = try bed.sequence
            let start = try PartsTests.anonymousMemory()
            let report = try bed.store.write { writer in
                var report = ImportReport()
                try bed.importer.addParts(
                    records: "items", entity: "Thing",
                    next: {
                        guard made < count else {
                            defer { made += 1 }
                            return made == count ? Array("],\"more\":false}".utf8) : nil
                        }
                        var piece = made == 0 ? #"{"items":["# : ""
                        for id in made..<min(made + 500, count) {
                            piece += #"\#(id == 0 ? "" : ","){"id":\#(id),"data":"\#(id) \#(filler)"}"#
                        }
                        made = min(made + 500, count)
                        size += piece.utf8.count
                        return Array(piece.utf8)
                    },
                    part: { _ in
                        report.add(try bed.importer.commit(into: &writer))
                        highest = max(highest, try PartsTests.anonymousMemory())
                    })
                return report
            }
            print("\(size >> 20) MiB in, \((highest - start) >> 20) MiB of memory")
            #expect(report.listed == count && report.created == count)
            #expect(try bed.count("Thing") == count)
            #expect(try bed.value("Thing", Int64(count - 1), "data") == .string("\(count - 1) \(filler)"))
            #expect(try bed.sequence == before + 1)
            // LMDB keeps up to 512 MiB of changed pages of a transaction; the change log has a part
            // in it.
            #expect(highest - start < min(size * 4, 700 << 20))
        }
    }

    /// In a separate process: the memory of other tests would count.
    @Test(
        "parts that are each a unit need memory for one part, however large the document is", .disabled(if: isSanitized)
    )
    func boundedMemoryOfUnits() async {
        await #expect(processExitsWith: .success) {
            let bed = try thing([AttributeDefinition("data", .string, optional: true)])
            bed.importer.limits.partSize = 256 << 10
            let filler = String(repeating: "z", count: 2000)
            var made = 0, units = 0, highest = 0
            let start = try PartsTests.anonymousMemory()
            try bed.importer.addParts(entity: "Thing") {
                defer { made += 1 }
                // 60 MB that repeat the same 100 records.
                if made == 600 { return Array("]".utf8) }
                guard made < 600 else { return nil }
                let records = (0..<50).map { #"{"id":\#($0 + made % 2 * 50),"data":"\#(filler)"}"# }.joined(
                    separator: ",")
                return Array(((made == 0 ? "[" : ",") + records).utf8)
            } part: { _ in
                _ = try bed.store.write { try bed.importer.commit(into: &$0) }
                units += 1
                highest = max(highest, try PartsTests.anonymousMemory())
            }
            print("\((highest - start) >> 20) MiB of memory")
            #expect(units > 100 && highest - start < 40 << 20)
            #expect(try bed.count("Thing") == 100)
        }
    }

    /// RssAnon: the anonymous memory of this process.
    static func anonymousMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) << 10
    }

    /// `TARN_LARGE=1 swift test --filter PartsTests/millionInUnits`.
    @Test(
        "a million objects in one response, committed part by part, need a fraction of its size in memory",
        .enabled(if: ProcessInfo.processInfo.environment["TARN_LARGE"] != nil))
    func millionInUnits() async {
        await #expect(processExitsWith: .success) {
            let bed = try thing([
                AttributeDefinition("data", .string), AttributeDefinition("number", .int, indexed: true),
            ])
            let filler = (0..<12).map { _ in "the quick brown fox jumps over the dog" }.joined(separator: " ")
            let count = 1_000_000
            var made = 0, size = 0, highest = 0, report = ImportReport()
            let start = try PartsTests.anonymousMemory()
            try bed.importer.addParts(entity: "Thing") {
                guard made < count else {
                    defer { made += 1 }
                    return made == count ? Array("]".utf8) : nil
                }
                var piece = made == 0 ? "[" : ","
                for id in made..<made + 500 {
                    piece +=
                        #"\#(id == made ? "" : ","){"id":\#(id),"number":\#(count - id),"data":"\#(id) \#(filler)"}"#
                }
                made += 500
                size += piece.utf8.count
                return Array(piece.utf8)
            } part: { _ in
                report.add(try bed.store.write(alone: true) { try bed.importer.commit(into: &$0) })
                highest = max(highest, try PartsTests.anonymousMemory())
            }
            print("\(size >> 20) MiB in, \((highest - start) >> 20) MiB of memory")
            #expect(report.created == count && report.listed == count && highest - start < 200 << 20)
            #expect(try bed.count("Thing") == count)
        }
    }

    @Test("text of 50 MB in one value arrives whole")
    func longText() throws {
        let bed = try thing([AttributeDefinition("data", .string, optional: true)])
        var document = Array(#"[{"id":1,"data":""#.utf8)
        document += [UInt8](repeating: UInt8(ascii: "x"), count: 50_000_000)
        document += Array(#"\n"}]"#.utf8)
        _ = try bed.importer.add(document, entity: "Thing")
        _ = try bed.commit()
        guard case .string(let text)? = try bed.value("Thing", 1, "data") else {
            Issue.record("it is not there")
            return
        }
        #expect(text.utf8.count == 50_000_001 && text.hasSuffix("xx\n"))
    }
}
