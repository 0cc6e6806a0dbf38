// Stores that an earlier version wrote are opened, read to the last field, written to and changed,
// for ever.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Golden stores", .serialized)
struct GoldenStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes new ones; see `GoldenStores`.
    @Test(
        "a new golden store is made when that is asked for",
        .enabled(if: ProcessInfo.processInfo.environment["TARN_GOLDEN"] != nil))
    func make() throws {
        let name = try #require(ProcessInfo.processInfo.environment["TARN_GOLDEN"])
        for path in try GoldenStores.make(name) {
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: path + "/data.mdb.zst")[.size] as? Int)
            print("\(path): \(size) bytes")
            #expect(size < 100_000)
        }
    }

    private func copy(_ name: String) throws -> String {
        let path = folder("s")
        try GoldenStores.unpack(name, to: path)
        return path
    }

    @Test("there are golden stores of this format, plain and compressed")
    func thereAreSome() throws {
        let names = try GoldenStores.all()
        #expect(names.contains { $0.hasPrefix("format-\(Store.format)/") && $0.hasSuffix("-plain") })
        #expect(names.contains { $0.hasPrefix("format-\(Store.format)/") && $0.hasSuffix("-compressed") })
    }

    @Test("a golden store is read to the last field, and its indexes are right", arguments: try GoldenStores.all())
    func isRead(_ name: String) throws {
        let store = try Forge.open(try copy(name), nil)
        let wanted = try String(contentsOfFile: "\(GoldenStores.folder)/\(name)/dump.json", encoding: .utf8).split(
            separator: "\n")
        let found = try GoldenStores.dump(store).split(separator: "\n")
        #expect(found.count == wanted.count && wanted.count > 100)
        for (found, wanted) in zip(found, wanted) where found != wanted {
            Issue.record("\(found) is not \(wanted)")
            break
        }
        #expect(wanted.contains { $0.contains("\"compressed\":true") } == name.hasSuffix("compressed"))
        #expect(try IndexVerification.problem(in: store) == nil)
        // By an index of each kind.
        try store.read { (reader) throws -> Void in
            #expect(try reader.first("Thing", index: "serial", equalTo: [.int(8)])?.key == "thing 8")
            #expect(try reader.first("Thing", index: "name", equalTo: [.string("ÄHNLICH 9")])?.key == "thing 9")
            #expect(try reader.first("Special", index: "grade", equalTo: [.int(9)])?.key == "thing 4")
            #expect(try reader.count("Special") == 6)
        }
    }

    @Test(
        "a rewrite brings a store of an earlier format to this one: all of it stays, a second process goes on with it",
        arguments: try GoldenStores.all())
    func isUpgraded(_ name: String) throws {
        let path = try copy(name), isOlder = !name.hasPrefix("format-\(Store.format)/")
        let before: String
        do {
            let store = try Forge.open(path, nil)
            try store.putResponse(page: "https://things.example/new", body: Array(repeating: 7, count: 200_000))
            before = try GoldenStores.dump(store)
            let report = try store.rewrite()
            #expect(report.isUpgraded == isOlder && store.state.format == Store.format)
            #expect(!(try store.rewrite().isUpgraded))
            #expect(try store.body(page: "https://things.example/new") == Array(repeating: 7, count: 200_000))
        }
        let store = try Forge.open(path, nil)
        // Rows are stored in another form, with the same content.
        func lines(_ dump: String) -> [String] {
            dump.replacingOccurrences(of: "\"compressed\":true", with: "\"compressed\":false").components(
                separatedBy: "\n")
        }
        #expect(try lines(GoldenStores.dump(store)) == lines(before))
        #expect(try store.body(page: "https://things.example/new")?.count == 200_000)
        try store.put("Thing", "thing 8", ["string": .string("changed")])
        #expect(try IndexVerification.problem(in: store) == nil)
        // Every value of these tables has its checksum.
        try store.read { reader in
            let state = reader.access.state
            for table in [state.meta, state.requests, state.changes]
                + [state.edges, state.scans, state.bodies].compactMap(\.self)
            {
                let cursor = try reader.access.raw.cursor(table)
                defer { cursor.close() }
                var entry = try cursor.first(), count = 0
                while entry != nil {
                    count += 1
                    entry = try cursor.next()
                }
                #expect(count > 0 || table.name.description == "scans")
            }
        }
    }

    @Test("a store that is open in an earlier format goes on after another process has upgraded it")
    func upgradedMeanwhile() throws {
        let path = folder("meanwhile")
        try EarlierFormat.make(2, at: path)
        let store = try Forge.open(path), old = store.state
        try store.put("User", RecordKey(1), ["login": .string("ada")])
        // The view and the actions of another process.
        try store.upgradeFormat()
        #expect(!(try store.read { try old.isCurrent(in: $0.access.raw) }))
        #expect(try store.record("User", RecordKey(1))?["login"] == .string("ada"))
        #expect(store.state.format == Store.format)
        #expect(try !store.upgradeFormat())
    }

    @Test(
        "a golden store is written to, and its schema changes: fields, indexes, names, kinds",
        arguments: try GoldenStores.all())
    func isChanged(_ name: String) throws {
        let path = try copy(name)
        var schema = GoldenStores.schema(name.hasSuffix("compressed") ? .zstd : .none)
        schema.entities[0].attributes.append(.init("added", .int, optional: true, indexed: true))
        schema.entities[0].attributes[1].renamedFrom = "bool"
        schema.entities[0].attributes[1].name = "flag"
        schema.entities[0].indexes.append(.init("pair", on: "team", "int"))
        schema.entities.append(EntityDefinition("Other", parent: "Thing", attributes: []))
        let store = try Store.open(
            at: path, schema: schema, options: Forge.quick, building: IndexBuildOptions(rows: 10))
        #expect(try store.record("Thing", "thing 8")?["flag"] == .bool(true))
        #expect(
            try store.read { try $0.first("Thing", index: "pair", equalTo: [.string("team 0"), .int(-12)])?.key }
                == "thing 8")
        let sequence = try store.sequence
        try store.put("Thing", "thing 8", ["string": .string("changed"), "added": .int(5)])
        try store.put("Other", "new", ["serial": .int(1000), "tags": .references([])])
        try store.write { _ = try $0.delete("Thing", "thing 9") }
        try store.write { _ = try $0.delete("Thing", "list") }
        #expect(storeError { try store.put("Thing", "twice", ["serial": .int(1000)]) } != nil)
        #expect(try store.sequence == sequence + 4)
        #expect(try store.record("Thing", "thing 8")?["string"] == .string("changed"))
        #expect(try store.read { try $0.access.raw.statistics($0.access.state.edgeTable()).entries } == 0)
        #expect(try IndexVerification.problem(in: store) == nil)
        if name.hasSuffix("compressed") {
            try store.rewrite()
            #expect(try IndexVerification.problem(in: store) == nil)
        }
    }
}

extension Store {
    private static func request(_ page: String) -> RequestKey {
        RequestKey(url: page, endpoint: "*", authScope: "scope")
    }

    /// Keeps a response with a body.
    fileprivate func putResponse(page: String, body: [UInt8]) throws {
        let time = Timestamp(microseconds: 1_700_000_000_000_000)
        try write { writer in
            try writer.putResponse(
                ResponseEntry(
                    request: Store.request(page), validation: .init(status: 200, fetchedAt: time, validatedAt: time),
                    listing: .init(count: 0),
                    caching: ResponseCaching(requestedAt: time, usedAt: time, bodySize: body.count)),
                body: body)
        }
    }

    fileprivate func body(page: String) throws -> [UInt8]? {
        try read { reader in
            guard let view = try reader.access.responses.view(Store.request(page).digest), let size = view.bodySize
            else {
                return nil
            }
            return try reader.access.responses.body(of: view.id, 0..<size)
        }
    }
}
