// A store opened without its schema: all rules of the catalog apply.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("A store without its model")
struct WithoutModelTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let schema = Schema([
        EntityDefinition(
            "Person", key: ["login"],
            attributes: [.init("login", .string), .init("mail", .string, optional: true, unique: true)],
            relationships: [.init("items", to: "Item", many: true, inverse: "owner", onDelete: .cascade)]),
        EntityDefinition(
            "Item", key: ["id"],
            attributes: [
                .init("id", .int), .init("title", .string),
                .init("state", .enumeration(["open", "closed"]), default: .string("open")),
                .init("votes", .int, optional: true, indexed: true),
                .init("team", .string, optional: true, indexed: true),
            ],
            relationships: [
                .init("owner", to: "Person", inverse: "items"),
                .init("parent", to: "Item", inverse: "parts", onDelete: .nullify),
                .init("parts", to: "Item", many: true, inverse: "parent", onDelete: .deny),
                .init("teammates", to: "Item", many: true, joinedBy: .init("team", equals: "team")),
            ],
            indexes: [
                .init(
                    "slug", on: [.init("title", ignoringCase: true)], unique: true,
                    where: [.init("state", .equal, .string("open"))]),
                .init("byState", on: "state", "votes"),
            ]),
        EntityDefinition("Bug", parent: "Item", attributes: [.init("grade", .int, optional: true, default: .int(1))]),
    ])

    @Test(
        "records, defaults, kinds, indexes, unique and partial ones, relationships, joins and delete rules are those of the catalog"
    )
    func everything() throws {
        let path = folder("s")
        do { _ = try Forge.open(path, Self.schema) }
        let store = try Forge.open(path, nil)
        try store.put("Person", "ada", ["mail": .string("a@x")])
        try store.put(
            "Item", 1, ["title": .string("One"), "owner": .reference("ada"), "team": .string("red"), "votes": .int(4)])
        try store.put("Bug", 2, ["title": .string("Two"), "parent": .reference(1), "team": .string("red")])
        #expect(try store.record("Item", 1)?["state"] == .string("open"))
        #expect(try store.record("Bug", 2)?["grade"] == .int(1))
        #expect(try store.count("Item") == 2 && store.count("Bug") == 1)
        // Unique: of an attribute, and of a declared index that is partial and without case.
        #expect(
            storeError { try store.put("Person", "bob", ["mail": .string("a@x")]) }
                == StoreWriteError.notUnique(entity: "Person", index: "mail", keys: ["ada", "bob"]))
        #expect(
            storeError { try store.put("Item", 3, ["title": .string("ONE")]) }
                == StoreWriteError.notUnique(entity: "Item", index: "slug", keys: ["1", "3"]))
        try store.put("Item", 3, ["title": .string("ONE"), "state": .string("closed")])
        // Values that do not fit the catalog.
        guard case StoreError.wrongType? = storeError({ try store.put("Item", 4, ["title": .int(3)]) }) else {
            Issue.record("a wrong type")
            return
        }
        guard case StoreError.unknownField? = storeError({ try store.put("Item", 4, ["name": .int(3)]) }) else {
            Issue.record("an unknown field")
            return
        }
        // Indexes and relationships.
        #expect(
            try store.read { try $0.first("Item", index: "byState", equalTo: [.string("open"), .int(4)])?.key } == 1)
        #expect(try store.related("Person", "ada", "items") == [1])
        #expect(try store.related("Item", 1, "parts") == [2])
        #expect(Set(try store.related("Item", 1, "teammates")) == [1, 2])
        // Delete rules: deny, nullify, cascade.
        guard case StoreWriteError.deleteDenied? = storeError({ _ = try store.write { try $0.delete("Item", 1) } })
        else {
            Issue.record("not denied")
            return
        }
        try store.write { _ = try $0.delete("Bug", 2) }
        try store.write { _ = try $0.delete("Person", "ada") }
        #expect(try store.record("Item", 1) == nil)
        #expect(try store.count("Item") == 1)
        #expect(try IndexVerification.problem(in: store) == nil)
    }
}
