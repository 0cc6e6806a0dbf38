// Random operations on a store against dictionaries: rows, both ends of relationships, indexes and counts must agree.

import Foundation
import Testing

@testable import TarnStore

@Suite("Store against a model", .timeLimit(.minutes(5)))
struct StoreModelTests {
    /// What the store should hold: the values that were put, by entity and key.
    private struct Model {
        var rows: [String: [RecordKey: [String: Value]]] = ["User": [:], "Label": [:], "Issue": [:], "Board": [:]]

        func sorted(_ keys: some Sequence<RecordKey>) -> [RecordKey] {
            keys.sorted { $0.storageKey.lexicographicallyPrecedes($1.storageKey) }
        }

        /// The issues whose field leads to a record, in key order.
        func referrers(_ field: String, to target: RecordKey) -> [RecordKey] {
            sorted(
                (rows["Issue"] ?? [:]).filter { _, values in
                    switch values[field] {
                    case .reference(let key)?: key == target
                    case .references(let keys)?: keys.contains(target)
                    default: false
                    }
                }.keys)
        }
    }

    /// Few keys, so that operations meet; among them awkward ones.
    private static let labels: [RecordKey] = [
        RecordKey(""), RecordKey("a"), RecordKey("a\0"), RecordKey("a\0b"), RecordKey("é"), RecordKey("e\u{301}"),
        RecordKey(String(repeating: "x", count: 206)), RecordKey(String(repeating: "x", count: 205) + "\0"),
        RecordKey(String(repeating: "y", count: 600)),
    ]
    private static let boards: [RecordKey] = [
        RecordKey([.string("a"), .string("b")]), RecordKey([.string("a\0b"), .string("")]),
        RecordKey([.string(String(repeating: "z", count: 300)), .string("b")]),
    ]

    private func number(_ random: inout SeededRandom) -> RecordKey {
        RecordKey(Int64.random(in: -6...18, using: &random))
    }

    private func key(_ entity: String, _ random: inout SeededRandom) -> RecordKey {
        switch entity {
        case "Label": StoreModelTests.labels.randomElement(using: &random) ?? RecordKey("")
        case "Board": StoreModelTests.boards.randomElement(using: &random) ?? RecordKey("")
        default: number(&random)
        }
    }

    private func values(_ entity: String, _ random: inout SeededRandom) -> [String: Value] {
        var values: [String: Value] = [:]
        func maybe(_ name: String, _ value: (inout SeededRandom) -> Value) {
            switch Int.random(in: 0...3, using: &random) {
            case 0: break
            case 1: values[name] = .null
            default: values[name] = value(&random)
            }
        }
        switch entity {
        case "User": maybe("login") { .string(TupleEncodingTests.string(&$0)) }
        case "Issue":
            maybe("number") { .int(Int64.random(in: -3...3, using: &$0)) }
            maybe("title") { .string(String(repeating: "t", count: Int.random(in: 0...3000, using: &$0))) }
            maybe("closedAt") { .date(Timestamp(microseconds: Int64.random(in: -5...5, using: &$0))) }
            maybe("author") { .reference(self.number(&$0)) }
            maybe("duplicateOf") { .reference(self.number(&$0)) }
            maybe("board") { .reference(self.key("Board", &$0)) }
            maybe("labels") { random in
                var keys: [RecordKey] = []
                for _ in 0..<Int.random(in: 0...4, using: &random) { keys.append(self.key("Label", &random)) }
                return .references(keys)
            }
        default: break
        }
        return values
    }

