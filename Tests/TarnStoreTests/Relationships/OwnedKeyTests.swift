// Keys that hold the key of another record: comments of issues of repositories.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Keys owned by a relationship")
struct OwnedKeyTests {
    let folder: TemporaryFolder
    let store: Store

    static let schema = Schema([
        EntityDefinition(
            "Repo", key: ["owner", "name"],
            attributes: [AttributeDefinition("owner", .string), AttributeDefinition("name", .string)],
            relationships: [
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "repo", onDelete: .cascade)
            ]),
        EntityDefinition(
            "Issue", key: ["repo", "number"],
            attributes: [
                AttributeDefinition("number", .int),
                AttributeDefinition("title", .string, optional: true, indexed: true),
            ],
            relationships: [
                RelationshipDefinition("repo", to: "Repo", inverse: "issues"),
                RelationshipDefinition("comments", to: "Comment", many: true, inverse: "issue", onDelete: .cascade),
                RelationshipDefinition("related", to: "Issue", many: true, inverse: "relatedBy"),
            ]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("body", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "comments")]),
        EntityDefinition(
            "Detail", key: ["issue"], attributes: [AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "detail")]),
    ])

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"), OwnedKeyTests.schema)
    }

    private func repo(_ owner: String = "acme") -> RecordKey { RecordKey([.string(owner), .string("anvil")]) }
    private func key(_ owner: String = "acme", _ numbers: Int64...) -> RecordKey {
        RecordKey([.string(owner), .string("anvil")] + numbers.map { .int($0) })
    }
    private static let long = String(repeating: "long ", count: 60)

    @Test("a key is flat: the owner's components, then its own; and the row has the reference")
    func flat() throws {
        try store.put("Comment", key("acme", 17, 3), ["body": .string("b")])
        let record = try #require(try store.record("Comment", key("acme", 17, 3)))
        #expect(record.key == key("acme", 17, 3))
        #expect(record["issue"] == .reference(key("acme", 17)))
        #expect(record["number"] == .int(3))
        #expect(record.fields.map(\.name).sorted() == ["body", "issue", "number"])
        #expect(!record.isPartial)
    }

    @Test("records are found from their owner, through several levels, and its owner may come later")
    func related() throws {
        for comment: Int64 in [2, 1] { try store.put("Comment", key("acme", 17, comment)) }
        try store.put("Comment", key("acme", 18, 1))
        #expect(try store.related("Issue", key("acme", 17), "comments") == [key("acme", 17, 1), key("acme", 17, 2)])
        #expect(try store.missing("Comment", key("acme", 17, 1), "issue") == [key("acme", 17)])
        try store.put("Issue", key("acme", 17))
        #expect(try store.missing("Comment", key("acme", 17, 1), "issue") == [])
        #expect(try store.related("Repo", repo(), "issues") == [key("acme", 17)])
    }

    @Test("a key may be nothing but its owner's")
    func onlyTheOwner() throws {
        try store.put("Issue", key("acme", 17))
        try store.put("Detail", key("acme", 17), ["text": .string("t")])
        #expect(try store.record("Detail", key("acme", 17))?["issue"] == .reference(key("acme", 17)))
        #expect(try store.related("Issue", key("acme", 17), "detail") == [key("acme", 17)])
    }

    @Test("a value that says what the key says is taken, and one that contradicts it is an error")
    func contradiction() throws {
        try store.put("Comment", key("acme", 17, 3), ["issue": .reference(key("acme", 17)), "number": .int(3)])
        for (name, value) in [
            ("issue", Value.reference(key("acme", 18))), ("issue", .null), ("number", .int(4)), ("number", .null),
        ] {
            let error = storeError { try store.put("Comment", key("acme", 17, 3), [name: value]) }
            guard case StoreError.wrongKey("Comment", _, _)? = error else {
                Issue.record("\(name) = \(value): \(String(describing: error))")
                continue
            }
        }
        #expect(try store.record("Comment", key("acme", 17, 3))?["issue"] == .reference(key("acme", 17)))
    }

    @Test("a key of another form is an error that names the whole form")
    func wrongForm() throws {
        for wrong in [
            key("acme", 17), key("acme", 1, 2, 3), RecordKey(1), RecordKey([.int(1), .string("b"), .int(1), .int(1)]),
        ] {
            let error = storeError { try store.put("Comment", wrong) }
            #expect(
                error
                    == StoreError.wrongKey(
                        entity: "Comment", expected: "[string, string, int, int]", found: wrong.description))
        }
    }

    @Test("long keys, stored under a digest, are whole: whether the owner's is long as well, or is missing")
    func longKeys() throws {
        let owners = [
            Self.long, String(repeating: "x", count: 193), String(repeating: "x", count: 194),
            String(repeating: "x", count: 197),
        ]
        for owner in owners {
            for comment: Int64 in [1, 2] {
                try store.put("Comment", key(owner, 1_000_000, comment), ["body": .string("\(comment)")])
            }
        }
        for owner in owners {
            for comment: Int64 in [1, 2] {
                let record = try #require(try store.record("Comment", key(owner, 1_000_000, comment)))
                #expect(record.key == key(owner, 1_000_000, comment))
                #expect(record["body"] == .string("\(comment)"))
                #expect(!record.fields.contains { $0.name.hasPrefix("#") })
            }
            // The digest of the missing issue represents it.
            let related = try store.related("Issue", key(owner, 1_000_000), "comments")
            #expect(Set(related) == Set([1, 2].map { key(owner, 1_000_000, $0) }))
        }
        var keys: [RecordKey] = []
        try store.read { reader in
            try reader.forEach("Comment") { record in
                keys.append(record.key)
                return true
            }
        }
        #expect(Set(keys) == Set(owners.flatMap { owner in [1, 2].map { key(owner, 1_000_000, $0) } }))
        // An update without key fields keeps the key.
        try store.put("Comment", key(Self.long, 1_000_000, 1), ["body": .string("new")])
        #expect(try store.record("Comment", key(Self.long, 1_000_000, 1))?["body"] == .string("new"))
        #expect(try store.record("Comment", key(Self.long, 1_000_000, 3)) == nil)
        let store = store
        let isDeleted = try store.write { writer in try writer.delete("Comment", key(Self.long, 1_000_000, 2)) }
        #expect(isDeleted)
        #expect(try store.count("Comment") == 7)
    }

    @Test("the whole key stands in the row only where nothing else has it")
    func reservedField() throws {
        try store.put("Comment", key("acme", 1, 1))
        try store.put("Comment", key(Self.long, 1, 1))
        try store.put("Repo", repo(Self.long))
        func hasWholeKey(_ entity: String, _ key: RecordKey) throws -> Bool {
            try store.read { reader in
                let access = reader.access, entity = try access.state.entity(entity)
                return try key.withStorageKey { try access.records.row(entity, $0)?.body.value(of: 0) != nil }
            }
        }
        #expect(try !hasWholeKey("Comment", key("acme", 1, 1)))
        #expect(try hasWholeKey("Comment", key(Self.long, 1, 1)))
        #expect(try !hasWholeKey("Repo", repo(Self.long)))
    }

    @Test("two long keys with the same digest are not taken for each other")
    func collision() throws {
        let long = key(Self.long, 1, 1), other = key(Self.long, 1, 2)
        try store.put("Comment", long)
        // The fields of another record, under the storage key of this one.
        let error = storeError {
            try store.write { writer in
                let entity = try writer.access.state.entity("Comment")
                var builder = BodyBuilder(), body = ByteWriter()
                builder.wholeKey(entity, long.storageKey.withUnsafeBytes { $0 }) { other.tuple }
                for (id, value) in entity.keyValues(other).sorted(by: { $0.key < $1.key }) {
                    builder.field(id) { $0.appendValue(value) }
                }
                builder.finish(into: &body)
                let view = try #require(RowBody(body.bytes, isWide: false))
                _ = try long.withStorageKey { try writer.merge(entity, $0, view, isComplete: true) }
            }
        }
        #expect(error == StoreWriteError.keyCollision(entity: "Comment"))
    }

    @Test("deleting an owner with the rule cascade takes what it owns, through all levels")
    func cascade() throws {
        for owner in ["acme", Self.long] {
            try store.put("Repo", repo(owner))
            for issue: Int64 in 1...2 {
                try store.put("Issue", key(owner, issue))
                try store.put("Comment", key(owner, issue, 1))
            }
        }
        #expect(try store.delete("Repo", repo(Self.long)) == 5)
        #expect(try store.delete("Repo", repo(), step: 2) == 5)
        #expect(try store.count("Comment") == 0)
    }

    @Test("the rule nullify cannot take a reference out of a key, and the schema is refused")
    func nullifyIsRefused() throws {
        var schema = OwnedKeyTests.schema
        schema.entities[1].relationships[1].deleteRule = .nullify
        #expect(
            schema.problems().map(\.description) == [
                "Issue.comments: the key of Comment contains issue, which cannot be cleared: use cascade, deny or none"
            ])
    }

    @Test("references and joins lead to records with owned keys, and their types are checked")
    func references() throws {
        try store.put("Issue", key("acme", 1), ["related": .references([key("acme", 2), key(Self.long, 3)])])
        try store.put("Issue", key(Self.long, 3))
        #expect(
            try store.record("Issue", key("acme", 1))?["related"] == .references([key("acme", 2), key(Self.long, 3)]))
        #expect(try store.related("Issue", key(Self.long, 3), "relatedBy") == [key("acme", 1)])
        let error = storeError { try store.put("Issue", key("acme", 1), ["related": .references([RecordKey(2)])]) }
        guard case StoreError.wrongType? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: Structs

    struct Repo: StoredRecord {
        static let entity = "Repo"
        typealias Key = RecordKey
        enum Field: Int, RecordField { case owner, name }
        var owner: String
        init(_ owner: String) { self.owner = owner }
        init(_ row: Row<Repo>) throws(StoreError) { owner = try row.get(.owner) }
        func encode(into row: inout RowEncoder<Repo>) {
            row.set(.owner, owner)
            row.set(.name, "anvil")
        }
    }

    struct OwnedIssue: StoredRecord, Equatable {
        static let entity = "Issue"
        typealias Key = RecordKey
        enum Field: Int, RecordField { case repo, number, title }
        var repo: Reference<Repo>
        var number: Int64
        var title: String?
        init(_ repo: RecordKey, _ number: Int64, _ title: String?) {
            self.repo = Reference(repo)
            self.number = number
            self.title = title
        }
        init(_ row: Row<OwnedIssue>) throws(StoreError) {
            repo = try row.get(.repo)
            number = try row.get(.number)
            title = try row.get(.title)
        }
        func encode(into row: inout RowEncoder<OwnedIssue>) {
            row.set(.repo, repo)
            row.set(.number, number)
            row.set(.title, title)
        }
    }

    @Test("structs are stored under the key that their reference and attributes say", arguments: ["acme", long])
    func typed(owner: String) throws {
        let store = store
        // The reference has only a digest of a long key: the record has the rest.
        try store.write { writer in
            try writer.put(Repo(owner))
            try writer.put(OwnedIssue(RecordKey([.string(owner), .string("anvil")]), 5, "t"))
        }
        let issue = try store.read { reader in try reader.get(OwnedIssue.self, key(owner, 5)) }
        #expect(issue == OwnedIssue(repo(owner), 5, "t"))
        #expect(try store.record("Issue", key(owner, 5))?.key == key(owner, 5))
        let isThere = try store.write { writer in
            try writer.patch(OwnedIssue.self, key(owner, 5)) { $0.set(.title, "u") }
        }
        #expect(isThere)
        #expect(try store.record("Issue", key(owner, 5))?["title"] == .string("u"))
        var keys: [RecordKey] = []
        try store.read { reader in
            try reader.forEachRelated(Repo.self, repo(owner), "issues", to: OwnedIssue.self) { row in
                keys.append(try row.key)
            }
        }
        #expect(keys == [key(owner, 5)])
        let error = storeError {
            try store.write { writer in
                _ = try writer.patch(OwnedIssue.self, key(owner, 5)) { $0.set(.repo, Reference<Repo>(repo("else"))) }
            }
        }
        guard case StoreError.wrongKey("Issue", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a struct whose reference is a digest of a record that is missing cannot be stored")
    func typedWithoutItsOwner() throws {
        let error = storeError { try store.write { writer in try writer.put(OwnedIssue(repo(Self.long), 5, nil)) } }
        guard case StoreError.wrongKey("Issue", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try store.count("Issue") == 0)
    }

    @Test("ranges of keys begin with the owner's components")
    func ranges() throws {
        for issue: Int64 in 1...3 {
            for comment: Int64 in 1...3 { try store.put("Comment", key("acme", issue, comment)) }
        }
        struct Comment: StoredRecord {
            static let entity = "Comment"
            typealias Key = RecordKey
            enum Field: Int, RecordField { case number }
            init(_ row: Row<Comment>) throws(StoreError) {}
            func encode(into row: inout RowEncoder<Comment>) {}
        }
        let keys = try store.read { reader in
            var keys: [RecordKey] = []
            try reader.forEach(Comment.self, in: .prefix(key("acme", 2))) { row in
                keys.append(try row.key)
            }
            return keys
        }
        #expect(keys == [1, 2, 3].map { key("acme", 2, $0) })
    }
}
