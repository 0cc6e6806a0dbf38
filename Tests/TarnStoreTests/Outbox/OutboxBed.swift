// The fixture of the outbox's tests: a small graph with every kind of relationship and key.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// A store with an outbox in a temporary folder.
struct OutboxBed {
    let folder: TemporaryFolder
    let store: Store

    static let schema = Schema([
        EntityDefinition(
            "Repo", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true)],
            relationships: [
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "repo", onDelete: .cascade)
            ]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int, indexed: true), AttributeDefinition("title", .string, optional: true),
                AttributeDefinition("state", .string, optional: true), AttributeDefinition("sku", .int, optional: true),
            ],
            relationships: [
                RelationshipDefinition("repo", to: "Repo", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("parent", to: "Issue", inverse: "children"),
                RelationshipDefinition("board", to: "Board", inverse: "cards"),
                RelationshipDefinition("reviews", to: "Review", many: true, joinedBy: .init("id", equals: "issueID")),
                RelationshipDefinition("notes", to: "Note", many: true, inverse: "issue", onDelete: .nullify),
            ]),
        EntityDefinition(
            "Label", key: ["name"],
            attributes: [AttributeDefinition("name", .string), AttributeDefinition("color", .string, optional: true)]),
        EntityDefinition(
            "Board", key: ["id"], attributes: [AttributeDefinition("id", .uuid)],
            relationships: [RelationshipDefinition("cards", to: "Issue", many: true, ordered: true, inverse: "board")]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "comments")]),
        EntityDefinition(
            "Reaction", key: ["comment", "name"],
            attributes: [AttributeDefinition("name", .string)],
            relationships: [RelationshipDefinition("comment", to: "Comment", inverse: "reactions")]),
        EntityDefinition(
            "Review", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("issueID", .int, optional: true, indexed: true),
            ]),
        EntityDefinition(
            "Note", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "notes")]),
    ])

    init(_ folder: TemporaryFolder, _ store: Store) {
        self.folder = folder
        self.store = store
    }

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("s"), schema: OutboxBed.schema, options: Store.Options(durability: .volatile))
        try store.put("Repo", 1, ["name": .string("anvil")])
        try store.put(
            "Issue", 17,
            ["title": .string("old"), "state": .string("open"), "repo": .reference(1), "labels": .references(["bug"])])
        try store.put("Label", "bug", ["color": .string("red")])
    }

    @discardableResult
    func update(_ key: RecordKey, _ values: [String: Value], _ entity: String = "Issue", options: String? = nil) throws
        -> OutboxReceipt
    {
        try store.write {
            try $0.enqueueUpdate(
                entity, key, values.map { Record.Field($0.key, $0.value) }, OutboxRequest(options: options))
        }
    }

    @discardableResult
    func create(_ entity: String = "Issue", _ key: OutboxKey = .temporary, _ values: [String: Value] = [:]) throws
        -> OutboxReceipt
    {
        try store.write { try $0.enqueueCreate(entity, key, values.map { Record.Field($0.key, $0.value) }) }
    }

    @discardableResult
    func delete(_ entity: String, _ key: RecordKey) throws -> OutboxReceipt {
        try store.write { try $0.enqueueDelete(entity, key) }
    }

    @discardableResult
    func claim(_ ids: UInt64...) throws -> [OutboxOperation] { try store.write { try $0.claimOperations(ids) } }

    @discardableResult
    func complete(_ id: UInt64, _ key: RecordKey? = nil) throws -> OutboxCompletion? {
        try store.write { try $0.completeOperation(id, adopting: key) }
    }

    @discardableResult
    func discard(_ id: UInt64) throws -> OutboxDiscard { try store.write { try $0.discardOperation(id) } }

    func bury(_ id: UInt64) throws {
        _ = try store.write { try $0.buryOperation(id, OutboxFailure(kind: "refused", status: 422, message: "no")) }
    }

    /// Notes a value that a response has brought of a field with a local change.
    func tell(_ entity: String, _ key: RecordKey, _ name: String, _ value: Value) throws {
        try store.write { writer in
            let storageKey = key.storageKey
            try storageKey.withUnsafeBytes { bytes in
                let root = try #require(writer.catalog.entity(entity))
                var mark = try #require(try writer.access.localChanges.mark(root.id, bytes))
                let field = try #require(root.field(name)?.id)
                value.withEncoded { _ = mark.remember(field, $0) }
                try writer.putLocalMark(mark, root.id, bytes)
            }
        }
    }

    /// The operations as text, such as `2 update Issue 17 title:old>new`.
    func operations() throws -> [String] {
        try store.read { reader in
            var result: [String] = []
            try reader.outbox.forEach { operation in
                let changes = operation.changes.map { change in
                    "\(change.name):\(change.before.map { $0.isNullValue ? "null" : $0.plainText } ?? "-")>"
                        + (change.after.isNullValue ? "null" : change.after.plainText)
                }
                let members = operation.relationship.map { ["\($0)=\(operation.members)"] } ?? []
                result.append(
                    (["\(operation.id)", operation.kind.rawValue, operation.entity, "\(operation.key)"] + changes
                        + members)
                        .joined(separator: " "))
                return true
            }
            return result
        }
    }

    /// The marks as text, such as `update Issue 17 [title]`.
    func marks() throws -> [String] {
        try store.read { reader in
            var marks: [String] = []
            try reader.forEachLocalChange { change in
                marks.append(
                    "\(change.operation.rawValue) \(change.entity) \(change.key) \(change.fields.joined(separator: ","))"
                )
                return true
            }
            return marks.sorted()
        }
    }

    func waits(_ id: UInt64) throws -> [String] {
        try store.read { reader in
            try reader.outbox.entry(id)?.waitsFor.map {
                "\($0.operation) \($0.reason.rawValue)\($0.isDead ? " dead" : "")"
            } ?? []
        }
    }

    var counts: OutboxCounts { get throws { try store.read { try $0.outbox.counts } } }
}

extension Value {
    var isNullValue: Bool { self == .null }
}
