// CRC-32C (Castagnoli; RFC 3720 §12.1, appendix B.4), eight bytes a step.

import CChecksum

/// A running CRC-32C. It uses the processor's instruction if there is one.
struct CRC32C {
    /// `tables[k][b]`: the checksum of byte `b` followed by `k` zero bytes, flattened.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
            tables[byte] = value
        }
        for byte in 0..<256 {
            for k in 1..<8 {
                let previous = tables[(k - 1) * 256 + byte]
                tables[k * 256 + byte] = previous >> 8 ^ tables[Int(previous & 0xFF)]
            }
        }
        return tables
    }()

    private var state: UInt32 = 0xFFFF_FFFF

    init() {}

    var value: UInt32 { state ^ 0xFFFF_FFFF }

    /// Whether the processor has the instruction. Asking is cheaper than a lazy constant.
    static var isInHardware: Bool { tarn_crc32c_is_available() }

    mutating func update(_ bytes: Bytes) {
        state =
            CRC32C.isInHardware
            ? tarn_crc32c(state, bytes.baseAddress, bytes.count) : CRC32C.inSoftware(state, bytes)
    }

    /// Returns the checksum of a row, which excludes the header's checksum field.
    static func ofRow(_ row: Bytes, table: UInt32, key: Bytes) -> UInt32 {
        if isInHardware, row.count >= RowFormat.headerSize {
            return tarn_crc32c_of_row(table, key.baseAddress, key.count, row.baseAddress, row.count)
        }
        var crc = CRC32C()
        withUnsafeBytes(of: table.littleEndian) { crc.update($0) }
        crc.update(key)
        crc.update(row.slice(0..<8))
        crc.update(row.slice(12..<row.count))
        return crc.value
    }

    /// Updates a state in software, for processors without the instruction.
    static func inSoftware(_ state: UInt32, _ bytes: Bytes) -> UInt32 {
        tables.withUnsafeBufferPointer { t in
            var crc = state
            var i = 0
            while i + 8 <= bytes.count {
                let word = bytes.uncheckedLoad(i, UInt64.self) ^ UInt64(crc)
                crc =
                    t[7 * 256 + Int(word & 0xFF)] ^ t[6 * 256 + Int(word >> 8 & 0xFF)]
                    ^ t[5 * 256 + Int(word >> 16 & 0xFF)] ^ t[4 * 256 + Int(word >> 24 & 0xFF)]
                    ^ t[3 * 256 + Int(word >> 32 & 0xFF)] ^ t[2 * 256 + Int(word >> 40 & 0xFF)]
                    ^ t[256 + Int(word >> 48 & 0xFF)] ^ t[Int(word >> 56)]
                i += 8
            }
            while i < bytes.count {
                crc = crc >> 8 ^ t[Int((crc ^ UInt32(bytes[i])) & 0xFF)]
                i += 1
            }
            return crc
        }
    }
}
