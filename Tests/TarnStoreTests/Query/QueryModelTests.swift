// Random queries on random records, on stores with different indexes, against the naive oracle.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

/// Queries that are likely to find something, of every form.
struct QueryGenerator {
    var values: QueryValues
    let entity: String

    private func entities() -> [String] { QueryModelSchema.ancestors(entity) }

    /// A path to a single value, and the type of it or the entity that it leads to.
    private mutating func path(_ depth: Int = 0, _ start: String? = nil) -> (FieldPath, AttributeType?, String?) {
        let kinds = QueryModelSchema.ancestors(start ?? entity)
        let steps = kinds.flatMap { QueryModelSchema.toOne[$0, default: [:]].sorted { $0.key < $1.key } }
        if !steps.isEmpty, values.bool(5) {
            let step = values.pick(steps)
            if depth > 1 || values.bool(3) { return (FieldPath([step.key]), nil, step.value) }
            var (path, type, target) = path(depth + 1, step.value)
            path.names.insert(step.key, at: 0)
            return (path, type, target)
        }
        let fields = kinds.flatMap { QueryModelSchema.types[$0, default: [:]].sorted { $0.key < $1.key } }
        let field = values.pick(fields)
        let ignoresCase: Bool
        switch field.value {
        case .string, .url, .enumeration, .json: ignoresCase = values.bool(4)
        default: ignoresCase = false
        }
        return (FieldPath([field.key], ignoringCase: ignoresCase), field.value, nil)
    }

    private mutating func operand(_ type: AttributeType?, _ target: String?) -> Value {
        if let type { return values.value(type) }
        return .reference(values.key(target ?? "Item"))
    }

    mutating func condition(_ depth: Int = 0) -> Condition {
        if depth < 3, values.bool(3) {
            let list = (0..<Int.random(in: 0...3, using: &values.random)).map { _ in condition(depth + 1) }
            switch Int.random(in: 0..<5, using: &values.random) {
            case 0, 1: return .and(list)
            case 2, 3: return .or(list)
            default: return .not(condition(depth + 1))
            }
        }
        let (path, type, target) = path()
        switch Int.random(in: 0..<14, using: &values.random) {
        case 0...4:
            return .compare(
                path, values.pick(Condition.Comparison.allCases), values.bool(12) ? .null : operand(type, target))
        case 5, 6:
            return .isIn(
                path,
                (0..<Int.random(in: 0...4, using: &values.random)).map { _ in
                    values.bool(8) ? .null : operand(type, target)
                })
        case 7: return .between(path, operand(type, target), operand(type, target))
        case 8:
            guard values.bool(2) else { return .isMissing(path) }
            let part = values.pick(QueryValues.texts).unicodeScalars.suffix(
                Int.random(in: 0...4, using: &values.random))
            return .anyContains(String(String.UnicodeScalarView(part)), ignoringCase: values.bool(2))
        case 9, 10, 11:
            var path = path
            if type.map({ !$0.isText }) ?? true {
                path = FieldPath(
                    [entity == "Person" ? "city" : entity == "Slot" ? "title" : entity == "Pair" ? "left" : "name"],
                    ignoringCase: values.bool(3))
            }
            let text = values.pick(QueryValues.texts)
            switch Int.random(in: 0..<3, using: &values.random) {
            case 0:
                return .hasPrefix(
                    path,
                    String(
                        String.UnicodeScalarView(
                            text.unicodeScalars.prefix(Int.random(in: 0...300, using: &values.random)))))
            case 1:
                return .contains(
                    path,
                    .string(
                        String(
                            String.UnicodeScalarView(
                                text.unicodeScalars.suffix(Int.random(in: 0...4, using: &values.random))))))
            default:
                return .like(
                    path,
                    values.pick([
                        "%", "", "a%", "A_", "_b", "%b%", "l%x", "%x\u{0}%", "za%", "\\%", "%l%l%x_", "s%", "ss",
                    ]))
            }
        case 12:
            guard entities().contains("Item") || entity == "Person" else { return .isMissing(path) }
            let lists = entities().flatMap { QueryModelSchema.toMany[$0, default: [:]].sorted { $0.key < $1.key } }
            let list = values.pick(lists)
            return values.bool(3)
                ? .isMissing(FieldPath([list.key]))
                : .contains(FieldPath([list.key]), .reference(values.key(list.value.to)))
        default:
            guard entities().contains("Item") else { return .compare(path, .equal, operand(type, target)) }
            return values.bool(3)
                ? .isMissing("tags")
                : .contains(FieldPath("tags", ignoringCase: values.bool(3)), .string(values.pick(["a", "A", "b", ""])))
        }
    }

    mutating func query() -> Query {
        var query = Query(entity, where: values.bool(8) ? .all : condition())
        for _ in 0..<values.pick([0, 0, 0, 1, 1, 1, 1, 2, 2, 3]) {
            query.order.append(Query.Order(path().0, descending: values.bool(2)))
        }
        if values.bool(2) { query.limit = Int.random(in: 0...12, using: &values.random) }
        if values.bool(3) { query.offset = Int.random(in: 0...8, using: &values.random) }
        if values.bool(6) { query.partials = values.pick(Query.Partials.allCases) }
        return query
    }
}

