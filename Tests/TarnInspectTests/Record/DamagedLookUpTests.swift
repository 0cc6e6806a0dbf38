// Look-ups that meet damaged pages: what is unreadable is not reported as missing.

import Foundation
import LMDB
import LMDBPages
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: look-ups on damaged pages")
struct DamagedLookUpTests {
    /// A damage of the page with a key.
    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: @Sendable (inout DamagedPagesTests.Image, _ page: Int) -> Void

        init(_ name: String, _ body: @escaping @Sendable (inout DamagedPagesTests.Image, Int) -> Void) {
            (testDescription, self.body) = (name, body)
        }
    }

    static let damages = [
        Damage("zeros") { image, page in
            for offset in 0..<4096 { image.bytes[page * 4096 + offset] = 0 }
        },
        Damage("no leaf") { image, page in image.set(page * 4096 + 10, 2, 0x44) },
        Damage("another number") { image, page in image.set(page * 4096, 4, 77) },
        Damage("no nodes") { image, page in image.set(page * 4096 + 12, 2, 16) },
        Damage("nodes in the reverse order") { image, page in
            let count = image.count(page), offsets = (0..<count).map { image.number(page * 4096 + 16 + 2 * $0, 2) }
            for (index, offset) in offsets.reversed().enumerated() {
                image.set(page * 4096 + 16 + 2 * index, 2, offset)
            }
        },
    ]

    /// Damages the leaf of a table that has a key.
    private func damage(
        _ store: RichStore, _ table: String, _ key: [UInt8],
        _ body: (inout DamagedPagesTests.Image, Int) -> Void = { Self.damages[0].body(&$0, $1) }
    ) throws -> Int {
        var image = try DamagedPagesTests.Image(store.path), pages = [try image.root(table)]
        while let page = pages.popLast() {
            if image.number(page * 4096 + 10, 2) & 1 == 1 {
                pages += (0..<image.count(page)).map { image.child(page, $0) }
                continue
            }
            let keys = (0..<image.count(page)).map { index -> [UInt8] in
                let node = image.node(page, index)
                return Array(image.bytes[node + 8..<node + 8 + image.number(node + 6, 2)])
            }
            guard keys.contains(key) else { continue }
            body(&image, page)
            try store.write(image.bytes)
            return page
        }
        throw StoreOpenError.noSuchStore(path: table)
    }

    @Test("pages of responses go on behind damaged ones, and repeat none")
    func damagedResponses() throws {
        let store = try RichStore(), inspector = StoreInspector(at: store.path)
        var ids: [UInt64] = [], found: [UInt64] = [], damages: [String] = [], next: UInt64?, pages = 0
        try inspector.responses({ id, _ in ids.append(id) }, damaged: { Issue.record("\($0)") })
        try store.damage { transaction, _ in
            let raw = transaction.raw, table = try transaction.table(TableName.responses)
            for id in ids.suffix(3) {
                try withUnsafeBytes(of: id.bigEndian) { key in
                    var row = Array(try #require(try raw.get(table, key)))
                    row[row.count - 1] ^= 1
                    try row.withUnsafeBytes { try raw.put(table, key, $0) }
                }
            }
        }
        repeat {
            next = try inspector.responses(
                before: next, limit: 2, { id, _ in found.append(id) }, damaged: { damages.append($0.place) })
            pages += 1
        } while next != nil && pages < 10
        #expect(found == ids.dropLast(3).reversed())
        #expect(damages == ids.suffix(3).reversed().map { "response \($0)" })
    }

    @Test("pages of responses go on behind one whose id has another length")
    func malformedResponseID() throws {
        let store = try RichStore(), inspector = StoreInspector(at: store.path)
        var ids: [UInt64] = [], found: [UInt64] = [], damages = 0, next: UInt64?, pages = 0
        try inspector.responses({ id, _ in ids.append(id) }, damaged: { Issue.record("\($0)") })
        // The last of the first page.
        let key = withUnsafeBytes(of: ids[ids.count - 2].bigEndian) { Array($0) } + [0]
        try store.damage { transaction, _ in
            let raw = transaction.raw, table = try transaction.table(TableName.responses)
            try key.withUnsafeBytes { key in
                try [UInt8](repeating: 0, count: 8).withUnsafeBytes { try raw.put(table, key, $0) }
            }
        }
        repeat {
            next = try inspector.responses(
                before: next, limit: 2, { id, _ in found.append(id) }, damaged: { _ in damages += 1 })
            pages += 1
        } while next != nil && pages < 10
        #expect(found == ids.reversed() && damages > 0)
    }

    @Test("a record on a damaged page is unreadable, not missing, and the page is named", arguments: damages)
    func row(_ damage: Damage) throws {
        let store = try RichStore(), key = RecordKey(7)
        let page = try self.damage(store, "r/2", key.storageKey, damage.body)
        let found = try StoreInspector(at: store.path).record("Issue", key)
        #expect(!found.isStored && found.isUnreadable, "\(found.lines())")
        #expect(found.damage?.contains("page \(page) of r/2") == true, "\(found.damage ?? "")")
        #expect(found.lines()[0] == "Issue 7 (unreadable)" && found.json().contains("\"stored\":null"))
        // A record that another page would have is missing for certain.
        let other = try StoreInspector(at: store.path).record("User", RecordKey(999))
        #expect(!other.isStored && !other.isUnreadable && other.damage == nil)
    }

    @Test("an index entry, a mark and a listing on a damaged page are unreadable, and the page is named")
    func otherTables() throws {
        let sound = try RichStore()
        let user = try StoreInspector(at: sound.path).record("User", RecordKey(3))
        let entry = try #require(user.indexEntries.first { $0.index == "User.login" })
        let id = try StoreFile.open(at: sound.path) { try #require($0.catalog.entity("User")?.field("login")?.index) }

        let index = try RichStore(), table = TableName.index(id)
        var page = try damage(index, table, entry.bytes)
        var found = try StoreInspector(at: index.path).record("User", RecordKey(3))
        #expect(found.indexEntries.contains { $0.index == "User.login" && $0.isUnreadable && !$0.isPresent })
        #expect(found.damage?.contains("page \(page) of \(table)") == true)
        #expect(
            found.lines().contains { $0.hasSuffix("(unreadable)") }
                && !found.lines().contains { $0.hasSuffix("(missing)") })

        let marked = try RichStore()
        page = try damage(marked, TableName.local, [0, 1] + RecordKey(3).storageKey)
        found = try StoreInspector(at: marked.path).record("User", RecordKey(3))
        #expect(!found.isChangedLocally && found.json().contains("\"changedLocally\":null"))
        #expect(found.damage?.contains("page \(page) of local") == true)

        let listed = try RichStore()
        let response = try #require(
            try StoreInspector(at: sound.path).record("Issue", RecordKey(17)).listings.first?.response)
        page = try damage(listed, TableName.responses, withUnsafeBytes(of: response.bigEndian) { Array($0) })
        found = try StoreInspector(at: listed.path).record("Issue", RecordKey(17))
        #expect(found.listings.count == 1 && found.listings[0].request == nil)
        #expect(found.damage?.contains("page \(page) of responses") == true)
    }

    @Test("a record of a table whose root is that of another one is unreadable, not missing")
    func rootOfAnother() throws {
        let store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        #expect(image.tables["r/3"]?.depth == 1 && image.tables["r/5"]?.depth == 1)
        image.set(try image.record("r/5") + 40, 8, try image.root("r/3"))
        try store.write(image.bytes)
        let inspector = StoreInspector(at: store.path), found = try inspector.record("Event", RecordKey(1))
        #expect(!found.isStored && found.isUnreadable && found.damage != nil, "\(found.lines())")
        var damages: [StoreInspector.Damage] = []
        try inspector.keys(
            of: "Event", within: { _ in KeySpan(from: RecordKey(100)) }, damaged: { damages.append($0) },
            visit: { Issue.record("\($0)") })
        #expect(damages.map(\.place) == ["r/5"], "\(damages)")
    }

    @Test("a root of another table is found also if it has as many leaves as the own one")
    func rootOfAlike() throws {
        let folder = try TemporaryFolder(), path = folder("alike.tarn")
        let schema = Schema(["A", "B"].map { EntityDefinition($0, key: ["id"], attributes: [.init("id", .int)]) })
        do {
            let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .relaxed))
            try store.write { writer in
                for id: Int64 in 1...301 { try writer.put("A", RecordKey(id), []) }
                for id: Int64 in 1...300 { try writer.put("B", RecordKey(id), []) }
            }
        }
        var image = try DamagedPagesTests.Image(path)
        let own = try #require(image.tables["r/1"]), other = try #require(image.tables["r/2"])
        try #require(own.depth == 2 && other.depth == 2 && own.leafPages == other.leafPages)
        image.set(try image.record("r/1") + 40, 8, try image.root("r/2"))
        try Data(image.bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        let found = try StoreInspector(at: path).record("A", RecordKey(301))
        #expect(!found.isStored && found.isUnreadable && found.damage != nil, "\(found.lines())")
    }

    @Test("a table whose name is damaged is reported by a look-up")
    func missingTable() throws {
        let store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        image.bytes[try image.record("r/2") - 1] = UInt8(ascii: "9")
        try store.write(image.bytes)
        let found = try StoreInspector(at: store.path).record("Issue", RecordKey(7))
        #expect(found.isUnreadable && found.damage != nil)
    }

    @Test("related records on a damaged page are damaged, not missing")
    func related() throws {
        let store = try RichStore()
        func related() throws -> (missing: Int, found: Int, damages: [StoreInspector.Damage]) {
            var missing = 0, found = 0, damages: [StoreInspector.Damage] = []
            let isStored = try StoreInspector(at: store.path).related(
                "User", "issues", key: { _ in RecordKey(2) }, damaged: { damages.append($0) }
            ) { if $0.record == nil { missing += 1 } else { found += 1 } }
            #expect(isStored)
            return (missing, found, damages)
        }
        let before = try related()
        #expect(before.found == 2 && before.missing == 0 && before.damages.isEmpty)
        let page = try damage(store, "r/2", RecordKey(1).storageKey)
        let after = try related()
        #expect(after.missing == 0 && after.found < 2)
        #expect(
            after.damages.contains { $0.place == "Issue 1" }
                && after.damages.contains { $0.place == "page \(page) of r/2" })
        // A record without readable row of its own.
        _ = try damage(store, "r/1", RecordKey(2).storageKey)
        #expect(try related().damages.contains { $0.place == "User 2" })
    }

    @Test("an entry of an index that names no referrer is reported")
    func malformedEntry() throws {
        let store = try RichStore(), user = RecordKey(2)
        try store.damage { transaction, catalog in
            let id = try #require(catalog.entity("Issue")?.field("author")?.index)
            let table = try transaction.table(TableName.index(id)), raw = transaction.raw
            try user.storageKey.withUnsafeBytes { try raw.put(table, $0, .empty) }
        }
        var found = 0, damages: [String] = []
        _ = try StoreInspector(at: store.path).related(
            "User", "issues", key: { _ in user }, damaged: { damages.append($0.place) }
        ) { _ in found += 1 }
        #expect(found == 2 && damages == ["index Issue.author"], "\(damages)")
        let record = try StoreInspector(at: store.path).record("User", user)
        #expect(record.damage?.hasPrefix("index Issue.author") == true, "\(record.damage ?? "")")
    }

    @Test("a fault that a look-up and a scan meet is reported once")
    func once() throws {
        let store = try RichStore(), long = RecordKey(String(repeating: "long ", count: 80))
        // Issues refer to the label, whose whole key is looked up.
        let page = try damage(store, "r/3", long.storageKey)
        var damages: [StoreInspector.Damage] = []
        try StoreInspector(at: store.path).dumpRecords(line: { _ in }, damaged: { damages.append($0) })
        #expect(damages.count { $0.place == "page \(page) of r/3" } == 1, "\(damages.prefix(5))")
    }

    @Test("an entry of the change log with a wrong checksum is reported by every question that reads the log")
    func changes() throws {
        let store = try RichStore()
        var image = try DamagedPagesTests.Image(store.path)
        let leaf = image.child(try image.root("changes"), 3), node = image.node(leaf, 0)
        // The last byte of the entry is one of its checksum.
        image.bytes[node + 8 + image.number(node + 6, 2) + image.number(node, 2) - 1] ^= 1
        try store.write(image.bytes)
        let inspector = StoreInspector(at: store.path)
        var damages: [StoreInspector.Damage] = []
        _ = try inspector.changes(damaged: { damages.append($0) }, change: { _ in })
        #expect(damages.count == 1 && damages[0].place.hasPrefix("changes "), "\(damages)")
        #expect(try inspector.latestChanges(limit: 100_000).damages == damages)
        let follower = try ChangeFollower(inspector, since: 0, of: nil)
        var followed: [StoreInspector.Damage] = []
        var running = follower
        try running.step(damaged: { followed.append($0) }, notice: { _ in }, change: { _ in })
        #expect(followed == damages)
        // The entry may be one of any record.
        #expect(try inspector.record("User", RecordKey(1)).damage?.hasPrefix("changes ") == true)
    }
}
