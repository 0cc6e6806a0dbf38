// The model of the query tests: random records of every type, random queries, and their answers by
// the most naive means.

import Foundation
import LMDB
import TestSupport

@testable import TarnStore

/// The indexes of a store of the model.
enum QueryIndexing: String, CaseIterable, Sendable {
    case none, attributes, declared
}

enum QueryModelSchema {
    static func schema(_ indexing: QueryIndexing) -> Schema {
        let single = indexing == .attributes
        func attribute(_ name: String, _ type: AttributeType, _ indexed: Bool? = nil) -> AttributeDefinition {
            AttributeDefinition(name, type, optional: true, indexed: indexed ?? single)
        }
        var indexes: [IndexDefinition] = []
        if indexing == .declared {
            indexes = [
                IndexDefinition("kindCount", on: "kind", "count"), IndexDefinition("nameAt", on: "name", "at"),
                IndexDefinition("folded", on: [.init("name", ignoringCase: true), "count"]),
                IndexDefinition("ownerRatio", on: "owner", "ratio"),
                IndexDefinition("oneFolded", on: [.init("name", ignoringCase: true)]),
                IndexDefinition("openPrice", on: "price", where: [IndexCondition("kind", .equal, .string("open"))]),
                IndexDefinition("positive", on: "count", where: [IndexCondition("count", .greater, .int(0))]),
                IndexDefinition(
                    "notClosed", on: "flag", "blob", where: [IndexCondition("kind", .notEqual, .string("closed"))]),
                IndexDefinition("known", on: "at", where: [IndexCondition("at", .notEqual, .null)]),
                IndexDefinition("three", on: "flag", "kind", "big"),
                IndexDefinition("unknown", on: "token", where: [IndexCondition("home", .equal, .null)]),
            ]
        }
        return Schema([
            EntityDefinition(
                "Person", key: ["login"],
                attributes: [
                    AttributeDefinition("login", .string), attribute("city", .string), attribute("age", .int),
                ],
                relationships: [RelationshipDefinition("boss", to: "Person", inverse: "staff")]),
            EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
            EntityDefinition(
                "Item", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), attribute("flag", .bool), attribute("count", .int),
                    attribute("big", .uint),
                    attribute("ratio", .double), attribute("price", .decimal), attribute("name", .string),
                    attribute("blob", .bytes),
                    attribute("kind", .enumeration(["open", "closed", "lost"])), attribute("at", .date),
                    attribute("token", .uuid),
                    attribute("home", .url), attribute("extra", .json, false),
                    attribute("tags", .array(.string), false),
                    attribute("nick", .string, true), AttributeDefinition("must", .int),
                ],
                relationships: [
                    RelationshipDefinition("owner", to: "Person", inverse: "items"),
                    RelationshipDefinition("parent", to: "Item", inverse: "children"),
                    RelationshipDefinition("labels", to: "Label", many: true, inverse: "items"),
                    RelationshipDefinition("chum", to: "Person", joinedBy: .init("nick", equals: "login")),
                ],
                indexes: indexes),
            EntityDefinition(
                "Special", parent: "Item", attributes: [attribute("weight", .int), attribute("remark", .string)],
                indexes: indexing == .declared ? [IndexDefinition("weightName", on: "weight", "name")] : []),
            EntityDefinition(
                "Slot", key: ["of", "number"],
                attributes: [AttributeDefinition("number", .int), attribute("title", .string)],
                relationships: [RelationshipDefinition("of", to: "Person", inverse: "slots")]),
            EntityDefinition(
                "Pair", key: ["left", "right"],
                attributes: [
                    AttributeDefinition("left", .string), AttributeDefinition("right", .int), attribute("size", .int),
                ]),
        ])
    }

    static let types: [String: [String: AttributeType]] = [
        "Person": ["login": .string, "city": .string, "age": .int], "Label": ["name": .string],
        "Item": [
            "id": .int, "flag": .bool, "count": .int, "big": .uint, "ratio": .double, "price": .decimal,
            "name": .string, "blob": .bytes,
            "kind": .enumeration(["open", "closed", "lost"]), "at": .date, "token": .uuid, "home": .url, "extra": .json,
            "nick": .string, "must": .int,
        ],
        "Special": ["weight": .int, "remark": .string], "Slot": ["number": .int, "title": .string],
        "Pair": ["left": .string, "right": .int, "size": .int],
    ]
    /// To-one relationships: stored ones, and one that is joined.
    static let toOne: [String: [String: String]] = [
        "Item": ["owner": "Person", "parent": "Item", "chum": "Person"], "Person": ["boss": "Person"],
        "Slot": ["of": "Person"],
    ]
    /// To-many relationships: the entity that they lead to, and where they are stored if not here.
    static let toMany: [String: [String: (to: String, by: String?)]] = [
        "Item": ["labels": ("Label", nil), "children": ("Item", "parent")],
        "Person": ["items": ("Item", "owner"), "staff": ("Person", "boss"), "slots": ("Slot", "of")],
    ]

    static func ancestors(_ entity: String) -> [String] { entity == "Special" ? ["Special", "Item"] : [entity] }
}

