// The sizes, free pages and readers of an environment.

import CLMDB
import LMDBPages

extension Environment {
    /// Returns the sizes, page counts and reader slots of the environment.
    ///
    /// Reads the whole free list.
    ///
    /// - Throws: `LMDBError.corrupted` if an entry of the free list is malformed.
    public func information() throws -> EnvironmentInformation {
        var info = MDB_envinfo(), stat = MDB_stat()
        try check(mdb_env_info(env, &info), "information", path: path)
        try check(mdb_env_stat(env, &stat), "information", path: path)
        let (freePages, ownPages) = try read { try $0.raw.pagesOutsideOfTables(of: path) }
        return EnvironmentInformation(
            pageSize: Int(stat.ms_psize), mapSize: info.me_mapsize, lastPage: info.me_last_pgno,
            lastTransaction: info.me_last_txnid, freePages: freePages, ownPages: ownPages,
            maximumReaders: Int(info.me_maxreaders),
            readerSlotsUsed: Int(info.me_numreaders))
    }

    /// The size of the map, in bytes.
    ///
    /// Reads no page.
    package var mapSize: Int {
        get throws(LMDBError) {
            var info = MDB_envinfo()
            try check(mdb_env_info(env, &info), "information", path: path)
            return info.me_mapsize
        }
    }
}

extension RawTransaction {
    /// Counts the free pages, and the pages that are neither free nor part of a table.
    ///
    /// Reads the whole free list.
    ///
    /// - Parameter path: The path of the environment, for errors.
    func pagesOutsideOfTables(of path: String) throws(LMDBError) -> (free: Int, own: Int) {
        // The two meta pages.
        var count = 0, own = 2
        // 0 is the free list, 1 the table of tables (mdb.c, FREE_DBI, MAIN_DBI).
        for handle in [MDB_dbi(0), 1] { own &+= try statistics(Table(handle: handle)).pages }
        let cursor = try cursor(Table(handle: 0))
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (_, value) = entry {
            guard let pages = FreePages(value) else {
                throw LMDBError(.corrupted, operation: "read the free list", path: path + "/data.mdb")
            }
            count += pages.count
            entry = try cursor.next()
        }
        return (count, own)
    }
}
