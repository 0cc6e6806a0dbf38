// A flipped bit in one key, in each kind of table: the entries beside it are read in any case.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: damaged keys")
struct DamagedKeyTests {
    private static let count: Int64 = 2000

    private func authors() throws -> InspectedStore {
        try InspectedStore { writer in
            for number in 0..<DamagedKeyTests.count {
                try writer.put("Author", RecordKey(number), [.init("name", .string("name \(number)"))])
            }
        }
    }

    /// Flips bits of a byte of a key in all leaves that have it; entries of rows have a value.
    private func flip(_ key: [UInt8], at offset: Int, _ bits: UInt8, isRow: Bool, in path: String) throws {
        let url = URL(fileURLWithPath: path + "/data.mdb")
        var file = [UInt8](try Data(contentsOf: url)), found = 0
        func number(_ place: Int) -> Int { Int(file[place]) | Int(file[place + 1]) << 8 }
        for page in stride(from: 8192, to: file.count, by: 4096) where file[page + 10] == 2 {
            for node in 0..<max(0, (number(page + 12) - 16) / 2) {
                let start = page + number(page + 16 + 2 * node)
                guard start + 8 + key.count <= page + 4096, number(start + 6) == key.count,
                    (number(start) > 0) == isRow, file[start + 8..<start + 8 + key.count].elementsEqual(key)
                else { continue }
                file[start + 8 + offset] ^= bits
                found += 1
            }
        }
        try #require(found > 0, "the key is in no leaf")
        try Data(file).write(to: url)
    }

    private func keys(
        _ path: String, from lower: Int64?, to upper: Int64?, reversed: Bool
    ) throws -> (keys: [RecordKey], damages: Int) {
        var keys: [RecordKey] = [], damages = 0
        let bounds = KeySpan(from: lower.map { RecordKey($0) }, to: upper.map { RecordKey($0) })
        try StoreInspector(at: path).keys(
            of: "Author", KeySelection(isReversed: reversed), within: { _ in bounds }, damaged: { _ in damages += 1 },
            visit: { keys.append($0) })
        return (keys, damages)
    }

    @Test(
        "a damaged key of a row hides no other row, in no range and in neither order, and is reported",
        arguments: [Int64(0), 1, 300, 301, 511, 512, 1000, 1990])
    func rows(_ number: Int64) throws {
        let key = RecordKey(number).storageKey
        for (offset, bits) in [(0, UInt8(0x40)), (0, 0x02), (key.count - 1, 0x80), (key.count - 1, 0x01)] {
            let store = try authors()
            try flip(key, at: offset, bits, isRow: true, in: store.path)
            for (lower, upper) in [(nil, nil), (nil, number + 200), (max(0, number - 100), number + 200)]
                as [(Int64?, Int64?)]
            {
                for reversed in [false, true] {
                    let found = try keys(store.path, from: lower, to: upper, reversed: reversed)
                    let range = (lower ?? 0)...min(upper ?? .max, DamagedKeyTests.count - 1)
                    let wanted = range.filter { $0 != number }.map { RecordKey($0) }
                    #expect(
                        found.keys == (reversed ? wanted.reversed() : wanted),
                        "\(number) \(offset) \(bits) \(String(describing: lower)) \(String(describing: upper)) \(reversed): \(found.keys.count) of \(wanted.count)"
                    )
                    #expect(found.damages > 0, "\(number) \(offset) \(bits) \(reversed)")
                }
            }
        }
    }

    @Test("a damaged key removes one record from a comparison, and not all behind it")
    func comparison() throws {
        let sound = try authors(), store = try authors()
        try flip(RecordKey(300).storageKey, at: 0, 0x40, isRow: true, in: store.path)
        var differences = 0, damages = 0
        _ = try StoreInspector(at: store.path).differences(
            from: StoreInspector(at: sound.path), difference: { _ in differences += 1 },
            damaged: { _, _ in damages += 1 })
        #expect(differences <= 1 && damages > 0, "\(differences) \(damages)")
    }

    @Test("a damaged entry of an index hides no other referrer, and is reported", arguments: [0, 1, 150, 298, 299])
    func referrers(_ number: Int64) throws {
        func book(_ number: Int64) -> RecordKey { RecordKey([.string("s"), .int(number)]) }
        func makeStore() throws -> InspectedStore {
            try InspectedStore { writer in
                for number: Int64 in 0..<900 {
                    try writer.put(
                        "Book", book(number),
                        [.init("title", .string("t")), .init("author", .reference(RecordKey(number / 300 + 1)))])
                }
                for number: Int64 in 1...3 {
                    try writer.put("Author", RecordKey(number), [.init("name", .string("n"))])
                }
            }
        }
        for bits: UInt8 in [0x40, 0x01] {
            let store = try makeStore()
            let key = RecordKey(2).storageKey + book(300 + number).storageKey
            try flip(key, at: 0, bits, isRow: false, in: store.path)
            let found = try StoreInspector(at: store.path).record("Author", RecordKey(2))
            #expect(found.referrers.first?.count == 299, "\(bits): \(String(describing: found.referrers.first?.count))")
            #expect(found.damage != nil, "\(bits)")
        }
    }

    @Test("a damaged key of the change log hides no other change, and is reported")
    func changes() throws {
        let store = try InspectedStore()
        do {
            let open = try Store.open(at: store.path)
            for number: Int64 in 0..<100 {
                try open.write { try $0.put("Author", RecordKey(number), [.init("name", .string("n\(number)"))]) }
            }
        }
        func changes() throws -> (count: Int, damages: Int) {
            var count = 0, damages = 0
            _ = try StoreInspector(at: store.path).changes(damaged: { _ in damages += 1 }, change: { _ in count += 1 })
            return (count, damages)
        }
        let before = try changes()
        try flip([0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0], at: 6, 0x40, isRow: true, in: store.path)
        let after = try changes()
        #expect(before.count > 100 && before.damages == 0)
        #expect(after.count == before.count - 1 && after.damages > 0, "\(before) \(after)")
    }
}