/// Values that collide often, and are at the limits of index entries.
struct QueryValues {
    var random: SeededRandom

    private static let long = String(repeating: "l", count: 260)
    static let texts: [String] =
        ["", "a", "A", "ab", "aB", "b", "a\u{0}", "a\u{0}b", "Zażółć", "ZAŻÓŁĆ", "ß", "SS", "%", "a_b", "\u{10FFFF}"]
        + (6...11).map { long + String(repeating: "x", count: $0) }
        + [
            long + "xxxxxxx\u{0}", long + "xxxxxxxx\u{0}", long + "xxxxxxxx\u{0}y", long + "xxxxxxxxx\u{0}",
            long + "XXXXXXXXXXX", long + "xxxxxxxxxxy",
        ]
    static let logins: [String] =
        ["ada", "bob", "Ada", "a\u{0}", "", "zoe"]
        + [204, 205, 206, 207, 230].map { String(repeating: "k", count: $0) }
        + [
            String(repeating: "k", count: 229) + "a", String(repeating: "k", count: 205) + "\u{0}",
            String(repeating: "k", count: 206) + "\u{0}z",
        ]

    mutating func bool(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &random) == 0 }
    mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

    mutating func value(_ type: AttributeType) -> Value {
        switch type {
        case .bool: return .bool(bool(2))
        case .int: return .int(pick([-70000, -256, -1, 0, 1, 2, 3, 3, 4, 255, 256, 65536, .max, .min]))
        case .uint:
            let value = pick([0, 1, 2, 255, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
            return Int64(exactly: value).map(Value.int) ?? .uint(value)
        case .double:
            return .double(pick([-.infinity, -2.5, -0.0, 0, 1, 1.5, .leastNonzeroMagnitude, .infinity, .nan]))
        case .decimal:
            return .decimal(
                ExactDecimal(
                    pick([
                        "0", "-0", "1", "1.5", "-1.5", "-1.25", "1e30", "-1e30", "0.001", "12",
                        "123456789012345678901234567890.5", String(repeating: "7", count: 300),
                        String(repeating: "7", count: 300) + ".5",
                    ]))!)
        case .string: return .string(pick(QueryValues.texts))
        case .bytes:
            return .bytes(
                pick([
                    [], [0], [0, 1], [255], [255, 0], Array(repeating: 0, count: 140), Array(repeating: 0, count: 141),
                    Array(repeating: 9, count: 400),
                ]))
        case .date:
            return .date(Timestamp(microseconds: pick([-1, 0, 1, 1_700_000_000_000_000, 1_700_000_000_000_001])))
        case .uuid: return .uuid(pick([UUID(bytes: [1]), UUID(bytes: [1, 2]), UUID(bytes: [255])]))
        case .url:
            return .url(pick(["https://a", "https://A", "x:", "https://a/" + String(repeating: "p", count: 300)]))
        case .json: return .json(pick(["{}", "[1,2]", "\"a\""]))
        case .enumeration(let values): return .string(pick(values))
        case .array:
            return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in .string(pick(["a", "A", "b", ""])) })
        }
    }

    mutating func key(_ entity: String) -> RecordKey {
        switch entity {
        case "Person": RecordKey(pick(QueryValues.logins))
        case "Label": RecordKey(pick(["bug", "ui", "x"]))
        case "Slot": RecordKey(key("Person").components + [.int(Int64.random(in: 1...3, using: &random))])
        case "Pair":
            RecordKey([
                .string(pick(["a", "a\u{0}", "b"] + QueryValues.logins.suffix(5))),
                .int(Int64.random(in: -1...2, using: &random)),
            ])
        default: RecordKey(Int64.random(in: -3...60, using: &random))
        }
    }

    /// The fields of a record, without those of its key.
    mutating func fields(_ entity: String) -> [Record.Field] {
        var fields: [Record.Field] = []
        for kind in QueryModelSchema.ancestors(entity) {
            let keys: Set<String> = ["id", "login", "number", "left", "right"]
            for (name, type) in QueryModelSchema.types[kind, default: [:]].sorted(by: { $0.key < $1.key })
            where !keys.contains(name) && !(kind == "Label") {
                if name == "must" { continue }
                if name == "nick" {
                    if bool(2) { fields.append(.init(name, .string(pick(QueryValues.logins)))) }
                } else if !bool(5) {
                    fields.append(.init(name, bool(6) ? .null : value(type)))
                }
            }
            for (name, target) in QueryModelSchema.toOne[kind, default: [:]].sorted(by: { $0.key < $1.key })
            where name != "chum" && name != "of" {
                if !bool(3) { fields.append(.init(name, bool(8) ? .null : .reference(key(target)))) }
            }
            if kind == "Item" {
                if !bool(3) { fields.append(.init("tags", value(.array(.string)))) }
                if !bool(3) {
                    fields.append(
                        .init(
                            "labels",
                            .references(
                                Array(Set((0..<Int.random(in: 0...3, using: &random)).map { _ in key("Label") }))
                                    .sorted())))
                }
            }
        }
        return fields
    }
}

