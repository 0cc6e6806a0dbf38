// Queries on pages that are read directly, and through liblmdb: the same results.

import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import TarnStore

@Suite("Queries without direct reads")
struct QueryReadingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let schema = Schema([
        EntityDefinition(
            "Item", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("group", .string, indexed: true),
                AttributeDefinition("number", .int), AttributeDefinition("text", .string),
            ],
            relationships: [RelationshipDefinition("owner", to: "Owner", inverse: "items")]),
        EntityDefinition("Owner", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        EntityDefinition("Unused", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
    ])

    private func open(_ readsPagesDirectly: Bool?) throws -> Store {
        try Store.open(
            at: folder("s"), schema: QueryReadingTests.schema,
            options: Store.Options(durability: .volatile, readsPagesDirectly: readsPagesDirectly))
    }

    private func fill() throws {
        try open(nil).write { writer in
            for name in ["a", "b", "c"] { try writer.put("Owner", RecordKey(name), [.init("name", .string(name))]) }
            for id in 0..<Int64(3000) {
                // Rows of a few bytes and rows in overflow pages.
                let text = String(repeating: "\(id * id) ", count: id % 40 == 0 ? 2500 : 3)
                try writer.put(
                    "Item", RecordKey(id * 7919 % 3000),
                    [
                        .init("group", .string("g\(id % 9)")), .init("number", .int(id % 100)),
                        .init("text", .string(text)),
                        .init("owner", .reference(RecordKey(["a", "b", "c"][Int(id % 3)]))),
                    ])
            }
        }
    }

    /// The results of each shape of query, and whether rows are read along pages.
    private func results(_ store: Store) throws -> (texts: [String], isAlongPages: Bool) {
        try store.read { reader in
            var texts: [String] = []
            func add(_ records: [Record]) { texts.append(records.map { "\($0)" }.joined(separator: "\n")) }
            let grouped = Condition.compare("group", .equal, .string("g4"))
            add(try reader.fetch(Query("Item")))
            add(try reader.fetch(Query("Unused")))
            add(try reader.fetch(Query("Item", where: .compare("number", .greater, .int(90)))))
            add(try reader.fetch(Query("Item", where: grouped)))
            texts.append("\(try reader.count(Query("Item", where: grouped)))")
            texts.append("\(try reader.count(Query("Item", where: .compare("group", .less, .string("g3")))))")
            texts.append("\(try reader.counts(by: "group", Query("Item")))")
            add(try reader.fetch(Query("Item", where: .compare("owner.name", .equal, .string("b")))))
            let item = try #require(reader.access.catalog.entity("Item"))
            let table = try reader.access.state.records(of: item.root)
            let scan = try ForwardScan(reader.access.raw, table, name: TableName.records(item.root))
            return (texts, scan.isAlongPages)
        }
    }

    @Test("every shape of query finds the same in both ways, and the option decides which it is")
    func sameResults() throws {
        try fill()
        let direct = try results(open(true)), stepwise = try results(open(false))
        #expect(direct.isAlongPages && !stepwise.isAlongPages)
        #expect(direct.texts.count == stepwise.texts.count)
        for (number, (a, b)) in zip(direct.texts, stepwise.texts).enumerated() {
            let isSame = a == b
            #expect(isSame, "result \(number)")
        }
        #expect(direct.texts[0].count > 100_000 && direct.texts[1].isEmpty)
    }
}
