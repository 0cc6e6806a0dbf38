import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: damaged entries, maintenance, schema changes")
struct OutboxDamageTests {
    let bed: OutboxBed
    var store: Store { bed.store }

    init() throws {
        bed = try OutboxBed()
        try bed.update(17, ["title": .string("new"), "labels": .references(["a", "b"])], options: "{}")
        let made = try bed.create("Issue", .temporary, ["title": .string("t")])
        try store.put("Note", 3)
        _ = try store.write { try $0.enqueueAdd([3], to: "notes", of: "Issue", 17) }
        try bed.complete(2, 99)
        try bed.delete("Repo", 1)
        try bed.bury(3)
        #expect(try store.record("Issue", made.key)?.key == 99)
    }

    /// All entries of the outbox.
    private func entries() throws -> [(key: [UInt8], value: [UInt8])] {
        try store.read { reader in
            var entries: [(key: [UInt8], value: [UInt8])] = []
            let table = try #require(reader.access.state.outbox), cursor = try reader.access.raw.cursor(table)
            defer { cursor.close() }
            var entry = try cursor.first()
            while let (key, value) = entry {
                entries.append((Array(key), Array(value)))
                entry = try cursor.next()
            }
            return entries
        }
    }

    private func put(_ key: [UInt8], _ value: [UInt8]?) throws {
        try store.write { writer in
            let table = try writer.access.state.outboxTable()
            try key.withUnsafeBytes { key in
                guard let value else {
                    _ = try writer.access.raw.delete(table, key)
                    return
                }
                try value.withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
            }
        }
    }

    private func readEverything() throws {
        try store.read { reader in
            let outbox = reader.outbox
            _ = try outbox.counts
            try outbox.forEach { operation in
                _ = try outbox.entry(operation.id)
                _ = try outbox.status(of: "Issue", 17)
                return true
            }
            _ = try outbox.window(limit: 100)
        }
    }

    @Test("an entry with any byte changed is an error or an operation, and never a crash", arguments: 1...4)
    func hostile(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed)), errors = 0
        for (key, value) in try entries() where value.count > 20 {
            for _ in 0..<150 {
                var changed = value
                for _ in 0..<random.roll(1..<4) {
                    changed[random.roll(20..<changed.count)] = UInt8(random.roll(0..<256))
                }
                if random.roll(0..<8) == 0 { changed.removeLast(random.roll(1..<changed.count - 20)) }
                // With a checksum that is right, the decoder sees the bytes.
                let checksum = changed.withUnsafeBytes { row in
                    key.withUnsafeBytes { EncodedRow.checksum(of: row, table: 0, key: $0) }
                }
                withUnsafeBytes(of: checksum.littleEndian) { changed.replaceSubrange(8..<12, with: $0) }
                try put(key, changed)
                do { try readEverything() } catch is StoreError { errors += 1 } catch is LMDBError { errors += 1 }
                _ = try? store.write { writer in
                    for id in 1...4 as ClosedRange<UInt64> { _ = try? writer.discardOperation(id, evenIfSending: true) }
                    throw OutboxError.unknownOperation(id: 0)
                }
            }
            try put(key, value)
        }
        #expect(errors > 50)
        try readEverything()
    }

    @Test("a wrong checksum is named with its place; repair removes the entry and makes the others consistent")
    func repaired() throws {
        let before = try bed.operations()
        #expect(try store.repair([.dryRun]).isEmpty)
        let key = OutboxEntryKey.operation(3), value = try #require(try entries().first { $0.key == key }?.value)
        try put(key, value.dropLast() + [value[value.count - 1] ^ 1])
        #expect(storeError { try readEverything() } == StoreError.damagedEntry(table: "outbox", key: "operation 3"))
        let report = try store.repair()
        #expect(report.ownRowsRemoved == 1 && report.rebuildsOutbox)
        #expect(try bed.operations() == before.filter { !$0.hasPrefix("3 ") })
        #expect(try bed.counts.dead == 0 && store.repair([.dryRun]).isEmpty)
        // Index entries and the counters.
        for entry in try entries() where entry.value.isEmpty { try put(entry.key, nil) }
        try put(OutboxEntryKey.counters, nil)
        #expect(try store.repair().rebuildsOutbox)
        #expect(try store.repair([.dryRun]).isEmpty && bed.counts.pending == 2)
        #expect(try bed.waits(4) == ["1 deletion"])
        #expect(try bed.update(99, ["title": .string("x")]).operation ?? 0 > 1 << 20)
    }

    @Test("backup, compaction and rewriting keep the outbox")
    func maintenance() throws {
        let before = try bed.operations(), marks = try bed.marks()
        try store.rewrite()
        #expect(try bed.operations() == before)
        try store.backup(to: bed.folder("copy"))
        let copy = try Store.open(at: bed.folder("copy"), options: Store.Options(durability: .volatile))
        let ids = try copy.read { reader in
            var ids: [UInt64] = []
            try reader.outbox.forEach { operation in
                ids.append(operation.id)
                return true
            }
            return ids
        }
        #expect(ids == [1, 3, 4] && marks == ["delete Issue 17 ", "delete Repo 1 ", "update Note 3 issue"])
        #expect(try OutboxBed(bed.folder, copy).marks() == marks)
        #expect(try copy.repair([.dryRun]).isEmpty)
        #expect(
            try copy.write { try $0.enqueueUpdate("Issue", 99, [Record.Field("title", .string("x"))]) }.operation == 5)
    }

    @Test("a renamed field keeps its operations; a field or an entity that operations need is not removed")
    func evolution() throws {
        #expect(throws: StoreMaintenanceError.self) { try self.store.remove(field: "title", of: "Issue") }
        var schema = OutboxBed.schema
        let index = try #require(schema.entities.firstIndex { $0.name == "Issue" })
        let title = try #require(schema.entities[index].attributes.firstIndex { $0.name == "title" })
        schema.entities[index].attributes[title] = AttributeDefinition(
            "heading", .string, optional: true, renamedFrom: "title")
        // A copy: this process holds the store with the other schema.
        try self.store.backup(to: self.bed.folder("copy"))
        let store = try Store.open(
            at: self.bed.folder("copy"), schema: schema, options: Store.Options(durability: .volatile))
        let bed = OutboxBed(self.bed.folder, store)
        #expect(try bed.operations().first?.contains("heading:old>new") == true)
        // The deleted rows come back under the new name.
        try bed.discard(4)
        try bed.discard(1)
        #expect(try store.record("Issue", 17)?["heading"] == .string("old"))
        try bed.create("Reaction", .client(RecordKey([.int(99), .int(1), .string("+1")])))
        #expect(throws: StoreMaintenanceError.self) { try store.remove(entity: "Reaction") }
        try bed.discard(5)
        _ = try store.write { try $0.enqueueUpdate("Label", "bug", [Record.Field("color", .string("blue"))]) }
        let error = storeError { try store.remove(field: "color", of: "Label") }
        #expect("\(try #require(error))".contains("1 unsent operation of the outbox, the first one is 6"))
        try bed.complete(6)
        #expect(try store.remove(field: "color", of: "Label") == 1)
    }
}
