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
        // Table 0 is the free list (mdb.c, FREE_DBI).
        let (freePages, ownPages) = try read { transaction in
            var count = 0, own = 2
            // 1 is the table of tables (mdb.c, MAIN_DBI).
            for handle in [MDB_dbi(0), 1] {
                let list = try transaction.raw.statistics(Table(handle: handle))
                own += list.branchPages + list.leafPages + list.overflowPages
            }
            let cursor = try transaction.raw.cursor(Table(handle: 0))
            defer { cursor.close() }
            var entry = try cursor.first()
            while let (_, value) = entry {
                count += FreePages(value)?.count ?? 0
                entry = try cursor.next()
            }
            return (count, own)
        }
        return EnvironmentInformation(
            pageSize: Int(stat.ms_psize), mapSize: info.me_mapsize, lastPage: info.me_last_pgno,
            lastTransaction: info.me_last_txnid, freePages: freePages, ownPages: ownPages,
            maximumReaders: Int(info.me_maxreaders),
            readerSlotsUsed: Int(info.me_numreaders))
    }
}
