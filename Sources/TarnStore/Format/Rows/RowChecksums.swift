import CChecksum

/// The rows of a leaf whose checksums are checked together: several at a time take half of the
/// time. For one thread.
package final class RowChecksums {
    private static let capacity = 64
    private let table: UInt32
    private let rows = UnsafeMutablePointer<tarn_stored_row>.allocate(capacity: capacity)
    private var count = 0
    private var areValid = true
    private let isInHardware = CRC32C.isInHardware

    /// - Parameter table: The id of the root entity of the rows.
    package init(table: UInt32) { self.table = table }

    deinit { rows.deallocate() }

    /// Adds a row, if it is readable without being decompressed.
    ///
    /// Its bytes and its key must be valid until `check` returns.
    package func add(_ row: Bytes, key: Bytes) -> Bool {
        guard row.count >= RowFormat.headerSize + 2, row[0] == RowFormat.version, row[1] & ~RowFormat.allFlags == 0,
            row[2] == RowFormat.uncompressed
        else { return false }
        let fields = Int(row.uncheckedLoad(RowFormat.headerSize, UInt16.self))
        let size = row[1] & RowFormat.wide == 0 ? 4 : 6
        guard RowFormat.headerSize + 2 + fields * size <= row.count else { return false }
        // As they are in a leaf.
        let isBehindKey = key.baseAddress.map { $0 + key.count } == row.baseAddress
        guard isInHardware, isBehindKey else {
            areValid = areValid && EncodedRow.hasValidChecksum(row, table: table, key: key)
            return true
        }
        if count == RowChecksums.capacity { checkAdded() }
        rows[count] = tarn_stored_row(key: key.baseAddress, key_count: key.count, count: row.count)
        count += 1
        return true
    }

    package func removeAll() { (count, areValid) = (0, true) }

    /// Returns whether each row that was added since `removeAll` has the right checksum.
    package func check() -> Bool {
        checkAdded()
        return areValid
    }

    private func checkAdded() {
        areValid = areValid && tarn_crc32c_rows_are_valid(table, rows, count)
        count = 0
    }
}

extension RowChecksums {
    /// The size up to which a row is in a leaf, whatever its key: of a page of 4,096 bytes, a node
    /// has at most 2,038 (mdb.c, `me_nodemax`), and a key at most 511.
    private static let longestInLeaf = 1500

    /// Returns whether each row of a batch has the right checksum.
    ///
    /// - Parameters:
    ///   - batch: Keys and rows in the map.
    ///   - table: The id of the root entity of the rows.
    static func areValid(_ batch: RowsByKey.Batch, table: UInt32) -> Bool {
        guard CRC32C.isInHardware else { return areValidOneByOne(batch, table: table) }
        return withUnsafeTemporaryAllocation(of: tarn_stored_row.self, capacity: batch.keys.count) { together in
            var count = 0
            for index in batch.keys.indices {
                guard let row = batch.rows[index] else { continue }
                let key = batch.keys[index]
                // In a leaf, a row is directly behind its key. A longer one may have pages of its
                // own.
                if row.count <= longestInLeaf, row.count >= RowFormat.headerSize, let start = row.baseAddress {
                    let stored = Bytes(start: start - key.count, count: key.count)
                    guard Bytes.equal(stored, key) else { return false }
                    together.initializeElement(
                        at: count,
                        to: tarn_stored_row(key: stored.baseAddress, key_count: key.count, count: row.count))
                    count += 1
                } else if !EncodedRow.hasValidChecksum(row, table: table, key: key) {
                    return false
                }
            }
            return tarn_crc32c_rows_are_valid(table, UnsafePointer(together.baseAddress), count)
        }
    }

    private static func areValidOneByOne(_ batch: RowsByKey.Batch, table: UInt32) -> Bool {
        batch.keys.indices.allSatisfy { index in
            batch.rows[index].map { EncodedRow.hasValidChecksum($0, table: table, key: batch.keys[index]) } ?? true
        }
    }
}
