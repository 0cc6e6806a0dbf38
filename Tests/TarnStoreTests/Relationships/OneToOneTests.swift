// One-to-one relationships: a target belongs to the record that got it last, whoever writes.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("One-to-one relationships")
struct OneToOneTests {
    let folder: TemporaryFolder
    let store: Store

    private static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true)],
            relationships: [RelationshipDefinition("profile", to: "Profile", inverse: "user")]),
        EntityDefinition(
            "Profile", key: ["id"], attributes: [AttributeDefinition("id", .int)],
            relationships: [RelationshipDefinition("user", to: "User", inverse: "profile")]),
    ])

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("s"), schema: OneToOneTests.schema, options: Forge.quick)
        for id: Int64 in [5, 6] { try store.put("Profile", RecordKey(id)) }
        try store.put("User", 1, ["profile": .reference(5)])
        try store.put("User", 2)
    }

    /// The profiles of the users 1 to 4: 0 for null, -1 for none.
    private func profiles() throws -> [Int64] {
        try (1...4).map { id in
            switch try store.record("User", RecordKey(Int64(id)))?["profile"] {
            case .reference(let key)?: if case .int(let profile) = key.components[0] { profile } else { -2 }
            case .null?: 0
            default: -1
            }
        }
    }

    private func owners(_ profile: Int64) throws -> [RecordKey?] {
        try store.related("Profile", RecordKey(profile), "user")
    }

    private func update(_ user: RecordKey, _ profile: Value) throws -> OutboxReceipt {
        try store.write { try $0.enqueueUpdate("User", user, [Record.Field("profile", profile)]) }
    }

    @Test("a write takes a record from its owner, in the same transaction and with an entry in the log")
    func takeOver() throws {
        let before = try store.sequence
        try store.put("User", 2, ["profile": .reference(5)])
        #expect(try profiles() == [0, 5, -1, -1] && owners(5) == [2] && store.sequence == before + 1)
        #expect(try store.record("User", 1)?.version == before + 1)
        #expect(try store.indexEntries("User", "profile").count == 1)
        _ = try store.write { try $0.delete("User", RecordKey(2)) }
        #expect(try owners(5) == [])
    }

    @Test("within a transaction the last write counts, and an exchange is none", arguments: [false, true])
    func transaction(readsBetween: Bool) throws {
        try store.put("User", 2, ["profile": .reference(6)])
        try store.write { writer in
            for (user, profile) in [(1, 6), (2, 5), (3, 6), (4, 6), (3, 5)] as [(Int64, Int64)] {
                try writer.put(
                    "User", RecordKey(user), [Record.Field("profile", .reference(RecordKey(profile)))])
                if readsBetween { try writer.applyIndexChanges() }
            }
        }
        #expect(try profiles() == [0, 0, 5, 6] && owners(5) == [3] && owners(6) == [4])
    }

    @Test("an operation of the outbox takes a record, and gives it back when it is discarded")
    func discarded() throws {
        _ = try update(2, .reference(5))
        #expect(try profiles() == [0, 5, -1, -1] && owners(5) == [2])
        let made = try store.write {
            try $0.enqueueCreate("User", .client(RecordKey(3)), [Record.Field("profile", .reference(5))])
        }
        #expect(try profiles() == [0, 0, 5, -1] && made.operation == 2)
        // The later owner keeps it.
        _ = try store.write { try $0.discardOperation(1) }
        #expect(try owners(5) == [3])
        _ = try update(2, .reference(6))
        _ = try store.write { try $0.discardOperation(2) }
        #expect(try profiles().suffix(3) == [6, -1, -1])
    }

    @Test("a change of mind gives the record back, and the operation that is done leaves no mark")
    func folded() throws {
        _ = try update(2, .reference(5))
        #expect(try store.read { try $0.localChange("User", RecordKey(1))?.fields } == ["profile"])
        let second = try update(2, .reference(6))
        #expect(second.operation == 1 && second.isFolded)
        #expect(try profiles() == [5, 6, -1, -1])
        #expect(try store.read { try $0.localChange("User", RecordKey(1)) } == nil)
        _ = try update(2, .reference(5))
        _ = try store.write { writer in
            _ = try writer.claimOperations([1])
            return try writer.completeOperation(1)
        }
        #expect(try profiles() == [0, 5, -1, -1] && owners(5) == [2] && owners(6) == [])
        var marks = 0
        try store.read { reader in
            try reader.forEachLocalChange { _ in
                marks += 1
                return true
            }
        }
        #expect(marks == 0)
    }

    @Test("a record that gets its reference back is changed as the version that was known, and no 304 confirms it")
    func versionOfReleased() throws {
        try store.putResponse(listing: "User", 1, tag: "v1")
        _ = try update(2, .reference(5))
        #expect(try store.versions(listing: "User", 1).written == ["etag", "v1"])
        #expect(try update(2, .reference(6)).isFolded && profiles() == [5, 6, -1, -1])
        let versions = try store.versions(listing: "User", 1)
        #expect(versions.confirmed == [] && versions.written == ["etag", "v1"])
    }

    @Test("a dead change keeps a reference that a later change of another record has taken: that sends its own only")
    func takenFromDead() throws {
        for user: RecordKey in [3, 4] { try store.put("User", user) }
        _ = try update(3, .reference(6))
        try store.write { _ = try $0.buryOperation(1, OutboxFailure(kind: "refused", status: 422, message: "no")) }
        let id = try #require(update(4, .reference(6)).operation)
        try store.write { writer in
            try writer.dropOvertakenChanges(by: id)
            _ = try writer.completeOperation(id)
        }
        let dead = try #require(try store.read { try $0.outbox.operation(1) })
        #expect(dead.changes.map(\.after) == [.reference(6)])
        #expect(try store.write { try $0.retryOperation(1) } != nil)
    }

    @Test("a discarded change gives nothing back that has another owner since, local or not")
    func ownedSince() throws {
        _ = try update(2, .reference(5))
        try store.put("User", 3, ["profile": .reference(5)])
        _ = try store.write { try $0.discardOperation(1) }
        #expect(try profiles()[2] == 5 && owners(5) == [3])
    }

    @Test("a record that has lost its reference to a local change gets the one that the server has for it")
    func movedAtServer() throws {
        let bed = OutboxBed(folder, store)
        _ = try update(2, .reference(5))
        try bed.tell("User", 1, "profile", .reference(6))
        try bed.complete(1)
        #expect(try profiles() == [6, 5, -1, -1] && owners(5) == [2] && owners(6) == [1])
        #expect(try bed.marks() == [])
    }
}
