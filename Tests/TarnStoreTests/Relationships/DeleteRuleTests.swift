// The other end of a relationship after a record is deleted.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Every delete rule, on stored and on derived sides, with cycles.
enum Rules {
    private static func id(_ more: AttributeDefinition...) -> [AttributeDefinition] {
        [AttributeDefinition("id", .int)] + more
    }

    static let schema = Schema([
        EntityDefinition(
            "Project", key: ["id"], attributes: id(),
            relationships: [
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "project", onDelete: .cascade),
                RelationshipDefinition("owner", to: "User", inverse: "projects", onDelete: .nullify),
                RelationshipDefinition("archive", to: "Node", inverse: "projects", onDelete: .cascade),
            ]),
        EntityDefinition(
            "Issue", key: ["id"], attributes: id(AttributeDefinition("title", .string, optional: true, indexed: true)),
            relationships: [
                RelationshipDefinition("project", to: "Project", inverse: "issues"),
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("reviewer", to: "User", inverse: "reviews"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("comments", to: "Comment", many: true, inverse: "issue", onDelete: .cascade),
            ]),
        EntityDefinition(
            "Comment", key: ["id"], attributes: id(),
            relationships: [
                RelationshipDefinition("issue", to: "Issue", inverse: "comments"),
                RelationshipDefinition("author", to: "User", inverse: "comments"),
            ]),
        EntityDefinition(
            "User", key: ["id"], attributes: id(),
            relationships: [
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "author", onDelete: .nullify),
                RelationshipDefinition("reviews", to: "Issue", many: true, inverse: "reviewer", onDelete: .deny),
            ]),
        EntityDefinition(
            "Label", key: ["id"], attributes: id(),
            relationships: [
                RelationshipDefinition("issues", to: "Issue", many: true, inverse: "labels", onDelete: .nullify)
            ]),
        EntityDefinition(
            "Node", key: ["id"], attributes: id(),
            relationships: [
                RelationshipDefinition("parent", to: "Node", inverse: "children"),
                RelationshipDefinition("children", to: "Node", many: true, inverse: "parent", onDelete: .cascade),
                RelationshipDefinition("next", to: "Node", inverse: "previous", onDelete: .cascade),
                RelationshipDefinition("guards", to: "Node", many: true, inverse: "guardedBy"),
                RelationshipDefinition("guardedBy", to: "Node", many: true, inverse: "guards", onDelete: .deny),
            ]),
    ])
}

