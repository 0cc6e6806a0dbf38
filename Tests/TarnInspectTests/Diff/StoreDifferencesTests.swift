// A comparison finds every record that differs, and nothing else, whatever the stores have in ids,
// history and compression.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: diff")
struct StoreDifferencesTests {
    struct Outcome {
        var summary: StoreDifferences
        var lines: [String]
        var damaged: [String]
    }

    static func compare(_ a: String, _ b: String, of entity: String? = nil) throws -> Outcome {
        var lines: [String] = [], damaged: [String] = []
        let summary = try StoreInspector(at: b).differences(
            from: StoreInspector(at: a), of: entity, difference: { lines.append($0.json) },
            damaged: { damaged.append("\($0) \($1)") })
        return Outcome(summary: summary, lines: lines, damaged: damaged)
    }

    @Test("the values of enumerations differ by their bytes, also if they contain a comma")
    func enumerationValues() throws {
        func catalog(_ values: String...) throws -> Catalog {
            try Catalog().applying(
                Schema([
                    EntityDefinition(
                        "Item", key: ["id"],
                        attributes: [.init("id", .int), .init("state", .enumeration(values), optional: true)])
                ])
            ).catalog
        }
        func differences(_ a: Catalog, _ b: Catalog) -> [String] {
            SchemaDifference.all(between: a, and: b).map(\.path)
        }
        #expect(try differences(catalog("a, b", "c"), catalog("a", "b, c")) == ["Item.state"])
        #expect(try differences(catalog("ferm\u{E9}"), catalog("ferme\u{301}")) == ["Item.state"])
        #expect(try differences(catalog("a, b", "c"), catalog("a, b", "c")).isEmpty)
    }

    private func change(_ path: String, _ body: (inout StoreWriter) throws -> Void) throws {
        try Store.open(at: path, options: Store.Options(durability: .volatile)).write(body)
    }

    private func counts(_ summary: StoreDifferences) -> [String] {
        summary.entities.map { "\($0.name) =\($0.same) +\($0.added) -\($0.removed) ~\($0.changed) !\($0.unreadable)" }
    }

