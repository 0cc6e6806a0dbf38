import CChecksum

/// The rows of a leaf whose checksums are checked together: several at a time take half of the
/// time. For one thread.
package final class RowChecksums {
    private static let capacity = 64
    private let table: UInt32
    private let rows = UnsafeMutablePointer<tarn_stored_row>.allocate(capacity: capacity)
    private var count = 0
    private var areValid = true

    /// - Parameter table: The id of the root entity of the rows.
    package init(table: UInt32) { self.table = table }

    deinit { rows.deallocate() }

    /// Adds a row, whose bytes and key must be valid until `check` returns.
    package func add(_ row: Bytes, key: Bytes) {
        guard CRC32C.isInHardware, row.count >= RowFormat.headerSize else {
            areValid = areValid && EncodedRow.hasValidChecksum(row, table: table, key: key)
            return
        }
        if count == RowChecksums.capacity { checkAdded() }
        rows[count] = tarn_stored_row(
            key: key.baseAddress, key_count: key.count, row: row.baseAddress, count: row.count)
        count += 1
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