/// The records of the model, and the conditions that they meet.
struct QueryOracle {
    struct Entry {
        var entity: String
        var key: RecordKey
        var storageKey: [UInt8]
        var isPartial: Bool
        var fields: [String: Value]
    }

    private(set) var entries: [String: [Entry]] = [:]
    private var byKey: [String: [RecordKey: Entry]] = [:]

    /// Reads all records by the core, which does not know of queries.
    init(_ store: Store) throws {
        for entity in ["Person", "Label", "Item", "Slot", "Pair"] {
            var list: [Entry] = []
            try store.read { reader in
                try reader.forEach(entity) { record in
                    let fields = Dictionary(uniqueKeysWithValues: record.fields.map { ($0.name, $0.value) })
                    list.append(
                        Entry(
                            entity: record.entity, key: record.key, storageKey: record.key.storageKey,
                            isPartial: record.isPartial, fields: fields))
                    return true
                }
            }
            entries[entity] = list
            byKey[entity] = Dictionary(uniqueKeysWithValues: list.map { ($0.key, $0) })
        }
    }

    func records(of entity: String) -> [Entry] {
        entity == "Special"
            ? entries["Item", default: []].filter { $0.entity == "Special" } : entries[entity, default: []]
    }

    /// The value at a path; nil if it is missing.
    func value(_ entry: Entry, _ path: FieldPath) -> Value? {
        var current = entry
        for name in path.names.dropLast() {
            guard
                let target = QueryModelSchema.ancestors(current.entity).compactMap({ QueryModelSchema.toOne[$0]?[name] }
                ).first
            else { return nil }
            var key: RecordKey?
            if name == "chum" {
                if case .string(let nick)? = current.fields["nick"] { key = RecordKey(nick) }
            } else if name == "of" {
                key = RecordKey(Array(current.key.components.dropLast()))
            } else if case .reference(let found)? = current.fields[name] {
                key = found
            }
            guard let key, let next = byKey[target]?[key] else { return nil }
            current = next
        }
        let name = path.names[path.names.count - 1]
        if let (to, by) = QueryModelSchema.ancestors(current.entity).compactMap({ QueryModelSchema.toMany[$0]?[name] })
            .first, let by
        {
            let keys = entries[to, default: []].filter { other in
                by == "of"
                    ? Array(other.key.components.dropLast()) == current.key.components
                    : other.fields[by] == .reference(current.key)
            }.map(\.key)
            return keys.isEmpty ? nil : .references(keys)
        }
        if name == "chum" {
            guard case .string(let nick)? = current.fields["nick"], byKey["Person"]?[RecordKey(nick)] != nil else {
                return nil
            }
            return .reference(RecordKey(nick))
        }
        if name == "of" { return .reference(RecordKey(Array(current.key.components.dropLast()))) }
        switch current.fields[name] {
        case nil, .null?: return nil
        case .references(let keys)? where keys.isEmpty: return nil
        case let value?: return path.ignoresCase ? folded(value) : value
        }
    }

