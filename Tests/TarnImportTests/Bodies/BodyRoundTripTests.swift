// A record that is sent and imported again is the same: for every type of attribute and every form
// of mapping that has a place in a body.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnImport

@Suite("Bodies of requests: imported again", .timeLimit(.minutes(5)))
struct BodyRoundTripTests {
    @Test("import(export(x)) = x for random schemas, mappings and records", arguments: Array(UInt64(1)...60))
    func roundTrip(_ seed: UInt64) throws {
        var bench = Bench(seed: seed)
        let (schema, mapping) = bench.make()
        #expect(mapping.problems(for: schema).isEmpty, "seed \(seed): \(mapping.problems(for: schema))")
        let bed = try TestStore(schema, mapping), writer = BodyWriter(mapping, bed.store.catalog)
        for id in 1...8 {
            let record = bench.record(Int64(id))
            var options = BodyOptions()
            options.references = bench.form
            let body = try writer.body(of: record, options)
            let report = try bed.take("[\(body.text)]", "Thing")
            #expect(report.diagnostics.isEmpty, "seed \(seed): \(report.diagnostics) of \(body.text)")
            let stored = try #require(try bed.record("Thing", Int64(id)))
            let found = Dictionary(uniqueKeysWithValues: stored.fields.map { ($0.name, $0.value) })
            for field in record.fields {
                #expect(
                    Bench.same(found[field.name], field.value),
                    "seed \(seed): \(field.name) is \(String(describing: found[field.name])), not \(field.value), of \(body.text)"
                )
            }
            #expect(found.count == record.fields.count, "seed \(seed): \(found.keys.sorted())")
        }
    }
}

