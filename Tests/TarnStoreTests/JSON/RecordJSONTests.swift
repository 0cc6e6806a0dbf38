// Records as JSON from the bytes of their rows: the same text as from their values.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Records as JSON")
struct RecordJSONTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The objects of all records of an entity, from the values of the records.
    private func expected(_ reader: borrowing StoreReader, _ query: Query, kind: String?) throws -> [String] {
        var objects: [String] = []
        _ = try reader.forEachOfPage(query) { record in
            var members = kind.map { ["\"\($0)\":\(Value.string(record.entity).jsonText)"] } ?? []
            for field in record.fields {
                members.append("\(Value.string(field.name).jsonText):\(field.value.jsonText)")
            }
            objects.append("{\(members.joined(separator: ","))}")
        }
        return objects
    }

    private func written(_ reader: borrowing StoreReader, _ query: Query, kind: String?) throws -> [String] {
        try written(reader, query, JSONShape(kindName: kind))
    }

    private func written(_ reader: borrowing StoreReader, _ query: Query, _ shape: JSONShape) throws -> [String] {
        var objects: [String] = []
        _ = try reader.forEachJSONOfPage(query, shape) { objects.append(String(decoding: $0, as: UTF8.self)) }
        return objects
    }

    private func compare(_ store: Store, kind: String? = "_kind") throws -> Int {
        try store.read { reader in
            var count = 0
            for entity in store.catalog.entityNames {
                let query = Query(entity), objects = try written(reader, query, kind: kind)
                #expect(try objects == expected(reader, query, kind: kind), "\(entity)")
                count += objects.count
            }
            return count
        }
    }

    @Test("the bytes of rows give the text of the values, of every type and kind", arguments: try GoldenStores.all())
    func golden(_ name: String) throws {
        try GoldenStores.unpack(name, to: folder("s"))
        let store = try Forge.open(folder("s"), nil)
        #expect(try compare(store) > 40)
        #expect(try compare(store, kind: nil) > 40)
    }

    @Test(
        "records and targets with some of their fields have the values of the whole ones",
        arguments: try GoldenStores.all())
    func someFields(_ name: String) throws {
        try GoldenStores.unpack(name, to: folder("s"))
        let store = try Forge.open(folder("s"), nil)
        let (records, targets) = try store.read { reader in
            var records = 0, targets = 0
            for entity in reader.catalog.entities {
                let names = entity.fields.indices.filter { $0 % 2 == 1 }.map { entity.fields[$0].name } + ["nowhere"]
                var whole: [Record] = [], some: [Record] = []
                _ = try reader.forEachOfPage(Query(entity.name)) { whole.append($0) }
                _ = try reader.forEachOfPage(Query(entity.name), only: names) { some.append($0) }
                #expect(some == whole.map { Self.reduced($0, names) }, "\(entity.name)")
                records += some.count
                for relationship in reader.catalog.relationships(of: entity) {
                    for record in whole.prefix(40) {
                        targets += try compareTargets(of: record, relationship.name, only: names, reader)
                    }
                }
            }
            return (records, targets)
        }
        #expect(records > 40 && targets > 20)
    }

    private static func reduced(_ record: Record, _ names: [String]) -> Record {
        var record = record
        record.fields.removeAll { !names.contains($0.name) }
        return record
    }

    private func compareTargets(
        of record: Record, _ relationship: String, only names: [String], _ reader: borrowing StoreReader
    ) throws -> Int {
        var whole: [StoreReader.Target] = [], some: [StoreReader.Target] = []
        try reader.forEachRelated(record.entity, record.key, relationship) { target in
            whole.append(target)
            return true
        }
        try reader.forEachRelated(record.entity, record.key, relationship, only: names) { target in
            some.append(target)
            return true
        }
        #expect(some.map(\.key) == whole.map(\.key) && some.map(\.entity) == whole.map(\.entity))
        #expect(some.map(\.record) == whole.map { $0.record.map { Self.reduced($0, names) } }, "\(relationship)")
        return some.count
    }

    @Test(
        "chosen fields are written in their order, and the targets of included relationships after them",
        arguments: try GoldenStores.all())
    func shapes(_ name: String) throws {
        try GoldenStores.unpack(name, to: folder("s"))
        let store = try Forge.open(folder("s"), nil)
        let targets = try store.read { reader in
            var targets = 0
            for entity in reader.catalog.entities {
                let relationships = reader.catalog.relationships(of: entity).map(\.name)
                let names = entity.fields.map(\.name).reversed() + ["nowhere"]
                for fields in [nil, Array(names.filter { !relationships.contains($0) }), []] {
                    for included in [[]] + relationships.map({ [$0] }) + [relationships] {
                        let shape = JSONShape(fields: fields, included: included)
                        let objects = try written(reader, Query(entity.name, limit: 30), shape)
                        let expected = try expected(reader, Query(entity.name, limit: 30), shape, &targets)
                        #expect(objects == expected, "\(entity.name) \(fields ?? ["all"]) \(included)")
                    }
                }
            }
            return targets
        }
        #expect(targets > 40)
    }

    /// The objects of all records of an entity with a shape, from the values of the records.
    private func expected(
        _ reader: borrowing StoreReader, _ query: Query, _ shape: JSONShape, _ targets: inout Int
    ) throws -> [String] {
        func object(_ members: [(String, String)]) -> String {
            "{" + members.map { "\(Value.string($0).jsonText):\($1)" }.joined(separator: ",") + "}"
        }
        func members(_ record: Record) -> [(String, String)] { record.fields.map { ($0.name, $0.value.jsonText) } }
        var objects: [String] = []
        for record in try reader.page(query).records {
            let own = members(record)
            var all = shape.fields.map { names in names.compactMap { name in own.first { $0.0 == name } } } ?? own
            all.removeAll { shape.included.contains($0.0) }
            for name in shape.included {
                var found: [String] = []
                try reader.forEachRelated(record.entity, record.key, name) { target in
                    found.append(
                        target.record.map { object(members($0)) } ?? target.key.map { Value.reference($0).jsonText }
                            ?? "null")
                    return true
                }
                targets += found.count
                let isToMany = reader.catalog.entity(record.entity).flatMap {
                    reader.catalog.relationship(name, of: $0)?.isToMany
                }
                all.append((name, isToMany == true ? "[\(found.joined(separator: ","))]" : found.first ?? "null"))
            }
            objects.append(object(all))
        }
        return objects
    }

    @Test("a missing target is its key; an unknown relationship is an error")
    func missingTargets() throws {
        let store = try Forge.open(folder("s"))
        try store.write { writer in
            try writer.putUser(1)
            try writer.put("Issue", 7, [.init("author", .reference(1))])
            try writer.put("Issue", 8, [.init("author", .reference(2))])
            try writer.put("Issue", 9, [.init("title", .string("t"))])
        }
        func objects(_ shape: JSONShape) throws -> [String] {
            try store.read { reader in try written(reader, Query("Issue"), shape) }
        }
        #expect(
            try objects(JSONShape(fields: ["id"], included: ["author"])) == [
                #"{"id":7,"author":{"id":1,"login":"u1"}}"#, #"{"id":8,"author":2}"#, #"{"id":9,"author":null}"#,
            ])
        #expect(try objects(JSONShape(fields: [])) == ["{}", "{}", "{}"])
        #expect(throws: StoreError.self) { try objects(JSONShape(included: ["nobody"])) }
    }

    @Test("strings are escaped as character by character, wherever the characters are")
    func escapes() {
        func expected(_ text: String) -> String {
            "\""
                + text.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\"": "\\\""
                    case "\\": "\\\\"
                    case "\n": "\\n"
                    case "\r": "\\r"
                    case "\t": "\\t"
                    case "\0"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
                    default: String(scalar)
                    }
                }.joined() + "\""
        }
        let characters = [
            "a", "\"", "\\", "\n", "\r", "\t", "\0", "\u{1F}", "\u{7F}", " ", "!", "ü", "€", "🙂", "\u{80}",
            // These join with a quote into one character.
            "\u{301}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "\u{600}", "\u{903}",
        ]
        var dice = SeededRandom(seed: 20_261_125)
        for round in 0..<20_000 {
            // Many long runs without anything to escape, and texts with escapes only.
            let share = round % 4
            var text = ""
            for _ in 0..<dice.roll(0..<40) {
                text += dice.roll(0..<4) < share ? characters[dice.roll(0..<characters.count)] : "x"
            }
            var json = "."
            json.appendJSONString(text)
            var bytes = JSONText()
            text.withUTF8 { bytes.append(string: Bytes($0)) }
            let wanted = expected(text)
            guard json.utf8.elementsEqual(("." + wanted).utf8), bytes.bytes.elementsEqual(wanted.utf8) else {
                Issue.record("\(text.debugDescription)")
                return
            }
        }
    }

    @Test("references to digests, and texts that need escapes, are written whole")
    func unusual() throws {
        let schema = Schema([
            EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)]),
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    .init("id", .int), .init("text", .string, optional: true), .init("n", .double, optional: true),
                ],
                relationships: [.init("tags", to: "Tag", many: true, ordered: true, inverse: "things")]),
        ])
        let store = try Forge.open(folder("s"), schema), long = RecordKey(String(repeating: "long/", count: 100))
        try store.write { writer in
            try writer.put("Tag", long, [])
            try writer.put(
                "Thing", 1,
                [
                    .init("text", .string("\u{1}\n\t\"\\ ü 🙂 \u{7F}")), .init("n", .double(-0.1)),
                    .init("tags", .references([long, RecordKey("missing"), RecordKey("ü\"")])),
                ])
            try writer.put("Thing", 2, [.init("text", .null), .init("n", .double(1e300))])
        }
        #expect(try compare(store) == 3)
        let found = try store.read { reader in try written(reader, Query("Thing"), kind: "_kind") }
        #expect(found[0].hasPrefix(#"{"_kind":"Thing","id":1,"text":"\u0001\n\t\"\\ ü 🙂"#))
        #expect(found[0].contains(String(repeating: "long/", count: 100)))
    }

    @Test("pages end as those of records do, and an empty one writes nothing")
    func paged() throws {
        let store = try Forge.open(folder("s"))
        try store.write { writer in for id in 0..<5 { try writer.putUser(id) } }
        try store.read { reader in
            let query = Query("User", limit: 2)
            #expect(
                try written(reader, query, kind: nil) == [#"{"id":0,"login":"u0"}"#, #"{"id":1,"login":"u1"}"#])
            let token = try reader.forEachJSONOfPage(query) { _ in }
            #expect(try token == reader.forEachOfPage(query) { _ in } && token != nil)
            #expect(try written(reader, Query("User", limit: 0), kind: nil) == [])
        }
    }
}
