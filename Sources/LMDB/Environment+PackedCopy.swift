// A copy of an environment whose pages are full.

import CLMDB

extension Environment {
    /// Fills an empty file with the newest snapshot, each page as full as its entries allow.
    ///
    /// Pages, the order of keys, and the numbers of entries and of pages are checked meanwhile. No
    /// other transaction may commit before the copy is done. The file is not flushed to the disk.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - visit: A closure that is called with every entry, a few of one table at a time.
    /// - Returns: False if the file cannot be filled, because a table has flags or a name that is
    ///   not UTF-8, there are entries outside of tables or no tables, or the address space is too
    ///   small.
    /// - Throws: `LMDBError`: `.corrupted`, `.diskFull`, `.inputOutput`, `.nestedWrite` if this
    ///   thread is inside a `write`.
    package func copyPacked(
        to file: String, visit: (_ table: String, UnsafeBufferPointer<RawCursor.Entry>) -> Void = { _, _ in }
    ) throws -> Bool {
        let names = try tableNames()
        guard let tables = try plainTables(names), let first = tables.first else { return false }
        return try read { transaction in
            let raw = transaction.raw
            for table in tables {
                var flags: UInt32 = 0
                try check(mdb_dbi_flags(raw.pointer, table.handle, &flags), "copy", path: path)
                guard flags == 0 else { return false }
            }
            var information = MDB_envinfo()
            try check(mdb_env_info(env, &information), "copy", path: path)
            let pageSize = try raw.statistics(first).pageSize
            // Twice the file; 64 MiB more for short tables and for pages that the transactions of
            // the copy free.
            let mapSize = 2 * (information.me_last_pgno + 1) * pageSize + 64 << 20
            let source = path + "/data.mdb"
            guard var packed = try PackedFile(path: file, source: source, tables: tables.count, mapSize: mapSize)
            else { return false }
            let (free, own) = try raw.pagesOutsideOfTables(of: path)
            var pages = free &+ own
            for (name, table) in zip(names, tables) {
                try packed.begin(name)
                let statistics = try raw.statistics(table)
                pages &+= statistics.pages
                var count = 0
                try raw.forEachBatch(table, name: name) { batch throws(LMDBError) in
                    count += batch.count
                    visit(name, batch)
                    try packed.append(batch)
                }
                // Damage may hide entries of a page, or a branch.
                guard count == statistics.entries, (count == 0) == (statistics.pages == 0) else {
                    throw LMDBError(.corrupted, operation: "copy", path: source)
                }
            }
            // The pages that no tree leads to may be those of a table that is damaged or hidden.
            guard pages == information.me_last_pgno + 1 else {
                throw LMDBError(.corrupted, operation: "copy", path: source)
            }
            try packed.commit()
            return true
        }
    }

    /// Opens tables; returns nil if there are too many, or one of the names is that of an entry
    /// outside of tables.
    private func plainTables(_ names: [String]) throws(LMDBError) -> [Table]? {
        do throws(LMDBError) {
            let tables = try existingTables(names).compactMap(\.self)
            return tables.count == names.count ? tables : nil
        } catch {
            guard error.code == MDB_INCOMPATIBLE || error.kind == .tablesFull else { throw error }
            return nil
        }
    }
}

extension RawTransaction {
    /// Calls the closure with all entries of a table in key order, a few at a time.
    fileprivate func forEachBatch(
        _ table: Table, name: String, _ body: (UnsafeBufferPointer<RawCursor.Entry>) throws(LMDBError) -> Void
    ) throws(LMDBError) {
        var scan = try ForwardScan(self, table, name: name)
        try scan.seek(UnsafeRawBufferPointer(start: nil, count: 0))
        let batch = UnsafeMutableBufferPointer<RawCursor.Entry>.allocate(capacity: 64)
        defer { batch.deallocate() }
        while true {
            let count = try scan.fill(batch)
            guard count > 0 else { return }
            try body(UnsafeBufferPointer(rebasing: batch[0..<count]))
        }
    }
}
