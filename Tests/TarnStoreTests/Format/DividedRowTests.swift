// Rows of which only the long values are compressed: their short fields are read in place.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

@Suite("Compression: divided rows")
struct DividedRowTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tarn-divided-\(UUID().uuidString)")
        .path

    private static let schema = Schema([
        EntityDefinition(
            "Note", key: ["id"],
            attributes: [
                .init("id", .int), .init("stars", .int), .init("state", .string), .init("text", .string),
                .init("mark", .uuid),
                .init("tail", .string), .init("weight", .double, optional: true),
            ]),
        // Mostly short values: stored as one frame.
        EntityDefinition(
            "Sheet", key: ["id"],
            attributes: [.init("id", .int)] + (0..<120).map { .init("cell\($0)", .int, optional: true) } + [
                .init("text", .string)
            ]),
    ])

    private static let mark = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func text(_ id: Int) -> String {
        "Note \(id): " + String(repeating: "what repeats itself compresses well, ", count: 20) + "\(id * 7919 % 1009)"
    }

    private static func tail(_ id: Int) -> String { String(repeating: "\(id % 17) and so on, ", count: 10) }

    // Found by tools/fuzz/run (RowFuzz): the bytes after the row in memory were compressed with it,
    // or its end was lost.
    @Test(
        "a damaged body whose values end beyond it, or before, is trained from and compressed as it is",
        arguments: [false, true], [500, -100])
    func endsElsewhere(isWide: Bool, distance: Int) throws {
        let text = String(repeating: "what repeats itself compresses well, ", count: 20)
        var writer = ByteWriter()
        writer.appendLittleEndian(UInt16(1))
        writer.appendLittleEndian(UInt16(7))
        let end = text.utf8.count + 1 + distance
        if isWide { writer.appendLittleEndian(UInt32(end)) } else { writer.appendLittleEndian(UInt16(end)) }
        writer.append(ValueTag.string)
        writer.append(text)
        let size = writer.count
        writer.append(String(repeating: "not of this row; ", count: 50))
        let context = try #require(RowContext()),
            dictionary = try #require(RowDictionary(id: 1, bytes: Array(text.utf8)))
        let body = try #require(RowBody(writer.bytes(0..<size), isWide: isWide))
        #expect(!body.isWellFormed)
        var sample = ByteWriter(), frame = ByteWriter()
        body.appendCompressible(to: &sample)
        #expect(Bytes.equal(sample.bytes, body.bytes))
        // It comes back as it was, damage included.
        let form = try #require(context.compress(body, dictionary, into: &frame))
        var row = [UInt8](repeating: 0, count: RowFormat.headerSize)
        row.withUnsafeMutableBytes {
            EncodedRow.writeHeader(
                to: $0, isPartial: false, isWide: isWide, entity: 1, version: 1, compression: (form, 1))
        }
        row += Array(frame.bytes)
        let decoder = RowDecoder()
        #expect(decoder.add(dictionary: 1, dictionary.bytes))
        try row.withUnsafeBytes { bytes in
            try decoder.lending {
                let found = try decoder.view(bytes).body.bytes
                #expect(Bytes.equal(found, body.bytes))
            }
        }
    }

    private func store() throws -> Store {
        let store = try Store.open(at: folder, schema: DividedRowTests.schema)
        try store.write { writer in
            for id in 0..<1500 {
                try writer.put(
                    "Note", RecordKey(Int64(id)),
                    [
                        .init("stars", .int(Int64(id % 10))), .init("state", .string(id % 3 == 0 ? "open" : "closed")),
                        .init("text", .string(DividedRowTests.text(id))), .init("mark", .uuid(DividedRowTests.mark)),
                        .init("tail", .string(DividedRowTests.tail(id))),
                        .init("weight", id % 2 == 0 ? .null : .double(Double(id))),
                    ])
                try writer.put(
                    "Sheet", RecordKey(Int64(id)),
                    (0..<120).map { .init("cell\($0)", .int(Int64(id * 1000 + $0))) } + [
                        .init("text", .string("a text that is the same in every one of them"))
                    ])
            }
        }
        #expect(try store.trainDictionaries().count == 2)
        try store.rewrite()
        return store
    }

    /// The forms in which the rows of an entity are stored.
    private func forms(_ store: Store, _ entity: String) throws -> Set<UInt8> {
        try store.read { reader in
            var forms: Set<UInt8> = []
            try reader.access.records.scan(try reader.access.state.entity(entity)) { _, row in
                forms.insert(row.bytes[2])
                return true
            }
            return forms
        }
    }

    private struct Note: StoredRecord {
        static let entity = "Note"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, stars, state, text, mark, tail, weight }
        var id: Int64
        var stars: Int64
        var state: String
        var text: String
        var mark: UUID
        var tail: String
        var weight: Double?
        init(_ row: Row<Note>) throws(StoreError) {
            (id, stars, state, text) = (try row.get(.id), try row.get(.stars), try row.get(.state), try row.get(.text))
            (mark, tail, weight) = (try row.get(.mark), try row.get(.tail), try row.get(.weight))
        }
        func encode(into row: inout RowEncoder<Note>) {
            row.set(.id, id)
            row.set(.stars, stars)
            row.set(.state, state)
            row.set(.text, text)
            row.set(.mark, mark)
            row.set(.tail, tail)
            row.set(.weight, weight)
        }
    }

    @Test("rows with long values are stored divided, others as one frame; all fields of both come back")
    func forms() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try store()
        #expect(try forms(store, "Note") == [RowFormat.packedLongValues])
        #expect(try forms(store, "Sheet") == [RowFormat.zstd])
        try store.read { reader in
            for id in [0, 1, 700, 1499] {
                let note = try #require(try reader.get(Note.self, Int64(id)))
                #expect(note.id == id && note.stars == id % 10 && note.state == (id % 3 == 0 ? "open" : "closed"))
                #expect(note.text == DividedRowTests.text(id) && note.tail == DividedRowTests.tail(id))
                #expect(note.mark == DividedRowTests.mark && note.weight == (id % 2 == 0 ? nil : Double(id)))
                let record = try #require(try reader.record("Note", RecordKey(Int64(id))))
                #expect(
                    record["text"] == .string(note.text) && record["stars"] == .int(note.stars)
                        && record.fields.count == 7)
                #expect(try reader.record("Sheet", RecordKey(Int64(id)))?["cell119"] == .int(Int64(id * 1000 + 119)))
                // In any order, long and short by turns.
                try reader.withRow(Note.self, Int64(id)) { (row: Row<Note>) throws -> Void in
                    let tail: String = try row.get(.tail), mark: UUID = try row.get(.mark),
                        text: String = try row.get(.text)
                    let stars: Int64 = try row.get(.stars), weight = try row.state(of: .weight)
                    #expect(tail == note.tail && mark == note.mark && text == note.text && stars == note.stars)
                    #expect(weight == (id % 2 == 0 ? .null : .value))
                }
            }
            #expect(
                try reader.count(
                    Query("Note", where: .and([.compare("stars", .equal, .int(9)), .hasPrefix("text", "Note")]))) == 150
            )
        }
    }

    /// Damages the frame of a row, and nothing else of it; the checksum fits.
    private func damageFrame(_ store: Store, _ id: Int64) throws {
        try store.write { writer in
            let access = writer.access, entity = try access.state.entity("Note"),
                table = try access.state.records(of: entity.id)
            try RecordKey(id).storageKey.withUnsafeBytes { key in
                var row = Array(try #require(try access.raw.get(table, key)))
                for index in row.indices.suffix(20) { row[index] ^= 0x55 }
                let checksum = row.withUnsafeBytes { EncodedRow.checksum(of: $0, table: UInt32(entity.id), key: key) }
                row.withUnsafeMutableBytes {
                    $0.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
                }
                try row.withUnsafeBytes { try access.raw.put(table, key, $0) }
            }
        }
    }

    @Test(
        "short fields of a divided row are read without its frame: also if that is damaged, which its long fields say")
    func damagedFrame() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try store()
        try damageFrame(store, 700)
        let damaged = StoreError.damagedRow(entity: "Note", key: "700")
        try store.read { reader in
            try reader.withRow(Note.self, 700) { (row: Row<Note>) throws -> Void in
                let stars: Int64 = try row.get(.stars), mark: UUID = try row.get(.mark),
                    state: String = try row.get(.state)
                #expect(stars == 0 && mark == DividedRowTests.mark && state == "closed")
            }
            for field in [Note.Field.text, .tail] {
                #expect(throws: damaged) {
                    try reader.withRow(Note.self, 700) { (row: Row<Note>) throws -> String in try row.get(field) }
                }
            }
            #expect(throws: damaged) { try reader.get(Note.self, 700) }
            #expect(throws: damaged) { try reader.record("Note", RecordKey(700)) }
            // A query that looks at short fields only does not need it; one that looks at a long
            // one must not take it for absent.
            #expect(try reader.count(Query("Note", where: .compare("stars", .equal, .int(0)))) == 150)
            #expect(throws: damaged) { try reader.count(Query("Note", where: .hasPrefix("text", "x"))) }
            #expect(throws: damaged) { try reader.count(Query("Note", where: .isMissing("text"))) }
            #expect(throws: damaged) { try reader.fetch(Query("Note", where: .compare("stars", .equal, .int(0)))) }
            var stars = 0
            try reader.forEach(Note.self, Query("Note", where: .compare("stars", .equal, .int(0)))) {
                (row: Row<Note>) throws in
                stars += Int(try row.get(.stars, as: Int64.self))
                return true
            }
            #expect(stars == 0 && reader.access.rowMark == 0)
        }
    }

    /// Removes a store's features, as if an earlier version had made it.
    private func withoutFeatures() throws {
        let environment = try Environment.open(at: folder, options: .init(durability: .volatile))
        let table = try #require(try environment.existingTables([TableName.meta])[0])
        try environment.write { transaction in
            let meta = ChecksummedTable.meta(table, format: Store.format)
            try transaction.raw.put(meta, key: MetaKey.features, text: "")
            try transaction.raw.advanceGeneration(meta)
        }
    }

    @Test("a store of an earlier version keeps directories as they were until a rewrite, which packs them")
    func packsOnRewrite() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try store()
        try withoutFeatures()
        let store = try Store.open(at: folder)
        try store.write { writer in
            try writer.put("Note", RecordKey(700), [.init("stars", .int(77))])
            try writer.put("Note", RecordKey(1), [.init("stars", .int(78))])
        }
        #expect(try forms(store, "Note") == [RowFormat.zstdLongValues, RowFormat.packedLongValues])
        #expect(try store.read { try $0.record("Note", RecordKey(700)) }?["stars"] == .int(77))
        let before = try store.read { reader in try (0..<1500).map { try reader.record("Note", RecordKey(Int64($0))) } }
        #expect(try store.rewrite("Note").rewritten == 1500)
        #expect(try forms(store, "Note") == [RowFormat.packedLongValues])
        let after = try store.read { reader in try (0..<1500).map { try reader.record("Note", RecordKey(Int64($0))) } }
        #expect(before == after)
        try store.write { writer in try writer.put("Note", RecordKey(2), [.init("stars", .int(79))]) }
        #expect(try forms(store, "Note") == [RowFormat.packedLongValues])
        let features = try store.read { reader in
            try reader.access.raw.get(reader.access.state.meta, key: MetaKey.features).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(features == "grouped-changes packed-directories")
    }

    @Test(
        "a whole body comes back from what is stored of it, whatever its values are; of what is damaged at most an error comes",
        arguments: [false, true])
    func roundTrip(isPacking: Bool) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try store()
        try store.read { reader in
            let access = reader.access, entity = try access.state.entity("Note")
            let dictionary = try #require(access.state.currentDictionary(of: entity))
            // The state retains it.
            let lendable = Unmanaged.passUnretained(dictionary), context = try #require(RowContext())
            var random = SeededRandom(seed: 7), divided = 0
            for _ in 0..<400 {
                var builder = BodyBuilder()
                var id: UInt16 = 0
                let (fields, step): (Int, UInt16) =
                    Int.random(in: 0..<4, using: &random) == 0 ? (200, 9) : (30, 3)
                for _ in 0..<Int.random(in: 1...fields, using: &random) {
                    id += UInt16.random(in: 1...step, using: &random)
                    let length =
                        Bool.random(using: &random)
                        ? Int.random(in: 0...18, using: &random) : Int.random(in: 0...400, using: &random)
                    let text = String(
                        (0..<length).map { _ in Character(Unicode.Scalar(UInt8.random(in: 97...104, using: &random))) })
                    builder.field(id) { $0.appendValue(.string(text)) }
                }
                if Int.random(in: 0..<20, using: &random) == 0 {
                    builder.field(id + 1) { $0.appendValue(.string(String(repeating: "long ", count: 20_000))) }
                }
                let isWide = builder.isWide
                var bytes = ByteWriter(), stored = ByteWriter()
                builder.finish(into: &bytes)
                let body = try #require(RowBody(bytes.bytes, isWide: isWide))
                let form = isPacking ? RowFormat.packedLongValues : RowFormat.zstdLongValues
                guard context.compress(body, dictionary, isPacking: isPacking, into: &stored) == form else { continue }
                divided += 1
                let lent = context.lend(stored.bytes, form: form, isWide: isWide, lendable)
                let view = try #require(
                    RowBody(stored.bytes, isWide: isWide, isPacked: isPacking, lent: lent))
                #expect(view.count == body.count)
                for other in 0...(id + 20) {
                    #expect(view.place(of: other) == body.place(of: other))
                }
                for place in 0..<body.count { #expect(view.id(at: place) == body.id(at: place)) }
                // The short values first: they are found without decompressing the long ones.
                for place in (0..<body.count).sorted(by: { body.length(at: $0) < body.length(at: $1) }) {
                    #expect(
                        try Array(#require(view.value(at: place)).bytes)
                            == Array(#require(body.value(at: place)).bytes))
                }
                #expect(Array(view.bytes) == Array(bytes.bytes) && view.undivided?.isWellFormed == true)
                for _ in 0..<20 {
                    var damaged = Array(stored.bytes)
                    damaged[Int.random(in: 0..<min(damaged.count, 200), using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                    if Bool.random(using: &random) {
                        damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random))
                    }
                    damaged.withUnsafeBytes { damaged in
                        let lent = context.lend(damaged, form: form, isWide: isWide, lendable)
                        guard let view = RowBody(damaged, isWide: isWide, isPacked: isPacking, lent: lent) else {
                            return
                        }
                        for other in 0...(id + 20) { _ = view.value(of: other)?.isWellFormed }
                        for place in 0..<view.count { if let value = view.value(at: place) { _ = value.isWellFormed } }
                        _ = view.undivided?.isWellFormed
                    }
                }
                context.reset()
            }
            #expect(divided > 100)
        }
    }
}

extension RowBody {
    fileprivate func length(at index: Int) -> Int { value(at: index)?.bytes.count ?? 0 }
}