struct QueryModelTests {
    /// Stores with the same records, and different indexes.
    private func stores(_ seed: UInt64, in folder: TemporaryFolder) throws -> [(QueryIndexing, Store)] {
        try QueryIndexing.allCases.map { indexing in
            let store = try Store.open(
                at: folder(indexing.rawValue), schema: QueryModelSchema.schema(indexing), options: Forge.quick)
            var values = QueryValues(random: SeededRandom(seed: seed))
            try store.write { writer in
                // A reference to a missing record cannot show a long key: all targets exist.
                for login in QueryValues.logins where login.utf8.count > 200 {
                    try writer.put("Person", RecordKey(login), values.fields("Person"))
                }
                for (entity, count) in [
                    ("Label", 3), ("Person", 14), ("Item", 30), ("Special", 10), ("Slot", 10), ("Pair", 12),
                ] {
                    for _ in 0..<count {
                        let key = values.key(entity), fields = values.fields(entity)
                        let isPartial = entity != "Special" && entity != "Slot" && values.bool(5)
                        if isPartial {
                            try QueryModelTests.merge(&writer, entity, key, fields)
                        } else {
                            try writer.put(
                                entity, key,
                                fields + (entity == "Item" || entity == "Special" ? [.init("must", .int(1))] : []))
                        }
                    }
                }
            }
            return (indexing, store)
        }
    }

