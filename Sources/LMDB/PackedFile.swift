// A new data file whose pages are full.
//
// liblmdb's own copy leaves out free pages, but copies the others as they are: half full where
// entries were inserted in random order. If entries are appended in the order of their keys, only
// the new entry goes to a new page (mdb.c, `mdb_page_split`, MDB_APPEND).

import CLMDB
import Glibc

/// A data file that is filled table by table, in the order of the keys.
struct PackedFile: ~Copyable {
    /// The size in bytes at which a transaction is committed: its pages are in memory until then.
    private static let bytesOfTransaction = 32 << 20

    private let path: String
    /// The path of the file that the entries come from, for errors.
    private let source: String
    private let env: OpaquePointer
    private var transaction: OpaquePointer?
    private var table: MDB_dbi = 0
    /// The size of the entries of the transaction, in bytes.
    private var size = 0

    /// Opens an empty file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - source: The path of the file that the entries come from.
    ///   - tables: The number of tables.
    ///   - mapSize: The greatest size of the file, in bytes.
    /// - Returns: Nil if the system does not grant that much address space.
    init?(path: String, source: String, tables: Int, mapSize: Int) throws(LMDBError) {
        var created: OpaquePointer?
        try check(mdb_env_create(&created), "copy", path: path)
        guard let created else { throw LMDBError(.other, operation: "copy", path: path) }
        // No process opens the file before it is complete.
        let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC)
        var code = mdb_env_set_mapsize(created, mapSize)
        if code == 0 { code = mdb_env_set_maxdbs(created, UInt32(max(1, tables))) }
        if code == 0 { code = mdb_env_open(created, path, flags, 0o600) }
        guard code == 0 else {
            mdb_env_close(created)
            if code == ENOMEM { return nil }
            throw LMDBError(code: code, operation: "copy", path: path)
        }
        (self.path, self.source, env) = (path, source, created)
    }

    deinit {
        if let transaction { mdb_txn_abort(transaction) }
        mdb_env_close(env)
    }

    /// Creates the table that the next entries are added to.
    mutating func begin(_ name: String) throws(LMDBError) {
        try check(mdb_dbi_open(begun(), name, UInt32(MDB_CREATE), &table), "copy", path: path)
    }

    /// Adds entries to the table, in the order of their keys.
    ///
    /// - Throws: `.corrupted` if a key is not greater than the one before it, or is no key; errors
    ///   of the file system.
    mutating func append(_ entries: some Sequence<RawCursor.Entry>) throws(LMDBError) {
        for entry in entries {
            var key = MDB_val(entry.key), value = MDB_val(entry.value)
            let code = mdb_put(try begun(), table, &key, &value, UInt32(MDB_APPEND))
            // The map has room for the entries of a sound file.
            guard ![MDB_KEYEXIST, MDB_BAD_VALSIZE, MDB_MAP_FULL].contains(code) else {
                throw LMDBError(.corrupted, operation: "copy", path: source)
            }
            try check(code, "copy", path: path)
            size += entry.key.count + entry.value.count
            if size >= Self.bytesOfTransaction { try commit() }
        }
    }

    /// Commits the entries since the last transaction; nothing is flushed to the disk.
    mutating func commit() throws(LMDBError) {
        guard let transaction else { return }
        self.transaction = nil
        size = 0
        try check(mdb_txn_commit(transaction), "copy", path: path)
    }

    private mutating func begun() throws(LMDBError) -> OpaquePointer {
        if let transaction { return transaction }
        var begun: OpaquePointer?
        try check(mdb_txn_begin(env, nil, 0, &begun), "copy", path: path)
        guard let begun else { throw LMDBError(.other, operation: "copy", path: path) }
        transaction = begun
        return begun
    }
}
