// Compressed rows: smaller, and otherwise the same.

import Foundation
import LMDB
import Testing

@testable import TarnStore

@Suite("Compression")
struct CompressionTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tarn-zstd-\(UUID().uuidString)").path

    private func schema(_ compression: EntityDefinition.Compression = .zstd, indexed: Bool = false) -> Schema {
        Schema([
            EntityDefinition(
                "Page", key: ["id"],
                attributes: [
                    .init("id", .int), .init("title", .string, indexed: indexed), .init("text", .string),
                    .init("note", .string, optional: true),
                ],
                relationships: [.init("next", to: "Page", inverse: "previous")], compression: compression),
            EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)]),
        ])
    }

    private func text(_ number: Int) -> String {
        "The page with the number \(number) has an address, https://wiki.example/pages/\(number), and a paragraph that all of them share: "
            + String(repeating: "what repeats itself compresses well, ", count: 12)
            + "and number \(number &* 7919 % 1009) ends it."
    }

    private func fill(_ store: Store, _ range: Range<Int>) throws {
        try store.write { writer in
            for number in range {
                try writer.put(
                    "Page", RecordKey(Int64(number)),
                    [
                        .init("title", .string("Page \(number)")), .init("text", .string(text(number))),
                        .init("next", .reference(RecordKey(Int64(number + 1)))),
                    ])
            }
        }
    }

    /// Rows of `Page` by how they are stored: compressed or not.
    private func stored(_ store: Store) throws -> (compressed: Int, plain: Int, bytes: Int) {
        try store.read { reader in
            let entity = try reader.access.state.entity("Page")
            var result = (compressed: 0, plain: 0, bytes: 0)
            try reader.access.records.scan(entity) { _, row in
                if row.bytes[2] != RowFormat.uncompressed { result.compressed += 1 } else { result.plain += 1 }
                result.bytes += row.bytes.count
                return true
            }
            return result
        }
    }

    /// A store with 1,200 plain rows, then a dictionary, then 800 compressed ones.
    private func mixed(_ schema: Schema) throws -> Store {
        let store = try Store.open(at: folder, schema: schema)
        try fill(store, 0..<1200)
        #expect(try store.trainDictionaries() == ["Page"])
        try fill(store, 1200..<2000)
        return store
    }

    @Test("several threads read compressed rows at once, while another writes them")
    func severalThreads() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema()), wrong = Shared(0), expected = (1200..<2000).map { Value.string(text($0)) }
        DispatchQueue.concurrentPerform(iterations: 5) { thread in
            do {
                for round in 0..<1000 {
                    let number = 1200 + (thread * 160 + round) % 800
                    let text = expected[number - 1200]
                    if thread == 0, round % 20 == 0 {
                        try store.write { try $0.put("Page", RecordKey(Int64(number)), [.init("note", text)]) }
                    }
                    if try store.record("Page", RecordKey(Int64(number)))?["text"] != text { wrong.change { $0 += 1 } }
                }
            } catch {
                wrong.change { $0 += 1 }
            }
        }
        #expect(wrong.value == 0)
    }

    @Test("rows are stored plain until there is a dictionary, compressed from then on, and both read the same")
    func mixedGenerations() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        let rows = try stored(store)
        #expect(rows.plain == 1200 && rows.compressed == 800)
        try store.read { reader in
            var expected = 0
            try reader.forEach("Page") { record in
                #expect(record.key == RecordKey(Int64(expected)) && record["text"] == .string(text(expected)))
                expected += 1
                return true
            }
            #expect(expected == 2000)
            let one = try #require(try reader.record("Page", RecordKey(1999)))
            #expect(one["title"] == .string("Page 1999") && one["next"] == .reference(RecordKey(2000)))
            for (key, relationship, wanted) in [(1500, "next", 1501), (1500, "previous", 1499)]
                as [(Int64, String, Int64)]
            {
                var found: [Record?] = []
                try reader.forEachRelated("Page", RecordKey(key), relationship) { target in
                    found.append(target.record)
                    return true
                }
                #expect(found.map { $0?.key } == [RecordKey(wanted)])
            }
        }
    }

    @Test("compressed rows take less than a third of what plain ones take")
    func size() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        let before = try stored(store).bytes
        try fill(store, 0..<2000)
        #expect(try stored(store).plain == 1200, "unchanged rows are not written again")
        try store.write { writer in
            for number in 0..<1200 {
                try writer.put("Page", RecordKey(Int64(number)), [.init("note", .string("again"))])
            }
        }
        let after = try stored(store)
        #expect(after.plain == 0 && after.bytes * 3 < before, "\(before) → \(after.bytes)")
    }

    @Test("unchanged means unchanged content: a compressed row that says the same is not written")
    func unchanged() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        let before = try store.read { try $0.sequence }
        try fill(store, 1200..<2000)
        #expect(try store.read { try $0.sequence } == before)
        #expect(try store.read { try $0.record("Page", RecordKey(1300))?.version } == before)
    }

    @Test("a new index is built over compressed rows, and deleting one removes its entries")
    func indexAndDelete() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do { _ = try mixed(schema()) }
        let store = try Store.open(at: folder, schema: schema(indexed: true))
        let index = try #require(store.catalog.entity("Page")?.field("title")?.index)
        func entries() throws -> Int {
            try store.read { try $0.access.raw.statistics($0.access.state.index(index)).entries }
        }
        #expect(try entries() == 2000)
        try store.write { writer in
            for key in [1999, 5] as [Int64] {
                let isDeleted = try writer.delete("Page", RecordKey(key))
                #expect(isDeleted)
            }
        }
        #expect(try entries() == 1998)
    }

    @Test("rows that are read inside the walk over others do not disturb them")
    func nested() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        try store.read { reader in
            let access = reader.access, entity = try access.state.entity("Page")
            var seen = 0
            try access.records.scan(entity) { key, row in
                let before = Array(row.body.bytes)
                for other in [3, 1203, 1777] as [Int64] {
                    _ = try reader.record("Page", RecordKey(other))
                    try access.lending {
                        _ = try RecordKey(other).storageKey.withUnsafeBytes { try access.records.row(entity, $0) }
                    }
                }
                #expect(Array(row.body.bytes) == before)
                seen += 1
                return seen < 1400
            }
            #expect(access.rowMark == 0, "nothing is kept after the walk")
        }
    }

    @Test("an entity without compression, and rows below 256 bytes, stay as they are")
    func none() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try Store.open(at: folder, schema: schema(.none))
        try fill(store, 0..<1200)
        try store.write { writer in
            for number in 0..<1500 { try writer.put("Tag", RecordKey("tag \(number)"), []) }
        }
        #expect(try store.trainDictionaries() == [])
        try fill(store, 1200..<1300)
        #expect(try stored(store).compressed == 0)
    }

    @Test(
        "rows of 256 to 512 bytes are stored as they are, and compressed by a rewrite; to change one is to store it plain again"
    )
    func smallRows() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        func put(_ number: Int, _ addition: String = "") throws {
            let text = String(text(number).suffix(300)) + addition
            try store.write {
                try $0.put(
                    "Page", RecordKey(Int64(number)), [.init("title", .string("small")), .init("text", .string(text))])
            }
        }
        let before = try stored(store)
        for number in 5000..<5010 { try put(number) }
        #expect(try stored(store).plain == before.plain + 10)
        try store.rewrite("Page")
        #expect(try stored(store).plain == 0)
        try put(5003, "!")
        #expect(try stored(store).plain == 1)
        #expect(
            try store.read { try $0.record("Page", RecordKey(5003)) }?["text"]
                == .string(String(text(5003).suffix(300)) + "!"))
    }

    @Test("a missing dictionary is an error that names the rows it concerns; the others are read")
    func missingDictionary() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do { _ = try mixed(schema()) }
        do {
            let environment = try Environment.open(at: folder)
            let meta = try #require(try environment.existingTables([TableName.meta])[0])
            try environment.write { transaction in
                let key = Array("dictionary 1".utf8)
                let isDeleted = try transaction.delete(meta, key.span.bytes)
                #expect(isDeleted)
            }
        }
        let store = try Store.open(at: folder)
        #expect(try store.read { try $0.record("Page", RecordKey(7)) } != nil)
        #expect(throws: StoreError.damagedDictionary(entity: "Page", key: "1700", dictionary: 1)) {
            try store.read { try $0.record("Page", RecordKey(1700)) }
        }
        #expect(throws: StoreError.damagedDictionary(entity: "Page", key: "1200", dictionary: 1)) {
            try store.read { try $0.forEach("Page") { _ in true } }
        }
        // Nothing is written over a row that cannot be read.
        #expect(throws: StoreError.damagedDictionary(entity: "Page", key: "1700", dictionary: 1)) {
            try store.write { try $0.put("Page", RecordKey(1700), [.init("note", .string("x"))]) }
        }
    }

    @Test("no flipped byte of a compressed row crashes a reader, and the checksum notices every one")
    func flippedBytes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        try store.read { reader in
            let access = reader.access, entity = try access.state.entity("Page")
            let key = RecordKey(1800).storageKey
            try key.withUnsafeBytes { key in
                let row = try #require(try access.raw.get(access.state.records(of: entity.id), key))
                for position in 0..<row.count {
                    for bit in 0..<8 {
                        var damaged = Array(row)
                        damaged[position] ^= 1 << UInt8(bit)
                        damaged.withUnsafeBytes { damaged in
                            #expect(!EncodedRow.hasValidChecksum(damaged, table: UInt32(entity.id), key: key))
                            access.lending {
                                if let view = try? access.records.view(damaged, entity, key) {
                                    _ = view.body.isWellFormed
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("another open store takes over a dictionary that was trained meanwhile, for reading and for writing")
    func otherHandle() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try Store.open(at: folder, schema: schema()), second = try Store.open(at: folder)
        try fill(first, 0..<1200)
        #expect(try second.read { try $0.count("Page") } == 1200)
        #expect(try first.trainDictionaries() == ["Page"])
        #expect(try second.trainDictionaries() == [])
        try fill(first, 1200..<1300)
        #expect(try second.read { try $0.record("Page", RecordKey(1250)) }?["text"] == .string(text(1250)))
        try fill(second, 1300..<1400)
        #expect(try stored(first).compressed == 200)
    }

    private struct Page: StoredRecord {
        static let entity = "Page"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, title, text }
        var id: Int64
        var title: String
        var text: String
        init(_ row: Row<Page>) throws(StoreError) {
            (id, title, text) = (try row.get(.id), try row.get(.title), try row.get(.text))
        }
        func encode(into row: inout RowEncoder<Page>) {
            row.set(.id, id)
            row.set(.title, title)
            row.set(.text, text)
        }
    }

    @Test(
        "structs and lent rows come from compressed rows as from plain ones, also beside each other, and nothing piles up"
    )
    func typed() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try mixed(schema())
        try store.read { reader in
            for key in [5, 1300, 1999] as [Int64] {
                #expect(try reader.get(Page.self, key)?.text == text(Int(key)))
            }
            #expect(
                try reader.get(Page.self, [1999, 4000, 7] as [Int64]).map { $0?.title } == ["Page 1999", nil, "Page 7"])
            var seen: Int64 = 0
            try reader.forEach(Page.self) { (row: Row<Page>) throws -> Void in
                let other = try reader.get(Page.self, 1999 - seen)
                #expect(try row.get(.text, as: String.self) == text(Int(seen)) && other?.id == 1999 - seen)
                seen += 1
            }
            #expect(seen == 2000)
            let title = try reader.withRow(Page.self, 1700) { row in try row.get(.title, as: String.self) }
            #expect(title == "Page 1700")
            let missing = try reader.withRow(Page.self, 4000) { row in try row.get(.title, as: String.self) }
            #expect(missing == nil)
            var next: [Int64] = []
            try reader.forEachRelated(Page.self, 1400, "next", to: Page.self) { row in next.append(try row.get(.id)) }
            #expect(next == [1401])
            #expect(reader.access.rowMark == 0)
        }
        try store.write { writer in
            var page = try #require(try writer.reader().get(Page.self, 1500))
            page.title = "changed"
            try writer.put(page)
        }
        #expect(try store.read { try $0.get(Page.self, 1500)?.title } == "changed")
    }
}
