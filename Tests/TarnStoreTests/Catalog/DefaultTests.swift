// Defaults: the values of a complete record without an attribute.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Defaults")
struct DefaultTests {
    private static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int),
                AttributeDefinition("state", .string, indexed: true, default: .string("open")),
                AttributeDefinition("votes", .int, default: .int(0)),
                AttributeDefinition("tags", .array(.string), default: .array([])),
                AttributeDefinition("note", .string, optional: true), AttributeDefinition("title", .string),
            ])
    ])

    private func fields(_ store: Store) throws -> (state: UInt16, title: UInt16, id: UInt16) {
        let issue = try #require(store.catalog.entity("Issue"))
        return (
            try #require(issue.field("state")?.id), try #require(issue.field("title")?.id),
            try #require(issue.field("id")?.id)
        )
    }

    @Test(
        "a complete record gets the defaults of what it does not say, in its row and in indexes; what it says stays, null too"
    )
    func completeRecord() throws {
        let folder = try TemporaryFolder()
        let store = try Forge.open(folder("s"), DefaultTests.schema)
        try store.put("Issue", 1, ["title": .string("a")])
        try store.put("Issue", 2, ["title": .string("b"), "state": .string("closed"), "votes": .null])
        let first = try #require(try store.record("Issue", 1)), second = try #require(try store.record("Issue", 2))
        #expect(first["state"] == .string("open"))
        #expect(first["votes"] == .int(0))
        #expect(first["tags"] == .array([]))
        #expect(first["note"] == nil)
        #expect(second["state"] == .string("closed"))
        #expect(second["votes"] == .null)
        #expect(
            try store.read { reader in try reader.first("Issue", index: "state", equalTo: [.string("open")])?.key } == 1
        )
    }

    @Test("a partial record gets no default before it is complete, and then only for what it still does not have")
    func partialRecord() throws {
        let folder = try TemporaryFolder()
        let store = try Forge.open(folder("s"), DefaultTests.schema)
        let (state, title, id) = try fields(store)
        try store.merge(
            "Issue", 1, complete: false, [(id, .int(1)), (state, .string("closed"))].sorted { $0.0 < $1.0 })
        #expect(try store.record("Issue", 1)?.isPartial == true)
        #expect(try store.record("Issue", 1)?["votes"] == nil)
        try store.merge("Issue", 1, complete: true, [(id, .int(1)), (title, .string("t"))].sorted { $0.0 < $1.0 })
        let record = try #require(try store.record("Issue", 1))
        #expect(!record.isPartial)
        #expect(record["votes"] == .int(0))
        #expect(record["state"] == .string("closed"))
    }

    @Test("a complete record that is there already is not given defaults again")
    func existingRecord() throws {
        let folder = try TemporaryFolder()
        var store: Store? = try Forge.open(
            folder("s"),
            Schema([
                EntityDefinition(
                    "Issue", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("title", .string)])
            ]))
        try store?.put("Issue", 1, ["title": .string("a")])
        store = nil
        store = try Forge.open(folder("s"), DefaultTests.schema)
        try store?.put("Issue", 1, ["title": .string("b")])
        #expect(try store?.record("Issue", 1)?["votes"] == nil)
        try store?.put("Issue", 2, ["title": .string("b")])
        #expect(try store?.record("Issue", 2)?["votes"] == .int(0))
    }

    @Test("storing the same again changes nothing")
    func unchanged() throws {
        let folder = try TemporaryFolder()
        let store = try Forge.open(folder("s"), DefaultTests.schema)
        try store.put("Issue", 1, ["title": .string("a")])
        let sequence = try store.sequence
        try store.put("Issue", 1, ["title": .string("a")])
        #expect(try store.sequence == sequence)
    }

    @Test(
        "a default of another type, of a key, of a unique attribute, or null where null cannot be, is refused",
        arguments: [
            (AttributeDefinition("x", .int, default: .string("1")), "not a valid int"),
            (AttributeDefinition("x", .enumeration(["a"]), default: .string("b")), "not a valid enum"),
            (AttributeDefinition("id", .int, default: .int(1)), "key attribute cannot have a default"),
            (AttributeDefinition("x", .int, unique: true, default: .int(1)), "unique attribute"),
            (AttributeDefinition("x", .int, default: .null), "required attribute"),
        ])
    func refused(_ attribute: AttributeDefinition, _ message: String) {
        let attributes = attribute.name == "id" ? [attribute] : [AttributeDefinition("id", .int), attribute]
        let schema = Schema([EntityDefinition("A", key: ["id"], attributes: attributes)])
        #expect(schema.problems().map(\.message).contains { $0.contains(message) })
    }
}
