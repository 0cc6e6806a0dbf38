// Rows that are scanned several at a time, entries that are counted without being compared, long
// groups.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Scans and counts")
struct ScanAndCountTests {
    let folder: TemporaryFolder
    let store: Store
    /// By the number of the item.
    let texts: [String]

    init() throws {
        folder = try TemporaryFolder()
        let item = EntityDefinition(
            "Item", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("text", .string, indexed: true),
                AttributeDefinition("number", .int),
                AttributeDefinition("filler", .string),
            ])
        store = try Store.open(at: folder("s"), schema: Schema([item]))
        // Long groups and short ones; a NUL makes a text that begins as another one ends.
        let values = ["a", "a", "a", "a", "a\0", "a\0b", "ab", "b", "b"]
        let texts = (0..<900).map { $0 % 100 == 7 ? "rare \($0)" : values[$0 % values.count] }
        try store.write { writer in
            for (number, text) in texts.enumerated() {
                // Every third row is long enough to be compressed.
                let filler = number % 3 == 0 ? String(repeating: "filler \(number % 5) ", count: 100) : ""
                try writer.put(
                    "Item", RecordKey(Int64(number)),
                    [
                        Record.Field("text", .string(text)), Record.Field("number", .int(Int64(number % 50))),
                        Record.Field("filler", .string(filler)),
                    ])
            }
        }
        self.texts = texts
    }

    private func count(_ condition: Condition) throws -> Int {
        try store.read { try $0.count(Query("Item", where: condition)) }
    }

    @Test("groups of any length are counted whole, also within a range")
    func groups() throws {
        func expected(_ texts: [String]) -> [String: Int] { Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +) }
        func found(_ condition: Condition) throws -> [String: Int] {
            var result: [String: Int] = [:]
            for (value, count) in try store.read({ try $0.counts(by: "text", Query("Item", where: condition)) }) {
                guard case .string(let text) = value else { continue }
                result[text] = count
            }
            return result
        }
        #expect(try found(.all) == expected(texts))
        for bound in ["a", "a\0", "a\0b", "ab", "b", "c"] {
            #expect(
                try found(.compare("text", .less, .string(bound)))
                    == expected(texts.filter { $0.utf8.lexicographicallyPrecedes(bound.utf8) }))
            #expect(
                try found(.compare("text", .greaterOrEqual, .string(bound)))
                    == expected(texts.filter { !$0.utf8.lexicographicallyPrecedes(bound.utf8) }))
        }
    }

    @Test("the entries of a range are counted to its end, and an empty range has none")
    func ranges() throws {
        let bounds = ["", "a", "a\0", "a\0b", "ab", "b", "rare 7", "z"]
        for low in bounds {
            for high in bounds {
                let wanted = texts.filter { text in
                    !text.utf8.lexicographicallyPrecedes(low.utf8) && text.utf8.lexicographicallyPrecedes(high.utf8)
                }
                let range = Condition.and([
                    .compare("text", .greaterOrEqual, .string(low)), .compare("text", .less, .string(high)),
                ])
                #expect(try count(range) == wanted.count)
            }
        }
    }

    @Test(
        "a scan gives every row that meets the condition, in order, and stops where it is told to",
        arguments: [false, true])
    func scan(compressed: Bool) throws {
        if compressed {
            try store.trainDictionaries()
            try store.rewrite()
        }
        let wanted = (0..<900).filter { $0 % 50 > 40 }.map { RecordKey(Int64($0)) }
        let condition = Condition.compare("number", .greater, .int(40))
        for (offset, limit) in [(0, nil), (0, 1), (0, 31), (5, 33), (100, nil), (0, 1000), (161, 3), (162, 1)]
            as [(Int, Int?)]
        {
            let keys = try store.read {
                try $0.fetch(Query("Item", where: condition, limit: limit, offset: offset)).map(\.key)
            }
            #expect(keys == Array(wanted.dropFirst(offset).prefix(limit ?? .max)))
        }
        // From a key on, and up to one.
        let part = Condition.and([
            condition, .compare("id", .greaterOrEqual, .int(90)), .compare("id", .less, .int(192)),
        ])
        let keys = try store.read { try $0.fetch(Query("Item", where: part)).map(\.key) }
        #expect(keys == wanted.filter { $0 >= RecordKey(Int64(90)) && $0 < RecordKey(Int64(192)) })
    }
}
