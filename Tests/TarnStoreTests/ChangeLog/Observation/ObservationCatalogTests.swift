// Observers of a store whose catalog changes.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Observing a store: changes of its catalog", .timeLimit(.minutes(5)))
struct ObservationCatalogTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("an entity that was removed and added again is observed under its new id")
    func addedAgain() async throws {
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)]))
        let store = try Forge.open(folder("n"), schema)
        // Without the entity, there are none of its records.
        let found = Collected(store.observe(entities: ["Note"]) { (try? $0.count("Note")) ?? 0 })
        try await eventually("the first result is there") { found.values == [0] }
        #expect(try store.remove(entity: "Note") == 0)
        #expect(try Forge.open(folder("n"), schema) === store)
        try store.put("Note", 2)
        try await eventually("the new record was seen") { found.values == [0, 1] }
    }

    @Test("an observer that comes behind a change of the catalog follows it")
    func addedBehind() throws {
        let store = try Forge.open(folder("s")), before = try store.read { $0.access.state }
        var schema = Forge.schema
        schema.entities.append(EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)]))
        #expect(try Forge.open(folder("s"), schema) === store)
        let now = try store.read { $0.access.state }
        let signal = try ObserverSignal(in: before) { _ in .lists }
        #expect(signal.isOutdated(in: now))
        try store.observers.add(signal, to: store)
        defer { store.observers.remove(signal) }
        #expect(!signal.isOutdated(in: now))
    }
}
