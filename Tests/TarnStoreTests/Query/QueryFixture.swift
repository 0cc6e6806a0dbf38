// Shared fixture of the query tests: a store of issues and people, with and without indexes.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

/// Issues by people, in a folder of their own.
final class QueryStore: Sendable {
    private let folder: TemporaryFolder
    let store: Store

    static func schema(indexed: Bool, indexes: [IndexDefinition] = []) -> Schema {
        Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("login", .string, indexed: indexed),
                    AttributeDefinition("city", .string, optional: true),
                ],
                relationships: [RelationshipDefinition("boss", to: "User", inverse: "staff")]),
            EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
            EntityDefinition(
                "Issue", key: ["id"],
                attributes: [
                    AttributeDefinition("id", .int), AttributeDefinition("title", .string, indexed: indexed),
                    AttributeDefinition("state", .enumeration(["open", "closed"]), indexed: indexed),
                    AttributeDefinition("updatedAt", .date, optional: true, indexed: indexed),
                    AttributeDefinition("comments", .int, optional: true, indexed: indexed),
                    AttributeDefinition("price", .decimal, optional: true, indexed: indexed),
                    AttributeDefinition("tags", .array(.string), optional: true),
                    AttributeDefinition("token", .uuid, optional: true),
                    AttributeDefinition("ratio", .double, optional: true, indexed: indexed),
                    AttributeDefinition("big", .uint, optional: true, indexed: indexed),
                ],
                relationships: [
                    RelationshipDefinition("author", to: "User", inverse: "issues"),
                    RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                ],
                indexes: indexes),
            EntityDefinition(
                "Bug", parent: "Issue", attributes: [AttributeDefinition("severity", .int, optional: true)]),
        ])
    }

    init(indexed: Bool = true, indexes: [IndexDefinition] = []) throws {
        folder = try TemporaryFolder()
        store = try Store.open(
            at: folder("s"), schema: QueryStore.schema(indexed: indexed, indexes: indexes), options: Forge.quick)
    }

    func put(_ id: Int64, entity: String = "Issue", _ values: [String: Value]) throws {
        var values = values
        values["title"] = values["title"] ?? .string("issue \(id)")
        values["state"] = values["state"] ?? .string("open")
        try store.put(entity, RecordKey(id), values)
    }

    func fetch(_ query: Query) throws -> [Record] { try store.read { reader in try reader.fetch(query) } }

    /// The numbers of the issues that meet a condition.
    func ids(_ condition: Condition, _ order: Query.Order..., limit: Int? = nil, offset: Int = 0) throws -> [Int64] {
        try ids(Query("Issue", where: condition, sortedBy: order, limit: limit, offset: offset))
    }

    func ids(_ query: Query) throws -> [Int64] {
        try fetch(query).map { record in
            guard case .int(let id)? = record.key.components.first else { return -1 }
            return id
        }
    }
}

func date(_ text: String) -> Value { .date(Timestamp(text) ?? Timestamp(microseconds: 0)) }
