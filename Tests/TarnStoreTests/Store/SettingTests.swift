// Damage that no LMDB notices: settings, the store's own rows, rows of records. None passes for a
// value.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Settings and checksums")
struct SettingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make() throws {
        let store = try Forge.open(folder("s"))
        try store.put("User", RecordKey(1), ["login": .string("ada")])
    }

    /// Changes the table of settings as it is stored, while no store is open.
    private func change(_ body: (RawTransaction, Table) throws -> Void) throws {
        let environment = try Environment.open(at: folder("s"), options: .init(durability: .volatile))
        let meta = try #require(try environment.existingTables(["meta"])[0])
        try environment.write { try body($0.raw, meta) }
    }

    private func put(_ key: String, _ content: [UInt8]) throws {
        try change { raw, table in
            try Array(key.utf8).withUnsafeBytes { key in
                try content.withUnsafeBytes { try raw.put(.meta(table, format: Store.format), key, $0) }
            }
        }
    }

    private static let counters = MetaKey.counters.map { "\($0)" }

    @Test(
        "a setting whose value or name has a flipped bit is an error that names it",
        arguments: counters + ["incarnation"])
    func damaged(_ name: String) throws {
        try make()
        let key = Array(name.utf8)
        var before: [UInt8] = []
        try change { raw, table in
            before = try key.withUnsafeBytes { try raw.get(table, $0).map { Array($0) } ?? [] }
            var value = before
            value[0] ^= 1
            try key.withUnsafeBytes { key in try value.withUnsafeBytes { try raw.put(table, key, $0) } }
        }
        #expect(storeError { _ = try Forge.open(folder("s")) } == StoreError.damagedEntry(table: "meta", key: name))
        try change { raw, table in
            var other = key
            other[0] ^= 1
            _ = try key.withUnsafeBytes { try raw.delete(table, $0) }
            try other.withUnsafeBytes { key in try before.withUnsafeBytes { try raw.put(table, key, $0) } }
        }
        let error = storeError { _ = try Forge.open(folder("s")) }
        guard case StoreError.damagedEntry(table: "meta", _)? = error else {
            Issue.record("it was opened: \(String(describing: error))")
            return
        }
    }

    @Test(
        "a counter that is missing is an error where it is needed, not a beginning",
        arguments: ["sequence", "generation", "next response", "next list"])
    func missing(_ name: String) throws {
        try make()
        try change { raw, table in _ = try Array(name.utf8).withUnsafeBytes { try raw.delete(table, $0) } }
        let error = storeError {
            let store = try Forge.open(folder("s"))
            try store.write { writer in
                try writer.put("User", RecordKey(2), [.init("login", .string("bob"))])
                try writer.putResponse(
                    ResponseEntry(
                        request: RequestKey(url: "https://a.example", endpoint: "e"),
                        validation: .init(
                            status: 200, fetchedAt: Timestamp(microseconds: 0), validatedAt: Timestamp(microseconds: 0)),
                        listing: .init(count: 0)))
                _ = try writer.access.raw.number(writer.access.state.meta, key: MetaKey.nextList)
            }
        }
        guard case StoreError.lmdb(let cause)? = error, cause.kind == .corrupted, cause.description.contains(name)
        else {
            Issue.record("nothing was said: \(String(describing: error))")
            return
        }
    }

    @Test("a missing incarnation is no empty one, and a position that is no token is not the lack of one")
    func missingTexts() throws {
        try make()
        let position = Array(MetaKey.positionPrefix.utf8) + RecordKey("copy").storageKey
        try change { raw, table in
            try raw.put(.meta(table, format: Store.format), position, Array("no token".utf8))
            _ = try raw.delete(table, Array("incarnation".utf8))
        }
        let store = try Forge.open(folder("s"))
        #expect(try store.read { try $0.changePosition("other") } == nil)
        let errors = [
            storeError { try store.read { _ = try $0.changePosition("copy") } },
            storeError { try store.read { _ = try $0.incarnation } },
            storeError { try store.read { _ = try $0.changeToken } },
        ]
        for error in errors {
            guard case StoreError.lmdb(let cause)? = error, cause.kind == .corrupted else {
                Issue.record("nothing was said: \(String(describing: error))")
                continue
            }
        }
    }

    @Test("a number that does not have eight bytes is an error, in a store of an earlier format as well")
    func malformed() throws {
        try make()
        try put("next response", [1, 2, 3])
        let store = try Forge.open(folder("s"))
        func isDamage(_ error: (any StoreFailure)?) -> Bool {
            if case StoreError.lmdb(let cause)? = error { cause.kind == .corrupted } else { false }
        }
        #expect(isDamage(storeError { try store.read { _ = try $0.access.responses.lastID } }))
        let path = folder("old")
        try EarlierFormat.make(2, at: path)
        do {
            let environment = try Environment.open(at: path, options: .init(durability: .volatile))
            let meta = try #require(try environment.existingTables(["meta"])[0])
            try environment.write {
                try $0.put(meta, Array("next response".utf8).span.bytes, [1 as UInt8, 2].span.bytes)
            }
        }
        let old = try Forge.open(path)
        #expect(isDamage(storeError { try old.read { _ = try $0.access.responses.lastID } }))
        #expect(try old.read { try $0.access.raw.number($0.access.state.meta, key: MetaKey.nextList) } == 0)
    }

    @Test("a store that needs of its readers what this version does not know is refused by its name")
    func unknownFeature() throws {
        try make()
        try put("features", Array("".utf8))
        #expect(storeError { _ = try Forge.open(folder("s")) } == nil)
        try put("features", Array("from-the-future".utf8))
        #expect(
            storeError { _ = try Forge.open(folder("s")) }
                == StoreOpenError.unknownFeature(path: folder("s"), feature: "from-the-future"))
        #expect(
            storeError { try Store.compact(at: folder("s")) }
                == StoreOpenError.unknownFeature(path: folder("s"), feature: "from-the-future"))
    }

    @Test("a row with a flipped bit is an error for each way of reading, unless the store is opened without verifying")
    func verifiesRows() throws {
        try make()
        do {
            let store = try Forge.open(folder("s"))
            let table = try store.state.records(of: store.state.entity("User").id)
            try store.environment.write { transaction in
                try RecordKey(1).storageKey.withUnsafeBytes { key in
                    var row = Array(try #require(try transaction.raw.get(table, key)))
                    // A letter of the login.
                    row[row.count - 1] ^= 1
                    try row.withUnsafeBytes { try transaction.raw.put(table, key, $0) }
                }
            }
            let damage = StoreError.damagedRow(entity: "User", key: "1")
            #expect(throws: damage) { _ = try store.record("User", RecordKey(1)) }
            #expect(throws: damage) { try store.read { try $0.forEach("User") { _ in true } } }
            #expect(throws: damage) { try store.read { _ = try $0.fetch(Query("User")) } }
            #expect(throws: damage) { try store.put("User", RecordKey(1), ["login": .string("eve")]) }
        }
        do {
            let store = try Store.open(
                at: folder("s"), options: Store.Options(durability: .volatile, verifiesRows: false))
            #expect(try store.record("User", RecordKey(1))?["login"] == .string("ad`"))
            #expect(throws: StoreError.damagedRow(entity: "User", key: "1")) {
                _ = try store.read(verifyingRows: true) { try $0.record("User", RecordKey(1)) }
            }
            // Both would be requested of one store.
            guard
                case StoreError.lmdb(let error)? = storeError({
                    _ = try Store.open(at: folder("s"), options: Store.Options(durability: .volatile))
                })
            else {
                Issue.record("it was opened twice")
                return
            }
            #expect(error.kind == .optionsConflict)
        }
    }

    @Test(
        "a struct is copied from a row that was verified; a borrowed row is verified if the store was opened so",
        arguments: [false, true])
    func borrowedRows(_ verifiesBorrowed: Bool) throws {
        let options = Store.Options(durability: .volatile, verifiesBorrowedRows: verifiesBorrowed)
        let store = try Store.open(at: folder("typed"), schema: TypedStore.schema, options: options)
        try store.write { try $0.put(Ticket(1, "one")) }
        let table = try store.state.records(of: store.state.entity("Ticket").id)
        try store.environment.write { transaction in
            try RecordKey(1).storageKey.withUnsafeBytes { key in
                var row = Array(try #require(try transaction.raw.get(table, key)))
                let title = try #require(row.firstRange(of: Array("one".utf8)))
                row[title.lowerBound] ^= 1
                try row.withUnsafeBytes { try transaction.raw.put(table, key, $0) }
            }
        }
        let damage = StoreError.damagedRow(entity: "Ticket", key: "1")
        #expect(throws: damage) { _ = try store.read { try $0.get(Ticket.self, 1) } }
        #expect(throws: damage) { _ = try store.read { try $0.get(Ticket.self, [1]) } }
        #expect(throws: damage) { _ = try store.read { try $0.fetch(Ticket.self) } }
        func borrowed() throws -> [String] {
            try store.read { reader in
                var titles: [String] = []
                if let title = try reader.withRow(Ticket.self, 1, { try $0.get(.title) as String }) {
                    titles.append(title)
                }
                try reader.forEach(Ticket.self) { row in titles.append(try row.get(.title)) }
                return titles
            }
        }
        if verifiesBorrowed {
            #expect(throws: damage) { _ = try borrowed() }
        } else {
            #expect(try borrowed() == ["nne", "nne"])
        }
    }

    enum Own: String, CaseIterable { case response, checkpoint, scan, change, edge, request }

    @Test(
        "a response, checkpoint, scan, change or element of a long list with a flipped bit is an error that names it",
        arguments: Own.allCases)
    func ownRows(_ kind: Own) throws {
        let path = folder("own"), request = RequestKey(url: "https://a.example/1", endpoint: "e"),
            time = Timestamp(microseconds: 1)
        let schema = Schema([
            EntityDefinition(
                "A", key: ["id"], attributes: [.init("id", .int)],
                relationships: [.init("all", to: "A", many: true, ordered: true)])
        ])
        let store = try Store.open(at: path, schema: schema, options: Forge.quick)
        let before = try store.read { try $0.changeToken }
        try store.write { writer in
            try writer.put("A", RecordKey(1), [.init("all", .references((0..<2000).map { RecordKey(Int64($0)) }))])
            try writer.putResponse(
                ResponseEntry(
                    request: request, validation: .init(status: 200, fetchedAt: time, validatedAt: time),
                    listing: .init(count: 0)))
            try writer.setCheckpoint(
                "e",
                Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: time, completedAt: time).counting(
                    pages: 1, records: 1))
            try writer.noteListed([ListedRecord(entity: 1, storageKey: RecordKey(1).storageKey)], of: "w", scan: 1)
        }
        func read() throws {
            try store.read { reader in
                switch kind {
                case .response, .request: _ = try #require(try reader.response(to: request))
                case .checkpoint: _ = try #require(try reader.checkpoint("e"))
                case .scan: try reader.access.scans.forEach(of: "w") { _ in true }
                case .change: #expect(try !reader.changes(since: before).changes.isEmpty)
                case .edge: _ = try #require(try reader.record("A", RecordKey(1)))
                }
            }
        }
        try read()
        let state = store.state
        let table =
            switch kind {
            case .response: state.responses
            case .request: state.requests.table
            case .checkpoint: state.checkpoints
            case .scan: try state.scanTable().table
            case .change: state.changes.table
            case .edge: try state.edgeTable().table
            }
        try store.environment.write { transaction in
            let cursor = try transaction.raw.cursor(table)
            let (key, value) = try #require(try cursor.first())
            var bytes = Array(value)
            bytes[bytes.count - 5] ^= 0x40
            let copy = Array(key)
            cursor.close()
            try copy.withUnsafeBytes { key in try bytes.withUnsafeBytes { try transaction.raw.put(table, key, $0) } }
        }
        #expect(throws: (any Error).self) { try read() }
    }

    @Test("training a dictionary takes its turn with other writes and respects the quota")
    func trainingWithinQuota() throws {
        let store = try Store.open(
            at: folder("q"),
            schema: Schema([
                EntityDefinition(
                    "A", key: ["id"], attributes: [.init("id", .int), .init("text", .string)], compression: .zstd)
            ]),
            options: Forge.quick)
        try store.write { writer in
            for number in 0..<4000 {
                let text =
                    "the text \(number &* 7919) of a record, "
                    + String(repeating: "which is as long as those of an API are, ", count: 12)
                try writer.put("A", RecordKey(Int64(number)), [.init("text", .string(text + "\(number)"))])
            }
        }
        // The file is larger already: nothing may be added.
        try store.setQuota(1 << 20)
        #expect(throws: StoreWriteError.storeFull(path: store.path, quota: 1 << 20)) { try store.trainDictionaries() }
        // Inside of a write it fails at once, as each write does.
        _ = try store.write { writer in
            #expect(throws: StoreError.self) { try store.trainDictionaries() }
        }
        try store.setQuota(nil)
        #expect(try store.trainDictionaries() == ["A"])
    }
}
