// Transactions: lent to a synchronous closure, begun and ended on one thread.
//
// On liblmdb 0.9.24 a write transaction that is committed on another thread returns success and hangs every later writer
// for ever. So there is no way to hold one outside the closure, and the closure cannot suspend.

import CLMDB

extension Environment {
    /// Lends a snapshot to the closure and returns what it returns. Never waits for a writer.
    ///
    /// - Throws: what the closure throws, or `LMDBError` (`.readersFull`, `.forked`; `.notImmutable` of an immutable one).
    public func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        try checkProcess("read")
        let reader = try readers.take(self)
        threadDepth.value += 1
        defer {
            threadDepth.value -= 1
            readers.give(back: reader)
        }
        let result = try body(ReadTransaction(RawTransaction(reader.transaction, trees: reader.trees), owner: self))
        if options.isImmutable { try checkIsUnchanged(since: mdb_txn_id(reader.transaction)) }
        return result
    }

    /// - Throws: `.notImmutable` if pages of a snapshot that no slot protects may have been used again: the transaction after the next one
    ///   takes pages that the next one has freed (mdb.c, `mdb_page_alloc`), and begins when that is committed.
    private func checkIsUnchanged(since transaction: Int) throws(LMDBError) {
        var information = MDB_envinfo()
        try check(mdb_env_info(env, &information), "read", path: path)
        guard information.me_last_txnid <= transaction + 1 else {
            throw LMDBError(.notImmutable, operation: "read", path: path)
        }
    }

    /// Lends the write transaction to the closure, then commits; waits for other writers first. If the closure throws,
    /// nothing is kept. The closure runs once, and its result is returned after the commit.
    ///
    /// - Throws: what the closure throws, or `LMDBError`: `.nestedWrite` at once if this thread is inside a `read` or
    ///   `write` of the same environment, `.readOnly`, and everything that a commit can meet: then nothing is kept.
    public func write<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        try write(mayOpenTables: false, body)
    }

    /// The same as ``write(_:)``, and the transaction may open and make tables. While it runs, no other thread of this
    /// process opens one (lmdb.h, `mdb_dbi_open`: "must not be called from multiple concurrent transactions in the same
    /// process").
    public func writeOpeningTables<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        // Before the lock: a thread that is inside may hold it.
        try checkMayWrite()
        tableLock.lock()
        defer { tableLock.unlock() }
        return try write(mayOpenTables: true, body)
    }

    private func write<Result>(
        mayOpenTables: Bool, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> Result {
        try checkMayWrite()
        threadDepth.value += ThreadDepth.write
        defer { threadDepth.value -= ThreadDepth.write }
        return try run(parent: nil, mayOpenTables: mayOpenTables, body)
    }

    /// Runs a part of a write transaction on another thread than the one that began it, which waits meanwhile. A write that begins inside of
    /// it fails as it does on the transaction's own thread.
    package func insideWrite<Result>(_ body: () throws -> Result) rethrows -> Result {
        threadDepth.value += ThreadDepth.write
        defer { threadDepth.value -= ThreadDepth.write }
        return try body()
    }

    /// What a `write` of the calling thread would throw at once.
    ///
    /// - Throws: `.forked`, `.nestedWrite`, `.readOnly`.
    package func checkMayWrite() throws(LMDBError) {
        try checkProcess("write")
        guard threadDepth.value == 0 else { throw LMDBError(.nestedWrite, operation: "write", path: path) }
        guard !options.isReadOnly else { throw LMDBError(.readOnly, operation: "write", path: path) }
    }

    /// Begins a write transaction, or a child of one, runs the closure in it, and commits.
    func run<Result>(
        parent: RawTransaction?, mayOpenTables: Bool, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> Result {
        let begun = try begin(parent: parent?.pointer)
        var growth = parent?.growth?.pointee ?? Growth()
        growth.isAdding = false
        return try withUnsafeMutablePointer(to: &growth) { growth in
            let raw = RawTransaction(begun, growth: growth)
            if parent != nil { growth.pointee.start = raw.pageCount }
            var transaction = WriteTransaction(raw, self, mayOpenTables: mayOpenTables)
            let result: Result
            do {
                result = try body(&transaction)
                try raw.checkGrowth()
            } catch {
                mdb_txn_abort(begun)
                throw error
            }
            if parent == nil {
                do { try checkFiles("commit") } catch {
                    mdb_txn_abort(begun)
                    throw error
                }
            }
            // Whatever it returns, the transaction has ended: a failed commit aborts (mdb.c, `mdb_txn_commit`).
            try check(mdb_txn_commit(begun), "commit", path: path)
            if parent == nil { freeSlotsOfDeadReadersAfterGrowth() }
            return result
        }
    }

    private func begin(parent: OpaquePointer?) throws(LMDBError) -> OpaquePointer {
        var begun: OpaquePointer?
        if let parent {
            try check(mdb_txn_begin(env, parent, 0, &begun), "begin", path: path)
        } else {
            try turn?.take { () throws(LMDBError) in try check(mdb_txn_begin(env, nil, 0, &begun), "begin", path: path) }
        }
        guard let begun else { throw LMDBError(.other, operation: "begin", path: path) }
        if parent == nil {
            do throws(LMDBError) { try checkFiles("begin") } catch {
                mdb_txn_abort(begun)
                throw error
            }
        }
        return begun
    }

    /// Opens existing tables; nil for one that is not there. The handles are valid from then on.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same environment.
    public func existingTables(_ names: [String]) throws(LMDBError) -> [Table?] {
        try openingTables { (raw: RawTransaction) throws(LMDBError) in
            var tables: [Table?] = []
            for name in names {
                do throws(LMDBError) {
                    tables.append(try openTable(name, in: raw, flags: 0))
                } catch {
                    guard error.kind == .noSuchTable else { throw error }
                    tables.append(nil)
                }
            }
            return tables
        }
    }

    /// The names of all tables, in byte order.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same environment.
    public func tableNames() throws(LMDBError) -> [String] {
        try openingTables { (raw: RawTransaction) throws(LMDBError) in
            var handle = MDB_dbi(), names: [String] = []
            try check(mdb_dbi_open(raw.pointer, nil, 0, &handle), "open table", path: path)
            let cursor = try raw.cursor(Table(handle: handle))
            defer { cursor.close() }
            var entry = try cursor.first()
            while let (key, _) = entry {
                names.append(String(decoding: key, as: UTF8.self))
                entry = try cursor.next()
            }
            return names
        }
    }

    private func openingTables<Result>(
        _ body: (RawTransaction) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        try checkProcess("open table")
        // Whoever holds the lock may be waiting for the writer, which this thread would be.
        guard !threadDepth.isInsideWrite else { throw LMDBError(.nestedWrite, operation: "open table", path: path) }
        tableLock.lock()
        defer { tableLock.unlock() }
        var begun: OpaquePointer?
        try check(mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &begun), "begin", path: path)
        guard let begun else { throw LMDBError(.other, operation: "begin", path: path) }
        let result: Result
        do throws(LMDBError) {
            result = try body(RawTransaction(begun))
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        // A handle opened in a read transaction is valid elsewhere only after that transaction commits.
        try check(mdb_txn_commit(begun), "commit", path: path)
        return result
    }

    func openTable(_ name: String, in transaction: RawTransaction, flags: UInt32) throws(LMDBError) -> Table {
        var handle = MDB_dbi()
        try check(mdb_dbi_open(transaction.pointer, name, flags, &handle), "open table", path: path)
        return Table(handle: handle)
    }
}
