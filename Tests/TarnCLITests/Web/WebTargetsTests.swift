// Targets that the store does not have, in the inspector's page and at the terminal.

import Foundation
import TarnInspectWeb
import TarnStore
import TestSupport
import Testing

@Suite("Inspector: page, missing targets")
struct WebTargetsTests {
    private static let schema = Schema([
        EntityDefinition("User", key: ["id"], attributes: [.init("id", .int), .init("name", .string)]),
        EntityDefinition(
            "Issue", key: ["id"], attributes: [.init("id", .int), .init("title", .string)],
            relationships: [
                .init("author", to: "User", inverse: "issues"),
                .init("readers", to: "User", many: true, ordered: true, inverse: "reads"),
            ]),
    ])

    /// A store of 100 users, and an issue that refers to some of them and to others.
    private func makeStore(_ path: String) throws {
        let store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for number: Int64 in 1...100 {
                let name = "user \(number), with a quaint name " + String(repeating: "x", count: 100)
                try writer.put("User", RecordKey(number), [.init("name", .string(name))])
            }
            try writer.put(
                "Issue", RecordKey(1),
                [
                    .init("title", .string("one")), .init("author", .reference(RecordKey(4711))),
                    .init("readers", .references([RecordKey(1), RecordKey(4712), RecordKey(50), RecordKey(4713)])),
                ])
        }
    }

    private func states(_ record: [String: Any]?) -> [String: String] {
        let fields = record?["fields"] as? [[String: Any]] ?? []
        let targets = fields.flatMap { $0["targets"] as? [[String: String]] ?? [] }
        return Dictionary(targets.map { ($0["key"] ?? "", $0["state"] ?? "stored") }) { first, _ in first }
    }

    @Test("a target that is not stored is missing, and one behind a damaged page is unreadable, in lists and records")
    func targets() throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        try makeStore(path)
        let page = InspectPage(store: path), place = UnsentStore.place(RecordKey(1))
        let record = try page.object("record?entity=Issue&key=\(place)")
        #expect(
            states(record) == ["4711": "missing", "1": "stored", "4712": "missing", "50": "stored", "4713": "missing"])
        let list = try page.object("records?entity=Issue")["records"] as? [[String: Any]]
        #expect(states(list?.first) == ["4711": "missing", "1": "stored", "4712": "missing", "50": "stored"])
        let readers = (list?.first?["fields"] as? [[String: Any]])?.first { $0["name"] as? String == "readers" }
        #expect(readers?["more"] as? Int == 4)
        let url = URL(fileURLWithPath: path + "/data.mdb")
        var data = try Data(contentsOf: url)
        for start in stride(from: 2 * 4096, to: data.count, by: 4096)
        where data[start + 10] == 2 && data[start..<start + 4096].range(of: Data("user 50,".utf8)) != nil {
            data.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
        }
        try data.write(to: url)
        let damaged = try page.object("record?entity=Issue&key=\(place)")
        #expect(states(damaged)["50"] == "unreadable" && states(damaged)["1"] == "stored")
        let damagedList = try page.object("records?entity=Issue")
        #expect(states((damagedList["records"] as? [[String: Any]])?.first)["50"] == "unreadable")
        #expect((damagedList["damages"] as? [String])?.contains { $0.contains("page") } == true)
    }

    @Test("the rows of targets are not read: they may be large")
    func largeTargets() throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn"), count: Int64 = 20
        let store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for number in 1...count {
                // It cannot be compressed.
                let name = (0..<5000).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
                try writer.put("User", RecordKey(number), [.init("name", .string(name))])
            }
            let readers = (1...count).map { RecordKey($0) }
            try writer.put(
                "Issue", RecordKey(1), [.init("title", .string("one")), .init("readers", .references(readers))])
        }
        let page = InspectPage(store: path), before = try WebPageTests.bytesRead()
        let record = try page.object("record?entity=Issue&key=\(UnsentStore.place(RecordKey(1)))")
        #expect(try WebPageTests.bytesRead() - before < 500_000)
        #expect(states(record).count == Int(count) && states(record).values.allSatisfy { $0 == "stored" })
        withExtendedLifetime(store) {}
    }

    @Test("inspect get marks missing targets and local fields, and lists the unsent changes, as text and as JSON")
    func terminal() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        try makeStore(path)
        let lines = try await tarn("inspect", "get", path, "Issue", "1").lines
        #expect(lines.contains("  author: 4711  (missing)"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  readers: ") && $0.hasSuffix("  (missing: 4712, 4713)") }, "\(lines)")
        let object = try json(try await tarn("inspect", "get", path, "Issue", "1", "--json").output)
        #expect(object["missing"] as? [String: [Int]] == ["author": [4711], "readers": [4712, 4713]])
        let unsent = try UnsentStore()
        let local = try await tarn("inspect", "get", unsent.path, "Issue", "2").lines
        #expect(local.contains { $0.hasPrefix("  updated locally since ") && $0.hasSuffix(": state") }, "\(local)")
        #expect(
            local.contains { $0.hasPrefix("  2  update Issue 2  sending, 1 attempt  state: absent → \"closed\"") },
            "\(local)")
        let changed = try json(try await tarn("inspect", "get", unsent.path, "Issue", "2", "--json").output)
        #expect((changed["localChange"] as? [String: Any])?["fields"] as? [String] == ["state"])
        #expect((changed["operations"] as? [[String: Any]])?.map { $0["id"] as? Int } == [2])
        let added = try json(try await tarn("inspect", "get", unsent.path, "Issue", "7", "--json").output)
        let operation = (added["operations"] as? [[String: Any]])?.first
        #expect(operation?["relationship"] as? String == "labels" && operation?["members"] as? [String] == ["gone"])
        withExtendedLifetime(unsent.store) {}
    }
}
