// A store that has some of everything, closed again; and ways to damage it past everything that
// keeps a store whole.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

final class RichStore: Sendable {
    let path: String

    static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"],
            attributes: [
                .init("id", .int), .init("login", .string, unique: true), .init("name", .string, optional: true),
                .init("age", .int, optional: true, indexed: true),
            ],
            indexes: [
                .init(
                    "byName", on: [.init("name", ignoringCase: true), "age"], where: [.init("age", .notEqual, .null)])
            ]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [.init("id", .int), .init("title", .string), .init("text", .string, optional: true)],
            relationships: [
                .init("author", to: "User", inverse: "issues"),
                .init("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                .init("parts", to: "Part", many: true, inverse: "owners"),
            ]),
        EntityDefinition("Label", key: ["name"], attributes: [.init("name", .string)]),
        EntityDefinition(
            "Part", key: ["issue", "number"],
            attributes: [.init("number", .int), .init("note", .string, optional: true)],
            relationships: [.init("issue", to: "Issue", inverse: "children")]),
        EntityDefinition(
            "Event", key: ["id"], attributes: [.init("id", .int), .init("at", .date, optional: true, indexed: true)]),
        EntityDefinition(
            "Push", parent: "Event", attributes: [.init("branch", .string, optional: true, indexed: true)]),
    ])

    static let users: Int64 = 40, issues: Int64 = 60

    /// Made once; each test has a copy.
    private static let template = Result { () throws -> Data in
        let path = FileManager.default.temporaryDirectory.path + "/tarn-rich-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try make(path)
        return try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    }

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/tarn-rich-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try RichStore.template.get().write(to: URL(fileURLWithPath: path + "/data.mdb"))
        // As in a store that was open before.
        try Data().write(to: URL(fileURLWithPath: path + "/store.lock"))
    }

    private static func make(_ path: String) throws {
        let store = try Store.open(at: path, schema: RichStore.schema, options: Store.Options(durability: .volatile))
        try store.write { try RichStore.fill(&$0) }
        // With a dictionary: rows of two forms side by side.
        for round in 0..<2 {
            try store.write { writer in
                for number in 0..<1100 {
                    let text =
                        String(repeating: "What repeats itself compresses well. ", count: 20)
                        + "\(number) of round \(round)"
                    try writer.put(
                        "Issue", RecordKey(1000 + Int64(number)),
                        [.init("title", .string("t")), .init("text", .string(text))])
                }
            }
            if round == 0 { #expect(try store.trainDictionaries().contains("Issue")) }
        }
        try store.write { writer in
            for number: Int64 in 1100..<1900 { _ = try writer.delete("Issue", RecordKey(number)) }
            try writer.putLocally("User", RecordKey(3), [.init("name", .string("changed here"))])
            try RichStore.respond(&writer)
            try RichStore.queue(&writer)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Local changes that wait to be sent, and the alias of one that was.
    private static func queue(_ writer: inout StoreWriter) throws {
        try writer.enqueueUpdate("User", RecordKey(4), [.init("name", .string("queued"))])
        let made = try writer.enqueueCreate("Issue", .temporary, [.init("title", .string("new"))])
        try writer.enqueueUpdate("Issue", RecordKey(2000), [.init("title", .string("queued"))])
        try writer.enqueueDelete("Issue", RecordKey(2001))
        if let id = made.operation { _ = try writer.completeOperation(id, adopting: RecordKey(9_000_000)) }
    }

    private static func fill(_ writer: inout StoreWriter) throws {
        for number in 1...users {
            try writer.put(
                "User", RecordKey(number),
                [
                    .init("login", .string("user\(number)")),
                    .init("name", number % 7 == 0 ? .null : .string("Name \(number % 9)")),
                    .init("age", number % 5 == 0 ? .null : .int(number % 11)),
                ])
        }
        // Longer than an index entry: only the rows distinguish them.
        for (number, last) in [(Int64(100), "a"), (101, "b")] {
            try writer.put(
                "User", RecordKey(number), [.init("login", .string(String(repeating: "x", count: 400) + last))])
        }
        for name in ["bug", "idea", "docs", String(repeating: "long ", count: 80)] {
            try writer.put("Label", RecordKey(name), [])
        }
        for number in 1...issues {
            let labels =
                ["bug", "idea", "docs"].prefix(Int(number % 4)).map { RecordKey($0) } + [
                    RecordKey(String(repeating: "long ", count: 80))
                ]
            let parts = (0..<(number == 5 ? 1200 : number % 3)).map { RecordKey([.int(number), .int($0)]) }
            try writer.put(
                "Issue", RecordKey(number),
                [
                    .init("title", .string("Issue \(number)")),
                    .init("author", .reference(RecordKey(1 + number % users))),
                    .init("labels", .references(labels)), .init("parts", .references(parts)),
                    .init("text", number % 10 == 0 ? .string(String(repeating: "long text ", count: 900)) : .null),
                ])
            for part in parts.prefix(30) { try writer.put("Part", part, [.init("note", .string("part"))]) }
        }
        for number: Int64 in 1...20 {
            try writer.put(
                number % 2 == 0 ? "Push" : "Event", RecordKey(number),
                [.init("at", .date(Timestamp(microseconds: number)))])
        }
    }

    private static func respond(_ writer: inout StoreWriter) throws {
        let issue = try #require(writer.catalog.entity("Issue")?.id), time = Timestamp(microseconds: 1)
        for page: Int64 in 0..<6 {
            let listed = (1...10).map { ListedRecord(entity: issue, storageKey: RecordKey(page * 10 + $0).storageKey) }
            try writer.putResponse(
                ResponseEntry(
                    request: RequestKey(url: "https://api.example.org/issues?page=\(page)", endpoint: "issues"),
                    validation: .init(
                        status: 200, headers: ["etag", "\"\(page)\""], fetchedAt: time, validatedAt: time),
                    listing: .init(listed, count: 10, scan: 1)))
            try writer.noteListed(listed, of: "issues", scan: 1)
        }
        // A cache's own, with a body of two chunks.
        try writer.putResponse(
            ResponseEntry(
                request: RequestKey(url: "https://api.example.org/logo", endpoint: "*"),
                validation: .init(
                    status: 200, headers: ["Cache-Control", "max-age=60"], fetchedAt: time, validatedAt: time),
                listing: .init(count: 0), caching: ResponseCaching(requestedAt: time, usedAt: time, bodySize: 70_000)),
            body: [UInt8](repeating: 7, count: 70_000))
        try writer.setCheckpoint(
            "issues",
            Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: time, completedAt: time).counting(
                pages: 6, records: 60))
    }

    /// Changes tables directly, which no program should do.
    func damage(_ body: (inout WriteTransaction, Catalog) throws -> Void) throws {
        let catalog = try Store.open(at: path, options: Store.Options(isReadOnly: true)).catalog
        let environment = try Environment.open(at: path, options: Environment.Options(durability: .volatile))
        try environment.writeOpeningTables { try body(&$0, catalog) }
    }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))) }
    }

    /// Writes the data file again.
    func write(_ bytes: [UInt8]) throws {
        try? FileManager.default.removeItem(atPath: path + "/lock.mdb")
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
    }
}

/// Runs a program of lmdb-utils, and returns its output.
func run(_ program: String, _ arguments: String...) throws -> String {
    let result = try output(of: program, arguments)
    try #require(result.status == 0, "\(program)")
    return result.text
}