    @Test("a store equals itself, its copy and its compacted backup")
    func equal() throws {
        let store = try RichStore(), copy = try RichStore()
        let backup = store.path + "-backup"
        defer { try? FileManager.default.removeItem(atPath: backup) }
        _ = try Store.open(at: store.path, options: Store.Options(durability: .volatile)).backup(to: backup)
        for other in [store.path, copy.path, backup] {
            let outcome = try Self.compare(store.path, other)
            #expect(outcome.lines == [] && outcome.damaged == [] && outcome.summary.isEqual, "\(other)")
            #expect(
                counts(outcome.summary) == [
                    "User =42 +0 -0 ~0 !0", "Issue =360 +0 -0 ~0 !0", "Label =4 +0 -0 ~0 !0", "Part =88 +0 -0 ~0 !0",
                    "Event =10 +0 -0 ~0 !0", "Push =10 +0 -0 ~0 !0",
                ])
        }
    }

    @Test("added, removed and changed records come with their fields, absent, null and value apart")
    func kinds() throws {
        let old = try InspectedStore(), new = try InspectedStore()
        try change(new.path) { writer in
            try writer.put("Author", RecordKey(9), [.init("name", .string("New"))])
            try writer.put("Author", RecordKey(1), [.init("born", .null)])
            try writer.put("Book", RecordKey([.string("a/b"), .int(1)]), [.init("author", .reference(RecordKey(9)))])
            _ = try writer.delete("Book", RecordKey([.string("a/b"), .int(2)]))
        }
        let outcome = try Self.compare(old.path, new.path)
        #expect(
            outcome.lines == [
                #"{"change":"changed","entity":"Author","key":1,"fields":{"born":{"from":"1970-01-01T00:00:00.000001Z","to":null}}}"#,
                #"{"change":"added","entity":"Author","key":9,"fields":{"id":9,"name":"New"}}"#,
                #"{"change":"changed","entity":"Book","key":["a/b",1],"fields":{"author":{"from":1,"to":9}}}"#,
                #"{"change":"removed","entity":"Book","key":["a/b",2],"fields":{"shelf":"a/b","number":2,"title":"Volume number 2","author":2}}"#,
            ])
        #expect(counts(outcome.summary) == ["Author =0 +1 -0 ~1 !0", "Book =0 +0 -1 ~1 !0", "Empty =0 +0 -0 ~0 !0"])
        #expect(!outcome.summary.isEqual && outcome.summary.differing == 4)
        // The other way round.
        let back = try Self.compare(new.path, old.path)
        #expect(
            back.lines.first
                == #"{"change":"changed","entity":"Author","key":1,"fields":{"born":{"from":null,"to":"1970-01-01T00:00:00.000001Z"}}}"#
        )
        #expect(back.lines.map { String($0.prefix(18)) }.contains(#"{"change":"removed"#))
        #expect(try Self.compare(old.path, new.path, of: "Book").lines.count == 2)
        #expect(throws: StoreError.self) { try Self.compare(old.path, new.path, of: "Nope") }
    }

    @Test("stores whose catalogs give other ids to the same names, and whose histories differ, are equal")
    func otherIDs() throws {
        let one = try InspectedStore()
        let path = FileManager.default.temporaryDirectory.path + "/tarn-inspect-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = Schema([
            EntityDefinition("Empty", key: ["id"], attributes: [.init("id", .uuid)]),
            EntityDefinition(
                "Book", key: ["shelf", "number"],
                attributes: [.init("title", .string, indexed: true), .init("number", .int), .init("shelf", .string)],
                relationships: [.init("author", to: "Author", inverse: "books")]),
            EntityDefinition(
                "Author", key: ["id"],
                attributes: [.init("born", .date, optional: true), .init("name", .string), .init("id", .int)]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try store.write { try $0.put("Author", RecordKey(1), [.init("name", .string("Other"))]) }
        try store.write(InspectedStore.twoBooks)
        let outcome = try Self.compare(one.path, path)
        #expect(outcome.lines == [] && outcome.summary.isEqual, "\(outcome.lines)")
        #expect(outcome.summary.entities.map(\.same).reduce(0, +) == 3)
    }

    @Test("other values of an enumeration are a difference, also if the attribute is a list of them")
    func enumerations() throws {
        let folder = try TemporaryFolder()
        for (name, values) in [("a", ["x"]), ("b", ["x", "y"])] {
            let entity = EntityDefinition(
                "A", key: ["id"],
                attributes: [
                    .init("id", .int), .init("one", .enumeration(values)), .init("many", .array(.enumeration(values))),
                ])
            _ = try Store.open(
                at: folder(name), schema: Schema([entity]), options: Store.Options(durability: .volatile))
        }
        let outcome = try Self.compare(folder("a"), folder("b"))
        #expect(!outcome.summary.isEqual)
        #expect(
            outcome.summary.schema.map(\.line) == [
                "~ schema A.one: enum, one of x → enum, one of x, y",
                "~ schema A.many: [enum], one of x → [enum], one of x, y",
            ])
    }

    @Test("a changed schema is a difference, part by part")
    func schema() throws {
        let one = try InspectedStore(), two = try InspectedStore()
        var entities = [
            EntityDefinition(
                "Author", key: ["id"],
                attributes: [
                    .init("id", .int), .init("name", .string, indexed: true), .init("born", .date, optional: true),
                    .init("note", .string, optional: true),
                ])
        ]
        entities += Array(InspectedStore.schema.entities.dropFirst())
        _ = try Store.open(at: two.path, schema: Schema(entities), options: Store.Options(durability: .volatile))
        let outcome = try Self.compare(one.path, two.path)
        #expect(outcome.lines == [] && !outcome.summary.isEqual)
        #expect(
            outcome.summary.schema.map(\.json) == [
                #"{"change":"changed","schema":"Author.name","from":"string","to":"string, indexed"}"#,
                #"{"change":"added","schema":"Author.note","to":"string?"}"#,
            ])
    }

    @Test("a long list in the edge table is compared element by element")
    func longLists() throws {
        let one = try RichStore(), two = try RichStore()
        try change(two.path) { writer in
            var parts = (0..<1200).map { RecordKey([.int(5), .int($0)]) }
            parts[700] = RecordKey([.int(5), .int(9999)])
            try writer.put("Issue", RecordKey(5), [.init("parts", .references(parts))])
        }
        let outcome = try Self.compare(one.path, two.path)
        #expect(outcome.lines.count == 1)
        #expect(
            outcome.lines.first?.hasPrefix(
                #"{"change":"changed","entity":"Issue","key":5,"fields":{"parts":{"from":[[5,0]"#) ?? false)
        // Written back: the list has another id, and the same content.
        try change(two.path) { writer in
            let parts = (0..<1200).map { RecordKey([.int(5), .int($0)]) }
            try writer.put("Issue", RecordKey(5), [.init("parts", .references(parts))])
        }
        #expect(try Self.compare(one.path, two.path).summary.isEqual)
    }

    @Test("a reference to the same record at another position is a difference, an equal position is none")
    func positions() throws {
        let store = try InspectedStore()
        try StoreFile.open(at: store.path) { file in
            let book = try #require(file.catalog.entity("Book")), author = try #require(book.field("author"))
            func body(_ position: UInt32?) -> [UInt8] {
                var builder = BodyBuilder(), value = ByteWriter(), bytes = ByteWriter()
                value.append(position == nil ? ValueTag.reference : ValueTag.positionedReference)
                if let position { value.appendLittleEndian(position) }
                value.append(RecordKey(1).storageKey)
                builder.field(author.id, EncodedValue(value.bytes))
                builder.finish(into: &bytes)
                return Array(bytes.bytes)
            }
            func differences(_ from: UInt32?, _ to: UInt32?) throws -> [RecordDifference.Field] {
                try body(from).withUnsafeBytes { from in
                    try body(to).withUnsafeBytes { to in
                        guard let a = RowBody(from, isWide: false).flatMap({ RowValues(file, book, $0) }),
                            let b = RowBody(to, isWide: false).flatMap({ RowValues(file, book, $0) })
                        else { return [] }
                        return try a.differences(to: b)
                    }
                }
            }
            #expect(try differences(3, 3) == [] && differences(nil, nil) == [])
            let moved = try differences(3, 4)
            #expect(moved.map(\.name) == ["author"] && moved.first?.positionFrom == 3 && moved.first?.positionTo == 4)
            #expect(try differences(nil, 0).count == 1 && differences(0, nil).count == 1)
        }
    }

    @Test("a record that became one of another entity of its tree is one change")
    func concreteEntity() throws {
        let one = try RichStore(), two = try RichStore()
        try change(two.path) { writer in
            try writer.put("Push", RecordKey(3), [.init("branch", .string("main"))])
        }
        let outcome = try Self.compare(one.path, two.path)
        #expect(
            outcome.lines == [
                #"{"change":"changed","entity":"Push","formerEntity":"Event","key":3,"fields":{"branch":{"to":"main"}}}"#
            ])
        #expect(try Self.compare(one.path, two.path, of: "Push").lines == outcome.lines)
        // The comparison of the entity that the record has left counts it, too.
        let left = try Self.compare(two.path, one.path, of: "Push")
        #expect(left.lines.count == 1 && !left.summary.isEqual && left.summary.differing == 1)
        #expect(counts(left.summary) == ["Push =10 +0 -0 ~1 !0"])
    }

    @Test("what a comparison finds is what the dumps of both stores differ in", arguments: [1, 2, 3, 4, 5, 6])
    func model(_ seed: UInt64) throws {
        let one = try RichStore(), two = try RichStore()
        var random = SeededRandom(seed: seed)
        for path in [one.path, two.path] {
            try change(path) { writer in
                for _ in 0..<30 {
                    let key = Int64.random(in: 1...70, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: _ = try writer.delete("Issue", RecordKey(key))
                    case 1: try writer.put("Issue", RecordKey(key), [.init("title", .string("t\(key % 3)"))])
                    case 2: try writer.put("Label", RecordKey("l\(key % 9)"), [])
                    case 3: _ = try writer.delete("Event", RecordKey(key % 20))
                    default: try writer.put("User", RecordKey(key % 40 + 1), [.init("age", .int(key % 5))])
                    }
                }
            }
        }
        func dump(_ path: String) throws -> [String: String] {
            var lines: [String: String] = [:]
            try StoreInspector(at: path).dumpRecords(withVersions: false) { line in
                let parts = line.components(separatedBy: ",\"fields\":")
                lines[parts[0]] = line
            } damaged: { _ in
            }
            return lines
        }
        let a = try dump(one.path), b = try dump(two.path)
        let wanted = Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }
        let outcome = try Self.compare(one.path, two.path)
        #expect(outcome.summary.differing == wanted.count && outcome.lines.count == wanted.count, "seed \(seed)")
        #expect(wanted.count > 5)
        let added = wanted.count { a[$0] == nil }, removed = wanted.count { b[$0] == nil }
        #expect(outcome.summary.entities.reduce(0) { $0 + $1.added } == added)
        #expect(outcome.summary.entities.reduce(0) { $0 + $1.removed } == removed)
    }

    @Test("a damaged row is reported with its store and not compared; the other records are")
    func damagedRow() throws {
        let one = try InspectedStore(), two = try InspectedStore()
        try two.damage("Volume number 1")
        let outcome = try Self.compare(one.path, two.path)
        #expect(outcome.damaged == ["1 Book [a/b, 1]: the checksum is wrong"])
        #expect(outcome.lines == [] && !outcome.summary.isEqual && !outcome.summary.isComplete)
        #expect(counts(outcome.summary)[1] == "Book =1 +0 -0 ~0 !1")
    }

    @Test("a store that is written to meanwhile is compared as of one commit, and the writer does not wait")
    func liveWriter() throws {
        let one = try RichStore(), two = try RichStore()
        let store = try Store.open(at: two.path, options: Store.Options(durability: .volatile))
        // Every commit changes both records to the same number.
        let isDone = Flag()
        let writer = Thread {
            var number: Int64 = 0
            while !isDone.isSet {
                number += 1
                try? store.write { writer in
                    try writer.put("User", RecordKey(1), [.init("age", .int(number))])
                    try writer.put("Event", RecordKey(19), [.init("at", .date(Timestamp(microseconds: number)))])
                }
            }
            isDone.end()
        }
        writer.start()
        var states: Set<String> = []
        for _ in 0..<20 {
            var found: [Int64] = []
            _ = try StoreInspector(at: two.path).differences(from: StoreInspector(at: one.path)) { difference in
                switch difference.fields.first?.to {
                case .int(let number): found.append(number)
                case .date(let time): found.append(time.microseconds)
                default: break
                }
            } damaged: { _, damage in
                Issue.record("\(damage)")
            }
            #expect(Set(found).count <= 1, "\(found)")
            states.insert("\(found)")
        }
        isDone.set()
        #expect(states.count > 3, "nothing was written meanwhile")
    }

    @Test("what is no store is an error that names it")
    func noStore() throws {
        let store = try InspectedStore()
        #expect(throws: StoreOpenError.noSuchStore(path: "/nowhere/x")) { try Self.compare(store.path, "/nowhere/x") }
        #expect(throws: StoreOpenError.noSuchStore(path: "/nowhere/x")) { try Self.compare("/nowhere/x", store.path) }
    }
}
