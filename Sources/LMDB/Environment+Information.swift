// The sizes, free pages and readers of an environment.

import CLMDB
import LMDBPages

extension Environment {
    /// Returns the sizes, page counts and reader slots of the environment.
    ///
    /// Reads the whole free list.
    public func information() throws -> EnvironmentInformation {
        var info = MDB_envinfo(), stat = MDB_stat()
        try check(mdb_env_info(env, &info), "information", path: path)
        try check(mdb_env_stat(env, &stat), "information", path: path)
        let (freePages, ownPages) = try read { try $0.raw.pagesOutsideOfTables() }
        return EnvironmentInformation(
            pageSize: Int(stat.ms_psize), mapSize: info.me_mapsize, lastPage: info.me_last_pgno,
            lastTransaction: info.me_last_txnid, freePages: freePages, ownPages: ownPages,
            maximumReaders: Int(info.me_maxreaders),
            readerSlotsUsed: Int(info.me_numreaders))
    }
}

extension RawTransaction {
    /// Counts the free pages, and the pages that are neither free nor part of a table.
    ///
    /// Reads the whole free list.
    func pagesOutsideOfTables() throws(LMDBError) -> (free: Int, own: Int) {
        // The two meta pages.
        var count = 0, own = 2
        // 0 is the free list, 1 the table of tables (mdb.c, FREE_DBI, MAIN_DBI).
        for handle in [MDB_dbi(0), 1] { own &+= try statistics(Table(handle: handle)).pages }
        let cursor = try cursor(Table(handle: 0))
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (_, value) = entry {
            count += FreePages(value)?.count ?? 0
            entry = try cursor.next()
        }
        return (count, own)
    }
}
