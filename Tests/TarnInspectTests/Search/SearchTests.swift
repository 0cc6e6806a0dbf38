// The search for a text, compared with a scan of every value of a dump.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: search")
struct SearchTests {
    /// A store with values of every type, of which some rows are compressed.
    private final class EveryType: Sendable {
        let folder: TemporaryFolder
        var path: String { folder.path + "/all.tarn" }

        static let schema = Schema([
            EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)]),
            EntityDefinition("Token", key: ["id"], attributes: [.init("id", .uuid)]),
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    .init("id", .int), .init("text", .string, optional: true), .init("large", .uint, optional: true),
                    .init("ratio", .double, optional: true), .init("price", .decimal, optional: true),
                    .init("flag", .bool, optional: true), .init("data", .bytes, optional: true),
                    .init("at", .date, optional: true), .init("code", .uuid, optional: true),
                    .init("link", .url, optional: true), .init("raw", .json, optional: true),
                    .init("words", .array(.string), optional: true), .init("numbers", .array(.int), optional: true),
                    .init("state", .enumeration(["open", "closed"]), optional: true),
                ],
                relationships: [
                    .init("tag", to: "Tag"), .init("tags", to: "Tag", many: true, inverse: "things"),
                    .init("tokens", to: "Token", many: true),
                ]),
        ])

        static let words = [
            "Fjord", "straße", "STRASSE", "Kelvin \u{212A}", "naïve", "ſharp", "ﬁne", "a\"b\\c\nd", "İstanbul",
            "ΣΊΣΥΦΟΣ",
            "red herring", "x\u{0}y", "😀 face", "null", "true", "e",
        ]

        init(seed: UInt64) throws {
            folder = try TemporaryFolder()
            let store = try Store.open(
                at: folder.path + "/all.tarn", schema: EveryType.schema, options: Store.Options(durability: .volatile))
            var dice = SeededRandom(seed: seed)
            for round in 0..<2 {
                try store.write { writer in
                    for number in 0..<(round == 0 ? 1050 : 200) {
                        try EveryType.put(&writer, Int64(round * 1050 + number) * 37 - 9_000, &dice)
                    }
                }
                if round == 0 { #expect(try store.trainDictionaries().contains("Thing")) }
            }
        }

        private static func tag(_ dice: inout SeededRandom) -> RecordKey {
            let word = words[dice.roll(0..<words.count)]
            // A key of more than 207 bytes is a digest in references.
            return RecordKey(dice.roll(0..<20) == 0 ? String(repeating: "long ", count: 60) + word : word)
        }

        private static func put(_ writer: inout StoreWriter, _ id: Int64, _ dice: inout SeededRandom) throws {
            func word(_ dice: inout SeededRandom) -> String { words[dice.roll(0..<words.count)] }
            var fields: [Record.Field] = []
            func add(_ name: String, _ value: Value) {
                if dice.roll(0..<3) > 0 { fields.append(.init(name, dice.roll(0..<9) == 0 ? .null : value)) }
            }
            let text = (0..<dice.roll(0..<8)).map { _ in word(&dice) }.joined(separator: " ")
            add(
                "text",
                .string(dice.roll(0..<4) == 0 ? text + String(repeating: " filler of a long row", count: 30) : text))
            add("large", .uint(UInt64.max - UInt64(dice.roll(0..<1000))))
            add("ratio", .double([1.5, -0.25, 1e300, .nan, 12345.678][dice.roll(0..<5)]))
            if let price = ExactDecimal("\(dice.roll(0..<1000)).\(dice.roll(10..<99))") {
                add("price", .decimal(price))
            }
            add("flag", .bool(dice.roll(0..<2) == 0))
            add("data", .bytes((0..<dice.roll(0..<12)).map { _ in UInt8(dice.roll(0..<256)) }))
            add("at", .date(Timestamp(microseconds: Int64(dice.roll(0..<2_000_000_000)) * 1_000_123)))
            add(
                "code",
                .uuid(
                    UUID(uuidString: "0000\(dice.roll(1000..<9999))-aaaa-4bbb-8ccc-ddddeeee\(dice.roll(1000..<9999))")
                        ?? UUID()))
            add("link", .url("https://example.org/\(dice.roll(0..<99))?q=\(dice.roll(0..<9))"))
            add("raw", .json("{\"k\":\(dice.roll(0..<99)),\"w\":\"Fjord\"}"))
            add("words", .array((0..<dice.roll(0..<4)).map { _ in .string(word(&dice)) }))
            add("numbers", .array((0..<dice.roll(0..<4)).map { _ in .int(Int64(dice.roll(0..<5000))) }))
            add("state", .string(dice.roll(0..<2) == 0 ? "open" : "closed"))
            add("tag", .reference(tag(&dice)))
            var tags: [RecordKey] = []
            for _ in 0..<(dice.roll(0..<40) == 0 ? 400 : dice.roll(0..<4)) {
                let key = RecordKey("\(tag(&dice)) \(dice.roll(0..<9999))")
                if !tags.contains(key) { tags.append(key) }
            }
            add("tags", .references(tags))
            add(
                "tokens",
                .references([
                    RecordKey(
                        UUID(uuidString: "12345678-aaaa-4bbb-8ccc-dddd\(dice.roll(10_000_000..<99_999_999))") ?? UUID())
                ]))
            try writer.put("Thing", RecordKey(id), fields)
        }
    }

    /// A field with a match, for comparisons.
    private struct Place: Hashable {
        var key: String
        var field: String
    }

    /// Every text of a value, as the documentation says.
    private static func texts(_ value: Value) -> [String] {
        switch value {
        case .null: []
        case .array(let values): values.flatMap(texts)
        case .reference(let key): key.components.map(\.description)
        case .references(let keys): keys.flatMap { $0.components.map(\.description) }
        default: [value.plainText]
        }
    }

    private static func contains(_ text: String, _ needle: String) -> Bool {
        contains(Data(text.utf8), Data(needle.utf8))
    }

    private static func contains(_ text: Data, _ needle: Data) -> Bool { text.range(of: needle) != nil }

    @Test("texts at random are found where a scan of all values finds them, with and without case", arguments: [1, 2])
    func model(_ seed: UInt64) throws {
        let store = try EveryType(seed: seed)
        let records = try StoreInspector(at: store.path).open { file in
            var records: [Record] = []
            for entity in try file.entities(named: nil) {
                try StoreInspector.forEachRecord(of: entity, file, damaged: { _ in }) { records.append($0) }
            }
            return records
        }
        let texts: [(place: Place, text: String, bytes: Data, folded: Data)] = records.flatMap { record in
            record.fields.flatMap { field in
                Self.texts(field.value).map {
                    (Place(key: "\(record.key)", field: field.name), $0, Data($0.utf8), Data(CaseFolding.fold($0).utf8))
                }
            }
        }
        #expect(records.count == 1250)
        var dice = SeededRandom(seed: seed), found = 0
        for number in 0..<60 {
            let needle = Self.needle(texts[dice.roll(0..<texts.count)].text, &dice), ignoresCase = number % 2 == 1
            let text = ignoresCase && dice.roll(0..<2) == 0 ? needle.uppercased() : needle
            guard !text.isEmpty else { continue }
            let folded = CaseFolding.fold(text)
            let bytes = Data(ignoresCase ? folded.utf8 : text.utf8)
            let wanted = Set(
                texts.filter { Self.contains(ignoresCase ? $0.folded : $0.bytes, bytes) }.map(\.place))
            var options = SearchOptions()
            options.ignoresCase = ignoresCase
            let result = try searchEveryWay(StoreInspector(at: store.path), text, options), matches = result.matches
            #expect(result.damages == [])
            let places = Set(matches.map { Place(key: "\($0.key)", field: $0.field) })
            #expect(places == wanted, "seed \(seed), \(number): \"\(text)\"")
            #expect(result.fields == matches.count && result.records == Set(matches.map(\.key)).count)
            for match in matches.prefix(20) {
                let part = String(decoding: Array(match.text.utf8)[match.range], as: UTF8.self)
                #expect(ignoresCase ? Self.contains(CaseFolding.fold(part), folded) : part == text)
                #expect(match.excerpt().contains(part))
            }
            found += wanted.count
        }
        #expect(found > 500)
    }

    /// A part of a text, of up to 12 characters.
    private static func needle(_ text: String, _ dice: inout SeededRandom) -> String {
        let scalars = Array(text.unicodeScalars)
        guard !scalars.isEmpty else { return "nothing has this" }
        let start = dice.roll(0..<scalars.count), end = min(scalars.count, start + dice.roll(1..<13))
        return String(String.UnicodeScalarView(scalars[start..<end]))
    }

    @Test("fields, entity and limit restrict a search; unknown ones are errors")
    func options() throws {
        let store = try InspectedStore()
        func search(_ change: (inout SearchOptions) -> Void) throws -> [String] {
            var options = SearchOptions(), found: [String] = []
            change(&options)
            _ = try StoreInspector(at: store.path).search(
                for: "a", options, damaged: { _ in }, match: { found.append("\($0.entity).\($0.field)") })
            return found
        }
        #expect(try search { _ in } == ["Author.name", "Book.shelf", "Book.shelf"])
        #expect(try search { $0.entity = "Book" } == ["Book.shelf", "Book.shelf"])
        #expect(try search { $0.fields = ["title"] } == [])
        #expect(try search { $0.limit = 2 } == ["Author.name", "Book.shelf"])
        #expect(try search { $0.ignoresCase = true } == ["Author.name", "Book.shelf", "Book.shelf"])
        #expect(throws: StoreError.self) { try search { $0.entity = "Nope" } }
        #expect(throws: StoreError.self) { try search { ($0.entity, $0.fields) = ("Book", ["nope"]) } }
        // The error of a search of all entities names none.
        #expect(throws: RecordSelectionError.self) { try search { $0.fields = ["nope"] } }
    }

    @Test("a damaged row is reported, whether or not it has the text")
    func damage() throws {
        let store = try InspectedStore()
        try store.damage("Volume number 1")
        var damaged: [String] = []
        let result = try StoreInspector(at: store.path).search(
            for: "nothing has this", damaged: { damaged.append("\($0)") }, match: { _ in })
        #expect(result.records == 0 && damaged == ["Book [a/b, 1]: the checksum is wrong"])
    }

    @Test("a search of many pages finds and reports the same on one thread and on two, in a damaged file, too")
    func manyPages() throws {
        let folder = try TemporaryFolder(), path = folder("many.tarn")
        do {
            let store = try Store.open(
                at: path,
                schema: Schema([
                    EntityDefinition(
                        "Row", key: ["id"], attributes: [.init("id", .int), .init("text", .string)])
                ]), options: Store.Options(durability: .volatile))
            try store.write { writer in
                for number in 0..<12_000 {
                    let text = number % 1000 == 7 ? "a rare word" : String(repeating: "common ", count: 5)
                    try writer.put("Row", RecordKey(Int64(number)), [.init("text", .string(text))])
                }
            }
        }
        let inspector = StoreInspector(at: path), data = path + "/data.mdb"
        let sound = try searchEveryWay(inspector, "rare", SearchOptions())
        #expect(sound.records == 12 && sound.damages == [])
        let rare: [RecordKey] = (0..<12).map { number in RecordKey(Int64(number) * 1000 + 7) }
        #expect(sound.matches.map(\.key) == rare)
        var limited = SearchOptions()
        limited.limit = 3
        #expect(try searchEveryWay(inspector, "rare", limited).matches == Array(sound.matches.prefix(3)))
        #expect(try searchEveryWay(inspector, "common", SearchOptions()).records == 12_000 - 12)
        let bytes = try Data(contentsOf: URL(filePath: data))
        var dice = SeededRandom(seed: 20_261_124), reported = 0
        for _ in 0..<8 {
            var damaged = bytes
            for _ in 0..<dice.roll(1..<6) {
                damaged[dice.roll(8192..<damaged.count)] ^= UInt8(1 << dice.roll(0..<8))
            }
            try damaged.write(to: URL(filePath: data))
            let found = try? searchEveryWay(inspector, "rare", SearchOptions())
            reported += found?.damages.count ?? 0
        }
        #expect(reported > 3)
    }
}
