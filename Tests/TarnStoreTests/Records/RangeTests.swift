// Ranges and prefixes of keys, in both directions, against a plain list.

import Foundation
import Testing

@testable import TarnStore

@Suite("Ranges of keys")
struct RangeTests {
    let typed: TypedStore

    init() throws { typed = try TypedStore() }

    private func numbers(_ range: KeyRange, reversed: Bool = false) throws -> [Int64] {
        try typed.store.read { reader in
            var keys: [Int64] = []
            try reader.forEach(Ticket.self, in: range, reversed: reversed) { row in keys.append(try row.key) }
            #expect(try reader.count(Ticket.self, in: range) == keys.count)
            #expect(try reader.count("Ticket", in: range) == keys.count)
            var dynamic: [RecordKey] = []
            try reader.forEach("Ticket", in: range, reversed: reversed) { record in
                dynamic.append(record.key)
                return true
            }
            #expect(dynamic == keys.map { RecordKey($0) })
            return keys
        }
    }

    @Test("every kind of range gives the keys a plain list gives, forwards and backwards")
    func rangesOfNumbers() throws {
        let keys: [Int64] = [.min, -70_000, -256, -255, -1, 0, 1, 254, 255, 256, 70_000, .max]
        try typed.put(keys.shuffled().map { Ticket($0, "t") })
        let bounds: [Int64] = keys + [-300, 2, 100_000]
        for a in bounds {
            let lower = RecordKey(a)
            var cases: [(KeyRange, (Int64) -> Bool)] = [
                (KeyRange(lower...), { $0 >= a }), (KeyRange(..<lower), { $0 < a }), (KeyRange(...lower), { $0 <= a }),
                (.prefix(lower), { $0 == a }),
            ]
            for b in bounds where b >= a {
                cases.append((KeyRange(lower..<RecordKey(b)), { $0 >= a && $0 < b }))
                cases.append((KeyRange(lower...RecordKey(b)), { $0 >= a && $0 <= b }))
            }
            for (range, isInside) in cases {
                let expected = keys.filter(isInside)
                #expect(try numbers(range) == expected, "\(range)")
                #expect(try numbers(range, reversed: true) == expected.reversed(), "\(range)")
            }
        }
        #expect(try numbers(.all) == keys)
        #expect(try numbers(.prefix([])) == keys)
        #expect(try numbers(.all, reversed: true) == keys.reversed())
    }

