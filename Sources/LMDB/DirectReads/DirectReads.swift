// The fast reading path of a snapshot: its pages are read in the map, without a call of liblmdb for
// each key. `PageLookup`, `ForwardScan`, `RawCursor.count` and `RawTransaction.get` choose between
// it and liblmdb.
//
// Only pages of a snapshot are read in place: they neither change nor move. Every offset and page
// number is checked (see `LMDBPages`): a damaged file is an error.
//
// The gain of each query shape: the ratio to the same reads through liblmdb, in processor time of
// the thread, median of three to five pairs of runs. Release build, uncompressed rows in memory.
//
//   case of tools/bench                                  part             100,000   10,000 rows
//   query.count    count by an index                     RawCursor.count      6.6       3.5
//   query.group    counts by the values of an index      RawCursor.count      6.4       4.0
//   query.scan     all rows, condition without an index  ForwardScan          1.9       1.4
//   scale.range    100 rows from a key on                ForwardScan          1.9   1.5 (20,000)
//   query.index    50 rows in the order of an index      PageLookup           1.5       1.2
//   query.include  these rows with two relationships     PageLookup           1.2       1.1
//   read.related   a field of each referring record      PageLookup           1.8       2.0
//   cache.hit      a field of each of 100 listed records PageLookup           1.7       1.5
//   scale.read     a field of a random row               RawTransaction.get   1.2   1.3 (1,000)
//
// Scans and lookups gain by prefetching: little if all pages are in the caches of the processor.
// Lists of neighbouring keys gain because the next key is found beside the last one. A single
// look-up waits for memory as liblmdb does, and gains by its comparisons only.
//
// A part must gain 1.3 times in one of its shapes, or it is removed. To measure again, run
// `tools/bench/run query.index query.scan query.include query.count query.group read.related
// cache.hit.fields scale.1.read --records 100000` as it is and with `TARN_DIRECT_READS=0`.

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
