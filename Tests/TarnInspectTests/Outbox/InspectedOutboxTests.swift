// The outbox of a file of unknown health.

import LMDB
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: outbox")
struct InspectedOutboxTests {
    private let folder: TemporaryFolder
    private let store: Store
    private var inspector: StoreInspector { StoreInspector(at: folder("s.tarn")) }

    init() throws {
        folder = try TemporaryFolder()
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"], attributes: [.init("id", .int), .init("name", .string, optional: true)])
        ])
        store = try Store.open(at: folder("s.tarn"), schema: schema, options: Store.Options(durability: .relaxed))
        try store.write { writer in
            try writer.put("Thing", RecordKey(1), [.init("name", .string("old"))])
            // Each is claimed, so that the next one is an operation of its own, and refused.
            for number: UInt64 in 1...30 {
                try writer.enqueueUpdate("Thing", RecordKey(1), [.init("name", .string("new \(number)"))])
                _ = try writer.claimOperations([number])
                try writer.buryOperation(number, OutboxFailure(kind: "refused", status: 422, message: "no"))
            }
            try writer.enqueueUpdate("Thing", RecordKey(1), [.init("name", .string("last"))])
        }
    }

    /// Puts an entry into the table, or removes it.
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

    @Test("pages of any size have every operation once, with what the open outbox says about it")
    func pages() throws {
        let wanted = try store.read { reader in
            let outbox = reader.outbox
            return try (1...31).compactMap { try outbox.entry($0) }
        }
        for limit in [1, 7, 100] {
            var found: [OutboxQueueEntry] = [], position: [UInt8]?, isFirst = true
            while isFirst || position != nil {
                let page = try inspector.outboxPage(after: position, limit: limit, time: .zero)
                #expect(page.examined <= 1 && page.damages.isEmpty && page.counts?.dead == 30)
                found += page.operations.map(\.entry)
                (position, isFirst) = (page.last, false)
            }
            #expect(found == wanted && found.count == 31)
        }
        #expect(try inspector.outboxPage(in: .pending).operations.map(\.operation.id) == [31])
    }

    @Test("the search for what an operation waits for ends at a limit, and says so")
    func waits() throws {
        let short = try inspector.outboxOperation(31, waits: 10), whole = try inspector.outboxOperation(31)
        #expect(short.operation?.areWaitsWhole == false && whole.operation?.areWaitsWhole == true)
        #expect(short.operation?.operation == whole.operation?.operation)
        let limited = try inspector.record("Thing", limit: 5, most: 20) { _ in RecordKey(1) }
        #expect(limited.operations.map(\.operation.id) == [1, 2, 3, 4, 5] && limited.mayHaveMoreOperations)
        let all = try inspector.record("Thing", limit: 40) { _ in RecordKey(1) }
        #expect(all.operations.count == 31 && !all.mayHaveMoreOperations && all.damage == nil)
    }

    @Test("the search for what an operation with very many members waits for ends at a limit, and says so")
    func members() throws {
        let path = folder("members.tarn")
        let schema = Schema([
            EntityDefinition("Label", key: ["id"], attributes: [.init("id", .int)]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("labels", to: "Label", many: true, ordered: true, inverse: "issues")]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .relaxed))
        try store.write { writer in
            try writer.put("Issue", RecordKey(1), [])
            try writer.enqueueAdd((1...300).map { RecordKey(Int64($0)) }, to: "labels", of: "Issue", RecordKey(1))
        }
        let short = try StoreInspector(at: path).outboxOperation(1, waits: 100).operation
        let whole = try StoreInspector(at: path).outboxOperation(1, waits: 1000).operation
        #expect(short?.areWaitsWhole == false && whole?.areWaitsWhole == true)
        #expect(whole?.operation.members.count == 300 && whole?.entry.waitsFor.isEmpty == true)
    }

    @Test("the first operations of a record are those with the least ids, also of other records")
    func order() throws {
        let path = folder("order.tarn")
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("issues", to: "Issue", many: true, inverse: "author", onDelete: .nullify)]),
            EntityDefinition(
                "Issue", key: ["id"], attributes: [.init("id", .int), .init("title", .string, optional: true)],
                relationships: [.init("author", to: "User", inverse: "issues")]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .relaxed))
        try store.write { writer in
            try writer.put("User", RecordKey(1), [])
            try writer.put("Issue", RecordKey(1), [.init("author", .reference(RecordKey(1)))])
            try writer.enqueueDelete("User", RecordKey(1))
            try writer.enqueueUpdate("Issue", RecordKey(1), [.init("title", .string("new"))])
        }
        let first = try StoreInspector(at: path).record("Issue", limit: 1) { _ in RecordKey(1) }
        #expect(first.operations.map(\.operation.id) == [1] && first.mayHaveMoreOperations)
        let all = try StoreInspector(at: path).record("Issue") { _ in RecordKey(1) }
        #expect(all.operations.map(\.operation.kind) == [.delete, .update] && !all.mayHaveMoreOperations)
    }

    @Test("an entry that refers to no operation, missing counters and a key without an id are named")
    func damaged() throws {
        try put(OutboxEntryKey.operation(7), nil)
        let record = try inspector.record("Thing", limit: 40) { _ in RecordKey(1) }
        #expect(record.operations.count == 30 && record.mayHaveMoreOperations)
        #expect(record.damage?.contains("outbox operation 7") == true, "\(record.damage ?? "none")")
        #expect(try !inspector.outboxOperation(7).isUnreadable)
        try put(OutboxEntryKey.counters, nil)
        try put([OutboxEntryKey.Kind.operation.rawValue, 0, 0], [1, 2, 3])
        let page = try inspector.outboxPage(), texts = page.damages.map(\.description)
        #expect(page.counts == nil && texts.contains("outbox counters: missing"), "\(texts)")
        #expect(texts.contains { $0.contains("an operation without an id") }, "\(texts)")
        #expect(page.operations.count == 30 && page.last == nil)
        let statistics = try inspector.statistics()
        #expect(statistics.outbox == nil && statistics.findings.contains { $0.code == .outboxMissing })
    }
}