    @Test("a prefix of a composite key finds the keys that begin with it, not those that begin alike")
    func prefixes() throws {
        let owners = ["", "a", "ac", "acme", "acme\u{0}", "acme\u{FF}", "b"]
        var pages: [Page] = []
        for owner in owners {
            for repository in ["anvil", "anvil2", "bolt"] {
                for number in [-1, 0, 300] as [Int64] { pages.append(Page(owner, repository, number)) }
            }
        }
        try typed.put(pages.shuffled())
        func find(_ range: KeyRange, reversed: Bool = false) throws -> [Page] {
            try typed.store.read { reader in try reader.fetch(Page.self, in: range, reversed: reversed) }
        }
        #expect(try find(.all) == pages)
        for owner in owners {
            let mine = pages.filter { $0.owner == owner }
            let prefix = RecordKey(owner)
            #expect(try find(.prefix(prefix)) == mine)
            #expect(try find(.prefix(prefix), reversed: true) == mine.reversed())
            #expect(try find(.prefix([.string(owner), "anvil"])) == mine.filter { $0.repository == "anvil" })
            #expect(try find(.prefix([.string(owner), "anvil", 0])).count == 1)
            // A bound with fewer components is before all keys that begin with it; as an inclusive
            // upper bound, after them.
            #expect(
                try find(KeyRange(prefix...)) == pages.filter { !$0.owner.utf8.lexicographicallyPrecedes(owner.utf8) })
            #expect(
                try find(KeyRange(..<prefix)) == pages.filter { $0.owner.utf8.lexicographicallyPrecedes(owner.utf8) })
            #expect(
                try find(KeyRange(...prefix)) == pages.filter { !owner.utf8.lexicographicallyPrecedes($0.owner.utf8) })
        }
        #expect(try find(.prefix(["zzz"])).isEmpty)
    }

    @Test("bounds longer than a storage key shows are compared with the whole keys of the rows")
    func longBounds() throws {
        let stem = String(repeating: "k", count: 300)
        let logins = ["a", stem, stem + "a", stem + "b", stem + "b\u{0}", stem + "ba", stem + "c", "z"]
        try typed.put(logins.map { Person($0) })
        func find(_ range: KeyRange) throws -> Set<String> {
            try typed.store.read { reader in
                let there = try reader.fetch(Person.self, in: range).map(\.login)
                #expect(try reader.fetch(Person.self, in: range, reversed: true).map(\.login) == there.reversed())
                #expect(try reader.count(Person.self, in: range) == there.count)
                return Set(there)
            }
        }
        let b = RecordKey(stem + "b")
        #expect(try find(KeyRange(b...)) == [stem + "b", stem + "b\u{0}", stem + "ba", stem + "c", "z"])
        #expect(try find(KeyRange(..<b)) == ["a", stem, stem + "a"])
        #expect(try find(KeyRange(...b)) == ["a", stem, stem + "a", stem + "b"])
        #expect(try find(.prefix(b)) == [stem + "b"])
        #expect(
            try find(KeyRange(RecordKey(stem)..<RecordKey(stem + "c"))) == [
                stem, stem + "a", stem + "b", stem + "b\u{0}", stem + "ba",
            ])
    }

    @Test("bounds as long as the part of a key that a storage key has include the longer keys", arguments: 203...208)
    func boundsAtTheLimit(length: Int) throws {
        // The encoding of a text has two more bytes.
        let stem = String(repeating: "k", count: length)
        let pages = [
            Page("a", "z", 1), Page(stem, "anvil", 1), Page(stem, "anvil", 2), Page(stem, "bolt", 1),
            Page(stem + "\u{0}", "anvil", 1), Page(stem + "a", "anvil", 1), Page("z", "z", 1),
        ]
        try typed.put(pages)
        // Digests are not in the order of their keys.
        func find(_ range: KeyRange) throws -> [Int] {
            try typed.store.read { reader in
                let there = try reader.fetch(Page.self, in: range)
                #expect(try reader.fetch(Page.self, in: range, reversed: true) == there.reversed())
                #expect(try reader.count(Page.self, in: range) == there.count)
                return there.compactMap { pages.firstIndex(of: $0) }.sorted()
            }
        }
        let bound = RecordKey(stem)
        #expect(try find(.prefix(bound)) == [1, 2, 3])
        #expect(try find(KeyRange(bound...bound)) == [1, 2, 3])
        #expect(try find(KeyRange(...bound)) == [0, 1, 2, 3])
        #expect(try find(KeyRange(..<bound)) == [0])
        #expect(try find(KeyRange(bound...)) == [1, 2, 3, 4, 5, 6])
        #expect(try find(.prefix([.string(stem), "anvil"])) == [1, 2])

        // A key that is as long, and less than a bound that goes on with a NUL.
        try typed.put([Person(stem), Person(stem + "\u{0}b"), Person(stem + "\u{0}d")])
        let logins = try typed.store.read { reader in
            try reader.fetch(Person.self, in: KeyRange(RecordKey(stem + "\u{0}c")...)).map(\.login)
        }
        #expect(logins == [stem + "\u{0}d"])
    }

    @Test("a walk ends where the closure says so, and a limit limits")
    func walksEnd() throws {
        try typed.put((0..<100).map { Ticket($0, "t") })
        try typed.store.read { reader in
            var seen: [Int64] = []
            try reader.forEach(Ticket.self, in: KeyRange([10]...), reversed: true) { row in
                seen.append(try row.key)
                return seen.count < 3
            }
            #expect(seen == [99, 98, 97])
            #expect(try reader.fetch(Ticket.self, limit: 2).map(\.id) == [0, 1])
            #expect(try reader.fetch(Ticket.self, limit: 0).isEmpty)
            #expect(try reader.count(Ticket.self) == 100)
        }
    }

    @Test("an empty entity has nothing in any range and direction")
    func emptyEntity() throws {
        #expect(try numbers(.all).isEmpty)
        #expect(try numbers(KeyRange([0]...), reversed: true).isEmpty)
        #expect(try numbers(KeyRange(...[0]), reversed: true).isEmpty)
    }

    @Test("a bound of another form than the entity's keys is an error that names both")
    func wrongBounds() throws {
        for (range, found) in [
            (KeyRange.prefix(["x"]), "x"), (.prefix([1, 2]), "[1, 2]"), (KeyRange(...["a"]), "a"),
        ] {
            let error = try TypedStore.error {
                try typed.store.read { reader in _ = try reader.fetch(Ticket.self, in: range) }
            }
            #expect(error == StoreError.wrongKey(entity: "Ticket", expected: "int", found: found))
        }
        let error = try TypedStore.error {
            try typed.store.read { reader in _ = try reader.count("Page", in: .prefix([1])) }
        }
        #expect(error == StoreError.wrongKey(entity: "Page", expected: "[string, string, int]", found: "1"))
    }

    @Test("keys are ordered as their bytes in the store are")
    func keyOrder() {
        var generator = SystemRandomNumberGenerator()
        var keys: [RecordKey] = [
            [0], [-1], [""], ["a"], ["a\u{0}"], ["a", 1], ["a", "b"], [255], [256], RecordKey(UUID()),
            RecordKey(UUID()),
        ]
        for _ in 0..<200 {
            keys.append(RecordKey(Int64(truncatingIfNeeded: generator.next() >> (generator.next() % 64))))
        }
        let byValue = keys.sorted(), byBytes = keys.sorted { $0.storageKey.lexicographicallyPrecedes($1.storageKey) }
        #expect(byValue.map(\.storageKey) == byBytes.map(\.storageKey), "\(keys)")
        for case .int(let number) in keys.compactMap(\.components.first) {
            #expect(number.withStorageKey { Array($0) } == RecordKey(number).storageKey)
            #expect(RecordKey(number).storageKey.withUnsafeBytes { Int64(encodedKey: $0) } == number)
        }
    }
}
