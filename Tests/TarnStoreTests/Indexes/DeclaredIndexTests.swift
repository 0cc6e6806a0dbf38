// Declared indexes: combinations, unique ones, ones that hold only some records, ones that ignore
// case.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Declared indexes")
struct DeclaredIndexTests {
    private static func schema(
        _ indexes: [IndexDefinition], uniqueLogin: Bool = false, compression: EntityDefinition.Compression = .none
    ) -> Schema {
        Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int),
                    AttributeDefinition("login", .string, optional: true, unique: uniqueLogin),
                    AttributeDefinition("state", .enumeration(["active", "gone"]), optional: true),
                    AttributeDefinition("age", .int, optional: true),
                ],
                relationships: [RelationshipDefinition("team", to: "Team")], indexes: indexes, compression: compression),
            EntityDefinition("Team", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        ])
    }

    private func open(_ folder: TemporaryFolder, _ indexes: IndexDefinition..., uniqueLogin: Bool = false) throws
        -> Store
    {
        try Forge.open(folder("s"), DeclaredIndexTests.schema(indexes, uniqueLogin: uniqueLogin))
    }

    private func keys(_ store: Store, _ index: String, _ values: Value...) throws -> [Int64] {
        try store.read { reader in
            var keys: [Int64] = []
            try reader.forEach("User", index: index, equalTo: values) { record in
                if case .int(let id)? = record.key.components.first { keys.append(id) }
                return true
            }
            return keys
        }
    }

    private func entryCount(_ store: Store, _ index: String) throws -> Int {
        try store.read { reader in
            let id = try #require(reader.catalog.entity("User")?.index(index)?.id)
            return try reader.access.keys(of: reader.access.state.index(id)).count
        }
    }

    // MARK: Combinations

    @Test("an index of several attributes finds records by all of them, or by the first ones, in the order of the rest")
    func combination() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byStateAndAge", on: "state", "age"))
        for (id, state, age) in [
            (1, "active", 30), (2, "gone", 20), (3, "active", 10), (4, "active", 20), (5, "active", 20),
        ] {
            try store.put("User", RecordKey(Int64(id)), ["state": .string(state), "age": .int(Int64(age))])
        }
        #expect(try keys(store, "byStateAndAge", .string("active"), .int(20)) == [4, 5])
        #expect(try keys(store, "byStateAndAge", .string("active")) == [3, 4, 5, 1])
        #expect(try keys(store, "byStateAndAge") == [3, 4, 5, 1, 2])
        #expect(try keys(store, "byStateAndAge", .string("gone"), .int(30)) == [])
    }

    @Test("a change of one attribute moves the record's entry; one of another leaves it; a deleted record has none")
    func maintainedByDifference() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byStateAndAge", on: "state", "age"))
        try store.put("User", 1, ["state": .string("active"), "age": .int(1), "login": .string("a")])
        try store.put("User", 1, ["login": .string("b")])
        #expect(try keys(store, "byStateAndAge", .string("active"), .int(1)) == [1])
        try store.put("User", 1, ["age": .int(2)])
        #expect(try keys(store, "byStateAndAge", .string("active"), .int(1)) == [])
        #expect(try keys(store, "byStateAndAge", .string("active"), .int(2)) == [1])
        try store.write { writer in _ = try writer.delete("User", 1) }
        #expect(try entryCount(store, "byStateAndAge") == 0)
    }

    @Test("a to-one relationship is a component like an attribute; a long key in it is found too")
    func relationshipAsComponent() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byTeamAndAge", on: "team", "age"))
        let long = RecordKey(String(repeating: "t", count: 400))
        for (id, team, age) in [(1, RecordKey("red"), 5), (2, long, 7), (3, RecordKey("red"), 3), (4, long, 6)] {
            try store.put("User", RecordKey(Int64(id)), ["team": .reference(team), "age": .int(Int64(age))])
        }
        #expect(try keys(store, "byTeamAndAge", .reference(RecordKey("red"))) == [3, 1])
        #expect(try keys(store, "byTeamAndAge", .reference(long), .int(7)) == [2])
        #expect(Set(try keys(store, "byTeamAndAge", .reference(long))) == [2, 4])
        try store.put("User", 3, ["team": .null])
        #expect(try keys(store, "byTeamAndAge", .null, .int(3)) == [3])
    }

    @Test("values that are too long for an index are compared in the rows")
    func longValues() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byLoginAndAge", on: "login", "age"))
        let start = String(repeating: "x", count: 269)
        // At the cut: the value ends before it, with it, in an escaped NUL, and behind it.
        let logins = [
            start, start + "a", start + "b", start + "\0", start + "\0a", String(start.dropLast()), start + "abc",
        ]
        for (index, login) in logins.enumerated() {
            try store.put("User", RecordKey(Int64(index)), ["login": .string(login), "age": .int(7)])
        }
        for (index, login) in logins.enumerated() {
            #expect(try keys(store, "byLoginAndAge", .string(login)) == [Int64(index)])
            #expect(try keys(store, "byLoginAndAge", .string(login), .int(7)) == [Int64(index)])
            #expect(try keys(store, "byLoginAndAge", .string(login), .int(8)) == [])
        }
    }

    @Test("a value of another type, too many values and an unknown index are errors that say what there is")
    func wrongLookups() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byAge", on: "age"))
        #expect(
            storeError { _ = try keys(store, "byAge", .string("x")) }?.description.contains("age: expected int") == true
        )
        #expect(storeError { _ = try keys(store, "byAge", .int(1), .int(2)) } != nil)
        let unknown = storeError { _ = try keys(store, "nope", .int(1)) }
        #expect(unknown == StoreError.unknownField(entity: "User", name: "index nope", known: ["byAge"]))
    }

    // MARK: Partial indexes

    @Test(
        "a partial index holds the records that meet its conditions, and follows when they change",
        arguments: [
            (IndexCondition("state", .equal, .string("active")), [1]),
            (IndexCondition("state", .notEqual, .string("active")), [2, 3]),
            (IndexCondition("state", .equal, .null), [3]), (IndexCondition("state", .notEqual, .null), [1, 2]),
            (IndexCondition("age", .less, .int(20)), [1]), (IndexCondition("age", .lessOrEqual, .int(20)), [1, 2]),
            (IndexCondition("age", .greater, .int(10)), [2]),
            (IndexCondition("age", .greaterOrEqual, .int(10)), [1, 2]),
        ])
    func partialIndex(_ condition: IndexCondition, _ expected: [Int64]) throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("some", on: "login", where: [condition]))
        try store.put("User", 1, ["login": .string("a"), "state": .string("active"), "age": .int(10)])
        try store.put("User", 2, ["login": .string("b"), "state": .string("gone"), "age": .int(20)])
        try store.put("User", 3, ["login": .string("c")])
        #expect(try keys(store, "some") == expected)
        // Each takes the value of another.
        try store.put("User", 1, ["state": .null, "age": .null])
        try store.put("User", 3, ["state": .string("active"), "age": .int(10)])
        #expect(Set(try keys(store, "some")) == Set(expected.map { $0 == 1 ? 3 : $0 == 3 ? 1 : $0 }))
    }

    @Test("several conditions all have to be met")
    func severalConditions() throws {
        let folder = try TemporaryFolder()
        let store = try open(
            folder,
            IndexDefinition(
                "grown", on: "login",
                where: [
                    IndexCondition("age", .greaterOrEqual, .int(18)),
                    IndexCondition("state", .equal, .string("active")),
                ]))
        try store.put("User", 1, ["login": .string("a"), "state": .string("active"), "age": .int(18)])
        try store.put("User", 2, ["login": .string("b"), "state": .string("active"), "age": .int(17)])
        try store.put("User", 3, ["login": .string("c"), "state": .string("gone"), "age": .int(40)])
        #expect(try keys(store, "grown") == [1])
    }

    // MARK: Case

    @Test("an index that ignores case finds every spelling, also beyond ASCII")
    func ignoresCase() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("login", on: [.init("login", ignoringCase: true)]))
        for (id, login) in ["Straße", "STRASSE", "strasse", "Ελλάς", "ΕΛΛΆΣ", "Kelvin", "\u{212A}elvin", "other"]
            .enumerated()
        {
            try store.put("User", RecordKey(Int64(id)), ["login": .string(login)])
        }
        #expect(try keys(store, "login", .string("sTRASSe")) == [0, 1, 2])
        #expect(try keys(store, "login", .string("ελλάσ")) == [3, 4])
        #expect(try keys(store, "login", .string("KELVIN")) == [5, 6])
    }

    @Test(
        "case is folded by Unicode's table",
        arguments: [
            ("A", "a"), ("Z", "z"), ("[", "["), ("@", "@"), ("É", "é"), ("ß", "ss"), ("ẞ", "ss"), ("ſ", "s"),
            ("Σ", "σ"), ("ς", "σ"),
            ("\u{130}", "i\u{307}"), ("ı", "ı"), ("Ꭰ", "Ꭰ"), ("ꭰ", "Ꭰ"), ("𐐀", "𐐨"), ("ﬃ", "ffi"), ("Ā", "ā"),
            ("ā", "ā"), ("Ǆ", "ǆ"), ("漢", "漢"),
        ])
    func folding(_ text: String, _ folded: String) {
        #expect(Array(CaseFolding.fold(text).utf8) == Array(folded.utf8))
    }

    @Test("texts that shrink when they are folded are told apart up to their end")
    func foldedLongTexts() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("login", on: [.init("login", ignoringCase: true)], unique: true))
        let start = String(repeating: "\u{212A}", count: 400)
        try store.put("User", 1, ["login": .string(start + "a")])
        try store.put("User", 2, ["login": .string(start + "b")])
        #expect(try keys(store, "login", .string(String(repeating: "k", count: 400) + "B")) == [2])
        #expect(storeError { try store.put("User", 3, ["login": .string(start + "A")]) } != nil)
    }

    // MARK: Unique indexes

    @Test(
        "a second record with a unique value is refused at the end of the write, and names both; nothing of the write stays"
    )
    func uniqueAttribute() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        try store.put("User", 1, ["login": .string("ada")])
        let error = storeError {
            try store.write { writer in
                try writer.put("User", 2, [Record.Field("login", .string("ada"))])
                try writer.put("User", 3, [Record.Field("login", .string("bob"))])
            }
        }
        #expect(error == StoreWriteError.notUnique(entity: "User", index: "login", keys: ["1", "2"]))
        #expect(try store.count("User") == 1)
        #expect(
            try store.read { reader in try reader.first("User", index: "login", equalTo: [.string("ada")])?.key } == 1)
    }

    @Test("two records may exchange their unique values in one write; nulls are distinct")
    func exchange() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        try store.put("User", 1, ["login": .string("ada")])
        try store.put("User", 2, ["login": .string("bob")])
        try store.write { writer in
            try writer.put("User", 1, [Record.Field("login", .string("bob"))])
            try writer.applyIndexChanges()
            try writer.put("User", 2, [Record.Field("login", .string("ada"))])
        }
        #expect(try store.record("User", 2)?["login"] == .string("ada"))
        for id in 3...5 { try store.put("User", RecordKey(Int64(id)), ["login": .null]) }
        try store.put("User", 6)
        #expect(try store.count("User") == 6)
    }

    @Test("a record that is undone for the values of one unique index leaves those of another one to later records")
    func undoneForOneIndex() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byAge", on: "age", unique: true), uniqueLogin: true)
        let dropped = try store.write { writer in
            writer.remembersRecords = true
            for (id, login, age) in [
                (1, "a", nil), (2, "a", 7), (3, nil, 7), (4, nil, 8), (5, "b", 8), (6, "b", nil), (7, "b", 9),
            ] as [(Int64, String?, Int64?)] {
                try writer.put(
                    "User", RecordKey(id),
                    [.init("login", login.map(Value.string) ?? .null), .init("age", age.map(Value.int) ?? .null)])
            }
            return try writer.dropDuplicates()
        }
        #expect(dropped.map { RecordKey.describe(storageKey: $0.storageKey) } == ["2", "5", "7"])
        #expect(dropped.map { RecordKey.describe(storageKey: $0.holder) } == ["1", "4", "6"])
        #expect(dropped.map(\.index) == ["login", "byAge", "login"])
        for id in [1, 3, 4, 6] as [RecordKey] { #expect(try store.record("User", id) != nil, "\(id)") }
        #expect(try store.count("User") == 4)
    }

    @Test("a record that has had its unique value all along is not undone for a new one that was written before")
    func valueFromBefore() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        try store.put("User", 2, ["login": .string("ada"), "age": .int(1)])
        let dropped = try store.write { writer in
            writer.remembersRecords = true
            for id in [1, 2, 3] as [RecordKey] {
                try writer.put("User", id, [.init("login", .string("ada")), .init("age", .int(5))])
            }
            return try writer.dropDuplicates()
        }
        #expect(dropped.map(\.storageKey) == [RecordKey(1).storageKey, RecordKey(3).storageKey])
        #expect(dropped.allSatisfy { $0.holder == RecordKey(2).storageKey })
        #expect(try store.record("User", 2)?["age"] == .int(5) && store.count("User") == 1)
    }

    @Test("a record that is undone for another value keeps the one that it has had all along")
    func undoneHolder() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, IndexDefinition("byAge", on: "age", unique: true), uniqueLogin: true)
        try store.put("User", 2, ["login": .string("a"), "age": .int(1)])
        let dropped = try store.write { writer in
            writer.remembersRecords = true
            for (id, login, age) in [(1, nil, 5), (2, "a", 5), (3, "a", 7), (4, nil, 7)] as [(Int64, String?, Int64)] {
                try writer.put(
                    "User", RecordKey(id), [.init("login", login.map(Value.string) ?? .null), .init("age", .int(age))])
            }
            return try writer.dropDuplicates()
        }
        #expect(dropped.map(\.storageKey) == [RecordKey(2).storageKey, RecordKey(3).storageKey])
        #expect(dropped.map(\.holder) == [RecordKey(1).storageKey, RecordKey(2).storageKey])
        #expect(try store.record("User", 2)?["age"] == .int(1) && store.record("User", 4)?["age"] == .int(7))
    }

    @Test("a value whose record is deleted in the same write is free")
    func freedValue() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        try store.put("User", 1, ["login": .string("ada")])
        try store.write { writer in
            try writer.put("User", 2, [Record.Field("login", .string("ada"))])
            _ = try writer.delete("User", 1)
        }
        #expect(try store.count("User") == 1)
    }

    @Test("a text that begins like another one, with a NUL behind, is another value")
    func uniqueAndNUL() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        for (id, login) in ["a", "a\0", "a\0b", "", "\0", "ab"].enumerated() {
            try store.put("User", RecordKey(Int64(id)), ["login": .string(login)])
        }
        #expect(try store.count("User") == 6)
        #expect(storeError { try store.put("User", 9, ["login": .string("a\0")]) } != nil)
    }

    @Test("long values are unique as a whole, not by what the index shows of them")
    func uniqueLongValues() throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        let start = String(repeating: "x", count: 300)
        try store.put("User", 1, ["login": .string(start + "a")])
        try store.put("User", 2, ["login": .string(start + "b")])
        let error = storeError { try store.put("User", 3, ["login": .string(start + "b")]) }
        #expect(error == StoreWriteError.notUnique(entity: "User", index: "login", keys: ["2", "3"]))
    }

    @Test(
        "a long value that becomes another record's is refused, also where the index shows no change",
        arguments: [false, true])
    func uniqueLongChange(_ ignoresCase: Bool) throws {
        let folder = try TemporaryFolder()
        let store = try open(
            folder, IndexDefinition("sole", on: [.init("login", ignoringCase: ignoresCase)], unique: true))
        let (one, other) = (String(repeating: "x", count: 300) + "a", String(repeating: "x", count: 300) + "b")
        try store.put("User", 1, ["login": .string(one)])
        try store.put("User", 2, ["login": .string(other)])
        #expect(
            storeError { try store.put("User", 1, ["login": .string(other)]) }
                == StoreWriteError.notUnique(entity: "User", index: "sole", keys: ["1", "2"]))
        #expect(try store.record("User", 1)?["login"] == .string(one))
    }

    @Test("a unique combination compares all of its values, and only the records that meet its conditions")
    func uniqueCombination() throws {
        let folder = try TemporaryFolder()
        let store = try open(
            folder,
            IndexDefinition(
                "seat", on: ["login", "age"], unique: true, where: [IndexCondition("state", .equal, .string("active"))])
        )
        func user(_ login: String, _ age: Int64, _ state: String) -> [String: Value] {
            ["login": .string(login), "age": .int(age), "state": .string(state)]
        }
        try store.put("User", 1, user("a", 1, "active"))
        try store.put("User", 2, user("a", 2, "active"))
        try store.put("User", 3, user("a", 1, "gone"))
        #expect(storeError { try store.put("User", 4, user("a", 1, "active")) } != nil)
        #expect(storeError { try store.put("User", 3, ["state": .string("active")]) } != nil)
        try store.put("User", 1, ["state": .string("gone")])
        try store.put("User", 3, ["state": .string("active")])
        try store.put("User", 5, ["login": .string("a"), "state": .string("active"), "age": .null])
        try store.put("User", 6, ["login": .string("a"), "state": .string("active"), "age": .null])
    }

    @Test("of writes that are committed together only the one that breaks the rule fails")
    func uniqueInAGroup() async throws {
        let folder = try TemporaryFolder()
        let store = try open(folder, uniqueLogin: true)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for id in 0..<40 {
                group.addTask {
                    do {
                        try await store.write { writer in
                            try writer.put(
                                "User", RecordKey(Int64(id)), [Record.Field("login", .string("user \(id % 20)"))])
                        }
                        return false
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 20)
        #expect(try store.count("User") == 20)
    }

    // MARK: Building

    @Test("an index that comes later is built from the records that are there; one that changes is built anew")
    func builtLater() throws {
        let folder = try TemporaryFolder()
        var store: Store? = try open(folder)
        for id in 1...50 {
            try store?.put("User", RecordKey(Int64(id)), ["login": .string("U\(id % 5)"), "age": .int(Int64(id % 10))])
        }
        store = nil
        store = try open(folder, IndexDefinition("x", on: "age"))
        #expect(try keys(try #require(store), "x", .int(3)) == [3, 13, 23, 33, 43])
        let first = try #require(store?.catalog.entity("User")?.index("x")?.id)
        store = nil
        store = try open(folder, IndexDefinition("x", on: [.init("login", ignoringCase: true)]))
        let second = try #require(store)
        #expect(try keys(second, "x", .string("u3")).count == 10)
        #expect(second.catalog.entity("User")?.index("x")?.id != first)
        let old = try second.environment.existingTables([TableName.index(first)])
        let table = try #require(old.first ?? nil)
        #expect(try second.read { reader in try reader.access.raw.statistics(table).entries } == 0)
    }

    @Test(
        "an index does not become unique over records that have the same values: the schema is refused, and nothing changed"
    )
    func uniqueLater() throws {
        let folder = try TemporaryFolder()
        var store: Store? = try open(folder)
        try store?.put("User", 1, ["login": .string("a")])
        try store?.put("User", 2, ["login": .string("a")])
        try store?.put("User", 3, ["login": .null])
        try store?.put("User", 4, [:])
        store = nil
        #expect(
            storeError { _ = try open(folder, uniqueLogin: true) }
                == StoreWriteError.notUnique(entity: "User", index: "login", keys: ["1", "2"]))
        #expect(storeError { _ = try open(folder, IndexDefinition("one", on: ["login"], unique: true)) } != nil)
        store = try open(folder)
        #expect(store?.catalog.entity("User")?.field("login")?.isUnique == false)
        try store?.put("User", 2, ["login": .string("b")])
        store = nil
        store = try open(folder, uniqueLogin: true)
        #expect(storeError { try store?.put("User", 2, ["login": .string("a")]) } != nil)
    }

    @Test("the catalog keeps declared indexes, their conditions and every kind of constant through a reopening")
    func catalogKeepsThem() throws {
        let folder = try TemporaryFolder()
        let constants: [Value] = [
            .null, .bool(true), .int(.min), .uint(.max), .double(-0.1), .decimal(try #require(ExactDecimal("1.50"))),
            .string("é\"\\"),
            .bytes([0, 255]), .date(Timestamp(microseconds: -1)), .uuid(UUID()), .url("/a b"), .json("{\"a\":[1]}"),
            .array([.int(1), .string("x")]),
        ]
        for value in constants {
            let text = try JSONEncoder().encode(Catalog.Constant(value))
            #expect(try JSONDecoder().decode(Catalog.Constant.self, from: text).value == value)
        }
        let index = IndexDefinition(
            "i", on: [.init("login", ignoringCase: true), "age"], unique: true,
            where: [IndexCondition("age", .greater, .int(1)), IndexCondition("state", .notEqual, .null)])
        var store: Store? = try open(folder, index)
        let before = store?.catalog
        store = nil
        store = try Forge.open(folder("s"), nil)
        #expect(store?.catalog == before)
        store = nil
        store = try open(folder, index)
        #expect(store?.catalog == before)
    }

    @Test(
        "a store has room for hundreds of indexes; a schema that needs more than a thousand tables is refused, and nothing changed"
    )
    func manyIndexes() throws {
        let folder = try TemporaryFolder()
        func schema(_ entities: Int) -> Schema {
            Schema(
                (0..<entities).map { number in
                    EntityDefinition(
                        "E\(number)", key: ["id"],
                        attributes: [AttributeDefinition("id", .int)]
                            + (0..<9).map { AttributeDefinition("a\($0)", .int, optional: true, indexed: true) })
                })
        }
        let store = try Forge.open(folder("s"), schema(90))
        try store.put("E89", 1, ["a8": .int(7)])
        let refusal = storeError { _ = try Forge.open(folder("s"), schema(110)) }
        #expect(refusal?.description.contains("1112 tables") == true, "\(String(describing: refusal))")
        #expect(try store.read { reader in try reader.first("E89", index: "a8", equalTo: [.int(7)])?.key } == 1)
        #expect(store.catalog.entities.count == 90)
    }
}