@Suite("Delete rules")
struct DeleteRuleTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"), Rules.schema)
    }

    private func id(_ number: Int64) -> RecordKey { RecordKey(number) }

    private func ref(_ number: Int64) -> Value { .reference(RecordKey(number)) }

    private func delete(_ entity: String, _ number: Int64) throws -> Bool {
        try store.write { writer in try writer.delete(entity, RecordKey(number)) }
    }

    private func keys(_ entity: String) throws -> [RecordKey] {
        try store.read { reader in
            var keys: [RecordKey] = []
            try reader.forEach(entity) { record in
                keys.append(record.key)
                return true
            }
            return keys
        }
    }

    @Test("without a rule references stay, and their target is missing")
    func none() throws {
        try store.put("User", id(1))
        try store.put("Comment", id(1), ["author": ref(1)])
        #expect(try delete("User", 1))
        #expect(try store.record("Comment", id(1))?["author"] == ref(1))
        #expect(try store.missing("Comment", id(1), "author") == [id(1)])
    }

    @Test("nullify sets to-one references to null, and changes nothing else")
    func nullifyToOne() throws {
        try store.put("User", id(1))
        try store.put("Issue", id(1), ["author": ref(1), "title": .string("a")])
        try store.put("Issue", id(2), ["author": ref(2), "title": .string("b")])
        let before = try store.sequence
        #expect(try delete("User", 1))
        #expect(try store.record("Issue", id(1))?["author"] == .null)
        #expect(try store.record("Issue", id(1))?["title"] == .string("a"))
        #expect(try store.record("Issue", id(2))?["author"] == ref(2))
        #expect(try store.indexEntries("Issue", "author").count == 1)
        #expect(try store.changes().filter { $0.sequence > before }.map(\.operation) == [2, 3])
    }

    @Test("nullify takes the element out of lists, and keeps the order of the others")
    func nullifyInLists() throws {
        for label: Int64 in 1...3 { try store.put("Label", id(label)) }
        try store.put("Issue", id(1), ["labels": .references([id(3), id(1), id(2)])])
        try store.put("Issue", id(2), ["labels": .references([id(1)])])
        #expect(try delete("Label", 1))
        #expect(try store.record("Issue", id(1))?["labels"] == .references([id(3), id(2)]))
        #expect(try store.record("Issue", id(2))?["labels"] == .references([]))
        #expect(try store.related("Label", id(1), "issues") == [])
        #expect(try store.related("Label", id(2), "issues") == [id(1)])
    }

    @Test("nullify on the stored side has nothing to do")
    func nullifyStored() throws {
        try store.put("User", id(1))
        try store.put("Project", id(1), ["owner": ref(1)])
        #expect(try delete("Project", 1))
        #expect(try keys("User") == [id(1)])
        #expect(try store.related("User", id(1), "projects") == [])
    }

    @Test("cascade deletes what is led to, and what that leads to, with index entries, and logs every record")
    func cascade() throws {
        for project: Int64 in 1...2 { try store.put("Project", id(project), ["archive": ref(project)]) }
        for node: Int64 in 1...2 { try store.put("Node", id(node)) }
        for issue: Int64 in 1...4 {
            try store.put("Issue", id(issue), ["project": ref(issue % 2 + 1), "title": .string("t")])
            try store.put("Comment", id(issue), ["issue": ref(issue)])
        }
        let before = try store.sequence
        #expect(try delete("Project", 1))
        #expect(try keys("Project") == [id(2)])
        #expect(try keys("Issue") == [id(1), id(3)])
        #expect(try keys("Comment") == [id(1), id(3)])
        #expect(try keys("Node") == [id(2)])
        #expect(try store.indexEntries("Issue", "title").count == 2)
        #expect(try store.indexEntries("Comment", "issue").count == 2)
        let changes = try store.changes().filter { $0.sequence > before }
        #expect(changes.count == 6 && changes.allSatisfy { $0.operation == 3 })
    }

    @Test("the responses that list a record of the cascade go as well")
    func cascadeRemovesResponses() throws {
        try store.put("Project", id(1))
        try store.put("Issue", id(1), ["project": ref(1)])
        try store.put("Issue", id(2), ["project": ref(2)])
        let entity = try #require(store.catalog.entity("Issue")).id
        func request(_ issue: Int64) -> RequestKey {
            RequestKey(url: "https://api.example/\(issue)", endpoint: "issues")
        }
        try store.write { writer in
            for issue: Int64 in 1...2 {
                try writer.putResponse(
                    ResponseEntry(
                        request: request(issue),
                        validation: .init(
                            status: 200, fetchedAt: Timestamp(microseconds: 0), validatedAt: Timestamp(microseconds: 0)),
                        listing: .init(
                            [ListedRecord(entity: entity, storageKey: RecordKey(issue).storageKey)], count: 1, scan: 1))
                )
            }
        }
        #expect(try delete("Project", 1))
        let found = try store.read { reader in try (1...2).map { try reader.response(to: request($0)) != nil } }
        #expect(found == [false, true])
    }

    @Test("cycles and references to oneself end, and every record goes once")
    func cycles() throws {
        try store.put("Node", id(1), ["next": ref(2), "parent": ref(3)])
        try store.put("Node", id(2), ["next": ref(3), "parent": ref(1)])
        try store.put("Node", id(3), ["next": ref(1), "parent": ref(3)])
        try store.put("Node", id(4), ["next": ref(1)])
        let before = try store.sequence
        #expect(try delete("Node", 2))
        #expect(try keys("Node") == [id(4)])
        #expect(try store.changes().filter { $0.sequence > before }.count == 3)
    }

    @Test("a chain of 20,000 records is followed without recursion")
    func longChain() throws {
        try store.write { writer in
            for number: Int64 in 1...20_000 {
                try writer.put("Node", RecordKey(number), [.init("next", .reference(RecordKey(number + 1)))])
            }
        }
        #expect(try delete("Node", 1))
        #expect(try keys("Node").isEmpty)
        #expect(try store.indexEntries("Node", "next").isEmpty)
    }

    @Test("deny names the record in the way, and nothing is changed")
    func deny() throws {
        try store.put("User", id(1))
        try store.put("Issue", id(5), ["author": ref(1)])
        try store.put("Issue", id(7), ["reviewer": ref(1)])
        let before = try store.sequence
        let error = storeError { _ = try delete("User", 1) }
        #expect(error == StoreWriteError.deleteDenied(entity: "User", key: "1", relationship: "reviews", by: "Issue 7"))
        #expect(try keys("User") == [id(1)])
        #expect(try store.record("Issue", id(5))?["author"] == ref(1))
        #expect(try store.sequence == before)
        try store.put("Issue", id(7), ["reviewer": .null])
        #expect(try delete("User", 1))
    }

    @Test("a denied delete that is caught leaves the rest of its transaction as it was")
    func denyInATransaction() throws {
        try store.put("User", id(1))
        try store.put("Issue", id(5), ["author": ref(1)])
        try store.write { writer in
            try writer.put("Issue", RecordKey(7), [.init("reviewer", .reference(RecordKey(1)))])
            // The reference is so new that its index entry is not in its table yet.
            #expect(throws: StoreWriteError.self) { try writer.delete("User", RecordKey(1)) }
            try writer.put("Issue", RecordKey(8), [])
        }
        #expect(try keys("Issue") == [id(5), id(7), id(8)])
        #expect(try store.record("Issue", id(5))?["author"] == ref(1))
    }

    @Test("a target that is missing, or that goes in the same cascade, does not deny")
    func denyPassesOver() throws {
        // 1 and its child 2, guarded by each other and by a node that is not there.
        try store.put("Node", id(1), ["guards": .references([id(2)])])
        try store.put("Node", id(2), ["parent": ref(1), "guards": .references([id(1), id(9)])])
        #expect(try delete("Node", 1))
        #expect(try keys("Node").isEmpty)
        // From further below, a record that stays denies all.
        try store.put("Node", id(1))
        try store.put("Node", id(2), ["parent": ref(1)])
        try store.put("Node", id(3), ["guards": .references([id(2)])])
        let error = storeError { _ = try delete("Node", 1) }
        #expect(
            error == StoreWriteError.deleteDenied(entity: "Node", key: "2", relationship: "guardedBy", by: "Node 3"))
        #expect(try keys("Node").count == 3)
    }

    @Test("deleting what is not there deletes nothing, at once and in steps")
    func absent() throws {
        #expect(try !delete("Project", 1))
        #expect(try store.delete("Project", id(1)) == 0)
    }

    // MARK: Steps

    /// A project with issues of two comments each.
    private func fill(_ issues: Int64) throws {
        try store.write { writer in
            try writer.put("Project", RecordKey(1), [])
            for issue in 1...issues {
                try writer.put("Issue", RecordKey(issue), [.init("project", .reference(RecordKey(1)))])
                for comment in [issue * 2, issue * 2 + 1] {
                    try writer.put("Comment", RecordKey(comment), [.init("issue", .reference(RecordKey(issue)))])
                }
            }
        }
    }

    @Test("in steps, each a commit of its own, leaves go first and the record last", arguments: [1, 7, 100, 1000])
    func steps(step: Int) throws {
        try fill(33)
        let before = try store.sequence
        #expect(try store.delete("Project", id(1), step: step) == 100)
        for entity in ["Project", "Issue", "Comment"] { #expect(try keys(entity).isEmpty) }
        #expect(try store.indexEntries("Comment", "issue").isEmpty)
        let changes = try store.changes().filter { $0.sequence > before }
        #expect(Set(changes.map(\.sequence)).count == (100 + step - 1) / step)
        #expect(Dictionary(grouping: changes, by: \.sequence).values.allSatisfy { $0.count <= step })
        let issue = try #require(store.catalog.entity("Issue")).id,
            comment = try #require(store.catalog.entity("Comment")).id
        #expect(changes.prefix(66).allSatisfy { $0.entity == comment })
        #expect(changes.dropFirst(66).prefix(33).allSatisfy { $0.entity == issue })
    }

    @Test("the async form does the same")
    func asyncSteps() async throws {
        try fill(20)
        #expect(try await store.delete("Project", id(1), step: 7) == 61)
        #expect(try keys("Comment").isEmpty)
    }

    @Test("what is interrupted between two steps goes on when it is called again")
    func resumed() throws {
        try fill(33)
        // The first steps, as a process that is killed leaves them.
        try store.write { writer in
            let access = writer.access, entity = try access.state.entity("Project"), key = RecordKey(1).storageKey
            let cascade = try key.withUnsafeBytes { key in
                try Cascade(access, entity, key, try #require(try access.records.row(entity, key)))
            }
            for _ in 0..<3 {
                #expect(try writer.deleteStep(cascade, count: 10) == 10)
                cascade.end -= 10
            }
        }
        #expect(try keys("Project") == [id(1)])
        #expect(try keys("Comment").count == 36)
        #expect(try store.delete("Project", id(1), step: 10) == 70)
        for entity in ["Project", "Issue", "Comment"] { #expect(try keys(entity).isEmpty) }
    }

    @Test("what is no longer led to when its step comes stays, and what came in between goes")
    func changedInBetween() throws {
        try fill(4)
        let cascade = try store.read { reader in
            let access = reader.access, entity = try access.state.entity("Project")
            return try RecordKey(1).storageKey.withUnsafeBytes { key in
                try Cascade(access, entity, key, try #require(try access.records.row(entity, key)))
            }
        }
        try store.put("Comment", id(9), ["issue": ref(77)])
        try store.put("Comment", id(50), ["issue": ref(4)])
        let deleted = try store.write { writer in try writer.deleteStep(cascade, count: 8) }
        #expect(deleted == 7)
        #expect(try keys("Comment") == [id(9), id(50)])
        #expect(try store.delete("Project", id(1)) == 6)
        #expect(try keys("Comment") == [id(9)])
    }

    @Test("a delete in steps that is denied deletes nothing")
    func deniedSteps() throws {
        try store.write { writer in
            for number: Int64 in 1...50 {
                try writer.put("Node", RecordKey(number), [.init("next", .reference(RecordKey(number + 1)))])
            }
            try writer.put("Node", RecordKey(99), [.init("guards", .references([RecordKey(30)]))])
        }
        let error = storeError { _ = try store.delete("Node", id(1), step: 5) }
        #expect(
            error == StoreWriteError.deleteDenied(entity: "Node", key: "30", relationship: "guardedBy", by: "Node 99"))
        #expect(try keys("Node").count == 51)
    }

    @Test("an inherited rule holds for records of the entities that descend from the one that declares it")
    func inherited() throws {
        let schema = Schema([
            EntityDefinition(
                "Base", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [
                    RelationshipDefinition("parts", to: "Part", many: true, inverse: "whole", onDelete: .cascade)
                ]),
            EntityDefinition("Special", parent: "Base", attributes: []),
            EntityDefinition(
                "Part", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("whole", to: "Base", inverse: "parts")]),
        ])
        let catalog = try Catalog().applying(schema).catalog
        let rules = DeleteRules(catalog)
        let special = try #require(catalog.entity("Special"))
        #expect(rules[special.id].map(\.name) == ["parts"])
        #expect(rules[special.id].first?.deleteRule == .cascade)
    }
}
