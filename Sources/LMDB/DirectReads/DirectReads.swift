// The fast reading path of a snapshot: its pages are read in the map, without a call of liblmdb for
// each key. `PageLookup`, `ForwardScan` and `RawCursor.count` choose between it and liblmdb.
//
// Only pages of a snapshot are read in place: they neither change nor move. Every offset and page
// number is checked (see `LMDBPages`): a damaged file is an error.

import CLMDB
import Glibc
import LMDBPages

/// The conditions for reading pages in place.
enum DirectReads {
    /// Whether environments read directly, unless their options state it.
    ///
    /// `TARN_DIRECT_READS=0` turns it off, for tests and measurements of the other path.
    static let isDefault = getenv("TARN_DIRECT_READS").map { strcmp($0, "0") != 0 } ?? true

    /// Returns a page size; nil if pages of this size must not be read in place.
    ///
    /// Pages larger than those of the system are not aligned in the map.
    static func pageSize(_ size: Int) -> Int? {
        size <= systemPageSize && size.nonzeroBitCount == 1 && size > PageLayout.headerSize ? size : nil
    }

    /// Returns the size of the pages that a cursor sees; nil if they must not be read in place.
    static func pageSize(of cursor: RawCursor) -> Int? {
        guard cursor.readsPages else { return nil }
        var statistics = MDB_stat()
        guard mdb_stat(mdb_cursor_txn(cursor.pointer), mdb_cursor_dbi(cursor.pointer), &statistics) == 0 else {
            return nil
        }
        return pageSize(Int(statistics.ms_psize))
    }

    private static let systemPageSize = sysconf(Int32(_SC_PAGESIZE))
}
