// Rows: round trips, merging, and that no bytes end the process.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Rows")
struct RowTests {
    static let values: [(UInt16, Value)] = [
        (1, .null), (2, .bool(false)), (3, .bool(true)), (5, .int(0)), (6, .int(-1)), (7, .int(127)), (8, .int(-129)),
        (9, .int(40_000)), (10, .int(.min)), (11, .int(.max)), (12, .uint(.max)), (13, .double(-1.5)),
        (14, .double(.infinity)),
        (20, .string("")), (21, .string("é\0\u{10FFFF}")), (22, .url("/a?b")), (23, .json("{\"a\":[1,null]}")),
        (30, .date(Timestamp(microseconds: -1))), (31, .uuid(UUID(bytes: 0..<16))), (32, .bytes([])),
        (33, .bytes([0, 255])),
        (40, .array([])), (41, .array([.int(1), .null, .string("x"), .double(0)])),
        (50, .reference(RecordKey(7))), (51, .references([])),
        (52, .references([RecordKey("a"), RecordKey([.int(1), .string("b")])])),
        (65_535, .string("last")),
    ]

    private func body(_ values: [(UInt16, Value)]) -> (bytes: [UInt8], isWide: Bool) {
        var builder = BodyBuilder()
        var writer = ByteWriter()
        for (id, value) in values { builder.field(id) { $0.appendValue(value) } }
        let isWide = builder.isWide
        builder.finish(into: &writer)
        return (Array(writer.bytes), isWide)
    }

    private func decode(_ bytes: [UInt8], wide: Bool) -> [UInt16: Value] {
        bytes.withUnsafeBytes { bytes in
            guard let body = RowBody(bytes, isWide: wide) else { return [:] }
            var result: [UInt16: Value] = [:]
            for index in 0..<body.count { result[body.id(at: index)] = body.value(at: index)?.decoded() }
            return result
        }
    }

    private func row(_ bytes: [UInt8], wide: Bool, partial: Bool = false, key: [UInt8]) -> [UInt8] {
        var row = [UInt8](repeating: 0, count: RowFormat.headerSize) + bytes
        row.withUnsafeMutableBytes { row in
            EncodedRow.writeHeader(to: row, isPartial: partial, isWide: wide, entity: 3, version: 99)
            let checksum = key.withUnsafeBytes { EncodedRow.checksum(of: Bytes(row), table: 3, key: $0) }
            row.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
        }
        return row
    }

    @Test("values of every kind come back, and the body is well-formed")
    func valuesRoundTrip() {
        let (bytes, wide) = body(RowTests.values)
        #expect(!wide)
        #expect(decode(bytes, wide: wide) == Dictionary(uniqueKeysWithValues: RowTests.values))
        #expect(bytes.withUnsafeBytes { RowBody($0, isWide: wide)?.isWellFormed } == true)
    }

