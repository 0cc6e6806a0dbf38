// Several processes on one store: a newer catalog, writers in turn, and a writer that is killed.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Stores shared by processes", .timeLimit(.minutes(5)))
struct StoreProcessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("an open store sees the entities, fields and records that another process added")
    func otherProcessChangesTheCatalog() async throws {
        let path = folder("s")
        let store = try Forge.open(path)
        try store.put("User", RecordKey(1), ["login": .string("ada")])
        await #expect(processExitsWith: .success) { [path = path as String] in
            var schema = Forge.schema
            schema.entities.append(
                EntityDefinition(
                    "Team", key: ["id"], attributes: [.init("id", .int), .init("name", .string, indexed: true)]))
            schema.entities[0].attributes.append(AttributeDefinition("email", .string, optional: true, indexed: true))
            let other = try Forge.open(path, schema)
            try other.put("Team", RecordKey(1), ["name": .string("core")])
            #expect(try other.record("User", RecordKey(1))?["login"] == .string("ada"))
        }
        #expect(try store.record("Team", RecordKey(1))?["name"] == .string("core"))
        try store.put("User", RecordKey(2), ["email": .string("b@c")])
        // The row that was there before the index, and the one that an older program wrote after
        // it.
        #expect(try store.indexEntries("User", "email").count == 2)
        #expect(store.catalog.entity("Team") != nil)
    }

    @Test("the first write after another process changed the catalog keeps the new indexes up to date")
    func writeAfterANewerCatalog() async throws {
        let path = folder("s")
        let store = try Forge.open(path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            var schema = Forge.schema
            schema.entities[0].attributes.append(AttributeDefinition("email", .string, optional: true, indexed: true))
            _ = try Forge.open(path, schema)
        }
        #expect(try runsOfOneWrite(store) == 1)
        #expect(try store.indexEntries("User", "email").count == 1)
    }

    /// The number of runs of a write's closure. Not async: a write there is the suspending one.
    private func runsOfOneWrite(_ store: Store) throws -> Int {
        var runs = 0
        try store.write { writer in
            runs += 1
            try writer.put("User", RecordKey(2), [.init("email", .string("b@c"))])
        }
        return runs
    }

    private func putFromAnotherProcess(_ path: String, from first: Int64) async {
        await #expect(processExitsWith: .success) { [path = path as String, first = first as Int64] in
            let store = try Forge.open(path)
            for id in first..<first + 40 {
                try store.put("Issue", RecordKey(id), ["author": .reference(RecordKey(1)), "number": .int(id % 3)])
            }
        }
    }

    @Test("two processes that make and fill the same store at once lose nothing")
    func twoProcessesFillOneStore() async throws {
        let path = folder("s")
        async let first: Void = putFromAnotherProcess(path, from: 0)
        async let second: Void = putFromAnotherProcess(path, from: 100)
        _ = await (first, second)
        let store = try Forge.open(path, nil)
        #expect(try store.count("Issue") == 80)
        #expect(try store.sequence == 80)
        #expect(try store.changes().map(\.sequence) == Array(1...80))
        #expect(try store.related("User", RecordKey(1), "issues").count == 80)
        #expect(try store.indexEntries("Issue", "number").count == 80)
    }

    @Test("of a writer that is killed inside its closure nothing is found")
    func killedWriterLeavesNothing() async throws {
        let path = folder("s")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try Store.open(at: path, schema: Forge.schema)
            try store.put("User", RecordKey(1), ["login": .string("ada")])
            try await store.write { writer in
                for id in 0..<2000 { try writer.put("User", RecordKey(Int64(id)), [.init("login", .string("lost"))]) }
                try writer.applyIndexChanges()
                kill(getpid(), SIGKILL)
            }
        }
        let store = try Store.open(at: path)
        #expect(try store.count("User") == 1)
        #expect(try store.record("User", RecordKey(1))?["login"] == .string("ada"))
        #expect(try store.indexEntries("User", "login").count == 1)
        #expect(try store.sequence == 1)
        try store.put("User", RecordKey(2))
        #expect(try store.count("User") == 2)
    }
}
