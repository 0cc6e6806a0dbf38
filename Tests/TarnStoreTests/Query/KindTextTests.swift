// `any contains` on records whose kinds have text fields of their own.

import TarnStore
import TestSupport
import Testing

@Suite("Text in the fields of kinds")
struct KindTextTests {
    private static let schema = Schema([
        EntityDefinition(
            "Note", key: ["id"], attributes: [.init("id", .int), .init("title", .string, optional: true)]),
        EntityDefinition(
            "Memo", parent: "Note",
            attributes: [.init("memo", .string, optional: true), .init("lines", .array(.string), optional: true)]),
        EntityDefinition("Letter", parent: "Note", attributes: [.init("memo", .string, optional: true)]),
        EntityDefinition("Card", parent: "Letter", attributes: [.init("place", .url, optional: true)]),
    ])

    private func store(in folder: TemporaryFolder) throws -> Store {
        let store = try Store.open(at: folder("s.tarn"), schema: Self.schema)
        try store.write { writer in
            try writer.put("Note", RecordKey(1), [.init("title", .string("ink"))])
            try writer.put("Memo", RecordKey(2), [.init("memo", .string("some ink"))])
            try writer.put("Memo", RecordKey(3), [.init("lines", .array([.string("in"), .string("k, INK")]))])
            try writer.put("Letter", RecordKey(4), [.init("memo", .string("ink too"))])
            try writer.put("Card", RecordKey(5), [.init("place", .url("https://ink.example/"))])
            try writer.put("Card", RecordKey(6), [.init("memo", .string("none"))])
        }
        return store
    }

    @Test(
        "a record has a text if a field has it that only its kind declares",
        arguments: [
            ("Note", "any contains ink", [1, 2, 4, 5]), ("Note", "nocase(any) contains ink", [1, 2, 3, 4, 5]),
            ("Note", "any not contains ink", [3, 6]), ("Note", "not nocase(any) contains ink", [6]),
            ("Note", "any contains ink and title is missing", [2, 4, 5]),
            ("Note", "any contains ink and any contains o", [2, 4]),
            ("Memo", "any contains ink", [2]), ("Letter", "any contains ink", [4, 5]),
            ("Card", "any contains ink", [5]),
        ] as [(String, String, [Int64])])
    func found(entity: String, text: String, ids: [Int64]) throws {
        let folder = try TemporaryFolder(), store = try store(in: folder)
        let query = Query(entity, where: try Condition(text: text, entity: entity, catalog: store.catalog))
        try store.read { reader throws -> Void in
            #expect(try reader.fetch(query).map(\.key) == ids.map { RecordKey($0) })
            #expect(try reader.count(query) == ids.count)
        }
    }

    @Test("a path leads to no field that only a kind has, also beside `any contains`")
    func paths() throws {
        let folder = try TemporaryFolder(), store = try store(in: folder)
        for path: FieldPath in ["memo", "Memo.memo", "Letter.memo"] {
            let condition = Condition.and([
                .anyContains("ink", ignoringCase: false), .compare(path, .equal, .string("ink too")),
            ])
            #expect(throws: StoreError.self) { try store.read { try $0.count(Query("Note", where: condition)) } }
        }
    }
}
