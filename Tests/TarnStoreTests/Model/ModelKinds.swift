// The entities of the model test as its oracle sees them, the few keys of records, and the values
// of codes.

import Foundation

@testable import TarnStore

/// The value of a field in the model. Keys are positions among the few keys of a root entity.
enum Cell: Sendable {
    case value(Value)
    case references([Int], position: UInt32? = nil)
}

/// A relationship as it is seen from an entity.
struct SeenRelation: Sendable {
    enum Source: Sendable {
        case stored(ModelRelation), derived(ModelRelation)
        case joined(own: String, theirs: String)
    }

    var name: String
    var destination: String
    var rule: TarnStore.RelationshipDefinition.DeleteRule
    var source: Source
}

struct ModelIndex: Sendable {
    var name: String
    /// The entity that declares it.
    var entity: String
    var components: [IndexDefinition.Component]
    var isUnique: Bool
    var conditions: [IndexCondition]
}

/// An entity with all that it inherits.
struct ModelKind: Sendable {
    var name: String
    var root: String
    /// Itself, its parent, and so on.
    var lineage: [String]
    var key: [String]
    var attributes: [String: AttributeDefinition] = [:]
    var relations: [String: ModelRelation] = [:]
    var seen: [SeenRelation] = []
    var indexes: [ModelIndex] = []
    /// The fields that a write may set, in a fixed order.
    var settable: [String] = []

    static let all: [String: ModelKind] = {
        let entities = ModelSchema.schema.entities
        func lineage(_ name: String) -> [EntityDefinition] {
            guard let entity = entities.first(where: { $0.name == name }) else { return [] }
            return [entity] + (entity.parent.map(lineage) ?? [])
        }
        return Dictionary(uniqueKeysWithValues: entities.map { ($0.name, ModelKind(lineage($0.name))) })
    }()

    static func named(_ name: String) -> ModelKind {
        guard let kind = all[name] else { preconditionFailure("the model has no \(name)") }
        return kind
    }

    static let roots = ["Thing", "Label", "Board", "Event", "Parent", "Child", "Toy", "Device"]

    private init(_ entities: [EntityDefinition]) {
        name = entities[0].name
        root = entities[entities.count - 1].name
        lineage = entities.map(\.name)
        key = entities[entities.count - 1].key
        for entity in entities.reversed() {
            for attribute in entity.attributes {
                attributes[attribute.name] = attribute
                if attribute.isIndexed {
                    indexes.append(
                        ModelIndex(
                            name: attribute.name, entity: entity.name, components: [.init(attribute.name)],
                            isUnique: attribute.isUnique, conditions: []))
                }
            }
            for index in entity.indexes {
                indexes.append(
                    ModelIndex(
                        name: index.name, entity: entity.name, components: index.components, isUnique: index.isUnique,
                        conditions: index.conditions))
            }
        }
        for x in ModelSchema.relations {
            if lineage.contains(x.owner) {
                relations[x.field] = x
                seen.append(SeenRelation(name: x.field, destination: x.to, rule: x.rule, source: .stored(x)))
            }
            if lineage.contains(x.to) {
                seen.append(
                    SeenRelation(name: x.inverse, destination: x.owner, rule: x.inverseRule, source: .derived(x)))
            }
        }
        for x in ModelSchema.joins {
            if lineage.contains(x.owner) {
                seen.append(
                    SeenRelation(
                        name: x.name, destination: x.to, rule: .none, source: .joined(own: x.own, theirs: x.theirs)))
            }
            if lineage.contains(x.to), let inverse = x.inverse {
                seen.append(
                    SeenRelation(
                        name: inverse, destination: x.owner, rule: x.inverseRule,
                        source: .joined(own: x.theirs, theirs: x.own)))
            }
        }
        settable = (Array(attributes.keys) + Array(relations.keys)).filter { !key.contains($0) }.sorted()
    }

    /// The values that follow from the key.
    func keyCells(_ key: Int) -> [String: Cell] {
        let components = ModelKeys.keys(root)[key].components
        var cells: [String: Cell] = [:]
        switch root {
        case "Child": cells["parent"] = .references([key / ModelKeys.childrenOfParent])
        case "Toy": cells["child"] = .references([key / ModelKeys.toysOfChild])
        default: break
        }
        let plain = self.key.filter { cells[$0] == nil }
        for (name, component) in zip(plain, components.suffix(plain.count)) { cells[name] = .value(Value(component)) }
        return cells
    }

    /// The cell of a code: 0 for null.
    func cell(_ field: String, _ code: Int) -> Cell {
        if let relation = relations[field] {
            guard code > 0 || key.contains(field) else { return .value(.null) }
            let pool = ModelKeys.keys(ModelKind.named(relation.to).root).count
            if relation.many { return .references(ModelValues.list(code, of: pool)) }
            let position = relation.inverseOrdered ? UInt32(code / pool % 4) : 0
            return .references([(code - 1 + pool) % pool], position: position > 0 ? position - 1 : nil)
        }
        guard code > 0, let attribute = attributes[field] else { return .value(.null) }
        return .value(ModelValues.value(attribute.type, code))
    }
}

/// Few keys, so that operations meet; among them awkward ones.
enum ModelKeys {
    static let childrenOfParent = 3, toysOfChild = 2

    static func keys(_ root: String) -> [RecordKey] { pools[root]?.keys ?? [] }
    static func pool(_ root: String) -> Pool { pools[root] ?? Pool([]) }

    static func string(_ root: String, _ key: Int) -> String { keys(root)[key].description }

    struct Pool: Sendable {
        var keys: [RecordKey]
        /// By position: the rank in the order of the store, and whether the key is too long for a
        /// reference.
        var rank: [Int], isLong: [Bool]
        var positions: [[UInt8]: Int] = [:]

