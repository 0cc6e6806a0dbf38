// Structs for the tests of typed access, and a store that they fit.

import Foundation
import TarnStore
import Testing

enum TicketState: String, StoredValue { case open, closed }

/// Names its fields in another order than the schema, and leaves some out.
struct Ticket: StoredRecord, Equatable {
    static let entity = "Ticket"
    typealias Key = Int64
    enum Field: Int, RecordField {
        case title, id, state, closedAt, author, labels, comments, scores, homepage, details
    }

    var id: Int64
    var title: String
    var state = TicketState.open
    var closedAt: Timestamp?
    var author: Reference<Person>?
    var labels: References<Tag>?
    var comments = 0
    var scores: [Double]?
    var homepage: String?
    var details: String?

    init(_ id: Int64, _ title: String) {
        self.id = id
        self.title = title
    }

    init(_ row: Row<Ticket>) throws(StoreError) {
        title = try row.get(.title)
        id = try row.get(.id)
        state = try row.get(.state)
        closedAt = try row.get(.closedAt)
        author = try row.get(.author)
        labels = try row.get(.labels)
        comments = try row.get(.comments)
        scores = try row.get(.scores)
        homepage = try row.get(.homepage)
        details = try row.get(.details)
    }

    func encode(into row: inout RowEncoder<Ticket>) {
        row.set(.title, title)
        row.set(.id, id)
        row.set(.state, state)
        row.set(.closedAt, closedAt)
        row.set(.author, author)
        row.set(.labels, labels)
        row.set(.comments, comments)
        row.set(.scores, scores)
        row.set(.homepage, homepage)
        row.set(.details, details)
    }
}

struct Person: StoredRecord, Equatable {
    static let entity = "Person"
    typealias Key = String
    enum Field: Int, RecordField { case login, isAdmin }

    var login: String
    var isAdmin: Bool?

    init(_ login: String, isAdmin: Bool? = nil) {
        self.login = login
        self.isAdmin = isAdmin
    }

    init(_ row: Row<Person>) throws(StoreError) {
        login = try row.get(.login)
        isAdmin = try row.get(.isAdmin)
    }

    func encode(into row: inout RowEncoder<Person>) {
        row.set(.login, login)
        row.set(.isAdmin, isAdmin)
    }
}

struct Tag: StoredRecord, Equatable {
    static let entity = "Tag"
    typealias Key = UUID
    enum Field: Int, RecordField { case id }

    var id: UUID

    init(_ id: UUID) { self.id = id }
    init(_ row: Row<Tag>) throws(StoreError) { id = try row.get(.id) }
    func encode(into row: inout RowEncoder<Tag>) { row.set(.id, id) }
}

/// A composite key, and every type that the others do not have.
struct Page: StoredRecord, Equatable {
    static let entity = "Page"
    typealias Key = RecordKey
    enum Field: Int, RecordField { case owner, repository, number, hits, price, digest, ratio }

    var owner: String
    var repository: String
    var number: Int64
    var hits: UInt64 = 0
    var price: ExactDecimal?
    var digest: Data?
    var ratio: Double?

    init(_ owner: String, _ repository: String, _ number: Int64) {
        self.owner = owner
        self.repository = repository
        self.number = number
    }

    init(_ row: Row<Page>) throws(StoreError) {
        owner = try row.get(.owner)
        repository = try row.get(.repository)
        number = try row.get(.number)
        hits = try row.get(.hits)
        price = try row.get(.price)
        digest = try row.get(.digest)
        ratio = try row.get(.ratio)
    }

    func encode(into row: inout RowEncoder<Page>) {
        row.set(.owner, owner)
        row.set(.repository, repository)
        row.set(.number, number)
        row.set(.hits, hits)
        row.set(.price, price)
        row.set(.digest, digest)
        row.set(.ratio, ratio)
    }
}

/// A store in a temporary folder, removed with the last reference to it.
final class TypedStore: Sendable {
    let path: String
    let store: Store

    static let schema = Schema([
        EntityDefinition(
            "Person", key: ["login"],
            attributes: [AttributeDefinition("login", .string), AttributeDefinition("isAdmin", .bool, optional: true)]),
        EntityDefinition("Tag", key: ["id"], attributes: [AttributeDefinition("id", .uuid)]),
        EntityDefinition(
            "Ticket", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                AttributeDefinition("state", .enumeration(["open", "closed"])),
                AttributeDefinition("closedAt", .date, optional: true), AttributeDefinition("comments", .int),
                AttributeDefinition("unnamed", .string, optional: true, indexed: true),
                AttributeDefinition("scores", .array(.double), optional: true),
                AttributeDefinition("homepage", .url, optional: true),
                AttributeDefinition("details", .json, optional: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "Person", inverse: "tickets"),
                RelationshipDefinition("labels", to: "Tag", many: true, ordered: true, inverse: "tickets"),
            ]),
        EntityDefinition(
            "Page", key: ["owner", "repository", "number"],
            attributes: [
                AttributeDefinition("owner", .string), AttributeDefinition("repository", .string),
                AttributeDefinition("number", .int), AttributeDefinition("hits", .uint),
                AttributeDefinition("price", .decimal, optional: true),
                AttributeDefinition("digest", .bytes, optional: true),
                AttributeDefinition("ratio", .double, optional: true),
            ]),
    ])

    init(_ schema: Schema = TypedStore.schema) throws {
        path = FileManager.default.temporaryDirectory.path + "/tarn-typed-\(UUID().uuidString)"
        store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func put<Record: StoredRecord>(_ records: [Record]) throws {
        try store.write { writer in
            for record in records { try writer.put(record) }
        }
    }

    func get<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws -> Record? {
        try store.read { reader in try reader.get(type, key) }
    }

    /// The error of the store that a closure throws; nil if it throws nothing.
    static func error(_ body: () throws -> Void) throws -> (any StoreFailure)? {
        do {
            try body()
            return nil
        } catch let error as any StoreFailure {
            return error
        }
    }
}
