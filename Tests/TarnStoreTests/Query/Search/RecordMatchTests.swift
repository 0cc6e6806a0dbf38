// The records that have a text, with the places where they have it.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Records with a text")
struct RecordMatchTests {
    private static let schema = Schema([
        EntityDefinition(
            "Note", key: ["id"],
            attributes: [
                .init("id", .string), .init("title", .string, optional: true), .init("url", .url, optional: true),
                .init("lines", .array(.string), optional: true), .init("extra", .json, optional: true),
                .init("count", .int, optional: true), .init("data", .bytes, optional: true),
            ]),
        EntityDefinition("Memo", parent: "Note", attributes: [.init("memo", .string, optional: true)]),
    ])

    /// The first occurrence in a text, found character by character.
    private func match(
        _ field: String, _ text: String, _ part: String, ignoringCase: Bool, context: Int
    ) -> TextMatch? {
        let wanted = Array((ignoringCase ? CaseFolding.fold(part) : part).utf8), all = Array(text.unicodeScalars)
        var own: [UInt8] = [], ends: [Int] = []
        for scalar in all {
            own += Array((ignoringCase ? CaseFolding.fold(String(scalar)) : String(scalar)).utf8)
            ends.append(own.count)
        }
        let start = (0..<max(0, own.count - wanted.count + 1)).first {
            own[$0..<$0 + wanted.count].elementsEqual(wanted)
        }
        guard let start, let from = ends.firstIndex(where: { $0 > start }),
            let last = ends.firstIndex(where: { $0 >= start + wanted.count })
        else { return nil }
        func string(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(all[range])) }
        let begin = max(0, from - context), end = min(all.count, last + 1 + context)
        var match = TextMatch(field, "", 0..<0, context: 0)
        match.before = (begin > 0 ? "…" : "") + string(begin..<from)
        match.match = string(from..<last + 1)
        match.after = string(last + 1..<end) + (end < all.count ? "…" : "")
        return match
    }

    private func texts(_ value: Value) -> [String] {
        switch value {
        case .string(let text), .url(let text), .json(let text): [text]
        case .array(let values): values.flatMap { texts($0) }
        default: []
        }
    }

    @Test("every record that `any contains` finds is found, with the first occurrence of each field")
    func model() throws {
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"), Self.schema)
        var dice = SeededRandom(seed: 20_261_125)
        let letters = ["a", "b", "A", "ß", "SS", "\u{212A}", "k", "ü", "Ü", "🙂", "e\u{301}", " "]
        func text(_ length: Int) -> String {
            (0..<dice.roll(0..<length)).map { _ in letters[dice.roll(0..<letters.count)] }.joined()
        }
        try store.write { writer in
            for number in 0..<300 {
                var fields: [Record.Field] = [.init("title", .string(text(60)))]
                if number % 2 == 0 { fields.append(.init("lines", .array([.string(text(4)), .string(text(8))]))) }
                if number % 3 == 0 { fields.append(.init("extra", .json("\"\(text(20))\""))) }
                if number % 5 == 0 { fields.append(.init("url", .url("https://a.example/\(number)ak"))) }
                if number % 7 == 0 { fields.append(.init("data", .bytes(Array("ak".utf8)))) }
                if number % 4 == 0 { fields.append(.init("memo", .string(text(10)))) }
                try writer.put(number % 4 == 0 ? "Memo" : "Note", RecordKey("ab\(number)"), fields)
            }
        }
        try store.read { reader in
            var found = 0
            for _ in 0..<60 {
                let part = text(4), context = dice.roll(0..<12)
                if part.isEmpty { continue }
                for ignoringCase in [false, true] {
                    for entity in ["Note", "Memo"] {
                        var expected: [RecordKey: [TextMatch]] = [:], matches: [RecordKey: [TextMatch]] = [:]
                        try reader.forEach(Query(entity, where: .anyContains(part, ignoringCase: ignoringCase))) {
                            record in
                            guard record.entity == entity else { return true }
                            expected[record.key] = record.fields.compactMap { field in
                                texts(field.value).lazy.compactMap {
                                    match(field.name, $0, part, ignoringCase: ignoringCase, context: context)
                                }.first
                            }
                            return true
                        }
                        try reader.forEachMatch(of: part, ignoringCase: ignoringCase, in: entity, context: context) {
                            matches[$0] = $1
                            return true
                        }
                        #expect(matches == expected, "\(part) \(ignoringCase) \(entity)")
                        found += matches.values.reduce(0) { $0 + $1.count }
                    }
                }
            }
            #expect(found > 1000)
            // It ends where the closure says so.
            var count = 0
            try reader.forEachMatch(of: "a", ignoringCase: false, in: "Note", context: 3) { _, _ in
                count += 1
                return count < 3
            }
            #expect(count == 3)
        }
    }
}
