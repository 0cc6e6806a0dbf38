// The keys of an entity, compared with those of a dump.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: keys")
struct KeysTests {
    private func keys(
        _ path: String, _ entity: String, _ selection: KeySelection = KeySelection(),
        _ bounds: KeySpan = KeySpan()
    ) throws -> [RecordKey] {
        var keys: [RecordKey] = [], damaged: [StoreInspector.Damage] = []
        try StoreInspector(at: path).keys(
            of: entity, selection, within: { _ in bounds }, damaged: { damaged.append($0) }, visit: { keys.append($0) })
        #expect(damaged.isEmpty)
        return keys
    }

    private func dumped(_ path: String, _ entity: String) throws -> [RecordKey] {
        try StoreInspector(at: path).open { file in
            var keys: [RecordKey] = []
            for entity in try file.entities(named: entity) {
                try StoreInspector.forEachRecord(of: entity, file, damaged: { _ in }) { keys.append($0.key) }
            }
            return keys
        }
    }

    @Test("every entity has the keys of its dump, in that order and in reverse, also kinds of another entity")
    func order() throws {
        let store = try RichStore()
        for entity in RichStore.schema.entities.map(\.name) {
            let wanted = try dumped(store.path, entity)
            #expect(try keys(store.path, entity) == wanted && !wanted.isEmpty, "\(entity)")
            #expect(try keys(store.path, entity, KeySelection(isReversed: true)) == wanted.reversed(), "\(entity)")
            #expect(try keys(store.path, entity, KeySelection(limit: 3)) == Array(wanted.prefix(3)))
        }
        #expect(throws: StoreError.self) { try keys(store.path, "Nope") }
    }

    @Test("bounds and prefixes select what a filter of all keys does, for short, long and composite keys")
    func bounds() throws {
        let long = String(repeating: "x", count: 300)
        let names = [
            "", "a", "ab", "b", "ä", "a\u{0}b", String(repeating: "x", count: 204), long + "a", long + "b", "y",
        ]
        let store = try InspectedStore { writer in
            for number: Int64 in -3...3 { try writer.put("Author", RecordKey(number), [.init("name", .string("n"))]) }
            for name in names {
                for number: Int64 in [-1, 0, 7] {
                    try writer.put(
                        "Book", RecordKey([.string(name), .int(number)]), [.init("title", .string("t"))])
                }
            }
        }
        let authors = try keys(store.path, "Author"), books = try keys(store.path, "Book")
        #expect(authors.count == 7 && books.count == 30)
        var dice = SeededRandom(seed: 7)
        for _ in 0..<400 {
            let entity = dice.roll(0..<2) == 0 ? "Author" : "Book", all = entity == "Author" ? authors : books
            var bounds = KeySpan()
            if dice.roll(0..<2) == 0 { bounds.lower = all[dice.roll(0..<all.count)] }
            if dice.roll(0..<2) == 0 { bounds.upper = all[dice.roll(0..<all.count)] }
            if entity == "Book" {
                let name = names[dice.roll(0..<names.count)]
                switch dice.roll(0..<4) {
                case 0: bounds.prefix = .text(String(name.unicodeScalars.prefix(dice.roll(0..<3))))
                case 1: bounds.prefix = .text(name)
                case 2: bounds.prefix = .components([.string(name)])
                default: break
                }
            }
            let wanted = all.filter { bounds.contains($0) }, isReversed = dice.roll(0..<2) == 0
            let found = try keys(store.path, entity, KeySelection(isReversed: isReversed), bounds)
            #expect(found == (isReversed ? wanted.reversed() : wanted), "\(bounds)")
        }
        // The filter itself.
        #expect(
            try keys(store.path, "Author", KeySelection(), KeySpan(from: RecordKey(-1), to: RecordKey(2))).count == 4)
        #expect(try keys(store.path, "Book", KeySelection(), KeySpan(prefix: .text("a"))).count == 9)
        #expect(try keys(store.path, "Book", KeySelection(), KeySpan(prefix: .text(long))).count == 6)
        #expect(try keys(store.path, "Book", KeySelection(), KeySpan(prefix: .components([.string("a")]))).count == 3)
    }

    @Test("the key of a damaged row is reported and left out")
    func damage() throws {
        let store = try InspectedStore()
        try store.damage("Volume number 1")
        var found: [RecordKey] = [], damaged: [String] = []
        try StoreInspector(at: store.path).keys(
            of: "Book", damaged: { damaged.append("\($0)") }, visit: { found.append($0) })
        #expect(found == [RecordKey([.string("a/b"), .int(2)])])
        #expect(damaged == ["Book [a/b, 1]: the checksum is wrong"])
    }
}
