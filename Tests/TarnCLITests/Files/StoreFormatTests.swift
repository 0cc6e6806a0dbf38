// The format page is correct: its examples match a store, and a reader written from it alone reads
// everything.

import Foundation
import Tarn
import TarnDescription
import TarnInspect
import TestSupport
import Testing

@testable import TarnStore

@Suite("Store format")
struct StoreFormatTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    private let folder = FileManager.default.temporaryDirectory.appending(path: "tarn-format-\(UUID().uuidString)").path

    private func page() throws -> String {
        try String(contentsOf: Self.root.appending(path: "Sources/Tarn/Tarn.docc/StoreFormat.md"), encoding: .utf8)
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }

    @Test("the row of the format page is, byte for byte, what the store writes")
    func rowExample() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [.init("id", .int), .init("login", .string), .init("name", .string, optional: true)])
        ])
        let store = try Store.open(at: folder, schema: schema)
        try store.write { try $0.put("User", RecordKey(7), [.init("login", .string("ada")), .init("name", .null)]) }
        let example = try #require(try page().components(separatedBy: "```text\nkey   ").dropFirst().first)
            .components(separatedBy: "```")[0]
        let parts = example.components(separatedBy: "row   ")
        let written = try store.read { reader in
            var lines: [String] = []
            let entity = try reader.access.state.entity("User")
            try reader.access.records.scan(entity) { key, row in
                lines += [hexadecimal(key), hexadecimal(row.bytes)]
                return true
            }
            return lines
        }
        #expect(parts.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } == written)
    }

    @Test("the entry of a declared index on the format page is what a record makes")
    func indexEntryExample() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let schema = Schema([
            EntityDefinition(
                "User", key: ["id"],
                attributes: [.init("id", .int), .init("login", .string), .init("age", .int, optional: true)],
                indexes: [.init("byLogin", on: [.init("login", ignoringCase: true), "age"])])
        ])
        let store = try Store.open(at: folder, schema: schema)
        try store.write { try $0.put("User", RecordKey(7), [.init("login", .string("Ada")), .init("age", .int(36))]) }
        let entries = try store.read { reader in
            var entries: [String] = []
            let entity = try reader.access.state.entity("User"), rules = try reader.access.state.rules(of: entity.id)
            try reader.access.records.scan(entity) { key, row in
                try reader.access.forEachEntry(rules, key, row.body) { index, entry, _ in
                    entries.append("\(index) " + hexadecimal(entry))
                }
                return true
            }
            return entries
        }
        let shown = try #require(try page().components(separatedBy: "```text\nentry  ").dropFirst().first).components(
            separatedBy: "\n")[0]
        #expect(entries == ["1 " + shown])
    }

    @Test("the request key of the format page is that of the store")
    func requestKeyExample() throws {
        let key = RequestKey(url: "https://api.example.org/items?page=12", endpoint: "items 5f2c")
        let shown = try #require(try page().components(separatedBy: "```text\nrequest  ").dropFirst().first).components(
            separatedBy: "\n")[0]
        key.digest.withKey(format: Store.format) { #expect(shown == hexadecimal($0)) }
    }

    @Test(
        "the storage keys of the format page are those of the store",
        arguments: [
            ("`7`", RecordKey(7)), ("`-1`", RecordKey(-1)), ("`2262018391`", RecordKey(2_262_018_391)),
            ("`\"ada\"`", RecordKey("ada")),
            ("`[\"acme\", 12]`", RecordKey([.string("acme"), .int(12)])),
        ])
    func storageKeyExamples(_ shown: String, _ key: RecordKey) throws {
        #expect(try page().contains("| \(shown) | `\(hexadecimal(key.storageKey))` |"))
    }

    @Test(
        "a reader in Python, written from the format page alone, reads every record as `inspect dump` writes it",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func independentReader() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill()
        var lines: [String] = []
        try StoreInspector(at: folder).dumpRecords(line: { lines.append($0) }, damaged: { Issue.record("\($0)") })
        let (read, status) = try output(
            of: "/usr/bin/python3", [Self.root.appending(path: "tools/read-store.py").path, folder])
        #expect(status == 0)
        let readLines = read.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        #expect(readLines.count == lines.count)
        for (ours, theirs) in zip(lines, readLines) where ours != theirs {
            Issue.record("dump: \(ours)\nreader: \(theirs)")
        }
    }

    @Test("the independent reader has fewer than 300 lines")
    func readerIsShort() throws {
        let text = try String(contentsOf: Self.root.appending(path: "tools/read-store.py"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 300)
    }

    /// The forge, and cases that it lacks. The store is closed again afterwards.
    private func fill() async throws {
        let description = try Description.load(path: Self.root.appending(path: "fixtures/forge/tarn.yaml").path)
        let store = try Store.open(at: folder, schema: description.schema)
        let recordings = Self.root.appending(path: "fixtures/forge/responses").path
        let report = await
            (try APIMirror(description, store: store, transport: try FixtureTransport(directory: recordings))).sync()
        try #require(report.failures.isEmpty)
        // Cases that the forge lacks: extreme numbers, a digest as a key, a missing target under a
        // digest.
        let edges = Schema([
            EntityDefinition(
                "Edge", key: ["name"],
                attributes: [
                    .init("name", .string), .init("small", .int, optional: true), .init("large", .uint, optional: true),
                    .init("ratio", .double, optional: true), .init("exact", .decimal, optional: true),
                    .init("raw", .bytes, optional: true), .init("on", .bool, optional: true),
                ],
                relationships: [.init("next", to: "Edge"), .init("all", to: "Edge", many: true)])
        ])
        let long = RecordKey(String(repeating: "é", count: 300))
        let second = try Store.open(at: folder, schema: edges)
        try await second.write { writer in
            try writer.put(
                "Edge", long,
                [
                    .init("small", .int(.min)), .init("large", .uint(.max)), .init("ratio", .double(-0x1p-1074)),
                    .init("exact", .decimal(try #require(ExactDecimal("-12.50")))), .init("raw", .bytes([0, 255])),
                    .init("on", .bool(true)), .init("next", .reference(long)),
                    .init("all", .references([long, RecordKey("a\u{0}b")])),
                ])
            try writer.put("Edge", RecordKey("a\u{0}b"), [.init("small", .int(-200))])
        }
        // Entities that descend from others.
        let tree = Schema([
            EntityDefinition("Event", key: ["id"], attributes: [.init("id", .int), .init("at", .int, optional: true)]),
            EntityDefinition("Push", parent: "Event", attributes: [.init("branch", .string, optional: true)]),
            EntityDefinition(
                "Log", key: ["id"], attributes: [.init("id", .int)], relationships: [.init("last", to: "Push")]),
        ])
        let kinds = try Store.open(at: folder, schema: tree)
        try await kinds.write { writer in
            try writer.put("Event", RecordKey(1), [.init("at", .int(5))])
            try writer.put("Push", RecordKey(2), [.init("branch", .string("main"))])
            try writer.put("Log", RecordKey(1), [.init("last", .reference(RecordKey(2)))])
        }
        // Keys that hold another's, short and long.
        let owned = Schema([
            EntityDefinition("Owner", key: ["name"], attributes: [.init("name", .string)]),
            EntityDefinition(
                "Owned", key: ["owner", "number"], attributes: [.init("number", .int)],
                relationships: [.init("owner", to: "Owner")]),
        ])
        let third = try Store.open(at: folder, schema: owned)
        try await third.write { writer in
            for name in ["o", String(repeating: "o", count: 204), String(repeating: "o", count: 300)] {
                for number: Int64 in [-7, 70_000] {
                    try writer.put("Owned", RecordKey([.string(name), .int(number)]), [])
                }
                // Without its record, a reference to the last one cannot be shown.
                try writer.put("Owner", RecordKey(name), [])
            }
        }
        // Long lists, in a table of their own.
        try await second.write { writer in
            let many = (0..<1500).map { RecordKey("row \($0)") }
            for name in ["one", "two"] {
                try writer.put("Edge", RecordKey(name), [.init("all", .references(many + [long]))])
            }
        }
        // Rows with a dictionary.
        for round in 0..<2 {
            try await second.write { writer in
                for number in 0..<1200 {
                    let text =
                        String(repeating: "What repeats itself compresses well. ", count: 10)
                        + "\(number) of round \(round)"
                    try writer.put("Edge", RecordKey("row \(number)"), [.init("raw", .bytes(Array(text.utf8)))])
                }
            }
            #expect(try second.trainDictionaries().contains("Edge") == (round == 0))
        }
    }
}
