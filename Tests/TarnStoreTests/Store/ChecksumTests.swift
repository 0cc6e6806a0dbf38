// CRC-32C against its published check values, and the processor's instruction against the tables.

import TestSupport
import Testing

@testable import TarnStore

@Suite("CRC-32C")
struct ChecksumTests {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32C()
        bytes.withUnsafeBytes { crc.update($0) }
        return crc.value
    }

    @Test("the check value and the vectors of RFC 3720 B.4")
    func publishedVectors() {
        #expect(checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(checksum(Array(0..<32)) == 0x46DD_794E)
        #expect(checksum(Array((0..<32).reversed())) == 0x113F_DB5C)
        #expect(
            checksum(
                hex(
                    "01C00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000"
                ))
                == 0xD996_3A56)
        #expect(checksum([]) == 0)
    }

    @Test("the tables, which serve where the processor has no instruction, give the published values as well")
    func publishedVectorsInSoftware() {
        func checksum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { ~CRC32C.inSoftware(~0, $0) } }
        #expect(checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(checksum(Array(0..<32)) == 0x46DD_794E)
        #expect(checksum([]) == 0)
    }

    @Test("the instruction and the tables agree for every length, alignment and state", arguments: [UInt64(29)])
    func instructionAgreesWithTables(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = (0..<5000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes.withUnsafeBytes { all in
            func compare(_ range: Range<Int>) {
                var crc = CRC32C()
                crc.update(all.slice(0..<range.lowerBound))
                let state = ~crc.value
                crc.update(all.slice(range))
                #expect(crc.value == ~CRC32C.inSoftware(state, all.slice(range)), "\(range), seed \(seed)")
            }
            for start in 0..<16 { for length in 0..<80 { compare(start..<start + length) } }
            // The lengths at which the number of blocks that are computed side by side changes.
            for length in 80..<1300 { compare(3..<3 + length) }
            for _ in 0..<500 {
                let start = Int(random.next() % 2500)
                compare(start..<start + Int(random.next() % 2500))
            }
        }
    }

    @Test("any division into parts gives the same value", arguments: [UInt64(71)])
    func partsGiveTheSame(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = (0..<100).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let whole = checksum(bytes)
        for first in 0...100 {
            for second in stride(from: first, through: 100, by: 7) {
                var crc = CRC32C()
                bytes.withUnsafeBytes { all in
                    crc.update(all.slice(0..<first))
                    crc.update(all.slice(first..<second))
                    crc.update(all.slice(second..<100))
                }
                #expect(crc.value == whole)
            }
        }
    }

    @Test("the checksums of many rows together are right exactly if each is", arguments: [true, false])
    func rowsTogether(behindKeys: Bool) {
        var random = SeededRandom(seed: 113)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
        for round in 0..<300 {
            var rows: [(key: [UInt8], row: [UInt8])] = (0..<random.roll(0..<140)).map { _ in
                let key = bytes(random.roll(1..<30))
                var row = bytes(RowFormat.headerSize) + [0, 0] + bytes(random.roll(0..<400))
                row.replaceSubrange(0..<3, with: [RowFormat.version, 0, RowFormat.uncompressed])
                let checksum = row.withUnsafeBytes { row in
                    key.withUnsafeBytes { EncodedRow.checksum(of: row, table: 7, key: $0) }
                }
                withUnsafeBytes(of: checksum.littleEndian) { row.replaceSubrange(8..<12, with: $0) }
                return (key, row)
            }
            func areValid(table: UInt32 = 7) -> Bool {
                let copies = rows.map { copy(behindKeys ? $0.key + $0.row : $0.key + [0] + $0.row) }
                defer { for copy in copies { copy.deallocate() } }
                let checksums = RowChecksums(table: table)
                for (copy, row) in zip(copies, rows) {
                    let key = copy.slice(0..<row.key.count)
                    #expect(checksums.add(copy.slice(copy.count - row.row.count..<copy.count), key: key))
                }
                return checksums.check()
            }
            #expect(areValid(), "\(round)")
            guard !rows.isEmpty else { continue }
            #expect(!areValid(table: 8), "\(round)")
            // One changed bit of one row or key: not of what says that the row is readable.
            let changed = random.roll(0..<rows.count), bit = UInt8(1 << random.roll(0..<8))
            if random.roll(0..<4) == 0 {
                rows[changed].key[random.roll(0..<rows[changed].key.count)] ^= bit
            } else {
                let places = [3..<20, 22..<rows[changed].row.count].flatMap(\.self)
                rows[changed].row[places[random.roll(0..<places.count)]] ^= bit
            }
            #expect(!areValid(), "\(round) \(changed)")
        }
    }

    @Test("a row that must be decompressed, or that is damaged so that it cannot be read, is not added")
    func otherRows() {
        let checksums = RowChecksums(table: 7)
        let sound: [UInt8] = [RowFormat.version, 0, RowFormat.uncompressed] + [UInt8](repeating: 0, count: 19)
        for (place, byte) in [(0, 9), (1, 4), (2, RowFormat.zstd), (20, 1)] as [(Int, UInt8)] {
            var row = sound
            row[place] = byte
            row.withUnsafeBytes { row in
                #expect(EncodedRow(row) == nil && !checksums.add(row, key: row.slice(0..<1)))
            }
        }
        sound[..<21].withUnsafeBytes { row in #expect(!checksums.add(row, key: row.slice(0..<1))) }
        #expect(checksums.check())
        sound.withUnsafeBytes { row in #expect(checksums.add(row, key: row.slice(0..<1))) }
        #expect(!checksums.check())
        checksums.removeAll()
        #expect(checksums.check())
    }

    /// Copies bytes to memory of exactly their size, where a sanitizer sees what is read beside.
    private func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }
}