    @Test(
        "3,000 random puts, patches, deletes and reopenings leave what dictionaries say",
        arguments: [UInt64(101), 102, 103])
    func randomOperations(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let entities = ["User", "Label", "Issue", "Issue", "Issue", "Board"]
        var random = SeededRandom(seed: seed)
        var model = Model()
        var store: Store? = try Forge.open(folder("s"))
        var operations = 0
        while operations < 3000 {
            if Int.random(in: 0...30, using: &random) == 0 {
                store = nil
                store = try Forge.open(folder("s"), Bool.random(using: &random) ? Forge.schema : nil)
            }
            let open = try #require(store)
            var next = model
            // One transaction in six is thrown away.
            let isKept = Int.random(in: 0...5, using: &random) > 0
            struct Stop: Error {}
            do {
                try open.write { writer in
                    for _ in 0..<Int.random(in: 1...20, using: &random) {
                        operations += 1
                        let entity = entities.randomElement(using: &random) ?? "User"
                        let key = key(entity, &random)
                        if Int.random(in: 0...4, using: &random) == 0 {
                            let deleted = try writer.delete(entity, key)
                            #expect(deleted == (next.rows[entity]?.removeValue(forKey: key) != nil), "seed \(seed)")
                        } else {
                            let values = values(entity, &random)
                            try writer.put(entity, key, values.map { Record.Field($0.key, $0.value) })
                            next.rows[entity]?[key, default: [:]].merge(values) { $1 }
                        }
                        if Int.random(in: 0...9, using: &random) == 0 { try writer.applyIndexChanges() }
                    }
                    if !isKept { throw Stop() }
                }
                model = next
            } catch is Stop {
            }
            if Int.random(in: 0...40, using: &random) == 0 { try compare(open, model, seed) }
        }
        try compare(try #require(store), model, seed)
        store = nil
        try compare(try Forge.open(folder("s"), nil), model, seed)
    }

    private func compare(_ store: Store, _ model: Model, _ seed: UInt64) throws {
        for (entity, rows) in model.rows {
            var seen: [RecordKey] = []
            try store.read { reader in
                let count = try reader.count(entity)
                #expect(count == rows.count, "seed \(seed)")
                try reader.forEach(entity) { record in
                    seen.append(record.key)
                    check(record, rows[record.key], reader, "seed \(seed): \(entity) \(record.key)")
                    return true
                }
            }
            #expect(seen == model.sorted(rows.keys), "seed \(seed)")
        }
        try compareRelationships(store, model, seed)
        try compareIndexes(store, model, seed)
    }

    private func check(_ record: Record, _ expected: [String: Value]?, _ reader: StoreReader, _ place: Comment) {
        guard let expected else {
            Issue.record("there is a record that should not be: \(place)")
            return
        }
        for (name, value) in expected {
            switch value {
            case .reference, .references:
                // Long keys whose record is missing cannot be named; `compareRelationships` follows them.
                break
            default: #expect(record[name] == value, place)
            }
        }
        let keyNames = ["id", "name", "owner"]
        for field in record.fields where !keyNames.contains(field.name) { #expect(expected[field.name] != nil, place) }
    }

    private func compareRelationships(_ store: Store, _ model: Model, _ seed: UInt64) throws {
        let sides = [
            ("User", "issues", "author"), ("Label", "issues", "labels"), ("Issue", "duplicates", "duplicateOf"),
            ("Board", "cards", "board"),
        ]
        for (entity, derived, field) in sides {
            let targets =
                switch entity {
                case "Label": StoreModelTests.labels
                case "Board": StoreModelTests.boards
                default: (-7...19).map { RecordKey(Int64($0)) }
                }
            for target in targets {
                let expected = model.referrers(field, to: target)
                #expect(
                    try store.related(entity, target, derived) == expected,
                    "seed \(seed): \(entity).\(derived) of \(target)")
            }
            for (key, values) in model.rows["Issue"] ?? [:] {
                let expected =
                    switch values[field] {
                    case .reference(let target)?: [target]
                    case .references(let targets)?: targets
                    default: [RecordKey]()
                    }
                // A missing target with a long key has no name.
                let named = expected.map { target in
                    target.storageKey.count < 240 || model.rows[entity]?[target] != nil ? target : nil
                }
                #expect(try store.related("Issue", key, field) == named, "seed \(seed): Issue.\(field) of \(key)")
            }
        }
    }

    private func compareIndexes(_ store: Store, _ model: Model, _ seed: UInt64) throws {
        for (entity, field) in [("User", "login"), ("Issue", "number")] {
            let expected = (model.rows[entity] ?? [:]).map { key, values in
                written { writer in
                    switch values[field] {
                    case .string(let text)?: Array(text.utf8).withUnsafeBytes { writer.appendTuple(string: $0) }
                    case .int(let number)?: writer.appendTuple(number)
                    default: writer.appendTupleNull()
                    }
                    writer.append(key.storageKey)
                }
            }
            #expect(
                try store.indexEntries(entity, field) == expected.sorted { $0.lexicographicallyPrecedes($1) },
                "seed \(seed): \(entity).\(field)")
        }
        let lists = (model.rows["Issue"] ?? [:]).reduce(0) { sum, row in
            if case .references(let keys)? = row.value["labels"] { sum + Set(keys).count } else { sum }
        }
        #expect(try store.indexEntries("Issue", "labels").count == lists, "seed \(seed)")
    }
}