    @Test(
        "a field is found without the others; one that is absent, one that is null and one with a value are three states"
    )
    func threeStates() throws {
        let (bytes, wide) = body(RowTests.values)
        try bytes.withUnsafeBytes { bytes in
            let body = try #require(RowBody(bytes, isWide: wide))
            for (id, value) in RowTests.values { #expect(body.value(of: id)?.decoded() == value) }
            for absent: UInt16 in [0, 4, 19, 60, 65_534] { #expect(body.value(of: absent) == nil) }
            #expect(body.value(of: 1)?.isNull == true)
            #expect(body.value(of: 5)?.isNull == false)
        }
    }

    @Test("an integer takes as few bytes as it needs, and a small unsigned one is stored as signed")
    func integersAreShort() {
        for (value, count) in [
            (Int64(0), 2), (127, 2), (-128, 2), (128, 3), (-32_768, 3), (32_768, 5), (1 << 31, 9), (.min, 9),
        ] {
            let bytes = written { $0.appendValue(value) }
            #expect(bytes.count == count)
            #expect(bytes.withUnsafeBytes { EncodedValue($0).int } == value)
        }
        #expect(written { $0.appendValue(UInt64(5)) } == written { $0.appendValue(Int64(5)) })
    }

    @Test(
        "a value area of 65,535 bytes has a narrow directory, one more byte a wide one",
        arguments: [65_534, 65_535, 65_536, 200_000])
    func narrowAndWide(_ size: Int) {
        // Tag byte included; the second value is 3 bytes long.
        let values: [(UInt16, Value)] = [(1, .string(String(repeating: "x", count: size - 4))), (2, .int(300))]
        let (bytes, wide) = body(values)
        #expect(wide == (size > 65_535))
        #expect(decode(bytes, wide: wide) == Dictionary(uniqueKeysWithValues: values))
        #expect(bytes.withUnsafeBytes { RowBody($0, isWide: wide)?.isWellFormed } == true)
        #expect(bytes.count == 2 + 2 * (wide ? 6 : 4) + size)
    }

    @Test("merging takes new values, keeps what the new body does not have, also ids that nobody knows")
    func mergeIsOldCompletedByNew() throws {
        let old: [(UInt16, Value)] = [(1, .int(1)), (3, .string("kept")), (4, .string("cleared")), (900, .json("[9]"))]
        let new: [(UInt16, Value)] = [(1, .int(2)), (2, .bool(true)), (4, .null), (1000, .int(5))]
        let a = body(old)
        let b = body(new)
        var merged = BodyBuilder()
        var writer = ByteWriter()
        try a.bytes.withUnsafeBytes { a in
            try b.bytes.withUnsafeBytes { b in
                merged.merge(old: try #require(RowBody(a, isWide: false)), new: try #require(RowBody(b, isWide: false)))
            }
        }
        let isWide = merged.isWide
        merged.finish(into: &writer)
        #expect(
            decode(Array(writer.bytes), wide: isWide)
                == [1: .int(2), 2: .bool(true), 3: .string("kept"), 4: .null, 900: .json("[9]"), 1000: .int(5)])
    }

    @Test("merging bodies that become wide, and wide with narrow ones, keeps every value")
    func mergeAcrossWidths() throws {
        let half = String(repeating: "x", count: 40_000)
        let a = body([(1, .string(half)), (3, .int(1))])
        let b = body([(2, .string(half))])
        let c = body([(1, .null)])
        var merged = BodyBuilder()
        var writer = ByteWriter()
        try a.bytes.withUnsafeBytes { a in
            try b.bytes.withUnsafeBytes { b in
                merged.merge(old: try #require(RowBody(a, isWide: false)), new: try #require(RowBody(b, isWide: false)))
            }
        }
        let isWide = merged.isWide
        #expect(isWide)
        merged.finish(into: &writer)
        let wide = Array(writer.bytes)
        #expect(decode(wide, wide: true) == [1: .string(half), 2: .string(half), 3: .int(1)])
        writer.removeAll()
        try wide.withUnsafeBytes { wide in
            try c.bytes.withUnsafeBytes { c in
                merged.merge(
                    old: try #require(RowBody(wide, isWide: true)), new: try #require(RowBody(c, isWide: false)))
            }
        }
        let isStillWide = merged.isWide
        #expect(!isStillWide)
        merged.finish(into: &writer)
        #expect(decode(Array(writer.bytes), wide: false) == [1: .null, 2: .string(half), 3: .int(1)])
    }

    @Test("a field whose closure throws leaves the body as it was")
    func throwingFieldLeavesNothing() {
        struct Stop: Error {}
        var builder = BodyBuilder()
        var writer = ByteWriter()
        builder.field(1) { $0.appendValue(Int64(1)) }
        #expect(throws: Stop.self) {
            try builder.field(2) { (writer: inout ByteWriter) throws(Stop) in
                writer.appendValue("half".count == 4)
                throw Stop()
            }
        }
        builder.field(2) { _ in }
        builder.field(3) { $0.appendValue(Int64(3)) }
        builder.finish(into: &writer)
        #expect(decode(Array(writer.bytes), wide: false) == [1: .int(1), 3: .int(3)])
    }

    @Test("a row says its entity, version and flags, and its checksum covers table, key and content")
    func headerAndChecksum() throws {
        let key = RecordKey(5).storageKey
        let (bytes, wide) = body([(1, .int(5)), (2, .string("text"))])
        let row = row(bytes, wide: wide, partial: true, key: key)
        try row.withUnsafeBytes { row in
            let view = try #require(EncodedRow(row))
            #expect(view.entity == 3)
            #expect(view.version == 99)
            #expect(view.isPartial)
            #expect(!view.isWide)
            key.withUnsafeBytes { key in
                #expect(view.hasValidChecksum(table: 3, key: key))
                #expect(!view.hasValidChecksum(table: 4, key: key))
                #expect(!view.hasValidChecksum(table: 3, key: key.slice(0..<1)))
            }
        }
    }

    @Test("every flipped bit of a row is noticed by its checksum or its format")
    func flippedBitsAreNoticed() {
        let key = RecordKey(5).storageKey
        let (bytes, wide) = body(RowTests.values)
        let row = row(bytes, wide: wide, key: key)
        for index in row.indices {
            for bit in 0..<8 {
                var damaged = row
                damaged[index] ^= 1 << bit
                let accepted = damaged.withUnsafeBytes { damaged in
                    key.withUnsafeBytes { key in EncodedRow(damaged)?.hasValidChecksum(table: 3, key: key) ?? false }
                }
                #expect(!accepted, "byte \(index), bit \(bit)")
            }
        }
    }

    /// Everything that a reader can do with bytes that claim to be a row.
    private func readEverything(_ bytes: Bytes) {
        func read(_ body: RowBody) {
            for index in 0..<min(body.count, 200) {
                _ = body.id(at: index)
                if let value = body.value(at: index) { read(value) }
            }
            for id: UInt16 in [0, 1, 20, 50, 51, 52, 500, 65_535] { _ = body.value(of: id).map(read) }
            _ = body.isWellFormed
        }
        func read(_ value: EncodedValue) {
            _ = (value.int, value.eightBytes, value.reference?.count, value.position, value.isWellFormed)
            _ = value.decoded()
            value.forEachReference { _ = RecordKey(storageKey: $0) }
            value.forEachElement { _ = $0.decoded() }
        }
        if let row = EncodedRow(bytes) {
            read(row.body)
            _ = (row.isPartial, row.entity, row.version, row.hasValidChecksum(table: 1, key: .empty))
        }
        for wide in [false, true] {
            if let body = RowBody(bytes, isWide: wide) { read(body) }
        }
        if bytes.count > 0 { read(EncodedValue(bytes)) }
    }

    @Test("no truncation and no exchanged byte of a row ends the process")
    func damagedRowsAreRead() {
        let (bytes, wide) = body(RowTests.values)
        let row = row(bytes, wide: wide, key: [1])
        for count in 0...row.count { Array(row.prefix(count)).withUnsafeBytes(readEverything) }
        for index in row.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF, 0x10] {
                var damaged = row
                damaged[index] ^= change
                damaged.withUnsafeBytes(readEverything)
            }
        }
    }

    @Test("no random bytes end the process", arguments: [UInt64(81), 82])
    func randomBytesAreRead(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<4000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next())
            }
            // Half of them pass the first checks of a row, or begin as a value.
            if bytes.count > 22, Bool.random(using: &random) {
                bytes.replaceSubrange(0..<4, with: [1, UInt8.random(in: 0...3, using: &random), 0, 0])
                bytes[20] = UInt8.random(in: 0...9, using: &random)
                bytes[21] = 0
            } else if !bytes.isEmpty {
                bytes[0] = UInt8.random(in: 0...18, using: &random)
            }
            bytes.withUnsafeBytes(readEverything)
        }
    }

    @Test("a row of a later format, with unknown flags or a compression is not read")
    func otherFormatsAreNotRead() {
        let row = row(body([(1, .int(1))]).bytes, wide: false, key: [1])
        for (index, byte) in [(0, UInt8(2)), (0, 0), (1, 4), (1, 0x80), (2, 1)] {
            var other = row
            other[index] = byte
            #expect(other.withUnsafeBytes { EncodedRow($0) == nil })
        }
        #expect(row.withUnsafeBytes { EncodedRow($0) != nil })
    }

    @Test(
        "malformed values are not well-formed",
        arguments: [
            "00 01", "01 00", "03", "03 01 02 03", "04 01", "05 00 00", "06 78", "06", "09 01", "0A 00", "07 FF",
            "07 C3", "0B 80",
            "0D 01 00 00 00", "0D 05 00 00 00 00", "0D 00 00 00 00", "0D 01 00 00 00 0D", "0E", "0F 00 00 00 00",
            "10 00", "10 05 01", "11", "12", "FF",
        ])
    func malformedValuesAreRecognised(_ text: String) {
        #expect(!hex(text).withUnsafeBytes { EncodedValue($0).isWellFormed })
    }

    @Test(
        "a list with a malformed element is malformed as a whole, not a shorter list",
        arguments: ["0D 02 00 00 00 03 07 02 00 00 00 03 08 01 00 00 00 FF", "10 02 15 07 01 FF"])
    func malformedElement(_ text: String) {
        #expect(hex(text).withUnsafeBytes { EncodedValue($0).decoded() } == nil)
    }

    @Test("bodies whose ids or offsets make no sense are not well-formed")
    func malformedBodiesAreRecognised() {
        for text in [
            "02 00  05 00 02 00  05 00 04 00  03 01 03 02",  // the same id twice
            "02 00  05 00 02 00  04 00 04 00  03 01 03 02",  // descending ids
            "02 00  04 00 04 00  05 00 02 00  03 01 03 02",  // descending offsets
            "01 00  05 00 02 00  03 01 00",  // bytes behind the last value
            "01 00  05 00 03 00  03 01",  // a value beyond the end
            "01 00  05 00 00 00",  // an empty value
            "00 00  00",
        ] {
            #expect(hex(text).withUnsafeBytes { RowBody($0, isWide: false)?.isWellFormed ?? false } == false, "\(text)")
        }
        #expect(hex("00 00").withUnsafeBytes { RowBody($0, isWide: false)?.isWellFormed } == true)
    }
}
