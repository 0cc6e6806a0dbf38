// Transactions: borrowed by a synchronous closure, begun and ended on one thread.
//
// On liblmdb 0.9.24, committing a write transaction on another thread returns success and hangs
// every later writer for ever. Therefore a write transaction cannot be held outside the closure,
// and the closure cannot suspend.

import CLMDB

extension Environment {
    /// Runs the closure with the newest snapshot and returns its result. Never waits for a writer.
    ///
    /// - Throws: The closure's error, or `LMDBError`: `.readersFull`, `.forked`, or `.notImmutable`
    ///   if the environment is immutable and the file has changed.
    public func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        try checkProcess("read")
        let reader = try readers.take(self)
        threadDepth.value += 1
        defer {
            threadDepth.value -= 1
            readers.give(back: reader)
        }
        let raw = RawTransaction(reader.transaction, trees: options.readsPagesDirectly ? reader.trees : nil)
        let result = try body(ReadTransaction(raw, owner: self))
        if options.isImmutable { try checkIsUnchanged(since: mdb_txn_id(reader.transaction), "read") }
        return result
    }

    /// Checks that no page of a snapshot without a reader slot can have been reused.
    ///
    /// The second transaction after the next one reuses pages that the next one has freed (mdb.c,
    /// `mdb_page_alloc`). It begins after two commits.
    ///
    /// - Throws: `.notImmutable` if pages of the snapshot may have been reused.
    func checkIsUnchanged(since transaction: Int, _ operation: StaticString) throws(LMDBError) {
        var information = MDB_envinfo()
        try check(mdb_env_info(env, &information), operation, path: path)
        // A damaged file may have any number.
        guard information.me_last_txnid &- transaction <= 1 else {
            throw LMDBError(.notImmutable, operation: "\(operation)", path: path)
        }
    }

    /// Runs the closure with the write transaction, then commits.
    ///
    /// Waits for other writers first. If the closure throws, nothing is kept. The closure runs
    /// once, and its result is returned after the commit.
    ///
    /// - Throws: The closure's error, or `LMDBError`: `.nestedWrite` at once if this thread is
    ///   inside a `read` or `write` of the same environment, `.readOnly`, and every error of a
    ///   commit, after which nothing is kept.
    public func write<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        try write(mayOpenTables: false, body)
    }

    /// Runs a write as ``write(_:)`` does, with a transaction that may open and create tables.
    ///
    /// While it runs, no other thread of this process opens a table (lmdb.h, `mdb_dbi_open`: "must
    /// not be called from multiple concurrent transactions in the same process").
    public func writeOpeningTables<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        // Checked before the lock is taken: this thread may hold it already.
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

    /// Runs a part of a write transaction on a thread other than its own, which waits meanwhile.
    ///
    /// A nested write inside the closure fails as it does on the transaction's own thread.
    package func insideWrite<Result>(_ body: () throws -> Result) rethrows -> Result {
        threadDepth.value += ThreadDepth.write
        defer { threadDepth.value -= ThreadDepth.write }
        return try body()
    }

    /// Throws the error that a `write` on the calling thread would throw at once.
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
            // The transaction has ended with any result: a failed commit aborts (mdb.c,
            // `mdb_txn_commit`).
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
            try turn?.take { () throws(LMDBError) in try check(mdb_txn_begin(env, nil, 0, &begun), "begin", path: path)
            }
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

    /// Opens existing tables; nil for each that does not exist. The handles are valid from then on.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same
    ///   environment.
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

    /// Returns the names of all tables, in byte order.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same
    ///   environment.
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
        // Deadlock otherwise: the holder of the lock may wait for the write transaction of this
        // thread.
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
        // lmdb.h, `mdb_dbi_open`: the handle is valid elsewhere only after the transaction has
        // committed.
        try check(mdb_txn_commit(begun), "commit", path: path)
        return result
    }

    func openTable(_ name: String, in transaction: RawTransaction, flags: UInt32) throws(LMDBError) -> Table {
        var handle = MDB_dbi()
        try check(mdb_dbi_open(transaction.pointer, name, flags, &handle), "open table", path: path)
        return Table(handle: handle)
    }
}
