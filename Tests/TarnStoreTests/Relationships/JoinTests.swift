// Relationships that are joined by attributes: a foreign key in the payload is the only truth.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Joined relationships")
struct JoinTests {
    let folder: TemporaryFolder
    let store: Store

    private static func texts(_ name: String, _ type: AttributeType, unique: Bool = false) -> AttributeDefinition {
        AttributeDefinition(name, type, optional: true, indexed: true, unique: unique)
    }

    static let schema = Schema([
        EntityDefinition(
            "Person", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), texts("login", .string, unique: true), texts("team", .string),
                texts("badge", .uuid, unique: true), texts("score", .decimal),
            ],
            relationships: [
                RelationshipDefinition(
                    "posts", to: "Post", many: true, inverse: "author", joinedBy: .init("login", equals: "by")),
                RelationshipDefinition(
                    "reports", to: "Post", many: true, inverse: "reporter", onDelete: .deny,
                    joinedBy: .init("login", equals: "reportedBy")),
                RelationshipDefinition("colleagues", to: "Person", many: true, joinedBy: .init("team", equals: "team")),
                RelationshipDefinition("even", to: "Person", many: true, joinedBy: .init("score", equals: "score")),
            ]),
        EntityDefinition(
            "Post", key: ["slug"],
            attributes: [
                AttributeDefinition("slug", .string), texts("by", .string), texts("reportedBy", .string),
                texts("reply", .string),
            ],
            relationships: [
                RelationshipDefinition(
                    "author", to: "Person", inverse: "posts", joinedBy: .init("by", equals: "login")),
                RelationshipDefinition(
                    "reporter", to: "Person", inverse: "reports", joinedBy: .init("reportedBy", equals: "login")),
                RelationshipDefinition("replyTo", to: "Post", joinedBy: .init("reply", equals: "slug")),
            ]),
    ])

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"), JoinTests.schema)
    }

    private func person(_ id: Int64, _ values: [String: Value]) throws {
        try store.put("Person", RecordKey(id), values)
    }
    private func post(_ slug: String, _ values: [String: Value]) throws {
        try store.put("Post", RecordKey(slug), values)
    }

    private func posts(_ id: Int64) throws -> [RecordKey?] { try store.related("Person", RecordKey(id), "posts") }

    @Test("a join leads to the records with the same value, in key order, and back")
    func bothDirections() throws {
        try person(1, ["login": .string("ada")])
        try person(2, ["login": .string("bob")])
        for slug in ["z", "a", "m"] { try post(slug, ["by": .string("ada")]) }
        try post("q", ["by": .string("bob")])
        #expect(try posts(1) == [RecordKey("a"), RecordKey("m"), RecordKey("z")])
        #expect(try posts(2) == [RecordKey("q")])
        #expect(try store.related("Post", RecordKey("m"), "author") == [RecordKey(1)])
    }

    @Test("the attributes are the only truth: a changed value leads elsewhere at once, in the same transaction too")
    func changes() throws {
        try person(1, ["login": .string("ada")])
        try post("a", ["by": .string("bob")])
        #expect(try posts(1) == [])
        let store = store
        let found = try store.write { writer in
            try writer.put("Post", RecordKey("a"), [.init("by", .string("ada"))])
            var found: [RecordKey?] = []
            try writer.reader().forEachRelated("Person", RecordKey(1), "posts") { target in
                found.append(target.key)
                return true
            }
            return found
        }
        #expect(found == [RecordKey("a")])
        try person(1, ["login": .string("eve")])
        #expect(try posts(1) == [])
    }

    @Test("null and absent lead nowhere, not even to other nulls")
    func nullLeadsNowhere() throws {
        try person(1, ["login": .null])
        try person(2, [:])
        try post("a", ["by": .null])
        try post("b", [:])
        for id: Int64 in 1...2 { #expect(try posts(id) == []) }
        #expect(try store.related("Post", RecordKey("a"), "author") == [])
        #expect(try store.related("Post", RecordKey("b"), "author") == [])
    }

    @Test("a value that no record has leads nowhere: a join has no missing targets")
    func nothingMissing() throws {
        try post("a", ["by": .string("nobody"), "reply": .string("not there")])
        #expect(try store.related("Post", RecordKey("a"), "author") == [])
        #expect(try store.related("Post", RecordKey("a"), "replyTo") == [])
    }

    @Test("the missing targets of a join are the values that no record of the other side has, from either side")
    func missingTargets() throws {
        let long = String(repeating: "k", count: 300)
        for (id, login) in [(1, "ada"), (2, "bob"), (3, long + "x"), (4, long + "y")] as [(Int64, String)] {
            try person(id, ["login": .string(login)])
        }
        for (slug, by) in [("a", "ada"), ("b", "nobody"), ("c", "nobody"), ("d", long + "x"), ("e", long + "z")] {
            try post(slug, ["by": .string(by)])
        }
        try store.read { reader in
            let authors = try reader.missingTargets(of: "Post", "author")
            #expect(authors.targets == [.string(long + "z"), .string("nobody")])
            let posts = try reader.missingTargets(of: "Person", "posts")
            #expect(posts.targets == [.string("bob"), .string(long + "y")])
        }
    }

    @Test("a join to the key is found without an index, also where the key is long")
    func joinToTheKey() throws {
        let long = String(repeating: "k", count: 300)
        for slug in ["s", long, long + "x"] { try post(slug, [:]) }
        try post("1", ["reply": .string("s")])
        try post("2", ["reply": .string(long)])
        try post("3", ["reply": .string(long + "y")])
        #expect(try store.related("Post", RecordKey("1"), "replyTo") == [RecordKey("s")])
        #expect(try store.related("Post", RecordKey("2"), "replyTo") == [RecordKey(long)])
        #expect(try store.related("Post", RecordKey("3"), "replyTo") == [])
    }

    @Test("values that continue others, and values that an index entry cuts, are told apart")
    func awkwardValues() throws {
        let long = String(repeating: "x", count: 267)
        let values = [
            "", "\0", "a", "a\0", "a\0b", "ab", long, long + "\0", long + "x", long + "y", long + "xxxxA",
            long + "xxxxB",
        ]
        for (number, value) in values.enumerated() {
            try person(Int64(number), ["login": .string(value)])
            try post("p\(number)", ["by": .string(value)])
            try post("q\(number)", ["by": .string(value)])
        }
        for number in values.indices {
            #expect(try posts(Int64(number)) == [RecordKey("p\(number)"), RecordKey("q\(number)")], "\(number)")
            #expect(
                try store.related("Post", RecordKey("p\(number)"), "author") == [RecordKey(Int64(number))], "\(number)")
        }
    }

    @Test("an entity may be joined with itself, and a record then finds itself too")
    func withItself() throws {
        for id: Int64 in [3, 1, 2] {
            try person(id, ["team": .string("t"), "score": .decimal(try #require(ExactDecimal("1.50")))])
        }
        try person(4, ["team": .string("u"), "score": .decimal(try #require(ExactDecimal("1.5")))])
        #expect(try store.related("Person", RecordKey(2), "colleagues") == [RecordKey(1), RecordKey(2), RecordKey(3)])
        #expect(try store.related("Person", RecordKey(2), "even").count == 4)
    }

    @Test("a walk stops when it is told, and an unknown record has no targets")
    func stops() throws {
        try person(1, ["login": .string("ada")])
        for slug in ["a", "b", "c"] { try post(slug, ["by": .string("ada")]) }
        var seen = 0
        try store.read { reader in
            try reader.forEachRelated("Person", RecordKey(1), "posts") { _ in
                seen += 1
                return seen < 2
            }
        }
        #expect(seen == 2)
        #expect(try posts(9) == [])
    }

    struct Person: StoredRecord {
        static let entity = "Person"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, login }
        var id: Int64
        init(_ row: Row<Person>) throws(StoreError) { id = try row.get(.id) }
        func encode(into row: inout RowEncoder<Person>) { row.set(.id, id) }
    }

    struct Post: StoredRecord {
        static let entity = "Post"
        typealias Key = String
        enum Field: Int, RecordField { case slug, by }
        var slug: String
        init(_ row: Row<Post>) throws(StoreError) { slug = try row.get(.slug) }
        func encode(into row: inout RowEncoder<Post>) { row.set(.slug, slug) }
    }

    @Test("structs follow a join in both directions")
    func typed() throws {
        try person(1, ["login": .string("ada")])
        for slug in ["b", "a"] { try post(slug, ["by": .string("ada")]) }
        var slugs: [String] = [], ids: [Int64] = []
        try store.read { reader in
            try reader.forEachRelated(Person.self, 1, "posts", to: Post.self) { row in slugs.append(try row.get(.slug))
            }
            try reader.forEachRelated(Post.self, "b", "author", to: Person.self) { row in ids.append(try row.get(.id)) }
        }
        #expect(slugs == ["a", "b"])
        #expect(ids == [1])
    }

    @Test("deny holds as long as a record has the value; none leaves the value as it is")
    func deleteRules() throws {
        try person(1, ["login": .string("ada")])
        try post("a", ["by": .string("ada"), "reportedBy": .string("ada")])
        let store = store
        func delete() throws { try store.write { writer in _ = try writer.delete("Person", RecordKey(1)) } }
        #expect(
            storeError(delete)
                == StoreWriteError.deleteDenied(entity: "Person", key: "1", relationship: "reports", by: "Post a"))
        try post("a", ["reportedBy": .null])
        try delete()
        #expect(try store.record("Post", RecordKey("a"))?["by"] == .string("ada"))
        #expect(try store.count("Person") == 0)
    }
}