        init(_ keys: [RecordKey]) {
            self.keys = keys
            let stored = keys.map(\.storageKey)
            let order = keys.indices.sorted { stored[$0].lexicographicallyPrecedes(stored[$1]) }
            rank = Array(repeating: 0, count: keys.count)
            for (place, key) in order.enumerated() { rank[key] = place }
            isLong = stored.map { $0.count == 240 }
            for (position, key) in stored.enumerated() { positions[key] = position }
        }
    }

    private static let pools: [String: Pool] = {
        func x(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        let things = ([-200, -1, 0, 1, 127, 128, .min, .max] as [Int64]) + (2...9).map { Int64($0) }
        var labels = ["", "a", "a\0", "a\0b", "é", "e\u{301}", "b"]
        labels += [x("x", 206), x("x", 205) + "\0", x("x", 204) + "\0", x("w", 205)]
        labels += [x("y", 600), x("y", 599) + "z", x("x", 206) + "\0"]
        labels += (0..<6).map { x("m\($0)", 70 + $0) }
        let boards = [["a", "b"], ["a\0b", ""], ["a", x("p", 190)], [x("z", 300), "b"], [x("z", 300), "c"]]
        let parents = ["", "p", "p\0", x("q", 180), x("r", 400)]
        var children: [RecordKey] = [], toys: [RecordKey] = []
        for parent in parents {
            for number in 0..<childrenOfParent {
                let child: [KeyComponent] = [.string(parent), .int(Int64(number) * 300 - 1)]
                children.append(RecordKey(child))
                for toy in 0..<toysOfChild { toys.append(RecordKey(child + [.uuid(uuid(toy * 7))])) }
            }
        }
        return [
            "Thing": Pool(things.map { RecordKey($0) }), "Label": Pool(labels.map { RecordKey($0) }),
            "Board": Pool(boards.map { RecordKey($0.map(KeyComponent.string)) }),
            "Event": Pool((0..<14).map { RecordKey(Int64($0 * $0 * 20)) }),
            "Parent": Pool(parents.map { RecordKey($0) }),
            "Child": Pool(children), "Toy": Pool(toys), "Device": Pool((0..<10).map { RecordKey(uuid($0 * 29)) }),
        ]
    }()

    static func uuid(_ number: Int) -> UUID {
        UUID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number * ($0 + 1)) })
    }
}

enum ModelValues {
    /// Lists of references: short ones, and some around 2 KB, where they move between row and
    /// table.
    static func list(_ code: Int, of pool: Int) -> [Int] {
        let start = code % pool, variant = code / pool
        let count = variant % 3 == 0 ? variant % 5 : 9 + variant % 14
        var keys = (0..<count).map { (start + $0) % pool }
        if variant % 4 == 1, count > 2 { keys.swapAt(0, count / 2) }
        if variant % 7 == 2, count > 1 { keys[count - 1] = keys[0] }
        return keys
    }

    static func text(_ code: Int) -> String {
        let rest = code / 8
        func pick(_ texts: [String]) -> String { texts[rest % texts.count] }
        switch code % 8 {
        case 0:
            return pick(["", "a", "A", "a\0", "a\0b", "é", "e\u{301}", "É", "ß", "ss", "SS", "Σ", "ς", "σ", "a\u{1}"])
        case 1, 2:
            // Around the 270 bytes that an index has.
            return String(repeating: "x", count: 264 + rest % 7)
                + ["", "\0", "y", "\0z", "Y", "\0\0", "yz"][rest / 7 % 7]
        case 3: return String(repeating: "Lorem ipsum ", count: rest % 120)
        case 4: return pick(["Name", "NAME", "name", "Straße", "STRASSE", "naming"])
        default: return "n\(rest % 40)"
        }
    }

    static func value(_ type: AttributeType, _ code: Int) -> Value {
        func pick<T>(_ values: [T]) -> T { values[code % values.count] }
        switch type {
        case .bool: return .bool(code % 2 == 0)
        case .int: return .int(pick([0, 1, 2, 3, 4, 5, -1, -2, 255, 256, -256, .min, .max]))
        case .uint:
            let number: UInt64 = pick([0, 1, 2, 255, 256, 65536, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
            return Int64(exactly: number).map(Value.int) ?? .uint(number)
        case .double:
            return .double(
                pick([
                    0, -0.0, 1.5, -1.5, .infinity, -.infinity, .nan, -.nan, 1e300, .leastNonzeroMagnitude,
                    -.leastNonzeroMagnitude, 2, 3, 4, 5, 6, 7,
                ]))
        case .decimal:
            guard let zero = ExactDecimal("0") else { return .null }
            let texts = [
                "0", "1.5", "15e-1", "-1.5", "-1.51", "1e40", "-1e40", "0.0001",
                "9" + String(repeating: "123", count: 100),
            ]
            return .decimal(ExactDecimal(pick(texts)) ?? zero)
        case .string: return .string(text(code))
        case .bytes: return .bytes(Array(text(code).utf8) + (code % 3 == 0 ? [0xFF] : []))
        case .date:
            return .date(Timestamp(microseconds: pick([0, 1, -1, 1_700_000_000_000_000, -1_700_000_000_000_000, 5])))
        case .uuid: return .uuid(ModelKeys.uuid(code % 60))
        case .url: return .url("https://example.org/" + text(code).filter { $0 != "\0" })
        case .json: return .json(pick(["{}", "[1,2]", "null", "{\"a\":\"\\u0000\"}", "1e2"]))
        case .enumeration(let values): return .string(pick(values))
        case .array(let element): return .array((0..<code % 4).map { value(element, code + $0) })
        }
    }
}
