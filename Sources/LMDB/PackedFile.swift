// A new data file whose pages are full.
//
// liblmdb's own copy leaves out free pages, but copies the others as they are: half full where
// entries were inserted in random order. If entries are appended in the order of their keys, only
// the new entry goes to a new page (mdb.c, `mdb_page_split`, MDB_APPEND).

import CLMDB
import Glibc

/// A data file that is filled table by table, in the order of the keys.
package struct PackedFile: ~Copyable {
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
    package init?(path: String, source: String, tables: Int, mapSize: Int) throws(LMDBError) {
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
    mutating func begin(_ name: String) throws(LMDBError) { try begin(Array(name.utf8), flags: 0) }

    /// Creates the table that the next entries are added to.
    ///
    /// - Parameters:
    ///   - name: The name, of which a NUL ends the part that counts; nil for the table without one.
    ///   - flags: The persistent flags of the table (`mdb_dbi_open` in lmdb.h).
    package mutating func begin(_ name: [UInt8]?, flags: UInt16) throws(LMDBError) {
        let transaction = try begun(), flags = UInt32(MDB_CREATE) | UInt32(flags)
        guard let name else { return try check(mdb_dbi_open(transaction, nil, flags, &table), "copy", path: path) }
        let text = name.map { CChar(bitPattern: $0) } + [0]
        try check(mdb_dbi_open(transaction, text, flags, &table), "copy", path: path)
    }

    /// Adds an entry to the table, in any order.
    ///
    /// - Parameter hasDuplicates: Whether keys may have several values.
    /// - Returns: False if the table has the key, or the value of the key, or cannot have it.
    /// - Throws: `.mapFull`, errors of the file system.
    package mutating func add(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, hasDuplicates: Bool
    ) throws(LMDBError) -> Bool {
        var keyBytes = MDB_val(key), valueBytes = MDB_val(value)
        let flags = UInt32(hasDuplicates ? MDB_NODUPDATA : MDB_NOOVERWRITE)
        let code = mdb_put(try begun(), table, &keyBytes, &valueBytes, flags)
        // A table has the key in the table without a name.
        if [MDB_KEYEXIST, MDB_BAD_VALSIZE, MDB_INCOMPATIBLE].contains(code) { return false }
        try check(code, "copy", path: path)
        size += key.count + value.count
        if size >= Self.bytesOfTransaction { try commit() }
        return true
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
    package mutating func commit() throws(LMDBError) {
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