/// A random schema of one entity with every type, its mapping, and records of it.
private struct Bench {
    private var random: SeededRandom
    private var attributes:
        [(name: String, type: AttributeType, format: DateFormat?, transformer: String?, affix: String?)] = []
    let form: ReferenceForm

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        form = [.key, .object, .nested][Int(seed % 3)]
    }

    private static let types: [AttributeType] = [
        .bool, .int, .uint, .double, .decimal, .string, .bytes, .date, .uuid, .url, .json,
        .enumeration(["open", "x y", "é"]),
    ]

    mutating func make() -> (Schema, Mapping) {
        var own = EntityMapping(), definitions = [AttributeDefinition("id", .int)]
        for (index, type) in (Self.types + Self.types.filter { $0 != .json }.map { .array($0) }).enumerated() {
            let name = "fieldURL\(index)X"
            var format: DateFormat?, transformer: String?, affix: String?
            var rules = FieldRules()
            if type == .date || type == .array(.date) {
                format =
                    [
                        .rfc3339, .iso8601, .http, .day, .epoch(.seconds), .epoch(.milliseconds), .epoch(.microseconds),
                        .pattern("EEE dd/MM/yyyy hh:mm:ss.SSSSSS a xxx"),
                    ][random.roll(0..<8)]
                rules.dates = format.map { [$0] }
            }
            // The base64 of other bytes than text is no text.
            if random.roll(0..<3) == 0 {
                switch type {
                case .string: transformer = "base64url"
                case .int, .decimal, .double, .uint: transformer = "number"
                case .json, .bool, .array: transformer = "json"
                default: break
                }
                rules.transformers = transformer.map { [$0] }
            }
            if type == .string, transformer == nil, random.roll(0..<2) == 0 {
                affix = "p{"
                own.paths[name] = [.text(TextTemplate("p{{{deep.text}é")!)]
            } else if random.roll(0..<2) == 0 {
                own.paths[name] = [
                    [
                        ValueSource.path(JSONPath(keys: ["deep", "a.\(index)"])), .path(JSONPath(keys: ["k\(index)"])),
                        .path(JSONPath(keys: ["deep", "er", "é\(index)"])),
                    ][random.roll(0..<3)]
                ]
                if random.roll(0..<2) == 0 { own.paths[name]?.append(.path(JSONPath(keys: ["other\(index)"]))) }
            }
            if random.roll(0..<3) == 0 {
                rules.naming = [.camelCase, .kebabCase, NamingStyle.none][random.roll(0..<3)]
            }
            if random.roll(0..<4) == 0, transformer == nil, type != .date || format == nil { rules.coercion = .strict }
            own.fields[name] = rules
            definitions.append(AttributeDefinition(name, type, optional: true))
            attributes.append((name, type, format, transformer, affix))
        }
        if random.roll(0..<2) == 0 { own.paths["owner"] = ["deep.user"] }
        let schema = Schema([
            EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
            EntityDefinition("Code", key: ["code"], attributes: [AttributeDefinition("code", .string)]),
            EntityDefinition("Uid", key: ["uid"], attributes: [AttributeDefinition("uid", .uuid)]),
            EntityDefinition(
                "Pair", key: ["left", "right"],
                attributes: [AttributeDefinition("left", .int), AttributeDefinition("right", .string)]),
            EntityDefinition(
                "Thing", key: ["id"], attributes: definitions,
                relationships: [
                    RelationshipDefinition("owner", to: "User"),
                    RelationshipDefinition("codes", to: "Code", many: true, ordered: true),
                    RelationshipDefinition("uid", to: "Uid"), RelationshipDefinition("pair", to: "Pair"),
                    RelationshipDefinition("pairs", to: "Pair", many: true, ordered: true),
                ]),
        ])
        let style: NamingStyle = [.snakeCase, .camelCase, .kebabCase, .none][random.roll(0..<4)]
        let suffixes = random.roll(0..<2) == 0 ? ["_id"] : []
        return (schema, Mapping(naming: NamingConvention(style, referenceSuffixes: suffixes), entities: ["Thing": own]))
    }

    mutating func record(_ id: Int64) -> Record {
        var fields = [Record.Field("id", .int(id))]
        for attribute in attributes {
            switch random.roll(0..<6) {
            case 0: continue
            case 1: fields.append(.init(attribute.name, .null))
            default:
                fields.append(
                    .init(
                        attribute.name, value(attribute.type, attribute.format, attribute.transformer, attribute.affix))
                )
            }
        }
        if random.roll(0..<4) > 0 {
            fields.append(.init("owner", .reference(RecordKey(Int64.random(in: .min ... .max, using: &random)))))
        }
        if random.roll(0..<4) > 0 {
            fields.append(.init("uid", random.roll(0..<3) == 0 ? .null : .reference(RecordKey(uuid()))))
        }
        if random.roll(0..<4) > 0 { fields.append(.init("pair", .reference(pair(0)))) }
        if random.roll(0..<4) > 0 {
            fields.append(.init("codes", .references((0..<random.roll(0..<4)).map { RecordKey("c\($0)é") })))
        }
        if random.roll(0..<4) > 0 {
            fields.append(.init("pairs", .references((0..<random.roll(0..<4)).map { pair(Int64($0)) })))
        }
        return Record(entity: "Thing", key: RecordKey(id), fields: fields)
    }

    private func pair(_ left: Int64) -> RecordKey { RecordKey([.int(left), .string("r \(left)")]) }

    private mutating func uuid() -> UUID {
        let (a, b) = (random.next(), random.next())
        return withUnsafeBytes(of: (a, b)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }

    private mutating func text() -> String {
        ["", "a", "e\u{301}", "é", "\u{0}\u{1F}\"\\/", "日本語 🦊", "null", "12", "{x}"][random.roll(0..<9)]
    }

    private mutating func value(
        _ type: AttributeType, _ format: DateFormat?, _ transformer: String?, _ affix: String?
    ) -> Value {
        switch type {
        case .bool: return .bool(random.roll(0..<2) == 0)
        case .int: return .int([Int64.min, .max, 0, -1, 1 << 53 + 1, Int64(random.roll(0..<1000))][random.roll(0..<6)])
        case .uint: return [.uint(.max), .uint(1 << 63), .int(0), .int(7)][random.roll(0..<4)]
        case .double:
            return .double(
                [0.1, -1.5e300, .leastNonzeroMagnitude, 3, .greatestFiniteMagnitude, 1e21][random.roll(0..<6)])
        case .decimal:
            let digits = ["0.10", "-12345678901234567890123456789.000000001", "1.5", "123456789012345678901234567890"]
            return .decimal(ExactDecimal(digits[random.roll(0..<4)]) ?? ExactDecimal("1")!)
        case .string: return .string(affix == nil ? text() : "p{" + text() + "é")
        case .bytes: return .bytes((0..<random.roll(0..<5)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case .date: return .date(date(format ?? .rfc3339))
        case .uuid: return .uuid(uuid())
        case .url: return .url(["https://a.example/x?y=%20", "/é", "#"][random.roll(0..<3)])
        case .json:
            return .json([#"{"a":[1.10,null,"é"],"a":2}"#, "[]", "1e400", "\"x\"", "false"][random.roll(0..<5)])
        case .enumeration(let values): return .string(values[random.roll(0..<values.count)])
        case .array(let element):
            return .array(
                (0..<random.roll(0..<4)).map { _ in
                    random.roll(0..<5) == 0 ? .null : value(element, format, nil, nil)
                })
        }
    }

    private mutating func date(_ format: DateFormat) -> Timestamp {
        let microseconds = Int64(random.roll(-2_000_000_000_000_000..<4_000_000_000_000_000))
        let step: Int64 =
            switch format {
            case .day: 86_400_000_000
            case .http: 1_000_000
            default: 1
            }
        return Timestamp(microseconds: microseconds / step * step)
    }

    /// Whether two values are equal, texts by their bytes, and numbers by what they are.
    static func same(_ a: Value?, _ b: Value) -> Bool {
        guard let a else { return false }
        return a.jsonText.utf8.elementsEqual(b.jsonText.utf8)
    }
}
