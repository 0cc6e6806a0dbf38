// The writes of the worker. Every record is a function of a stream and its progress, so that a
// reader of the store knows all expected fields.
//
// A stream is a sequence of transactions 1, 2, 3, … that one thread writes, each after the previous
// one was acknowledged. Transaction n creates order n and its lines, revises order n − 2 and its
// first line, and deletes order n − 12 (every tenth is kept). It also increments the stream's own
// counter and the counter that all streams share.

import TarnStore

struct Workload {
    static let schema = Schema([
        EntityDefinition(
            "Order", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("stream", .int, indexed: true),
                AttributeDefinition("note", .string),
            ]),
        EntityDefinition(
            "Line", key: ["order_id", "position"],
            attributes: [
                AttributeDefinition("order_id", .int), AttributeDefinition("position", .int),
                AttributeDefinition("amount", .int, indexed: true), AttributeDefinition("text", .string),
            ],
            relationships: [
                RelationshipDefinition("order", to: "Order", inverse: "lines"),
                RelationshipDefinition("tags", to: "Tag", many: true, ordered: true, inverse: "lines"),
            ]),
        EntityDefinition("Tag", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        EntityDefinition(
            "Counter", key: ["stream"],
            attributes: [AttributeDefinition("stream", .int), AttributeDefinition("count", .int, indexed: true)]),
    ])

    /// The key of the counter that all streams share.
    static let shared: Int64 = -1
    static let tags = 10
    private static let revisedAfter = 2, deletedAfter = 12

    let stream: Int

    private func id(_ number: Int) -> Int64 { Int64(stream) * 1_000_000 + Int64(number) }

    /// Returns a uniformly distributed number, equal in every process.
    private func dice(_ number: Int, _ what: Int) -> Int {
        var z = UInt64(bitPattern: id(number)) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(what)
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ (z >> 31)) >> 33)
    }

    /// Returns whether a transaction is first run with a failure at its end.
    func failsFirst(_ number: Int) -> Bool { dice(number, 1) % 7 == 0 }

    /// Returns whether a transaction is large: many lines, some of them longer than a page.
    private func isLarge(_ number: Int) -> Bool { dice(number, 2) % 40 == 0 }

    private func lineCount(_ number: Int) -> Int { isLarge(number) ? 60 : 1 + dice(number, 3) % 4 }

    /// Returns order m and its lines after transaction n; empty if they do not exist.
    func order(_ m: Int, at n: Int) -> [Item] {
        guard m >= 1, m <= n, m > n - Workload.deletedAfter || m % 10 == 0 else { return [] }
        let isRevised = m + Workload.revisedAfter <= n
        let note = isRevised ? "revised by \(m + Workload.revisedAfter)" : "new"
        var items = [
            Item("Order", RecordKey(id(m)), ["stream": .int(Int64(stream)), "note": .string(note)])
        ]
        for position in 0..<lineCount(m) {
            let revision = isRevised && position == 0 ? 1 : 0
            let amount = dice(m, 10 + position) % 50 + revision * 100
            let tags = (0..<dice(m, 100 + position) % 4).map {
                RecordKey("t\((dice(m, 200 + $0) + revision) % Workload.tags)")
            }
            let length = dice(m, 300 + position) % (isLarge(m) ? 9000 : 700)
            items.append(
                Item(
                    "Line", RecordKey([.int(id(m)), .int(Int64(position))]),
                    [
                        "amount": .int(Int64(amount)), "text": .string(text(m, position, length)),
                        "order": .reference(RecordKey(id(m))), "tags": .references(tags),
                    ]))
        }
        return items
    }

    /// Returns a text of repeated words, similar to those of an API.
    private func text(_ number: Int, _ position: Int, _ length: Int) -> String {
        let words = Workload.words.dropFirst(dice(number, 4) % 50).prefix(length)
        return "line \(position) of order \(id(number)): \(String(decoding: words, as: UTF8.self))"
    }

    private static let words = (0..<500).flatMap { Array("item \($0 * 7919 % 1000) is in stock; ".utf8) }

    /// Returns the stream's counter and its tag after transaction n.
    func counters(at n: Int) -> [Item] {
        guard n >= 1 else { return [] }
        return [
            Item("Counter", RecordKey(Int64(stream)), ["count": .int(Int64(n))]),
            Item("Tag", RecordKey("t\(stream % Workload.tags)"), [:]),
        ]
    }

    /// Returns all records of the stream after transaction n.
    func everything(at n: Int) -> [Item] {
        (1...max(1, n)).flatMap { order($0, at: n) } + counters(at: n)
    }

    /// Runs transaction n.
    func run(_ n: Int, _ writer: inout StoreWriter) throws {
        for item in order(n, at: n) + order(n - Workload.revisedAfter, at: n) + counters(at: n) {
            try item.put(&writer)
        }
        let gone = n - Workload.deletedAfter
        if order(gone, at: n).isEmpty {
            for item in order(gone, at: n - 1) { try writer.delete(item.entity, item.key) }
        }
        let total = try Workload.count(of: Workload.shared, writer.access) + 1
        try Item("Counter", RecordKey(Workload.shared), ["count": .int(Int64(total))]).put(&writer)
    }

    /// Returns the changes of transaction n in the log, except that of the shared counter.
    func changes(_ n: Int) -> [Change] {
        let first: UInt8 = n == 1 ? Change.create : Change.update
        var changes = order(n, at: n).map { Change(Change.create, $0) } + [Change(first, counters(at: n)[0])]
        let revised = n - Workload.revisedAfter
        changes += order(revised, at: n).prefix(2).map { Change(Change.update, $0) }
        if order(n - Workload.deletedAfter, at: n).isEmpty {
            changes += order(n - Workload.deletedAfter, at: n - 1).map { Change(Change.delete, $0) }
        }
        return changes
    }

    /// Returns the progress of a stream; 0 if it has not begun.
    static func count(of stream: Int64, _ access: StoreAccess) throws -> Int {
        let entity = try access.state.entity("Counter")
        return try RecordKey(stream).storageKey.withUnsafeBytes { key in
            try access.lending {
                guard let field = entity.field("count"), let row = try access.records.row(entity, key),
                    case .int(let count)? = row.body.value(of: field.id)?.decoded()
                else { return 0 }
                return Int(count)
            }
        }
    }

    /// An expected record, with all fields except those of its key.
    struct Item {
        var entity: String
        var key: RecordKey
        var fields: [String: Value]

        init(_ entity: String, _ key: RecordKey, _ fields: [String: Value]) {
            self.entity = entity
            self.key = key
            self.fields = fields
        }

        func put(_ writer: inout StoreWriter) throws {
            try writer.put(entity, key, fields.map { Record.Field($0.key, $0.value) })
        }
    }

    /// An entry of the change log: the operation, the entity and the storage key.
    struct Change: Hashable {
        static let create: UInt8 = 1, update: UInt8 = 2, delete: UInt8 = 3

        var operation: UInt8
        var entity: String
        var key: [UInt8]

        init(_ operation: UInt8, entity: String, key: [UInt8]) {
            self.operation = operation
            self.entity = entity
            self.key = key
        }

        init(_ operation: UInt8, _ item: Item) {
            self.init(operation, entity: item.entity, key: item.key.storageKey)
        }
    }
}