    func folded(_ value: Value) -> Value {
        switch value {
        case .string(let x): .string(CaseFolding.fold(x))
        case .url(let x): .url(CaseFolding.fold(x))
        case .json(let x): .json(CaseFolding.fold(x))
        case .array(let x): .array(x.map(folded))
        default: value
        }
    }

    static func text(_ value: Value) -> String? {
        switch value {
        case .string(let x), .url(let x), .json(let x): x
        default: nil
        }
    }

    /// Less than 0, 0 or greater; values of one type.
    static func order(_ a: Value, _ b: Value) -> Int {
        func compare<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : b < a ? 1 : 0 }
        func bytes(_ a: [UInt8], _ b: [UInt8]) -> Int {
            a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
        }
        if let x = text(a), let y = text(b) { return bytes(Array(x.utf8), Array(y.utf8)) }
        switch (a, b) {
        case (.bool(let x), .bool(let y)): return compare(x ? 1 : 0, y ? 1 : 0)
        case (.int(let x), .int(let y)): return compare(x, y)
        case (.int(let x), .uint(let y)): return compare(Int128(x), Int128(y))
        case (.uint(let x), .int(let y)): return compare(Int128(x), Int128(y))
        case (.uint(let x), .uint(let y)): return compare(x, y)
        case (.double(let x), .double(let y)):
            return x.isNaN || y.isNaN ? (x.isNaN ? 1 : 0) - (y.isNaN ? 1 : 0) : compare(x, y)
        case (.decimal(let x), .decimal(let y)): return compare(x, y)
        case (.date(let x), .date(let y)): return compare(x, y)
        case (.bytes(let x), .bytes(let y)): return bytes(x, y)
        case (.uuid(let x), .uuid(let y)):
            return bytes(withUnsafeBytes(of: x.uuid) { Array($0) }, withUnsafeBytes(of: y.uuid) { Array($0) })
        case (.reference(let x), .reference(let y)): return bytes(x.storageKey, y.storageKey)
        default: return 0
        }
    }

    func isMet(_ condition: Condition, _ entry: Entry) -> Bool {
        func adapted(_ value: Value, _ path: FieldPath) -> Value { path.ignoresCase ? folded(value) : value }
        func compare(_ path: FieldPath, _ comparison: Condition.Comparison, _ operand: Value) -> Bool {
            let value = self.value(entry, path)
            if case .null = operand {
                switch comparison {
                case .equal, .lessOrEqual, .greaterOrEqual: return value == nil
                case .notEqual: return value != nil
                case .less, .greater: return false
                }
            }
            guard let value else { return comparison == .notEqual }
            let order = QueryOracle.order(value, adapted(operand, path))
            switch comparison {
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .less: return order < 0
            case .lessOrEqual: return order <= 0
            case .greater: return order > 0
            case .greaterOrEqual: return order >= 0
            }
        }
        switch condition {
        case .all: return true
        case .and(let list): return list.allSatisfy { isMet($0, entry) }
        case .or(let list): return list.contains { isMet($0, entry) }
        case .not(let inner): return !isMet(inner, entry)
        case .compare(let path, let comparison, let operand): return compare(path, comparison, operand)
        case .between(let path, let low, let high):
            return compare(path, .greaterOrEqual, low) && compare(path, .lessOrEqual, high)
        case .isIn(let path, let values): return values.contains { compare(path, .equal, $0) }
        case .isMissing(let path): return value(entry, path) == nil
        case .anyContains(let part, let ignoresCase): return isInAnyText(part, ignoresCase, entry)
        case .hasPrefix(let path, let prefix):
            guard let text = value(entry, path).flatMap(QueryOracle.text),
                case .string(let prefix) = adapted(.string(prefix), path)
            else { return false }
            return Array(text.utf8).starts(with: Array(prefix.utf8))
        case .like(let path, let pattern):
            guard let text = value(entry, path).flatMap(QueryOracle.text) else { return false }
            return QueryOracle.isLike(Array(text.unicodeScalars)[...], pattern, folds: path.ignoresCase)
        case .contains(let path, let operand):
            switch value(entry, path) {
            case .array(let elements)?:
                return elements.contains { QueryOracle.order($0, adapted(operand, path)) == 0 && $0 != .null }
            case .references(let keys)?:
                if case .reference(let key) = operand { return keys.contains(key) } else { return false }
            case let value?:
                guard let text = QueryOracle.text(value), case .string(let part) = adapted(operand, path) else {
                    return false
                }
                let text8 = Array(text.utf8), part8 = Array(part.utf8)
                if part8.isEmpty { return true }
                return text8.indices.contains { text8[$0...].starts(with: part8) }
            case nil: return false
            }
        }
    }

    /// Whether any text of the entry has a part.
    private func isInAnyText(_ part: String, _ ignoresCase: Bool, _ entry: Entry) -> Bool {
        let wanted = Array((ignoresCase ? CaseFolding.fold(part) : part).utf8)
        func has(_ value: Value) -> Bool {
            guard let text = QueryOracle.text(value).map({ Array($0.utf8) }) else { return false }
            return wanted.isEmpty || text.indices.contains { text[$0...].starts(with: wanted) }
        }
        return entry.fields.keys.contains { name in
            switch value(entry, FieldPath([name], ignoringCase: ignoresCase)) {
            case .array(let elements)?: elements.contains(where: has)
            case let value?: has(value)
            case nil: false
            }
        }
    }

    /// By the set of all that is possible after each token.
    private static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: String, folds: Bool) -> Bool {
        enum Token: Equatable { case any, one, scalar(Unicode.Scalar) }
        var tokens: [Token] = [], isEscaped = false
        for scalar in pattern.unicodeScalars {
            if !isEscaped, scalar == "\\" {
                isEscaped = true
                continue
            }
            if !isEscaped, scalar == "%" {
                tokens.append(.any)
            } else if !isEscaped, scalar == "_" {
                tokens.append(.one)
            } else {
                let literal = String(scalar)
                for folded in (folds ? CaseFolding.fold(literal) : literal).unicodeScalars {
                    tokens.append(.scalar(folded))
                }
            }
            isEscaped = false
        }
        if isEscaped { tokens.append(.scalar("\\")) }
        // The prefixes of the text that match the tokens so far.
        let scalars = Array(text)
        var reached = [true] + Array(repeating: false, count: scalars.count)
        for token in tokens {
            var next = Array(repeating: false, count: scalars.count + 1)
            switch token {
            case .any:
                var isReached = false
                for index in reached.indices {
                    isReached = isReached || reached[index]
                    next[index] = isReached
                }
            case .one: for index in scalars.indices { next[index + 1] = reached[index] }
            case .scalar(let scalar):
                for index in scalars.indices where scalars[index] == scalar { next[index + 1] = reached[index] }
            }
            reached = next
        }
        return reached[scalars.count]
    }

    /// The whole result, in order, without limit, offset and token.
    func result(_ query: Query) -> [Entry] {
        let found = records(of: query.entity).filter { entry in
            (query.partials == .included || entry.isPartial == (query.partials == .only))
                && isMet(query.condition, entry)
        }
        let keyed = found.map { entry in (entry, query.order.map { value(entry, $0.path) }) }
        return keyed.sorted { a, b in
            for (index, part) in query.order.enumerated() {
                let order: Int
                switch (a.1[index], b.1[index]) {
                case (nil, nil): order = 0
                case (nil, _): order = -1
                case (_, nil): order = 1
                case (let x?, let y?): order = QueryOracle.order(x, y)
                }
                if order != 0 { return part.isDescending ? order > 0 : order < 0 }
            }
            return a.0.storageKey.lexicographicallyPrecedes(b.0.storageKey)
        }.map(\.0)
    }
}