    /// The content of a partial response.
    private static func merge(_ writer: inout StoreWriter, _ name: String, _ key: RecordKey, _ fields: [Record.Field])
        throws
    {
        let entity = try writer.access.state.entity(name)
        var values = entity.keyValues(key)
        for field in fields { if let id = entity.field(field.name)?.id { values[id] = field.value } }
        var builder = BodyBuilder(), body = ByteWriter()
        for (id, value) in values.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.appendValue(value) } }
        builder.finish(into: &body)
        let view = try #require(RowBody(body.bytes, isWide: builder.isWide))
        _ = try key.storageKey.withUnsafeBytes { try writer.merge(entity, $0, view, isComplete: false) }
    }

    private struct Difference: Error, CustomStringConvertible {
        var description: String
    }

    /// Compares all results of a query with the oracle.
    private func check(
        _ query: Query, _ all: [QueryOracle.Entry], _ oracle: QueryOracle, _ indexing: QueryIndexing, _ store: Store,
        _ values: inout QueryValues, _ asked: inout Int
    ) throws {
        let whole = query
        let wanted = all.dropFirst(query.offset).prefix(query.limit ?? .max).map(\.key)
        func differ(_ what: String, _ found: Any, _ wanted: Any, _ query: Query? = nil) throws -> Never {
            let plan = try store.read { r in try r.explain(query ?? whole).description }
            throw Difference(
                description:
                    "\(what), indexes: \(indexing)\n\(query ?? whole)\nfound  \(found)\nwanted \(wanted)\n\(plan)")
        }
        let kind = Int.random(in: 0..<6, using: &values.random)
        let place = Int.random(in: 0...max(all.count, 1), using: &values.random)
        let aggregate = query.order.first?.path
        try store.read { reader in
            let found = try reader.fetch(query).map(\.key)
            if found != wanted { try differ("fetch", found, wanted) }
            // The cheapest plan is not the only one that must be right.
            func checkAllWays(_ query: Query, _ wanted: [RecordKey]) throws {
                let compiled = try CompiledQuery(query, reader.access.state)
                let planner = try QueryPlanner(reader.access, compiled)
                for way in try planner.alternatives() {
                    let run = try QueryRun(reader.access, planner.query, way)
                    var keys: [RecordKey] = []
                    try run.forEach { key, row in
                        keys.append(try #require(reader.access.key(compiled.entity, key, row)))
                        return true
                    }
                    asked += 1
                    if keys != wanted { try differ("by \(way.form), ordered: \(way.isOrdered)", keys, wanted, query) }
                    guard query.limit == nil, query.offset == 0 else { continue }
                    let count = try run.count(upTo: .max)
                    if count != wanted.count { try differ("count by \(way.form)", count, wanted.count, query) }
                }
            }
            asked += 1
            try checkAllWays(query, wanted)
            switch kind {
            case 0:
                let count = try reader.count(query)
                if count != wanted.count { try differ("count", count, wanted.count) }
                if try reader.exists(query) == wanted.isEmpty { try differ("exists", !wanted.isEmpty, wanted) }
            case 1, 2:
                // Pages of some size give the same, one after the other.
                var paged = query, keys: [RecordKey] = []
                paged.limit = 1 + place % 5
                while true {
                    let page = try reader.page(paged)
                    keys += page.records.map(\.key)
                    guard let next = page.next else { break }
                    paged.after = ContinuationToken(text: next.text)
                    if paged.after != next { try differ("token", next.text, "itself") }
                    if keys.count > all.count { break }
                }
                let rest = all.dropFirst(query.offset).map(\.key)
                if keys != rest { try differ("pages of \(1 + place % 5)", keys, rest, paged) }
            case 3:
                guard let aggregate else { break }
                let present = all.compactMap { oracle.value($0, aggregate) }.sorted { QueryOracle.order($0, $1) < 0 }
                let least = try reader.minimum(of: aggregate, query),
                    greatest = try reader.maximum(of: aggregate, query)
                if least.map({ a in present.first.map { QueryOracle.order(a, $0) != 0 } ?? true }) ?? !present.isEmpty {
                    try differ("minimum", least as Any, present.first as Any)
                }
                if greatest.map({ a in present.last.map { QueryOracle.order(a, $0) != 0 } ?? true }) ?? !present.isEmpty
                {
                    try differ("maximum", greatest as Any, present.last as Any)
                }
            case 4:
                guard let aggregate else { break }
                var groups: [(Value?, Int)] = []
                for value in all.map({ oracle.value($0, aggregate) }).sorted(by: { a, b in
                    guard let b else { return false }
                    return a.map { QueryOracle.order($0, b) < 0 } ?? true
                }) {
                    if let last = groups.last, (last.0 == nil) == (value == nil),
                        last.0.map({ QueryOracle.order($0, value ?? .null) == 0 }) ?? true
                    {
                        groups[groups.count - 1].1 += 1
                    } else {
                        groups.append((value, 1))
                    }
                }
                let found = try reader.counts(by: aggregate, query)
                let isSame =
                    found.count == groups.count
                    && zip(found, groups).allSatisfy { a, b in
                        a.count == b.1 && (a.value == .null) == (b.0 == nil)
                            && (b.0.map { QueryOracle.order(a.value, $0) == 0 } ?? true)
                    }
                if !isSame { try differ("counts by \(aggregate)", found, groups) }
            default:
                // From any place on, by every way.
                var paged = query
                paged.limit = place
                guard place > 0, let next = try reader.page(paged).next else { break }
                paged.after = next
                paged.limit = query.limit
                try checkAllWays(paged, all.dropFirst(query.offset + place).prefix(query.limit ?? .max).map(\.key))
            }
        }
    }

    /// A query that still fails, with less in it.
    private func shrunk(_ query: Query, _ fails: (Query) -> Bool) -> Query {
        func smaller(_ condition: Condition) -> [Condition] {
            switch condition {
            case .all: return []
            case .and(let list), .or(let list):
                var result: [Condition] = list
                for index in list.indices {
                    var rest = list
                    rest.remove(at: index)
                    if case .and = condition { result.append(.and(rest)) } else { result.append(.or(rest)) }
                    for inner in smaller(list[index]) {
                        var changed = list
                        changed[index] = inner
                        if case .and = condition { result.append(.and(changed)) } else { result.append(.or(changed)) }
                    }
                }
                return result
            case .not(let inner): return [inner] + smaller(inner).map(Condition.not)
            case .isIn(let path, let values) where values.count > 1:
                return values.indices.map { index in
                    var rest = values
                    rest.remove(at: index)
                    return .isIn(path, rest)
                }
            default: return [.all]
            }
        }
        var query = query
        while true {
            var tries: [Query] = []
            for condition in smaller(query.condition) {
                tries.append(query)
                tries[tries.count - 1].condition = condition
            }
            for index in query.order.indices {
                tries.append(query)
                tries[tries.count - 1].order.remove(at: index)
            }
            if query.limit != nil {
                tries.append(query)
                tries[tries.count - 1].limit = nil
            }
            if query.offset > 0 {
                tries.append(query)
                tries[tries.count - 1].offset = 0
            }
            if query.partials != .included {
                tries.append(query)
                tries[tries.count - 1].partials = .included
            }
            guard let next = tries.first(where: fails) else { return query }
            query = next
        }
    }

    @Test(arguments: 1...10)
    func everyQueryGivesTheSameWithEveryIndexAndByTheOracle(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let stores = try stores(seed, in: folder)
        let oracle = try QueryOracle(stores[0].1)
        var random = SeededRandom(seed: seed &* 7919)
        var asked = 0
        // Sanitized code takes several times as long.
        for _ in 0..<(isSanitized ? 60 : 300) {
            var generator = QueryGenerator(
                values: QueryValues(random: random),
                entity: ["Item", "Item", "Item", "Special", "Person", "Slot", "Pair"].randomElement(using: &random)!)
            generator.values.random = random
            let query = generator.query()
            random = generator.values.random
            let kinds = random, result = oracle.result(query)
            for (indexing, store) in stores {
                func difference(_ query: Query, _ result: [QueryOracle.Entry]? = nil) -> String? {
                    var values = QueryValues(random: kinds)
                    do {
                        try check(query, result ?? oracle.result(query), oracle, indexing, store, &values, &asked)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }
                guard difference(query, result) != nil else { continue }
                let least = shrunk(query) { difference($0) != nil }
                Issue.record("seed \(seed), query \(asked): \(difference(least) ?? "")")
                return
            }
            _ = random.next()
        }
        print("query model: seed \(seed), \(asked) queries")
    }
}
